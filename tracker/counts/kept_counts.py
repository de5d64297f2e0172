"""Counted rows that are looked up when they are asked for again.

What a statement counted is kept with the change after which it did (`storage.kept_tallies`). After
more changes only the items that they touched are counted, as they were and as they are: rows of
counts add up over items that do not meet. Of small projects nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sqlalchemy import Connection, Select, Table, Text, cast, func, select
from sqlalchemy.sql import visitors

from tracker.core.kept import ENGINE
from tracker.core.tallies import IntArray
from tracker.counts.selection import stream_rows
from tracker.engines.engine import Asked, Columns, Engine, rows_of
from tracker.lake.connection import LakeConnection
from tracker.lake.recorded import LabelFile
from tracker.projects.projects import last_change
from tracker.projects.questions import QuestionInfo
from tracker.projects.touched import (
    highest_item,
    items_to_count_again,
    items_touched_since,
    no_answers_changed_since,
)
from tracker.storage.as_of import count_before_and_now, stored_erasure_since
from tracker.storage.backends import backend_of
from tracker.storage.kept_tallies import (
    LARGEST,
    TALLIES,
    NewTallies,
    State,
    Tally,
    kept_statements,
    kept_tally,
)
from tracker.storage.schema import Import, Item, Label, Source
from tracker.storage.schema.labels import of_question

LEAST_ITEMS = 10_000
"""Items of a project whose counts are kept."""
_MOST_ROWS = 1_000_000  # that are held at a time; as Python's tuples they take 100 MB
_MOST_PAIRS = 20_000_000  # rows of 40 bytes at most in one text; 10 ** 9 bytes are too many
_OF_ITEMS = {model.__table__ for model in (Label, Import, Source)}
"""The tables that differ for no item but those that a change says it touched."""
_WORTH_IT = 4  # an annotator's answers with all others to their items take as long as so many
_FORM = "1"  # of what is kept
Row: TypeAlias = tuple[Any, ...]
Parts: TypeAlias = Sequence[Sequence[LabelFile]]


class Sequences(NamedTuple):
    """Rows that rest on their annotator's answers in turn, and on all answers to these items.

    They are counted of some annotators by ``select``; ``owners`` are the annotators of columns.
    """

    select: Callable[[frozenset[int]], Select[Any]]
    owners: Callable[[Columns], IntArray | list[Any]]


@dataclass(frozen=True)
class _Counting:
    """A statement whose rows are kept.

    Attributes:
        statement: its columns are what it groups by, then counts or sums.
        keys: how many of the columns it groups by; None if no rows may be added up.
        most: how many of the last columns are a greatest value, of which a greater one will do.
        any_of: whether it is one row that says of conditions whether any answer meets them.
        sequences: how the rows of some annotators are counted, if only these are to be.
        fetch: returns the columns that a connection has now.
    """

    statement: Select[Any]
    keys: int | None
    most: int = 0
    any_of: bool = False
    sequences: Sequences | None = None
    fetch: Callable[[Connection, Select[Any]], Columns] | None = None

    @cached_property
    def of_items(self) -> bool:
        """Whether it changes with nothing but the items that a change touches."""
        parts = visitors.iterate(self.statement)
        tables = {part for part in parts if isinstance(part, Table)}
        # An item's key, which decides between answers of one moment, is always the same.
        return tables <= (_OF_ITEMS if self.sequences is None else {*_OF_ITEMS, Item.__table__})

    @cached_property
    def adds_up(self) -> bool:
        """Whether the columns of items that do not meet may be added up."""
        return self.keys is not None and self.sequences is None

    def columns(self, connection: Connection) -> Columns:
        """Return the columns that a connection has now, in the order of their keys."""
        return self.added_up((self.fetch or _columns_of)(connection, self.statement))

    def added_up(self, columns: Columns) -> Columns:
        """Return the columns in one order, so that sums of fractions over them are always alike."""
        if self.keys is None:
            return _in_order(columns) if len(columns[0]) <= _MOST_ROWS else columns
        return _summed([(columns, 1)], self.keys, most=self.most)

    def sum_of(self, parts: Iterable[Columns]) -> Columns:
        """Return the sum of columns that add up; no more than two large ones are held at a time."""
        assert self.keys is not None
        met: list[tuple[Columns, int]] = []
        for columns in parts:
            met.append((columns, 1))
            if sum(len(first) for (first, *_), _ in met) > _MOST_ROWS:
                met = [(_summed(met, self.keys, most=self.most), 1)]
        return _summed(met, self.keys, most=self.most)

    def digest(self, connection: Connection) -> str:
        compiled = self.statement.compile(dialect=connection.dialect)
        parts = (_FORM, str(compiled), sorted(compiled.params.items()), self.keys)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


# -- What is asked for: rows that add up, as they come or as one text; rows that do not ----------


def counted_rows(
    connection: Connection,
    statement: Select[Any],
    question: QuestionInfo,
    keys: int | None,
    *,
    most: int = 0,
) -> Iterator[Row]:
    """Return the rows of a statement that counts items or answers, by its first ``keys`` columns.

    The others are counts or sums; the last ``most`` are greatest values, and may be greater.
    Rows of no number of ``keys`` do not add up over items.
    """
    return rows_of(counted_columns(connection, statement, question, keys, most=most))


def counted_columns(
    connection: Connection,
    statement: Select[Any],
    question: QuestionInfo,
    keys: int | None,
    *,
    most: int = 0,
    sequences: Sequences | None = None,
) -> Columns:
    """Return the columns of the same rows, in the order of the first ones."""
    counting = _Counting(statement, keys, most, sequences=sequences)
    return _kept_columns(connection, question, counting)


def counted_pairs(
    connection: Connection, statement: Select[Any], question: QuestionInfo
) -> IntArray:
    """Return the rows of a statement of a whole number and how often it was counted, (N, 2).

    The database writes them as one text, from which numpy reads millions of numbers in much
    less time than as many rows take. If a text cannot hold them, they come as rows. A row with
    NULL is left out.
    """
    counting = _Counting(statement, 1, fetch=_number_pairs)
    columns = map(np.asarray, _kept_columns(connection, question, counting))
    return np.stack([*columns], axis=1)


def kept_rows(connection: Connection, statement: Select[Any], question: QuestionInfo) -> list[Row]:
    """Return the rows of a statement on a project's answers, kept until any of them changes."""
    return [*counted_rows(connection, statement, question, None)]


