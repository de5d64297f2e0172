"""The rows of an import until it is decided which answer stands: in memory, files and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile, gettempdir
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from tracker.core.errors import Refused
from tracker.formats.batch import Flags, Numbers
from tracker.projects.questions import FIRST
from tracker.storage import backends, seals
from tracker.storage.schema import NO_SPAN, AnswerDetail, Label
from tracker.storage.schema.labels import (
    ANSWER,
    ASSERTION,
    LABEL,
    OWN_NAME,
    RECORD,
    detail_of,
    own_name_key,
    same_answer_key,
)

_ORDER = (*ANSWER, "category_id")
_ONE_RECORD = ("labeled_at", "source", "given_as")
"""Columns in which all rows of one record of an answer are alike."""
MOST_HELD = 1_000_000
"""Rows of a file, 20 to 40 bytes each; up to twice as many are held in memory without one."""
_SAMPLE = 20_000  # of so many rows in a file, one says where it could be cut
NOT_TIMED = -1
"""In ``spent_ms``: the time spent is not known."""


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


def staged_rows_with_missing(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows as a database takes them: an unknown time spent is missing."""
    spent = rows["spent_ms"]
    missing = np.ma.masked_equal(spent, NOT_TIMED) if isinstance(spent, np.ndarray) else None
    return {**rows, "spent_ms": missing}


FATES = ("inserted", "changed", "unchanged", "older")
"""What became of a row, by its number in the column ``fate`` of the staged rows."""


class Fates(NamedTuple):
    """The number of answers to a question by outcome, and that of truths beside them."""

    answers: Counter[str]
    truths: Counter[str]


def add_staged_inserts(
    known: Mapping[int, Fates],
    rows: Mapping[str, Any],
    gold: int | None,
    truth_files: Collection[int],
) -> dict[int, Fates]:
    """Return how many answers and truths were inserted, if all rows were, too, by question.

    In a file of truths alone, given by its source's number, the truths are the rows.
    """
    beside = rows["annotator_id"] == (gold or 0)
    beside &= ~np.isin(rows["source"], sorted(truth_files))
    fates = {**known}
    for question in np.unique(rows["question_id"]).tolist():
        of_question = rows["question_id"] == question
        answers, truths = (int((which & of_question).sum()) for which in (~beside, beside))
        before = fates.get(question, Fates(Counter(), Counter()))
        fates[question] = Fates(
            before.answers + Counter(inserted=answers), before.truths + Counter(inserted=truths)
        )
    return fates


_DEFAULTS = {
    "question_id": FIRST,
    "pass": 1,
    "source": 1,
    "span_start": NO_SPAN,
    "span_end": NO_SPAN,
    "given_as": OWN_NAME,
    "has_own_time": 0,
    "spent_ms": NOT_TIMED,
}
"""The values of columns that were not given."""

