"""A copy of a ledger's answers in a file of DuckDB, for counting; it can be deleted at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tracker.core.errors import first_line
from tracker.core.results import Record
from tracker.engines.answers import FURTHER, read_labels
from tracker.projects.projects import last_change, list_projects
from tracker.projects.questions import find_questions
from tracker.projects.touched import highest_item, items_to_count_again
from tracker.storage.as_of import shadow_item_ids
from tracker.storage.database import OWNERS_ONLY, new_file
from tracker.storage.kept_tallies import State, is_state
from tracker.storage.schema.labels import QuestionKey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_STAMPS = (
    "CREATE TABLE stamps (project_id INTEGER, question_id SMALLINT, "
    "change_id INTEGER, recorded_at BIGINT, repeats BOOLEAN)"
)
_HERE = "project_id = ? AND question_id = ?"
_NEW = "change_id = ?, recorded_at = ?, repeats = repeats OR ?"


class Copied(NamedTuple):
    """A question's labels in a copy: the table, and whether any answer is on a further pass."""

    place: str
    repeats: bool


class Stamp(NamedTuple):
    """The state of which a copy has a question's labels; whether one is on a further pass."""

    state: State
    repeats: bool


class CountingCopy:
    """The copy in a file, beside the database that it is made of.

    Each question's labels are of the state after one change of its project, which is noted with
    them. Touched items are read again before they are counted.
    """

    def __init__(self, file: Path, notice: Callable[[str], None]) -> None:
        """``notice`` is called with a sentence if the copy cannot be used."""
        self.file = file
        self._notice = notice
        self._unfit: dict[QuestionKey, State] = {}

    @contextmanager
    def current(
        self,
        database: DuckDBPyConnection,
        connection: Connection,
        question: QuestionKey,
        state: State,
        items: int,
    ) -> Iterator[Copied | None]:
        """Attach the copy; yields where a question's labels of a state are, None if nowhere."""
        copied = None
        if self._unfit.get(question) != state:
            try:
                copied = self._opened(database, connection, question, state, items)
            except duckdb_error() as error:
                self.give_up(question, state, error)
        if copied is None:
            self._unfit[question] = state  # nor is it a moment later
            yield None
            return
        try:
            yield copied
        finally:
            _detach(database)

    def give_up(self, question: QuestionKey, state: State, error: Exception) -> None:
        """Use the copy no more for a question in this state, and say why."""
        self._unfit[question] = state
        self._notice(
            f"{self.file} is not used: {first_line(error)}; "
            "make it anew: tracker database copy-for-counting"
        )

    def _opened(
        self,
        database: DuckDBPyConnection,
        connection: Connection,
        question: QuestionKey,
        state: State,
        items: int,
    ) -> Copied | None:
        """Return where the labels of a state are, the copy being attached; else None."""
        stamp = self._attach(database, question)
        if stamp is not None and stamp.state != state:
            _detach(database)
            if not self._renew(database, connection, question, stamp.state, state, items):
                return None
            stamp = self._attach(database, question)
        if stamp is not None and stamp.state == state:  # nobody can write to it from here on
            return Copied(f"counting.{labels_name(question)}", stamp.repeats)
        _detach(database)
        return None

    def _renew(
        self,
        database: DuckDBPyConnection,
        connection: Connection,
        question: QuestionKey,
        before: State,
        state: State,
        items: int,
    ) -> bool:
        """Read touched items again; returns whether the copy is of the state then.

        It is not if it is of another ledger, or most was touched, or another program has it open.
        """
        project_id = question.project_id
        if before.change_id > state.change_id or not is_state(connection, project_id, before):
            return False
        touched = items_to_count_again(connection, question, before.change_id, items)
        if touched is None:
            return False
        import pyarrow as pa

        numbers = [*chain.from_iterable(touched)]
        with shadow_item_ids(connection, numbers) as wanted:
            parts = read_labels(connection, question, items, FURTHER, wanted)
        try:
            found = self._attach(database, question, write=True)
        except duckdb_error():  # another program has it open
            return False
        if found is None or found.state != before:
            _detach(database)
            return False
        name = f"counting.{labels_name(question)}"
        database.register("answers", pa.Table.from_batches(map(as_batch, parts)))
        database.register("touched", pa.table({"item_id": pa.array(numbers, pa.int32())}))
        again = any((columns["pass"] > 1).any() for columns in parts)
        try:
            database.begin()
            database.execute(f"DELETE FROM {name} WHERE item_id IN (SELECT item_id FROM touched)")  # noqa: S608
            database.execute(f"INSERT INTO {name} SELECT * FROM answers")  # noqa: S608
            values = [*state, again, *question]
            database.execute(f"UPDATE counting.stamps SET {_NEW} WHERE {_HERE}", values)  # noqa: S608
            database.commit()
        except BaseException:
            database.rollback()
            raise
        finally:
            _detach(database)
        return True

    def _attach(
        self, database: DuckDBPyConnection, question: QuestionKey, *, write: bool = False
    ) -> Stamp | None:
        """Attach the file, and return what it has of a question; None if it has nothing."""
        how = "" if write else " (READ_ONLY)"
        quoted = str(self.file).replace("'", "''")
        database.execute(f"ATTACH '{quoted}' AS counting{how}")
        try:
            rows = database.execute(
                f"SELECT change_id, recorded_at, repeats FROM counting.stamps WHERE {_HERE}",  # noqa: S608
                [*question],
            ).fetchall()
        except BaseException:
            _detach(database)
            raise
        if not rows:
            return None
        change, recorded_at, repeats = rows[0]
        return Stamp(State(change, recorded_at), bool(repeats))