def kept_any_of(
    connection: Connection, statement: Select[Any], question: QuestionInfo
) -> tuple[bool, ...]:
    """Return the row of a statement that says of conditions whether any answer meets them."""
    counting = _Counting(statement, None, any_of=True)
    return tuple(bool(there) for (there,) in _kept_columns(connection, question, counting))


def kept_set(
    connection: Connection, statement: Select[Any], question: QuestionInfo, most: Select[Any]
) -> list[Row]:
    """Return the rows of a statement of distinct ones, kept until any answer changes.

    There are no more than ``most`` counts: the database may stop when it has met so many. Over
    files what was met is added to.
    """
    if isinstance(connection, LakeConnection):
        return [*counted_rows(connection, statement, question, len(statement.selected_columns))]
    return kept_rows(connection, statement.limit(most.scalar_subquery()), question)


def _columns_of(connection: Connection, statement: Select[Any]) -> Columns:
    """Return a statement's columns; hold at most `_MOST_ROWS` of Python's tuples at a time."""
    if backend_of(connection).counts_in_parallel:  # not for a cursor
        some = select(statement.subquery("counted")).limit(_MOST_ROWS)
        rows = [tuple(row) for row in connection.execute(some)]
        if len(rows) < _MOST_ROWS:
            return _turned(rows, statement)
    stream = stream_rows(connection, statement)
    parts = [_turned(rows, statement) for rows in iter(lambda: [*islice(stream, _MOST_ROWS)], [])]
    return [_joined(column) for column in zip(*parts or [_turned([], statement)], strict=True)]


def _turned(rows: Sequence[Row], statement: Select[Any]) -> Columns:
    """Return the columns of a statement's rows."""
    return [_column([row[n] for row in rows]) for n in range(len(statement.selected_columns))]


def _column(cells: list[Any]) -> IntArray | list[Any]:
    """Return cells as an array if all are whole numbers; a sum may come as a decimal one."""
    if {*map(type, cells)} <= {int}:
        return np.array(cells, dtype=np.int64)
    whole = [int(cell) for cell in cells if cell is not None and not isinstance(cell, (str, float))]
    return np.array(whole, dtype=np.int64) if len(whole) == len(cells) else cells


