"""`ledger.imports`: what was imported, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracker.ledger.namespace import Namespace

if TYPE_CHECKING:
    from tracker.imports.undo import ImportInfo


class Imports(Namespace):
    """The imports of a database by number; `Ledger.import_file` makes one."""

    def list(self, project: str | None = None) -> Sequence[ImportInfo]:
        """Return the imports of a project, or of all (None), oldest first."""
        from tracker.imports.undo import list_imports
        from tracker.projects.project import find_project

        with self._ledger.database.read() as connection:
            number = None if project is None else find_project(connection, project).id
            return list_imports(connection, number)

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
