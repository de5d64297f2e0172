"""What the namespaces of a ledger share: the ledger that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracker.ledger.transactions import Transactions


class Namespace:
    """Methods about one kind of record; each is one transaction."""

    def __init__(self, ledger: Transactions) -> None:
        self._ledger = ledger
