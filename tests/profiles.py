"""Which tests a run holds, and how many examples it draws.

The ordinary run is the one for contributors and for continuous integration. `pytest -m exhaustive`
runs the rest: tests marked `exhaustive`, every property with all its examples, and on Postgres the
tests that the ordinary run asks on SQLite alone.

The ordinary run asks Postgres in `storage`, in the goldens, and where a test is marked `both`
because its answer depends on the database.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

EXHAUSTIVE = False
"""Whether this is the exhaustive run; set before test files are imported."""
exhaustive = pytest.mark.exhaustive
both = pytest.mark.both
on_sqlite = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
"""Never on Postgres: the test needs the file, or counts what the databases number differently."""
ON_BOTH = {"storage", "golden"}
"""Folders whose tests run on both databases."""


def examples(number: int) -> settings:
    """Return the settings of a property: all its examples, or a fifth in the ordinary run."""
    return settings(max_examples=number if EXHAUSTIVE else max(1, number // 5))
