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


def open(url: str | None = None) -> Ledger:  # noqa: A001 - as `shelve.open`
    """Return the ledger in the database of that URL; nothing is read or made before it is used.

    Without a URL it is the environment's TRACKER_DATABASE_URL, else tracker.db in this folder.
    """
    from tracker.ledger import Ledger, ledger_database_url

    return Ledger(ledger_database_url(url))
