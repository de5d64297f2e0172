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
)

from tracker.formats.batch import Numbers
from tracker.imports.held_rows import Held, has_repeated_rows
from tracker.projects.questions import FIRST
from tracker.storage import backends
from tracker.storage.schema import NO_SPAN
from tracker.storage.schema.labels import LABEL, OWN_NAME

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


def add_staged_inserts(
    known: Mapping[int, Fates],
    rows: Mapping[str, Any],
    gold: int | None,
    truth_files: Collection[int],
) -> dict[int, Fates]:
    """Return how many answers and truths were inserted, if all rows were, too, by question.

    In a file of truths alone, given by its source's number, the truths are the rows.
    """
    number = len(rows["line"])
    of = rows["question_id"]
    beside = np.zeros(number, bool)
    if gold is not None:
        alone = np.isin(rows["source"], sorted(truth_files))
        beside = (rows["annotator_id"] == gold) & ~alone
    fates = {**known}
    for question in [of] if isinstance(of, int) else np.unique(of).tolist():
        answers, truths = (int((which & (of == question)).sum()) for which in (~beside, beside))
        before = fates.get(question, Fates({}, {}))
        fates[question] = Fates(
            *(
                dict.fromkeys(FATES, 0) | {"inserted": counts.get("inserted", 0) + more}
                for counts, more in zip(before, (answers, truths), strict=True)
            )
        )
    return fates


REFERENCES = {"item_id", "annotator_id", "given_as", "category_id"}
"""The columns that refer to a row of another table."""

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

    They are held as arrays until they are `stored` in ``table``, if they must be. ``wave`` numbers
    the records of one answer within the import, oldest first.
    ``extremes`` holds by question the least and the greatest number of each column of
    `REFERENCES`.
    """

    def __init__(self, connection: Connection, recorded_at: int) -> None:
        self.connection = connection
        self.table = _INCOMING
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

    def replace_category(self, question: int, old: int, new: int) -> None:
        """Replace a category by another in the rows of a question."""
        self._held.replace_category(question, old, new)

    def all_at_once(self, singles: Collection[int]) -> Held | None:
        """Return the rows, if none must be resolved; else None.

        Rows must be resolved if an answer has several records, or rows that repeat or contradict
        each other. An answer to a question of ``singles`` is one category.
        """
        if not self._held.rows:
            return None
        repeated = any(has_repeated_rows(rows, singles) for rows in self._held.in_order())
        return None if repeated else self._held

    def store(self) -> None:
        backend = backends.backend_of(self.connection)
        for rows in self._held.in_order():
            backend.bulk_insert(self.connection, self.table, staged_rows_with_missing(rows))
        self._held.clear()
        backend.refresh_statistics(self.connection, self.table)

    def close(self) -> None:
        self._held.clear()


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
    try:
        yield staged
    finally:
        staged.close()
    staged.table.drop(connection)
