"""What is said where hardly any item tells how well annotators agree."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.agreement.crowd import assessed, frame
from tracker.agreement.result import Assessment
from tracker.agreement.tables import agreement_view
from tracker.ledger import Ledger


def store(ledger: Ledger, apart: int, both: int, items: int = 60) -> Assessment:
    """Two annotators: both say no but for ``both`` items, and one says yes to ``apart`` more."""
    given = {}
    for n in range(items):
        given[f"i{n:03}", "ann"] = ("yes",) if n < apart + both else ("no",)
        given[f"i{n:03}", "bob"] = ("yes",) if n < both else ("no",)
    ledger.import_frame(frame(given), "p")
    return assessed(ledger)


def page(found: Assessment) -> str:
    console = Console(file=io.StringIO(), width=400)
    for part in agreement_view(found):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_few_items_that_tell_are_warned_of(sqlite_ledger):
    found = store(sqlite_ledger, 3, 6)
    (warning,) = found.warnings
    assert warning.startswith("Only 9 of the 60 items compared have anything but the most frequent")
    assert "held the truth in 83 to 98% of simulated samples of 50 items" in warning
    assert found.to_dict()["warnings"] == [warning]
    assert warning in page(found)


def test_one_item_has(sqlite_ledger):
    (warning,) = store(sqlite_ledger, 0, 1).warnings
    assert warning.startswith("Only 1 of the 60 items compared has anything but")


@pytest.mark.parametrize(("apart", "both"), [(4, 6), (0, 0), (30, 20)])
def test_others_are_not(sqlite_ledger, apart, both):
    found = store(sqlite_ledger, apart, both)
    assert found.warnings == ()
    assert found.to_dict()["warnings"] == []
    assert "simulated" not in page(found)
