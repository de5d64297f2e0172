"""How much a run tries: a quick one while working, the thorough one if `CI` is set.

The quick run tries fewer drawn examples and no long simulations, and leaves out Postgres for the
rooms that write no SQL of their own.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

THOROUGH = bool(os.environ.get("CI"))
thorough = pytest.mark.skipif(not THOROUGH, reason="takes long: set CI to run it")
# The rooms whose tests run on both databases in a quick run, too.
SQL_ROOMS = ("storage", "projects", "imports", "queries", "export")


def examples(number: int) -> settings:
    """Return the settings of a test that tries this many drawn examples if it is thorough."""
    return settings(max_examples=number if THOROUGH else max(1, number // 5))
