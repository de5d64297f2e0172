"""The temporary table for the rows of an import until it is decided which answer stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    text,
    update,
)

from tracker.formats.batch import Flags, Numbers
from tracker.projects.questions import FIRST
from tracker.storage import backends
from tracker.storage.schema import NO_SPAN
from tracker.storage.schema.labels import ANSWER, LABEL, OWN_NAME

NOT_TIMED = -1
"""In ``spent_ms``: the time spent is not known."""

_ORDER = (*ANSWER, "category_id")
_WIDE = {"labeled_at"}  # 64 bits
_ONE_RECORD = ("labeled_at", "source", "given_as")
"""Columns in which all rows of one record of an answer are alike."""


class Held:
    """Rows column by column, with shape (rows,) each, in the parts in which they came."""

    def __init__(self, defaults: Mapping[str, int]) -> None:
        self.defaults = defaults
        self.clear()

    def clear(self) -> None:
        self.rows = 0
        self._parts: list[tuple[int, dict[str, Numbers]]] = []

    def add(self, columns: Mapping[str, Numbers]) -> None:
        """Append rows; a column left out holds its default."""
        rows = len(columns["line"])
        narrow = columns.keys() - _WIDE
        self._parts.append((rows, {**columns, **{n: columns[n].astype(np.int32) for n in narrow}}))
        self.rows += rows

    def replace_category(self, question: int, old: int, new: int) -> None:
        """Replace a category by another in the rows of a question."""
        for rows, part in self._parts:
            of = part.get("question_id", np.full(rows, self.defaults["question_id"]))
            part["category_id"][(of == question) & (part["category_id"] == old)] = new

    def sorted(self) -> dict[str, Numbers]:
        """Return the rows by answer, then by category, without columns that no row has."""
        names = dict.fromkeys(name for _, part in self._parts for name in part)
        columns = {name: self._column(name) for name in names}
        order = _order([columns[name] for name in _ORDER if name in columns])
        for name in columns:
            columns[name] = columns[name][order]
        self._parts = [(self.rows, columns)]
        return columns

    def _column(self, name: str) -> Numbers:
        """Return a column joined from all parts, which are released to save memory."""
        return np.concatenate(
            [
                part.pop(name) if name in part else np.full(rows, self.defaults[name], np.int64)
                for rows, part in self._parts
            ]
        )


def _order(keys: list[Numbers]) -> Numbers:
    """Return the order by several columns, the first being the slowest to change.

    If the columns and the row's place fit into 63 bits, they are sorted as one number, in place:
    in a tenth of the time, and without memory for the order beside it.
    """
    offsets = [int(key.min()) for key in keys]
    bits = [int(key.max() - low).bit_length() for key, low in zip(keys, offsets, strict=True)]
    rows = len(keys[0])
    width = (rows - 1).bit_length()
    if sum(bits) + width > 63:
        return np.lexsort(keys[::-1])
    packed = np.zeros(rows, np.int64)
    for key, low, wide in zip(keys, offsets, bits, strict=True):
        packed <<= wide
        packed += key
        packed -= low
    packed <<= width
    packed += np.arange(rows, dtype=np.int32)
    packed.sort()
    packed &= (1 << width) - 1
    return packed


def labels_once(rows: Mapping[str, Numbers]) -> Numbers:
    """Return the places of the rows to stage: each label of an answer once.

    Rows of one line that are alike but for the label are one answer; beside a label of it, a row
    without one says nothing.
    """
    record = [column for name, column in rows.items() if name not in {*LABEL, "spent_ms"}]
    answer = np.unique(np.column_stack(record), axis=0, return_inverse=True)[1].ravel()
    filled = rows["category_id"] > 0
    answered = np.bincount(answer, weights=filled) > 0
    staged = np.flatnonzero(filled | ~answered[answer])
    label = [rows[name][staged] for name in LABEL if name in rows]
    first = np.unique(np.column_stack([answer[staged], *label]), axis=0, return_index=True)[1]
    return staged[np.sort(first)]


def has_repeated_staged_rows(rows: Mapping[str, Any], singles: Collection[int]) -> bool:
    """Return whether sorted rows hold an answer with several records, or with a repeated label.

    An answer to a question of ``singles`` is one category; else a reserved category stands alone.
    Answers of several spans must always be resolved.
    """
    again = np.ones(len(rows["line"]) - 1, bool)
    for name in ANSWER:
        again &= _alike(rows[name])
    questions = np.broadcast_to(rows["question_id"], len(rows["line"]))[1:][again]
    if np.isin(questions, list(singles)).any() or not again.any():
        return bool(again.any())
    several = isinstance(rows["span_start"], np.ndarray) or rows["category_id"][1:] < 1
    several |= rows["category_id"][:-1] < 1
    several |= _alike(rows["category_id"])
    for name in _ONE_RECORD:
        several |= ~_alike(rows[name])
    return bool((again & several).any())


def _alike(column: Any) -> Flags | np.bool_:
    """Return whether each row but the first has the number of the row before it."""
    return column[1:] == column[:-1] if isinstance(column, np.ndarray) else np.True_


def staged_rows_with_missing(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows as a database takes them: an unknown time spent is missing."""
    spent = rows.get("spent_ms")
    if spent is None:
        return dict(rows)
    missing = np.ma.masked_equal(spent, NOT_TIMED) if isinstance(spent, np.ndarray) else None
    return {**rows, "spent_ms": missing}


INSERTED, CHANGED, UNCHANGED, OLDER = range(4)
FATES = ("inserted", "changed", "unchanged", "older")
"""What became of a row, by its number in the column ``fate`` of the staged rows."""


class Fates(NamedTuple):
    """The number of answers to a question by outcome, and that of truths beside them."""

    answers: dict[str, int]
    truths: dict[str, int]