_INCOMING = sa.Table(
    "incoming",
    sa.MetaData(),
    *(
        sa.Column(name, Label.__table__.c[name].type, primary_key=True)
        for name in (*RECORD, *LABEL)
    ),
    sa.Column("line", sa.Integer, primary_key=True),
    sa.Column("has_own_time", sa.Boolean, nullable=False),
    sa.Column("first_change_id", sa.Integer),
    sa.Column("spent_ms", sa.Integer),
    sa.Column("wave", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("fate", sa.SmallInteger, nullable=False, server_default=sa.text("0")),  # inserted
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)


class Held:
    """Rows as columns, each of shape (rows,), in the parts that were read."""

    def __init__(self, defaults: Mapping[str, int]) -> None:
        self.defaults = defaults
        self.rows = 0
        self._held = 0
        self._parts: list[tuple[int, dict[str, Numbers]]] = []
        self._files: list[_File] = []
        self._ordered: dict[str, Numbers] = {}

    def clear(self) -> None:
        """Forget all rows, and delete the files."""
        for rows in self._files:
            rows.file.close()
        self.rows, self._held, self._parts, self._files, self._ordered = 0, 0, [], [], {}

    def add(self, columns: Mapping[str, Numbers]) -> None:
        """Append rows; a column left out holds its default."""
        rows = len(columns["line"])
        narrow = columns.keys() - {"labeled_at"}  # which needs 64 bits
        self._parts.append((rows, {**columns, **{n: columns[n].astype(np.int32) for n in narrow}}))
        self.rows += rows
        self._held += rows
        self._ordered = {}
        if self._held > MOST_HELD * (1 if self._files else 2):
            self._write()

    def replace_category(self, question: int, old: int, new: int) -> None:
        """Replace a category by another in the rows of a question."""
        for file in self._files:
            file.replaced.append((question, old, new))
        for _, part in self._parts:
            _replace_category(part, question, old, new)

    def in_order(self) -> Iterator[dict[str, Any]]:
        """Yield all rows in the order of labels' keys, those of an item in one part.

        A column that no row has is its default.
        """
        if not self._files:
            if self._parts:
                self._ordered = self._ordered or self._sorted()
                yield {**self.defaults, **self._ordered}
            return
        if self._parts:
            self._write()
        number = -(-self.rows // MOST_HELD)
        samples = np.sort(np.concatenate([file.samples for file in self._files]))
        places = np.linspace(0, len(samples), number + 1).astype(int)[1:-1]
        cuts = np.unique(samples[places])
        bounds = [file.places(cuts) for file in self._files]
        for n in range(len(cuts) + 1):
            part = Held(self.defaults)
            part._parts = [
                (own[n + 1] - own[n], file.read(own[n], own[n + 1]))
                for file, own in zip(self._files, bounds, strict=True)
            ]
            if any(rows for rows, _ in part._parts):
                yield {**self.defaults, **part._sorted()}

    def _write(self) -> None:
        """Move the rows from memory into a file."""
        self._files.append(_File(self._sorted()))
        self._held, self._parts, self._ordered = 0, [], {}

    def _sorted(self) -> dict[str, Numbers]:
        """Return the rows in memory by answer, then by category, without what no row has."""
        columns = {}
        for name in dict.fromkeys(name for _, part in self._parts for name in part):
            columns[name] = np.concatenate(
                [  # released to save memory
                    part.pop(name) if name in part else np.full(rows, self.defaults[name], np.int64)
                    for rows, part in self._parts
                ]
            )
        order = _order([columns[name] for name in _ORDER if name in columns])
        for name in columns:
            columns[name] = columns[name][order]
        self._parts = [(len(order), columns)]
        return columns


def _replace_category(columns: Mapping[str, Numbers], question: int, old: int, new: int) -> None:
    of_question = np.equal(columns.get("question_id", FIRST), question)
    columns["category_id"][of_question & (columns["category_id"] == old)] = new


class _File:
    """Sorted rows in a temporary file, column after column."""

    def __init__(self, columns: Mapping[str, Numbers]) -> None:
        questions = np.asarray(columns.get("question_id", FIRST), np.int64)
        key = questions * (1 << 32) + columns["item_id"]
        self.rows = len(key)
        self.samples = key[::_SAMPLE].copy()  # evenly spread; a view would hold all
        self.replaced: list[tuple[int, int, int]] = []  # a question, the old category and the new
        self._types = {name: column.dtype for name, column in columns.items()}
        self.file = TemporaryFile()  # noqa: SIM115 - closed with the rows
        try:
            for column in (key, *columns.values()):
                column.tofile(self.file)
        except OSError as error:
            mend = f"make room in {gettempdir()}, or name another folder in TMPDIR"
            reason = f"temporary files cannot be written: {error.strerror or error}"
            raise Refused(reason, mend) from None

    def places(self, cuts: Numbers) -> list[int]:
        """Return where each part begins if the rows are cut before these keys, and their end."""
        self.file.seek(0)
        key = np.fromfile(self.file, np.int64, self.rows)
        return [0, *np.searchsorted(key, cuts).tolist(), self.rows]

    def read(self, start: int, stop: int) -> dict[str, Numbers]:
        """Return some rows, one after the other."""
        place, columns = self.rows * np.dtype(np.int64).itemsize, {}
        for name, kind in self._types.items():
            self.file.seek(place + start * kind.itemsize)
            columns[name] = np.fromfile(self.file, kind, stop - start)
            place += self.rows * kind.itemsize
        for replaced in self.replaced:
            _replace_category(columns, *replaced)
        return columns


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


def has_repeated_rows(rows: Mapping[str, Any], singles: Collection[int]) -> bool:
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


class Staging(Held):
    """The rows of one import on their way in; one row is one label, its names resolved.

    They are held as arrays until they are stored in ``table``, if they must be. ``wave`` numbers
    the records of one answer within the import, oldest first. ``extremes`` holds by question the
    least and the greatest number of each column that refers to another table. An answer without a
    time was labeled when it was recorded.
    """

    def __init__(self, connection: sa.Connection, recorded_at: int) -> None:
        super().__init__({**_DEFAULTS, "labeled_at": recorded_at})
        self.connection = connection
        self.table = _INCOMING
        self.table.create(connection)
        self.extremes: dict[int, dict[str, tuple[int, int]]] = {}

    def add(self, columns: Mapping[str, Numbers], question: int = FIRST) -> None:
        """Append rows that answer a question; a column left out takes its default."""
        number = len(columns["line"])
        if not number:
            return
        extremes = self.extremes.setdefault(question, {})
        for name in {"item_id", "annotator_id", "given_as", "category_id"} & columns.keys():
            ends = (*extremes.get(name, ()), int(columns[name].min()), int(columns[name].max()))
            extremes[name] = (min(ends), max(ends))
        if question != FIRST:
            columns = {**columns, "question_id": np.full(number, question)}
        super().add(columns)

    def all_at_once(self, singles: Collection[int]) -> Held | None:
        """Return the rows, None if some must be resolved: see `has_repeated_rows`."""
        repeated = any(has_repeated_rows(rows, singles) for rows in self.in_order())
        return None if repeated or not self.rows else self

    def store(self) -> None:
        backend = backends.backend_of(self.connection)
        for rows in self.in_order():
            backend.bulk_insert(self.connection, self.table, staged_rows_with_missing(rows))
        self.clear()
        backend.refresh_statistics(self.connection, self.table)


@contextmanager
def staging(connection: sa.Connection, recorded_at: int) -> Iterator[Staging]:
    """Yield an empty staging table, dropped afterwards or by an aborted transaction."""
    staged = Staging(connection, recorded_at)
    try:
        yield staged
    finally:
        staged.clear()
    staged.table.drop(connection)


_known = AnswerDetail.__table__
_STAGED_DETAILS = sa.Table(
    "incoming_details",
    sa.MetaData(),
    sa.Column("source", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("line", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("annotator_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("confidence", sa.Double),
    sa.Column("comment", sa.Text),
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)
_details = _STAGED_DETAILS.c

Detail = tuple[int, int, int, float | None, str | None]
"""The line, the annotator and the source of a staged row, its confidence and comment."""


class StagedDetails:
    """The details of one import's answers; ``table`` is None as long as there are none."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection
        self.table: sa.Table | None = None

    def add(self, details: Sequence[Detail]) -> None:
        """Append details of staged rows; of several of one row the first holds."""
        first = {detail[:3]: detail for detail in reversed(details)}
        if not first:
            return
        if self.table is None:
            self.table = _STAGED_DETAILS
            self.table.create(self.connection)
        names = ("line", "annotator_id", "source", "confidence", "comment")
        columns = dict(zip(names, map(list, zip(*first.values(), strict=True)), strict=True))
        backends.backend_of(self.connection).bulk_insert(self.connection, self.table, columns)

    def new(self, row: sa.FromClause, standing: sa.FromClause) -> sa.ColumnElement[bool]:
        """Return the condition that a staged row says more than is known of the standing one."""
        known = _known.alias("known_detail")
        same = sa.exists().where(
            detail_of(known, standing),
            known.c.confidence.is_not_distinct_from(_details.confidence),
            known.c.comment.is_not_distinct_from(_details.comment),
        )
        more = sa.exists().where(_of_row(row), ~same.correlate(_STAGED_DETAILS, standing))
        return more.correlate(row, standing)

    def store(self, incoming: sa.Table, project_id: int, change: int) -> None:
        """Store the details with the records of their rows, and drop the table.

        Of a record of several rows the first with details holds.
        """
        if self.table is None:
            return
        name, record = own_name_key(incoming), incoming.c[ASSERTION]
        first = sa.func.min(incoming.c.line).label("line")
        firsts = (
            sa.select(*record, name.label("given_as"), first)
            .join(self.table, _of_row(incoming))
            .group_by(*record, name)
            .subquery("firsts")
        )
        key = [column for column in (*ASSERTION, "given_as") if column != "annotator_id"]
        keys = sa.literal(project_id), sa.literal(change), *firsts.c[*key]
        rest = ("confidence", "comment")
        rows = sa.select(*keys, *_details[rest]).join(self.table, _of_row(firsts))
        columns = ["project_id", "change_id", *key, *rest]
        self.connection.execute(sa.insert(_known).from_select(columns, rows))
        self.table.drop(self.connection)
        seals.seal_new_details(self.connection, project_id, change)


def _of_row(row: sa.FromClause) -> sa.ColumnElement[bool]:
    return same_answer_key(("source", "line", "annotator_id"), _STAGED_DETAILS, row)