def _number_pairs(connection: Connection, statement: Select[Any]) -> Columns:
    rows = statement.limit(_MOST_PAIRS + 1).subquery("rows")
    first, second = (cast(column, Text) for column in rows.c)
    together = func.aggregate_strings(first + "," + second, ",").label("together")
    text, number = connection.execute(select(together, func.count().label("number"))).one()
    if number > _MOST_PAIRS:
        flat = chain.from_iterable(
            row for row in stream_rows(connection, statement) if None not in row
        )
        return [*np.fromiter(flat, dtype=np.int64).reshape(-1, 2).T]
    return [*np.fromstring(text or "", dtype=np.int64, sep=",").reshape(-1, 2).T]


# -- What is kept: found, carried over the changes since, or counted ------------------------------


def counted_by(connection: Connection) -> list[str]:
    """Return what counted for a reading transaction so far; see `NewTallies`."""
    tallies: NewTallies | None = connection.info.get(TALLIES)
    counted = sorted(tallies.counted_by) if tallies is not None else []
    return counted or ["database"]


def _kept_columns(connection: Connection, question: QuestionInfo, counting: _Counting) -> Columns:
    """Return a statement's columns, kept or counted."""
    tallies: NewTallies | None = connection.info.get(TALLIES)
    if isinstance(connection, LakeConnection):
        return _OfFiles(connection, counting, tallies or NewTallies()).columns()
    if tallies is None:
        return counting.columns(connection)
    project_id = question.project_id
    if project_id not in tallies.items:
        tallies.items[project_id] = highest_item(connection, project_id)
    items = tallies.items[project_id]
    if items < LEAST_ITEMS:
        return _count_all(connection, question, counting, tallies)
    if project_id not in tallies.states:
        tallies.states[project_id] = State(*last_change(connection, project_id))
    state, asked = tallies.states[project_id], (project_id, counting.digest(connection))
    known = tallies.counted.get(asked) or kept_tally(connection, *asked)
    if known is not None and _holds(connection, question, counting, known.state, state):
        tallies.counted_by.add("kept")
        return _read(known.content)
    columns = known and _carried(connection, question, counting, known, items)
    if columns is None:
        columns = _count_all(connection, question, counting, tallies)
    else:
        tallies.counted_by.add("touched")
    content = _written(columns)
    if len(content) <= LARGEST:
        tallies.counted[asked] = Tally(state, content)
    return columns


class _OfFiles:
    """The columns of a statement over the files of a lake.

    Those of each group of parts are kept, and their sum. Of a group that got more parts only these
    are counted. What does not add up is counted over all files.
    """

    def __init__(
        self, connection: LakeConnection, counting: _Counting, tallies: NewTallies
    ) -> None:
        connection.check_files()
        self._connection, self._counting, self._tallies = connection, counting, tallies
        self._project_id = connection.lake.project.id
        self._state = State(*last_change(connection.ledger, self._project_id))
        self._asked = counting.digest(connection.ledger)

    def columns(self) -> Columns:
        lake = self._connection.lake
        count: Callable[[Parts], Columns] = self._of_groups
        if not self._counting.adds_up:
            count = self._counted
        elif len(lake.groups) == 1:
            count = self._of_group
        return self._kept_or(lake.parts, count)

    def _of_groups(self, _parts: Parts) -> Columns:
        groups = self._connection.lake.groups
        return self._counting.sum_of(self._kept_or(group, self._of_group) for group in groups)

    def _of_group(self, parts: Parts) -> Columns:
        """Return the columns of the most of the first parts that are kept, and of the rest."""
        if len(parts) == 1:
            return self._counted(parts)
        first = {self._key(parts[:number]): number for number in range(len(parts) - 1, 0, -1)}
        there = kept_statements(self._connection.ledger, self._project_id, [*first])
        for key in (key for key in first if key in there):
            if (before := self._known(key)) is not None:
                return self._counting.sum_of([before, self._counted(parts[first[key] :])])
        return self._counted(parts)

    def _counted(self, parts: Parts) -> Columns:
        self._tallies.counted_by.add(self._connection.engine.name)
        files = [*chain.from_iterable(parts)]
        columns = self._connection.columns(self._counting.statement, files)
        return self._counting.added_up(columns)

    def _kept_or(self, parts: Parts, count: Callable[[Parts], Columns]) -> Columns:
        key = self._key(parts)
        columns = self._known(key)
        if columns is None:
            columns = count(parts)
            content = _written(columns)
            if len(content) <= LARGEST:
                self._tallies.counted[self._project_id, key] = Tally(self._state, content)
        return columns

    def _known(self, key: str) -> Columns | None:
        asked = self._project_id, key
        tally = self._tallies.counted.get(asked) or kept_tally(self._connection.ledger, *asked)
        if tally is None:
            return None
        self._tallies.counted_by.add("kept")
        return _read(tally.content)

    def _key(self, parts: Parts) -> str:
        of_files = self._connection.lake.digest([*chain.from_iterable(parts)])
        state = () if self._counting.of_items else self._state
        rests_on = (self._asked, (of_files, self._connection.until), state)
        return hashlib.sha256(repr(rests_on).encode()).hexdigest()


