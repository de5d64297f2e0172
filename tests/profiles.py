"""How much a run tries: a quick one while working, the thorough one if `CI` is set.

The quick run tries fewer drawn examples and no long simulations. Postgres is for the rooms that
write SQL, in a quick run for those that write most of it; what the others ask of them, and what all
tell, is the same on both databases (`cli/test_on_both_databases.py`).
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

THOROUGH = bool(os.environ.get("CI"))
thorough = pytest.mark.skipif(not THOROUGH, reason="takes long: set CI to run it")
# The rooms, and single files, whose tests run on both databases.
SQL_ROOMS: tuple[str, ...] = (
    "storage",
    "projects",
    "access",
    "exchange",
    "formats",
    "imports",
    "sync",
    "counts",
    "export",
)
if THOROUGH:
    SQL_ROOMS += ("compare", "flags", "snapshots", "ledger", "golden")
    # What asks the rooms below in ways that neither their tests nor a command's do.
    SQL_ROOMS += ("test_annotator_groups.py", "test_calibration.py", "test_from_rows.py")
    SQL_ROOMS += ("test_groups.py", "test_intra_annotator.py", "test_of_projects.py")
    SQL_ROOMS += (
        "test_order.py",
        "test_definitions.py",
        "test_odd_import.py",
        "test_copied_from_models.py",
        "test_design.py",
    )


def examples(number: int) -> settings:
    """Return the settings of a test that tries this many drawn examples if it is thorough."""
    return settings(max_examples=number if THOROUGH else max(1, number // 5))
