"""`ledger.imports`: the imports of a database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from tracker.core.operations import Given, Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import OptionalProject
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.imports.undo import ImportInfo

Number = Annotated[int, Option("The import's number.", metavar="IMPORT", least=1, examples=(1,))]


def _names(sources: Iterable[dict[str, str]]) -> str:
    return " ".join(source["name"] for source in sources)


def _rows(imports: Sequence[ImportInfo], _: Given) -> Iterable[dict[str, Any]]:
    rows = (record.to_dict() for record in imports)
    return (row | {"sources": _names(row["sources"])} for row in rows)


def _undoing(given: Given) -> str:
    about = given.ledger.imports.show(given.number)
    return f"Undo import {about.id} into {about.project} ({about.counts.rows:,} rows)?"


class Imports(Namespace):
    """The imports of a database by number; `Ledger.import_file` makes one."""

    @operation(
        "imports list", None, "listImports",
        listing="imports", rows=_rows,
        columns=(
            Column("import", kind="name"), Column("project"),
            Column("recorded_at", "recorded", "minute"),
            *(Column(name, kind="count") for name in (
                "rows", "inserted", "changed", "unchanged", "older", "rejected"
            )),
            Column("undone_at", "undone", "minute"), Column("sources"),
        ),
    )  # fmt: skip
    def list(
        self,
        project: OptionalProject = None,
        *,
        after: Annotated[int, Option("Only numbers above this.", faces=frozenset())] = 0,
        limit: Annotated[int | None, Option("The first N.", faces=frozenset())] = None,
    ) -> Sequence[ImportInfo]:
        """List the imports of a project, or of all, oldest first.

        Args:
            project: the project's name; None is all.
            after: only imports with numbers above it.
            limit: of these the first so many; None is all.

        Example:
        - `tracker imports list reviews`

        Next: `tracker imports show 3`
        """
        from tracker.imports.undo import list_imports
        from tracker.projects.projects import find_project

        if project is None and self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            number = None if project is None else find_project(connection, project).id
            return list_imports(connection, number, after=after, limit=limit)

    @operation(
        "imports show", "GET /imports/{number}", "getImport",
        hints=lambda shown, _: (
            [f"to take it back: tracker imports undo {shown.id}"] if shown.undone_at is None else ()
        ),
    )  # fmt: skip
    def show(self, number: Number) -> ImportInfo:
        """Show one import: its files, how they were read, and the outcome of its rows.

        Example:
        - `tracker imports show 3`

        Next: `tracker imports undo 3`
        """
        from tracker.imports.undo import find_import

        with self._ledger.database.read() as connection:
            return find_import(connection, number)

    @operation(
        "imports undo", "POST /imports/{number}/undo", "undoImport",
        question=_undoing,
        view=lambda undone, _: [f"import {undone.id} is undone; it stays in: tracker imports list"],
    )  # fmt: skip
    def undo(self, number: Number) -> ImportInfo:
        """Undo an import as if it had never happened; the answers it replaced stand again.

        Raises NotFound for an unknown number, InvalidOption for an import that was undone before.

        Examples:
        - `tracker imports undo 3`
        - `tracker imports undo 3 --yes --json`

        Next: `tracker imports list`
        """
        from tracker.imports.undo import undo_import

        with self._ledger.database.write() as connection:
            return undo_import(connection, number)