def _count_all(
    connection: Connection, question: QuestionInfo, counting: _Counting, tallies: NewTallies
) -> Columns:
    """Return the columns as another engine or the ledger's database counts them."""
    engine: Engine | None = connection.info.get(ENGINE)
    if engine is not None:
        asked = Asked(counting.statement, question.key, tallies.items[question.project_id])
        columns = engine.columns(connection, asked)
        if columns is not None:
            tallies.counted_by.add(engine.name)
            return counting.added_up(columns)
    tallies.counted_by.add("database")
    return counting.columns(connection)


def _holds(
    connection: Connection, question: QuestionInfo, counting: _Counting, before: State, now: State
) -> bool:
    """Return whether nothing that a statement counts has changed since a state."""
    project_id, through = question.project_id, before.change_id
    if before == now or no_answers_changed_since(connection, project_id, through):
        return True
    if not counting.of_items or stored_erasure_since(connection, project_id, through):
        return False
    return not items_touched_since(connection, question.key, through)


def _carried(
    connection: Connection, question: QuestionInfo, counting: _Counting, kept: Tally, items: int
) -> Columns | None:
    """Return the columns with the touched items counted anew; None if all are to be counted."""
    project_id, through = question.project_id, kept.state.change_id
    if (counting.keys is None and not counting.any_of) or not counting.of_items:
        return None
    touched = items_to_count_again(connection, question.key, through, items)
    if touched is None:
        return None
    numbers = chain.from_iterable(touched)
    if counting.sequences is not None:
        answering = select(Label.annotator_id).where(of_question(Label, question.key)).distinct()
        answered = count_before_and_now(
            connection, project_id, through, numbers, lambda: {*connection.scalars(answering)}
        )
        return _recounted(connection, counting, kept, frozenset().union(*answered))
    before, now = count_before_and_now(
        connection, project_id, through, numbers, lambda: counting.columns(connection)
    )
    if counting.keys is None:
        return _any_of(_read(kept.content), before, now)
    parts = [(_read(kept.content), 1), (before, -1), (now, 1)]
    return _summed(parts, counting.keys, most=counting.most)


def _recounted(
    connection: Connection, counting: _Counting, kept: Tally, touched: frozenset[int]
) -> Columns | None:
    """Return the columns with the rows of some annotators counted anew; None if they have many."""
    sequences, keys, columns = counting.sequences, counting.keys, _read(kept.content)
    assert sequences is not None
    assert keys is not None
    theirs = np.isin(sequences.owners(columns), [*touched])
    answers = _numbers(columns[keys])
    if answers[theirs].sum() * _WORTH_IT > answers.sum():
        return None
    now = _Counting(sequences.select(touched), keys, counting.most).columns(connection)
    parts = [(_rows_at(columns, np.flatnonzero(~theirs)), 1), (now, 1)]
    return _summed(parts, keys, most=counting.most)


def _any_of(kept: Columns, before: Columns, now: Columns) -> Columns | None:
    """Return of each condition whether any answer meets it; None if the last one may be gone."""
    was, then, still = (np.array(columns, dtype=np.bool_)[:, 0] for columns in (kept, before, now))
    if (was & then & ~still).any():
        return None
    return [*(was | still).astype(np.int64).reshape(-1, 1)]


