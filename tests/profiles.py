"""How much a run tries: a quick one while working, the thorough one if `CI` is set.

The quick run tries fewer drawn examples and no long simulations. A test that takes a ledger on
either database runs on Postgres in `storage`, in the goldens, which ask every command, and if it is
marked as `both`: what it asks depends on the database, or is a room's one comparison with a plain
count. On a server of one's own (`TRACKER_TEST_POSTGRES_URL`) everything does.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

THOROUGH = bool(os.environ.get("CI"))
thorough = pytest.mark.skipif(not THOROUGH, reason="takes long: set CI to run it")
both = pytest.mark.both
"""On Postgres, too."""
ON_BOTH = {"storage", "golden"} if THOROUGH else {"storage"}
"""The rooms whose tests all run on both databases."""


def examples(number: int) -> settings:
    """Return the settings of a test that tries this many drawn examples if it is thorough."""
    return settings(max_examples=number if THOROUGH else max(1, number // 5))