def count_staged_inserts(
    rows: Mapping[str, Any], gold: int | None, truth_files: Collection[int]
) -> dict[int, Fates]:
    """Return how many answers and truths were inserted, if all rows were, by question.

    In a file of truths alone, given by its source's number, the truths are the rows.
    """
    number = len(rows["line"])
    of = rows["question_id"]
    beside = np.zeros(number, bool)
    if gold is not None:
        alone = np.isin(rows["source"], sorted(truth_files))
        beside = (rows["annotator_id"] == gold) & ~alone
    fates = {}
    for question in [of] if isinstance(of, int) else np.unique(of).tolist():
        answers, truths = (int((which & (of == question)).sum()) for which in (~beside, beside))
        none = dict.fromkeys(FATES, 0)
        fates[question] = Fates(none | {"inserted": answers}, none | {"inserted": truths})
    return fates


REFERENCES = {"item_id", "annotator_id", "given_as", "category_id"}
"""The columns that refer to a row of another table."""

MOST_HELD = 4_000_000
"""Rows that are held as arrays, 20 to 40 bytes each."""

_DEFAULTS = {
    "question_id": FIRST,
    "pass": 1,
    "source": 1,
    "span_start": NO_SPAN,
    "span_end": NO_SPAN,
    "given_as": 0,
    "has_own_time": 0,
    "spent_ms": NOT_TIMED,
}
"""The values of columns that were not given; as in the table below, for rows not yet in it."""


class Staging:
    """The rows of one import on their way in; one row is one label, its names resolved.

    They are held as arrays, and moved to ``table`` once they are too many to hold or are
    `stored`. ``wave`` numbers the records of one answer within the import, oldest first.
    ``extremes`` holds by question the least and the greatest number of each column of
    `REFERENCES`.
    """

    def __init__(self, connection: Connection, recorded_at: int) -> None:
        self.connection = connection
        self.table = _INCOMING
        self._spilled = False
        self._held = Held({**_DEFAULTS, "labeled_at": recorded_at})
        _table(recorded_at).create(connection)
        self.extremes: dict[int, dict[str, tuple[int, int]]] = {}

    def add(self, columns: Mapping[str, Numbers], question: int = FIRST) -> None:
        """Append rows that answer a question; a column left out takes its default."""
        number = len(columns["line"])
        if not number:
            return
        extremes = self.extremes.setdefault(question, {})
        for name in REFERENCES & columns.keys():
            ends = (*extremes.get(name, ()), int(columns[name].min()), int(columns[name].max()))
            extremes[name] = (min(ends), max(ends))
        if question != FIRST:
            columns = {**columns, "question_id": np.full(number, question)}
        self._held.add(columns)
        if self._held.rows > MOST_HELD:
            self._spill()

    def replace_category(self, question: int, old: int, new: int) -> None:
        """Replace a category by another in the rows of a question."""
        self._held.replace_category(question, old, new)
        if self._spilled:
            table = self.table
            rows = (table.c.question_id == question) & (table.c.category_id == old)
            self.connection.execute(update(table).where(rows).values(category_id=new))

    def all_at_once(self, singles: Collection[int]) -> Mapping[str, Any] | None:
        """Return all rows in the order of labels' keys, if none must be resolved; else None.

        A column that no row has is its default. Rows must be resolved if an answer has several
        records, or rows that repeat or contradict each other; or if the rows were too many to hold.
        An answer to a question of ``singles`` is one category.
        """
        if self._spilled or not self._held.rows:
            return None
        rows: dict[str, Any] = {**self._held.defaults, **self._held.sorted()}
        return None if has_repeated_staged_rows(rows, singles) else rows

    def store(self) -> None:
        self._spill()
        backends.backend_of(self.connection).refresh_statistics(self.connection, self.table)

    def _spill(self) -> None:
        if self._held.rows:
            backends.backend_of(self.connection).bulk_insert(
                self.connection, self.table, staged_rows_with_missing(self._held.sorted())
            )
            self._held.clear()
            self._spilled = True


def _table(recorded_at: int) -> Table:
    """Return the table; an answer without a time was labeled when it was recorded."""
    no_span, recorded = text(str(NO_SPAN)), text(str(recorded_at))
    return Table(
        "incoming",
        MetaData(),
        Column("question_id", SmallInteger, primary_key=True, server_default=text(str(FIRST))),
        Column("item_id", Integer, primary_key=True, autoincrement=False),
        Column("annotator_id", Integer, primary_key=True),
        Column("pass", SmallInteger, primary_key=True, server_default=text("1")),
        Column("labeled_at", BigInteger, primary_key=True, server_default=recorded),
        Column("source", SmallInteger, primary_key=True, server_default=text("1")),
        Column("category_id", Integer, primary_key=True),
        Column("span_start", Integer, primary_key=True, server_default=no_span),
        Column("span_end", Integer, primary_key=True, server_default=no_span),
        Column("line", Integer, primary_key=True),
        Column("given_as", Integer, primary_key=True, server_default=text(str(OWN_NAME))),
        Column("has_own_time", Boolean, nullable=False, server_default=text("false")),
        Column("first_change_id", Integer),
        Column("spent_ms", Integer),
        Column("wave", Integer, nullable=False, server_default=text("1")),
        Column("fate", SmallInteger, nullable=False, server_default=text(str(INSERTED))),
        prefixes=["TEMPORARY"],
        info={"clustered": True},
    )


_INCOMING = _table(0)  # one for all imports: what is made of the same table is compiled once


@contextmanager
def staging(connection: Connection, recorded_at: int) -> Iterator[Staging]:
    """Yield an empty staging table, dropped afterwards or by an aborted transaction."""
    staged = Staging(connection, recorded_at)
    yield staged
    staged.table.drop(connection)
