"""A connection to the ledger of a project whose labels lie in files: reads of them go there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from shlex import quote
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Double,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    select,
)
from sqlalchemy.engine import IteratorResult, Result
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.sql import visitors
from sqlalchemy.sql.dml import Insert, UpdateBase
from sqlalchemy.sql.selectable import Alias, SelectBase

from tracker.core.errors import Refused
from tracker.engines.engine import Columns
from tracker.engines.statements import read_columns, statement_text, tables_of
from tracker.lake.choose import file_engine
from tracker.lake.engine import FileEngine
from tracker.lake.recorded import LabelFile, LakeInfo, find_lake, lake_after
from tracker.lake.views import FileColumns, items_view, labels_view
from tracker.projects.projects import ProjectInfo, check_labels_here
from tracker.projects.questions import FIRST
from tracker.render.nouns import count_noun
from tracker.storage.as_of import Moment
from tracker.storage.schema import Base, Change, Import, Item, Label

if TYPE_CHECKING:
    import pyarrow as pa

_IN_FILES = {Label.__tablename__, Item.__tablename__}
_FILES = (("number", Integer), ("change_id", Integer), ("source", Integer),
          ("recorded_at", BigInteger))  # fmt: skip
_NAMES = (("text", Text), ("number", Integer))
_MOST_NUMBERED = 10_000_000  # labels of a part; those of more take too much memory


def lake_connection(
    connection: Connection,
    project: ProjectInfo,
    engine: str | None,
    notice: Callable[[str], None],
) -> Connection:
    """Return the connection that reads a project's labels where they lie.

    ``engine`` counts, else the one of the project; ``notice`` is told of files that were not read.
    """
    lake = find_lake(connection, project)
    assert lake is not None, "it has an address"
    reader = LakeConnection(connection, lake, file_engine(engine or lake.engine), notice)
    return cast("Connection", reader)


def manifest_of(connection: Connection) -> str | None:
    """Return the digest of the files that labels are read from; None if they are in the ledger."""
    return connection.lake.manifest if isinstance(connection, LakeConnection) else None


class LakeConnection:
    """The ledger's connection, but labels and items are read where they lie.

    A statement about them is the engine's, whose other tables are copies of the ledger's; any other
    is the ledger's. To change labels is refused.
    """

    def __init__(
        self,
        connection: Connection,
        lake: LakeInfo,
        engine: FileEngine,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        """With ``notice`` the files must be as they were read; it is told of new ones."""
        self.ledger, self.lake, self.engine = connection, lake, engine
        self._notice = notice
        self._made: set[str] = set()
        self._changes = {file.from_change for file in lake.files}
        self.until: int | None = None
        """The last moment of labeling that is shown; None for no limit."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)

    def execute(self, statement: Any, *arguments: Any, **options: Any) -> Result[Any]:
        """Return the rows of a statement; raises Refused if it would change labels."""
        if isinstance(statement, (SelectBase, UpdateBase)):
            tables = tables_of(statement)
            if isinstance(statement, Insert) and statement.select is not None:
                tables |= tables_of(statement.select)
            if tables & (_IN_FILES | self._made):
                return self._of_files(statement)
        return self.ledger.execute(statement, *arguments, **options)

    def _of_files(self, statement: Any) -> Result[Any]:
        """Return the rows of a statement about labels; make a table of those that it inserts.

        A table of the ledger gets no rows of labels.
        """
        if isinstance(statement, SelectBase):
            return self._rows(statement)
        table = statement.table
        if not isinstance(statement, Insert) or table.name in Base.metadata.tables:
            check_labels_here(self.lake.project)
        with self.engine.lock:
            text = self._text(statement.select, self.lake.files)
            names = ", ".join(f'"{name}"' for name in statement._select_names or ())
            rows = f"SELECT * FROM ({text}) AS inserted_rows ({names})"  # noqa: S608
            self.engine.make(table.name, rows)
        self._made.add(table.name)
        return IteratorResult(SimpleResultMetaData([]), iter(()))

    def scalar(self, statement: Any, *arguments: Any, **options: Any) -> Any:
        return self.execute(statement, *arguments, **options).scalar()

    def scalars(self, statement: Any, *arguments: Any, **options: Any) -> Any:
        return self.execute(statement, *arguments, **options).scalars()

    def _rows(self, statement: Any) -> Result[Any]:
        selected = enumerate(statement.selected_columns)
        names = [str(getattr(column, "key", n)) for n, column in selected]
        columns = [
            column if isinstance(column, list) else column.tolist()
            for column in self.columns(statement, self.lake.files)
        ]
        rows = zip(*columns, strict=True)
        result: Result[Any] = IteratorResult(SimpleResultMetaData(names), rows)
        size = statement.get_execution_options().get("yield_per")
        return result.yield_per(size) if size else result

    def columns(self, statement: Any, files: Sequence[LabelFile]) -> Columns:
        """Return the columns of a statement about labels of some files; rows are in no order."""
        with self.engine.lock:
            return read_columns(self.engine.table(self._text(statement, files)).columns)

    def counts(self, statement: Any, files: Sequence[LabelFile]) -> Columns:
        """Return likewise the columns of a statement whose rows hold no item.

        The engine may hold numbers of the items instead of comparing their names each time.
        """
        by_name = not (self.engine.numbers_items and tables_of(statement) & {Label.__tablename__})
        parts = [part for part in self.lake.parts if part[0] in files]
        largest = max(sum(file.labels for file in part) for part in parts)
        if by_name or Item.__tablename__ in tables_of(statement) or largest > _MOST_NUMBERED:
            return self.columns(statement, files)
        with self.engine.lock:
            self.check_files()
            tables = self._numbered(parts)
            return read_columns(self.engine.table(self._text(statement, files, tables)).columns)

    def _numbered(self, parts: Sequence[Sequence[LabelFile]]) -> list[str]:
        """Return the names of tables with the rows of parts; those of other files are dropped."""
        names = hashlib.sha256(repr(self.lake.names).encode()).hexdigest()[:16]
        known = {f"{self.lake.digest(p)}_{names}": p for p in self.lake.parts}
        self.engine.keep_numbered(known)
        tables = []
        for digest, part in known.items():
            if part in parts:
                self.engine.number_items(digest, partial(self._show_numbers, part))
                tables.append(self.engine.numbered_table(digest))
        return tables

    def _show_numbers(self, files: Sequence[LabelFile], first: int) -> int:
        """Show lake_rows of files with a number for each item, from one on; return the next."""
        import pyarrow as pa
        import pyarrow.compute as pc

        name = self.lake.roles["item"]
        paths = [file.path for file in files]
        rows = self.lake.address.dataset(paths, self.schema, [file.number for file in files])
        table = rows.to_table(columns=[*{*self.lake.roles.values()}, "file"])
        items = table.column(name)
        if not pa.types.is_dictionary(items.type):
            items = items.dictionary_encode()
        items = items.unify_dictionaries()
        codes = [pc.add(chunk.indices.cast(pa.int64()), first) for chunk in items.chunks]
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pa.chunked_array(codes, pa.int64()))
        self.engine.shows("files", None)
        self.engine.show_table("files", table)
        numbered = FileColumns(table.schema, self.lake.roles, self.engine.micros)
        self.engine.view("lake_rows", numbered.rows("files"))
        self._show_names()
        return first + (len(items.chunk(0).dictionary) if items.chunks else 0)

    def _text(
        self, statement: Any, files: Sequence[LabelFile], numbered: Collection[str] = ()
    ) -> str:
        """Return a statement as the engine reads it, which has its tables then."""
        parts: Iterator[Any] = visitors.iterate(statement)
        wanted = {
            part.name
            for part in parts
            if getattr(part, "table", None) is not None and _is_of_labels(part.table)
        }
        self._show(files, wanted, numbered)
        for name in sorted((tables_of(statement) - _IN_FILES) & Base.metadata.tables.keys()):
            self._copy(Base.metadata.tables[name])
        return statement_text(statement, repeats="pass" in self.lake.roles)

    def table(self, text: str, files: Sequence[LabelFile]) -> pa.Table:
        """Return the rows of a text about lake_rows; see `FileColumns.rows`."""
        with self.engine.lock:
            self._show(files, ())
            return self.engine.table(text)

    @contextmanager
    def showing(self, moment: Moment) -> Iterator[None]:
        """Show labels of a moment; raises Refused if files of then are no longer as they were."""
        before = self.lake, self.until
        if moment.through is not None:
            self.lake = lake_after(self.ledger, self.lake, moment.through)
        self.until = moment.as_of
        try:
            yield
        finally:
            self.lake, self.until = before

    def check_files(self) -> None:
        """Raise Refused if files are no longer as they were read, once for all questions."""
        notice, self._notice = self._notice, None
        if notice is None:
            return
        lake = self.lake
        again = f"tracker project read-labels {quote(lake.project.name)}"
        if not lake.files:
            raise Refused("the files with the labels were not read yet", f"read them: {again}")
        known = {file.path: file.found for file in lake.files}
        there = {file.path: file for file in lake.address.list_files()}
        for path, file in known.items():
            if there.get(path) != file:
                what = "has changed since it was read" if path in there else "is gone"
                raise Refused(f"{path} {what}", f"read the files again: {again}")
        if new := len(there.keys() - known.keys()):
            notice(f"{count_noun(new, 'new file')} of labels not counted yet: {again}")

    def _show(
        self,
        files: Sequence[LabelFile],
        wanted: Collection[str],
        numbered: Collection[str] = (),
    ) -> None:
        """Let the engine have the tables of labels and items, with these columns of labels.

        Rows are those of the tables ``numbered``, if there are any; there are no items then.
        """
        self.check_files()
        engine, lake = self.engine, self.lake
        shown = []
        if not numbered:
            paths = {file.number: file.path for file in files}
            rows = self.file_columns.rows("files")
            shown = [engine.shows("files", (lake.address, lake.digest(files), tuple(paths), rows))]
            if not shown[0]:
                engine.show_files(lake.address, paths, self.schema)
                engine.view("lake_rows", rows)
                engine.view("items", items_view(lake.project.id))
            shown += self._show_names()
        read = [(f.number, f.from_change, f.source, self._moments[f.from_change]) for f in files]
        shown.append(self._show_rows("lake_files", _FILES, read))
        view = labels_view(lake.project.id, FIRST, wanted, self.until, numbered)
        if not (engine.shows("labels", view) and all(shown)):
            engine.view("labels", view)  # it knows the tables that were there when it was made

    def _show_names(self) -> list[bool]:
        """Show what the texts of the files stand for; returns whether it was shown already."""
        tables = {"annotator": "lake_annotators", "category": "lake_categories"}
        return [
            self._show_rows(table, _NAMES, [*self.lake.names.get(role, {}).items()])
            for role, table in tables.items()
        ]

    def _show_rows(
        self, name: str, columns: Sequence[tuple[str, Any]], rows: Sequence[tuple[Any, ...]]
    ) -> bool:
        """Let a table have these rows, of columns with their types; returns whether it had."""
        import pyarrow as pa

        if self.engine.shows(name, (tuple(columns), tuple(rows))):
            return True
        cells = zip(*rows, strict=True) if rows else ([] for _ in columns)
        arrays = {
            column: pa.array([*values], _arrow_type(kind))
            for (column, kind), values in zip(columns, cells, strict=True)
        }
        self.engine.show_table(name, pa.table(arrays))
        return False

    def _copy(self, table: Table) -> None:
        """Show a table of the ledger, of this project."""
        project_id = self.lake.project.id
        chosen = select(table)
        if "project_id" in table.c:
            chosen = chosen.where(table.c.project_id == project_id)
        elif "import_id" in table.c:
            ours = select(Import.id).where(Import.project_id == project_id)
            chosen = chosen.where(table.c.import_id.in_(ours))
        rows = [tuple(row) for row in self.ledger.execute(chosen)]
        by_name = not self.file_columns.item_is_number
        kinds = [Text if by_name and c.name == "item_id" else type(c.type) for c in table.c]
        self._show_rows(table.name, [*zip(table.c.keys(), kinds, strict=True)], rows)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the first file; others must have them, too."""
        schema, _ = self.lake.address.columns(self.lake.files[0].path)
        return schema

    @cached_property
    def file_columns(self) -> FileColumns:
        return FileColumns(self.schema, self.lake.roles, self.engine.micros)

    @cached_property
    def _moments(self) -> Mapping[int, int]:
        rows = self.ledger.execute(
            select(Change.id, Change.recorded_at).where(
                Change.project_id == self.lake.project.id, Change.id.in_(self._changes)
            )
        )
        return dict(rows.all())


def _is_of_labels(table: Any) -> bool:
    return Label.__tablename__ in {
        getattr(table, "name", None),
        getattr(table.element, "name", None) if isinstance(table, Alias) else None,
    }


def _arrow_type(kind: type) -> pa.DataType:
    import pyarrow as pa

    types = {
        SmallInteger: pa.int32(), Integer: pa.int32(), BigInteger: pa.int64(),
        Boolean: pa.bool_(), Double: pa.float64(), Text: pa.string(), LargeBinary: pa.binary(),
    }  # fmt: skip
    return types[kind]
