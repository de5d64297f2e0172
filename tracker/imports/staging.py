"""The temporary table for the rows of an import until it is decided which answer stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

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

from tracker.imports.batch import Numbers
from tracker.imports.row_outcomes import INSERTED
from tracker.imports.staged_rows import NOT_TIMED, Held, to_settle, with_missing
from tracker.storage import dialect
from tracker.storage.answer_keys import OWN_NAME
from tracker.storage.schema import NO_SPAN

REFERENCES = {"item_id", "annotator_id", "given_as", "category_id"}
"""The columns that refer to a row of another table."""

MOST_HELD = 4_000_000
"""Rows that are held as arrays, 20 to 40 bytes each."""

_DEFAULTS = {
    "pass": 1,
    "source": 1,
    "span_start": NO_SPAN,
    "span_end": NO_SPAN,
    "given_as": 0,
    "timed": 0,
    "spent_ms": NOT_TIMED,
}
"""What a row has that is not told of it; as the table below, for rows that do not lie in it."""


class Staging:
    """The rows of one import on their way in; one row is one label, its names resolved.

    They are held as arrays, and moved to ``table`` once they are too many to hold or are
    `stored`. ``wave`` numbers the records of one answer within the import, oldest first.
    ``extremes`` holds the least and the greatest number of each column of `REFERENCES`.
    """

    def __init__(self, connection: Connection, recorded_at: int) -> None:
        self.connection = connection
        self.table = _INCOMING
        self._spilled = False
        self._held = Held({**_DEFAULTS, "labelled_at": recorded_at})
        _table(recorded_at).create(connection)
        self.extremes: dict[str, tuple[int, int]] = {}

    def add(self, columns: Mapping[str, Numbers]) -> None:
        """Append rows given column by column; a column left out takes its default."""
        if not len(columns["line"]):
            return
        for name in REFERENCES & columns.keys():
            known = self.extremes.get(name, ())
            ends = (*known, int(columns[name].min()), int(columns[name].max()))
            self.extremes[name] = (min(ends), max(ends))
        self._held.add(columns)
        if self._held.rows > MOST_HELD:
            self._spill()

    def all_at_once(self, *, single: bool) -> Mapping[str, Any] | None:
        """Return all rows in the order of labels' keys, if none must be resolved; else None.

        A column that no row has is its default. Rows must be resolved if an answer has several
        records, or rows that repeat or contradict each other; or if the rows were too many to hold.
        With ``single`` an answer is one category.
        """
        if self._spilled or not self._held.rows:
            return None
        rows: dict[str, Any] = {**self._held.defaults, **self._held.sorted()}
        return None if to_settle(rows, single=single) else rows

    def store(self) -> None:
        """Move all rows into the table."""
        self._spill()
        dialect.refresh_statistics(self.connection, self.table)

    def _spill(self) -> None:
        if self._held.rows:
            dialect.bulk_insert(self.connection, self.table, with_missing(self._held.sorted()))
            self._held.clear()
            self._spilled = True


def _table(recorded_at: int) -> Table:
    """Return the table; an answer without a time was labeled when it was recorded."""
    no_span, recorded = text(str(NO_SPAN)), text(str(recorded_at))
    return Table(
        "incoming",
        MetaData(),
        Column("item_id", Integer, primary_key=True, autoincrement=False),
        Column("annotator_id", Integer, primary_key=True),
        Column("pass", SmallInteger, primary_key=True, server_default=text("1")),
        Column("labelled_at", BigInteger, primary_key=True, server_default=recorded),
        Column("source", SmallInteger, primary_key=True, server_default=text("1")),
        Column("category_id", Integer, primary_key=True),
        Column("span_start", Integer, primary_key=True, server_default=no_span),
        Column("span_end", Integer, primary_key=True, server_default=no_span),
        Column("line", Integer, primary_key=True),
        Column("given_as", Integer, primary_key=True, server_default=text(str(OWN_NAME))),
        Column("timed", Boolean, nullable=False, server_default=text("false")),
        Column("spent_ms", Integer),
        Column("wave", Integer, nullable=False, server_default=text("1")),
        Column("fate", SmallInteger, nullable=False, server_default=text(str(INSERTED))),
        prefixes=["TEMPORARY"],
        **dialect.CLUSTERED,
    )


_INCOMING = _table(0)  # one for all imports: what is made of the same table is compiled once


@contextmanager
def staging(connection: Connection, recorded_at: int) -> Iterator[Staging]:
    """Yield an empty staging table, dropped afterwards or by an aborted transaction."""
    made = Staging(connection, recorded_at)
    yield made
    made.table.drop(connection)
