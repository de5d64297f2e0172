"""A ledger of annotation answers: agreement, audits of annotators, and their history.

>>> import tracker
>>> ledger = tracker.open("sqlite:///tracker.db")
>>> ledger.import_file("answers.csv", project="reviews")
>>> ledger.agreement("reviews").measure("krippendorff_alpha").value
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracker.core import errors

if TYPE_CHECKING:
    from tracker.ledger import Ledger

__all__ = ["errors", "open"]


def open(url: str = "sqlite:///tracker.db") -> Ledger:  # noqa: A001 - as `shelve.open`
    """A handle on the database of that URL; nothing is read or made before it is used."""
    from tracker.ledger import Ledger

    return Ledger(url)
