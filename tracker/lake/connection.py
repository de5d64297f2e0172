"""A connection to the ledger of a project whose labels lie in files: reads of them go there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
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
from sqlalchemy.sql.dml import Insert, UpdateBase
from sqlalchemy.sql.selectable import SelectBase

from tracker.core.errors import Refused
from tracker.engines.engine import Columns, rows_of
from tracker.engines.statements import columns_of, read_columns, tables_of
from tracker.lake.choose import file_engine
from tracker.lake.engine import FileEngine
from tracker.lake.recorded import LabelFile, LakeInfo, find_lake, lake_after
from tracker.lake.views import NUMBERED, FileColumns, items_view, labels_view
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
MOST_HELD = 50_000_000
"""Labels of a project that an engine holds; those of more take too much memory."""


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
        self._is_checked = False
        self._again = f"tracker project read-labels {quote(lake.project.name)}"
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
        rows = rows_of(self.columns(statement, self.lake.files))
        result: Result[Any] = IteratorResult(SimpleResultMetaData(names), rows)
        size = statement.get_execution_options().get("yield_per")
        return result.yield_per(size) if size else result

    def columns(self, statement: Any, files: Sequence[LabelFile]) -> Columns:
        """Return the columns of a statement about labels of some files; rows are in no order.

        The files are those of whole parts.
        """
        with self.engine.lock:
            columns = read_columns(self.engine.table(self._text(statement, files)).columns)
        changed = (f for f in files if f.identity != self.lake.address.identity(f.path))
        if self._is_checked and (file := next(changed, None)) is not None:
            raise Refused(f"{file.path} changed while it was counted", f"read it: {self._again}")
        return columns

    def _text(self, statement: Any, files: Sequence[LabelFile]) -> str:
        """Return a statement as the engine reads it, which has its tables then."""
        from tracker.engines.dialect import statement_text

        tables, items = tables_of(statement), Item.__tablename__
        named = Item.name.key in columns_of(statement, items) if items in tables else None
        self._show(files, columns_of(statement, Label.__tablename__), named)
        for name in sorted((tables - _IN_FILES) & Base.metadata.tables.keys()):
            self._copy(Base.metadata.tables[name])
        return statement_text(statement, repeats="pass" in self.lake.roles)

    def table(self, text: str, files: Sequence[LabelFile]) -> pa.Table:
        """Return the rows of a text about lake_rows of files; see `FileColumns.rows`."""
        with self.engine.lock:
            self._show_files(files)
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
        if not lake.files:
            raise Refused(
                "the files with the labels were not read yet", f"read them: {self._again}"
            )
        known = {file.path: file.found for file in lake.files}
        there = {file.path: file for file in lake.address.list_files()}
        for path, file in known.items():
            if there.get(path) != file:
                what = "has changed since it was read" if path in there else "is gone"
                raise Refused(f"{path} {what}", f"read the files again: {self._again}")
        self._is_checked = True
        if new := len(there.keys() - known.keys()):
            notice(f"{count_noun(new, 'new file')} of labels not counted yet: {self._again}")

    def _show(
        self, files: Sequence[LabelFile], wanted: Collection[str], named: bool | None
    ) -> None:
        """Let the engine have the tables of labels and items.

        ``wanted`` are the columns of labels; ``named`` says whether items have names, None that
        there are no items.
        """
        self.check_files()
        project_id = self.lake.project.id
        read = [(f.number, f.from_change, f.source, self._moments[f.from_change]) for f in files]
        beneath = [self._show_rows("lake_files", _FILES, read)]
        numbered = NUMBERED
        if held := self._held(files):
            numbered = " UNION ALL ".join(f"SELECT * FROM held.{name}" for name in held)  # noqa: S608
        if named or not held:
            beneath.append(self._show_files(files))
        rows = self._view("lake_labels", numbered, beneath)
        self._view("labels", labels_view(project_id, FIRST, wanted, self.until), [rows])
        if named is not None:
            self._view("items", items_view(project_id, named=named), [rows])

    def _held(self, files: Sequence[LabelFile]) -> list[str]:
        """Return the tables with the rows of files that the engine holds; none if it holds none.

        Those of files that are no longer the lake's are dropped.
        """
        engine, lake = self.engine, self.lake
        if not engine.holds or sum(file.labels for file in lake.files) > MOST_HELD:
            return []
        names = hashlib.sha256(repr(lake.names).encode()).hexdigest()[:16]
        parts = {f"rows_{lake.digest(part)}_{names}": part for part in lake.parts}
        for name in engine.held - parts.keys():
            engine.drop(name)
        asked = {name: part for name, part in parts.items() if part[0] in files}
        for name, part in asked.items():
            if name not in engine.held:
                self._show_files(part)
                engine.hold(name, NUMBERED)
        return [*asked]

    def _show_files(self, files: Sequence[LabelFile]) -> Hashable:
        """Show lake_rows of files, and what their texts stand for; return what they rest on."""
        address, engine = self.lake.address, self.engine
        paths = {file.number: file.path for file in files}
        content = (address, self.lake.digest(files), tuple(paths.items()))
        if not engine.shows("files", content):
            engine.show_files(address, paths, self.schema)
        columns = FileColumns(self.schema, self.lake.roles, engine.micros, engine.number)
        beneath = [self._view("lake_rows", columns.rows("files"), [content])]
        for role, table in (("annotator", "lake_annotators"), ("category", "lake_categories")):
            names = [*self.lake.names.get(role, {}).items()]
            beneath.append(self._show_rows(table, _NAMES, names))
        return tuple(beneath)

    def _view(self, name: str, statement: str, beneath: Sequence[Hashable]) -> Hashable:
        """Let a table be the rows of a statement; return what it rests on, for those above it.

        It knows the tables that were there when it was made, and is made again for others.
        """
        content = (statement, tuple(beneath))
        if not self.engine.shows(name, content):
            self.engine.view(name, statement)
        return content

    def _show_rows(
        self, name: str, columns: Sequence[tuple[str, Any]], rows: Sequence[tuple[Any, ...]]
    ) -> Hashable:
        """Let a table have these rows, of columns with their types; return likewise."""
        import pyarrow as pa

        content = (tuple(columns), tuple(rows))
        if not self.engine.shows(name, content):
            cells = zip(*rows, strict=True) if rows else ([] for _ in columns)
            arrays = {
                column: pa.array([*values], _arrow_type(kind))
                for (column, kind), values in zip(columns, cells, strict=True)
            }
            self.engine.show_table(name, pa.table(arrays))
        return content

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
        kinds = [BigInteger if c.name == "item_id" else type(c.type) for c in table.c]
        self._show_rows(table.name, [*zip(table.c.keys(), kinds, strict=True)], rows)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the first file; others must have them, too."""
        schema, _ = self.lake.address.columns(self.lake.files[0].path)
        return schema

    @cached_property
    def _moments(self) -> Mapping[int, int]:
        rows = self.ledger.execute(
            select(Change.id, Change.recorded_at).where(
                Change.project_id == self.lake.project.id, Change.id.in_(self._changes)
            )
        )
        return dict(rows.all())


def _arrow_type(kind: type) -> pa.DataType:
    import pyarrow as pa

    types = {
        SmallInteger: pa.int32(), Integer: pa.int32(), BigInteger: pa.int64(),
        Boolean: pa.bool_(), Double: pa.float64(), Text: pa.string(), LargeBinary: pa.binary(),
    }  # fmt: skip
    return types[kind]
