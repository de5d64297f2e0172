"""Methods about one kind of record: ``ledger.categories`` and its like."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracker.ledger.transactions import Transactions

    Mixin = Transactions
else:

    class Mixin:
        """Methods of the ledger itself, which has those of `Transactions`, too."""


class Namespace:
    """Methods about one kind of record; each is one transaction.

    A command's help is made of those that are operations: what they need is imported in them.
    """

    def __init__(self, ledger: Transactions) -> None:
        self._ledger = ledger