def _summed(parts: Sequence[tuple[Columns, int]], keys: int, *, most: int) -> Columns:
    """Return counts added up with these signs, in the order of their keys.

    Rows whose counts are all 0 are left out; rows of a set have no counts.
    """
    joined = [_joined([columns[n] for columns, _ in parts]) for n in range(len(parts[0][0]))]
    joined[:keys] = map(_folded, joined[:keys])
    signs = np.concatenate([np.full(len(columns[0]), sign) for columns, sign in parts])
    codes = [_codes(column) for column in joined[:keys]]
    # Rows of one key may come in any order; to sort them so takes a third of the time.
    order = np.argsort(codes[0]) if keys == 1 else np.lexsort(codes[::-1])
    moved = [np.diff(code[order], prepend=-1) != 0 for code in codes]
    starts = np.flatnonzero(np.logical_or.reduce([*moved, np.arange(len(order)) == 0]))
    sums = []
    for place, column in enumerate(map(_numbers, joined[keys:]), keys):
        if place >= len(joined) - most:
            there = np.where(signs > 0, column, np.iinfo(np.int64).min)
            sums.append(np.maximum.reduceat(there[order], starts))
        else:
            sums.append(np.add.reduceat((column * signs)[order], starts))
    counts = sums[: len(sums) - most]
    left = np.logical_or.reduce([column != 0 for column in counts] or [starts >= 0])
    own = _rows_at(joined[:keys], order[starts[left]])
    return [*own, *(column[left] for column in sums)]


def _in_order(columns: Columns) -> Columns:
    """Return the columns with their rows in order."""
    return _rows_at(columns, np.lexsort([_codes(column) for column in columns[::-1]]))


def _rows_at(columns: Columns, places: IntArray) -> Columns:
    return [
        [column[n] for n in places.tolist()] if isinstance(column, list) else column[places]
        for column in columns
    ]


def _joined(columns: Sequence[IntArray | list[Any]]) -> IntArray | list[Any]:
    if any(isinstance(column, list) for column in columns):
        cells = (c if isinstance(c, list) else c.tolist() for c in columns)
        return [*chain.from_iterable(cells)]
    return np.concatenate(columns)


def _numbers(column: IntArray | list[Any]) -> IntArray:
    """Return counts; one of nothing may come as NULL."""
    return np.array([n or 0 for n in column]) if isinstance(column, list) else column


def _folded(column: IntArray | list[Any]) -> IntArray | list[Any]:
    """Return texts of answers, and of categories in an answer, in one order."""
    if not isinstance(column, list):
        return column
    folded = {cell: _in_one_order(cell) if isinstance(cell, str) else cell for cell in {*column}}
    return [folded[cell] for cell in column]


def _in_one_order(text: str) -> str:
    return ",".join(sorted("+".join(sorted(part.split("+"))) for part in text.split(",")))


def _codes(column: IntArray | list[Any]) -> IntArray:
    """Return numbers in the order of the cells; NULL is the last."""
    if not isinstance(column, list):
        return column
    cells = sorted({*column}, key=lambda cell: (cell is None, cell))
    number = {cell: n for n, cell in enumerate(cells)}
    return np.array([number[cell] for cell in column], dtype=np.int64)


# -- Columns as bytes: numbers as the steps between them, compressed ------------------------------


def _written(columns: Columns) -> bytes:
    kinds, parts = [], []
    for column in columns:
        if isinstance(column, list):
            part, kind = json.dumps(column).encode(), "json"
        else:
            steps = np.diff(column, prepend=0)
            lowest = min(int(steps.min(initial=0)), -int(steps.max(initial=0)), 0) - 1
            kind = np.min_scalar_type(max(lowest, -(2**63))).newbyteorder("<").str
            part = steps.astype(kind).tobytes()
        kinds.append([kind, len(part)])
        parts.append(part)
    return json.dumps(kinds).encode() + b"\n" + zlib.compress(b"".join(parts), 1)


def _read(content: bytes) -> Columns:
    head, _, rest = content.partition(b"\n")
    cells, columns, start = zlib.decompress(rest), [], 0
    for kind, size in json.loads(head):
        part = cells[start : start + size]
        start += size
        columns.append(
            json.loads(part) if kind == "json" else np.frombuffer(part, kind).cumsum(dtype=np.int64)
        )
    return columns