@dataclass(frozen=True)
class CopiedLedger(Record):
    """What was copied for counting, and into which file."""

    file: str
    questions: int
    labels: int
    bytes: int


def write_counting_copy(
    connection: Connection, file: Path, like: Path | None, progress: Callable[[str, int], None]
) -> CopiedLedger:
    """Copy the labels of all questions but those of spans into a file with the mode of another."""
    import duckdb

    questions, labels = 0, 0
    with new_file(file, like, replace=True) as path:
        path.unlink()  # DuckDB takes no file that is empty
        with duckdb.connect(str(path)) as database:
            database.execute(_STAMPS)
            for project in list_projects(connection, archived=True):
                for question in find_questions(connection, project):
                    if question.answers != "spans":
                        labels += _write(database, connection, question.key)
                        questions += 1
                        progress(project.name, labels)
        path.chmod(OWNERS_ONLY)
        size = path.stat().st_size
    return CopiedLedger(str(file), questions, labels, size)


def _write(database: DuckDBPyConnection, connection: Connection, question: QuestionKey) -> int:
    """Copy a question's labels into a file that is open; returns their number."""
    import pyarrow as pa

    items = highest_item(connection, question.project_id)
    parts = read_labels(connection, question, items, FURTHER)
    database.register("answers", pa.Table.from_batches(map(as_batch, parts)))
    database.execute(f"CREATE TABLE {labels_name(question)} AS SELECT * FROM answers")  # noqa: S608
    repeats = any((columns["pass"] > 1).any() for columns in parts)
    state = State(*last_change(connection, question.project_id))
    database.execute("INSERT INTO stamps VALUES (?, ?, ?, ?, ?)", [*question, *state, repeats])
    return sum(len(columns["pass"]) for columns in parts)


def labels_name(question: QuestionKey) -> str:
    """Return the name of the labels of a question."""
    return f"labels_{question.project_id}_{question.question_id}"


def as_batch(columns: dict[str, Any]) -> Any:
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


def _detach(database: DuckDBPyConnection) -> None:
    database.execute("DETACH counting")


def duckdb_error() -> type[Exception]:
    """Return the base of all errors that DuckDB raises."""
    import duckdb

    return duckdb.Error
