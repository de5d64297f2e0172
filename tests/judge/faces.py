"""Judges of each verdict, for the faces that show them."""

from __future__ import annotations

from tests.helpers import give
from tests.judge.test_judge import drawn
from tracker.ledger import Ledger

VERDICTS = {"good": "trusted", "poor": "not trusted", "few": "not enough answers to say"}


def fill_judges(ledger: Ledger) -> None:
    """A project ``judged`` of a judge that is trusted, one that is not, one of few items."""
    rows = [
        row for row in drawn(5, 400, {"good": 0.9, "poor": 0.4, "few": 0.8})
        if row[1] != "few" or row[0] < "i0040"
    ]  # fmt: skip
    give(ledger, rows, "judged", "kind")
