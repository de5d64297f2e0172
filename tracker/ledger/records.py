"""What is recorded, by its kind: `ledger.projects`, `ledger.annotators` and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.ledger.annotators import Annotators
    from tracker.ledger.categories import Categories
    from tracker.ledger.flags import Flags
    from tracker.ledger.imports import Imports
    from tracker.ledger.items import Items
    from tracker.ledger.notes import Notes
    from tracker.ledger.projects import Projects


class Records(Transactions):
    """The namespaces of a ledger; one is imported when it is asked for."""

    @property
    def projects(self) -> Projects:
        """Create, list, show, set, rename, archive and delete projects."""
        from tracker.ledger.projects import Projects

        return Projects(self)

    @property
    def notes(self) -> Notes:
        """Add, list and remove the notes on a project's time line."""
        from tracker.ledger.notes import Notes

        return Notes(self)

    @property
    def annotators(self) -> Annotators:
        """List, rename, merge, split and erase annotators; set their kinds and aliases."""
        from tracker.ledger.annotators import Annotators

        return Annotators(self)

    @property
    def categories(self) -> Categories:
        """List, order, merge, split and rename categories."""
        from tracker.ledger.categories import Categories

        return Categories(self)

    @property
    def items(self) -> Items:
        """List and show items."""
        from tracker.ledger.items import Items

        return Items(self)

    @property
    def imports(self) -> Imports:
        """List, show and undo imports."""
        from tracker.ledger.imports import Imports

        return Imports(self)

    @property
    def flags(self) -> Flags:
        """List, show, acknowledge, dismiss, resolve and appeal against recorded findings."""
        from tracker.ledger.flags import Flags

        return Flags(self)
