"""Ways into a project: files, data frames, rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from tracker.core.errors import InvalidOption
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    import pandas as pd

    from tracker.imports.loader import ImportResult, Progress
    from tracker.imports.readers import Source
    from tracker.projects.project import ProjectOptions
    from tracker.simulate import Row


class Importing(Transactions):
    """The methods that import answers and items."""

    def import_file(
        self,
        path: str | Path | Sequence[str | Path],
        project: str,
        *,
        options: ProjectOptions | None = None,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportResult:
        """Import one or more files as one unit.

        Args:
            path: the file, or several; ``-`` is standard input.
            project: the project's name; it is made if it is not there.
            options: what the project is made with; for one that is there, what it must be.
            columns: ``role=COLUMN`` for columns of other names.
            wide: the file has one column per annotator.
            keep: columns to keep as attributes of the items.
            create: whether a project that is not there may be made.
            skip_invalid: leave bad rows out instead of refusing the import.
            dry_run: do everything, then take it all back.
            progress: told the bytes read and the bytes there are.
        """
        from tracker.imports.readers.source import STDIN, SourceFile
        from tracker.projects.project import ProjectOptions

        paths = [path] if isinstance(path, str | Path) else list(path)
        if [str(one) for one in paths].count(STDIN) > 1:
            raise InvalidOption("standard input can be read only once")
        with ExitStack() as opened:
            return self._import(
                [opened.enter_context(closing(SourceFile(str(one)))) for one in paths],
                project,
                options or ProjectOptions(),
                columns=columns,
                wide=wide,
                keep=keep,
                create=create,
                skip_invalid=skip_invalid,
                dry_run=dry_run,
                progress=progress,
            )

    def import_items(
        self,
        path: str | Path | Sequence[str | Path],
        project: str,
        *,
        options: ProjectOptions | None = None,
        columns: Sequence[str] = (),
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
    ) -> ImportResult:
        """Register the items of one or more files, which need no answers; as `import_file`."""
        from tracker.imports.column_roles import parse_map
        from tracker.imports.loader import load_items
        from tracker.imports.readers.source import SourceFile
        from tracker.projects.project import ProjectOptions, project_for_import

        paths = [path] if isinstance(path, str | Path) else list(path)
        mapped = parse_map(columns, keep=keep, items=True)
        with ExitStack() as opened:
            sources = [opened.enter_context(closing(SourceFile(str(one)))) for one in paths]
            connection = opened.enter_context(self.database.write(keep=not dry_run, bulk=True))
            asked = options or ProjectOptions()
            found = project_for_import(connection, project, asked, create=create)
            return load_items(connection, found, sources, mapped, skip_invalid=skip_invalid)

    def import_frame(
        self,
        frame: pd.DataFrame,
        project: str,
        *,
        options: ProjectOptions | None = None,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        skip_invalid: bool = False,
    ) -> ImportResult:
        """Import a data frame: its columns are those of a file, missing values empty cells.

        A whole number is written without a point, also if a gap made its column one of floats.
        In a project of several categories an answer a cell may hold a list of them.
        """
        from tracker.imports.readers.frames import FrameSource
        from tracker.projects.project import ProjectOptions

        return self._import(
            [FrameSource(frame)],
            project,
            options or ProjectOptions(),
            columns=columns,
            wide=wide,
            keep=keep,
            skip_invalid=skip_invalid,
        )

    def import_rows(self, rows: Iterable[Row], project: str) -> ImportResult:
        """Import simulated rows as they come."""
        from tracker.imports.readers.frames import RowsSource
        from tracker.projects.project import ProjectOptions

        return self._import([RowsSource(rows, "simulated")], project, ProjectOptions())

    def _import(
        self,
        sources: Sequence[Source],
        name: str,
        options: ProjectOptions,
        *,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportResult:
        from tracker.imports.column_roles import parse_map
        from tracker.imports.loader import load
        from tracker.projects.project import project_for_import

        mapped = parse_map(columns, wide=wide, keep=keep)
        with self.database.write(keep=not dry_run, bulk=True) as connection:
            project = project_for_import(connection, name, options, create=create)
            return load(
                connection, project, sources, mapped, skip_invalid=skip_invalid, progress=progress
            )
