"""The namespaces of a ledger: each is one kind of record, and is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracker.ledger.namespace import Namespace
from tracker.ledger.projects import Projects, Questions
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.imports.undo import ImportInfo
    from tracker.ledger.annotators import Annotators
    from tracker.ledger.categories import Categories
    from tracker.ledger.flags import Flags
    from tracker.ledger.items import Items
    from tracker.ledger.notes import Notes
    from tracker.ledger.requests import Requests
    from tracker.ledger.tokens import Tokens
    from tracker.ledger.users import Users
    from tracker.ledger.webhooks import Webhooks


class Imports(Namespace):
    """The imports of a database by number; `Ledger.import_file` makes one."""

    def list(
        self, project: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> Sequence[ImportInfo]:
        """Return the imports of a project, or of all (None), oldest first.

        Of those with numbers above ``after`` the first ``limit``; None for all.
        """
        from tracker.imports.undo import list_imports
        from tracker.projects.projects import find_project

        if project is None and self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            number = None if project is None else find_project(connection, project).id
            return list_imports(connection, number, after=after, limit=limit)

    def show(self, number: int) -> ImportInfo:
        """Return an import: its files with their digests, and the outcome of its rows."""
        from tracker.imports.undo import find_import

        with self._ledger.database.read() as connection:
            return find_import(connection, number)

    def undo(self, number: int) -> ImportInfo:
        """Undo an import as if it had never happened, and return it.

        The answers it replaced stand again. Raises NotFound for an unknown number, InvalidOption
        for an import that was undone before.
        """
        from tracker.imports.undo import undo_import

        with self._ledger.database.write() as connection:
            return undo_import(connection, number)


class Records(Transactions):
    """The namespaces of a ledger; one is imported when it is asked for."""

    @property
    def projects(self) -> Projects:
        """Create, list, show, set, rename, archive and delete projects."""
        return Projects(self)

    @property
    def questions(self) -> Questions:
        """List, show, add, set and rename the questions of projects."""
        return Questions(self)

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
        """List, show and choose items."""
        from tracker.ledger.items import Items

        return Items(self)

    @property
    def imports(self) -> Imports:
        """List, show and undo imports."""
        return Imports(self)

    @property
    def webhooks(self) -> Webhooks:
        """Add, list, test and remove webhooks; deliver their messages."""
        from tracker.ledger.webhooks import Webhooks

        return Webhooks(self)

    @property
    def requests(self) -> Requests:
        """Begin and end requests that programs may send again."""
        from tracker.ledger.requests import Requests

        return Requests(self)

    @property
    def flags(self) -> Flags:
        """List, show, acknowledge, dismiss, resolve, reopen and appeal against findings."""
        from tracker.ledger.flags import Flags

        return Flags(self)

    @property
    def users(self) -> Users:
        """List, add, set and remove who may sign in to `tracker serve`."""
        from tracker.ledger.users import Users

        return Users(self)

    @property
    def tokens(self) -> Tokens:
        """List, add and revoke the tokens of users' programs."""
        from tracker.ledger.tokens import Tokens

        return Tokens(self)
