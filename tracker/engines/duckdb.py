"""DuckDB in the process: the answers in its memory, the ledger's own statements on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, Table, select
from sqlalchemy.sql import visitors

from tracker.engines.answers import FURTHER, KEY, read_labels
from tracker.engines.dialect import column_type, statement_text
from tracker.engines.engine import Asked, Columns
from tracker.engines.statements import columns_of, read_columns
from tracker.projects.projects import last_change
from tracker.storage.kept_tallies import State
from tracker.storage.schema import Alias as AliasOfAnnotator
from tracker.storage.schema import Annotator, Category, Import, Item, Label, Source
from tracker.storage.schema.labels import QuestionKey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_T = TypeVar("_T")
_labels = Label.__table__
_SMALL: Final = tuple(
    model.__table__ for model in (AliasOfAnnotator, Annotator, Category, Import, Source)
)
"""The tables that are copied whole, of a project."""
_items = Item.__table__
_KNOWN: Final = {_labels, _items, *_SMALL}


@dataclass
class _Loaded:
    """The labels of a question in a view; whether an answer ``repeats`` on a further pass."""

    state: State
    place: str
    columns: set[str]
    repeats: bool


def new_database() -> DuckDBPyConnection:
    """Return a database that takes 256 MB of memory, and temporary files for what is more.

    Counting 20 million answers takes a fifth more time than with 2 GB.
    """
    import duckdb

    options: dict[str, Any] = {"temp_directory": gettempdir(), "memory_limit": "256MB"}
    options["preserve_insertion_order"] = False
    return duckdb.connect(":memory:", config=options)


def with_more_memory(database: DuckDBPyConnection, act: Callable[[], _T]) -> _T:
    """Return what an act returns; if memory does not suffice, it is done again without a limit."""
    import duckdb

    try:
        return act()
    except duckdb.OutOfMemoryException:  # not all that DuckDB does can go to files
        database.execute("RESET memory_limit")
        return act()


class DuckDB:
    """The answers of questions in DuckDB's memory, by the state of their project.

    One is used by all threads of a server; a state that another needs takes the place of the one
    before.
    """

    name = "duckdb"

    def __init__(self, least_items: int = 0) -> None:
        """Answers are read for what is heavy, and not of projects of fewer than ``least_items``."""
        self._least_items, self._lock = least_items, threading.RLock()
        self._loaded: dict[QuestionKey, _Loaded] = {}
        self._names_of: tuple[int, State] | None = None

    @cached_property
    def _duckdb(self) -> DuckDBPyConnection:
        return new_database()

    def columns(self, connection: Connection, asked: Asked) -> Columns | None:
        statement, question, items = asked.statement, asked.question, asked.items
        tables = {part for part in visitors.iterate(statement) if isinstance(part, Table)}
        if not tables <= _KNOWN or _labels not in tables:
            return None
        wanted = columns_of(statement, _labels.name) - {"project_id", "question_id"}
        of_items = columns_of(statement, _items.name)
        if not wanted <= {*KEY, *FURTHER} or not of_items <= {"project_id", "id", "name"}:
            return None
        with self._lock:
            state = State(*last_change(connection, question.project_id))
            loaded = self._loaded.get(question)
            if loaded is None or loaded.state != state or not wanted <= loaded.columns:
                if items < self._least_items or not asked.is_heavy:
                    return None
                loaded = self._load(connection, question, state, items, wanted)
            self._show(connection, question, loaded)
            return self._count(statement, loaded)

    def _load(
        self,
        connection: Connection,
        question: QuestionKey,
        state: State,
        items: int,
        wanted: Collection[str],
    ) -> _Loaded:
        """Read a question's answers into memory."""
        import pyarrow as pa

        before = self._loaded.get(question)
        if before is not None and before.state == state:
            wanted = {*wanted, *before.columns}
        parts = read_labels(connection, question, items, wanted)
        place = f"labels_{question.project_id}_{question.question_id}"
        self._duckdb.register(place, pa.Table.from_batches(map(_as_batch, parts)))
        repeats = any((columns["pass"] > 1).any() for columns in parts)
        loaded = self._loaded[question] = _Loaded(state, place, {*parts[0]}, repeats)
        return loaded

    def _show(self, connection: Connection, question: QuestionKey, loaded: _Loaded) -> None:
        """Let the ledger's names of tables stand for what is known of a question."""
        keys = (f"{number} AS {name}" for name, number in question._asdict().items())
        columns = (f'"{name}"' for name in (*KEY, *FURTHER) if name in loaded.columns)
        chosen = ", ".join([*keys, *columns])
        self._duckdb.execute(
            f"CREATE OR REPLACE VIEW labels AS SELECT {chosen} FROM {loaded.place}"  # noqa: S608
        )
        of = question.project_id, loaded.state
        if of == self._names_of:
            return
        self._show_items(connection, question)
        for table in _SMALL:  # without rules, which the ledger has proved
            columns = (f'"{column.name}" {column_type(column)}' for column in table.columns)
            self._duckdb.execute(f"CREATE OR REPLACE TABLE {table.name} ({', '.join(columns)})")
            rows = connection.execute(_of_project(table, question)).all()
            if rows:  # as lists: Arrow would load pandas to make its columns of them
                cells = ", ".join(["unnest(?)"] * len(table.columns))
                values = [[*column] for column in zip(*rows, strict=True)]
                self._duckdb.execute(f"INSERT INTO {table.name} SELECT {cells}", values)
        self._names_of = of

    def _show_items(self, connection: Connection, question: QuestionKey) -> None:
        """Let the names of items be numbers in the same order: statements sort by nothing else."""
        import pyarrow as pa

        ours = select(_items.c.id).where(_items.c.project_id == question.project_id)
        ids = np.fromiter(connection.scalars(ours.order_by(_items.c.name)), np.int32)
        columns = {"project_id": np.full_like(ids, question.project_id), "id": ids}
        batch = _as_batch(columns | {"name": np.arange(len(ids))})
        self._duckdb.register("items", pa.Table.from_batches([batch]))

    def _count(self, statement: Select[Any], loaded: _Loaded) -> Columns:
        text = statement_text(statement, repeats=loaded.repeats)
        counted = with_more_memory(self._duckdb, lambda: self._duckdb.sql(text).to_arrow_table())
        return read_columns(counted.columns)


def _of_project(table: Table, question: QuestionKey) -> Select[Any]:
    if "project_id" in table.c:
        return select(table).where(table.c.project_id == question.project_id)
    imports = Import.__table__
    ours = select(imports.c.id).where(imports.c.project_id == question.project_id)
    return select(table).where(table.c.import_id.in_(ours))


def _as_batch(columns: dict[str, Any]) -> Any:
    """Return columns of numbers as Arrow takes them; masked values are missing."""
    import pyarrow as pa

    return pa.record_batch({name: _as_array(column) for name, column in columns.items()})


def _as_array(column: NDArray[Any]) -> Any:
    """Return a column as Arrow has it; Arrow's own way would load pandas."""
    import pyarrow as pa

    def bits(truths: NDArray[np.bool_]) -> NDArray[Any]:
        return np.packbits(truths, bitorder="little")

    values = np.ma.getdata(column)
    parts = [
        pa.py_buffer(bits(~np.ma.getmaskarray(column))) if np.ma.is_masked(column) else None,
        pa.py_buffer(bits(values) if values.dtype == np.bool_ else np.ascontiguousarray(values)),
    ]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), parts)
