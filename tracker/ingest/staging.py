"""The temporary table in which an import lies until it is settled which answers stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    and_,
    case,
    text,
)
from sqlalchemy.sql.selectable import FromClause

from tracker import dialect
from tracker.past import ANSWER
from tracker.schema import NO_SPAN

__all__ = [
    "ANSWER",
    "ASSERTION",
    "FATES",
    "LABEL",
    "OWN_NAME",
    "RECORD",
    "REFERENCES",
    "Staging",
    "given_as",
    "same",
    "staging",
]

ASSERTION = (*ANSWER, "labelled_at", "source")
"""The columns of an answer, and which time a file gave it: one answer, under whatever names."""
RECORD = (*ASSERTION, "given_as")
"""… and which of the records of that answer; names may turn out to be another's."""
LABEL = ("category_id", "span_start", "span_end")
"""The columns that say what was answered."""

REFERENCES = {"item_id", "annotator_id", "given_as", "category_id"}
"""The columns that refer to a row of another table."""

INSERTED, CHANGED, UNCHANGED, OLDER = range(4)
OWN_NAME = 0
"""In ``given_as``: the answer came under the annotator's own name."""
FATES = ("inserted", "changed", "unchanged", "older")
"""What became of a row, by its number in the column ``fate``."""


class Staging:
    """The rows of one import on their way in; one row is one label, its names resolved.

    ``wave`` numbers the records of one answer within the import, oldest first. ``extremes``
    holds the least and the greatest number of each column of `REFERENCES`.
    """

    def __init__(self, connection: Connection, recorded_at: int) -> None:
        self.connection = connection
        self.table = _INCOMING
        _table(recorded_at).create(connection)
        self.extremes: dict[str, tuple[int, int]] = {}

    def add(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Append rows given column by column; what is left out takes its default."""
        for name in REFERENCES & columns.keys():
            numbers = [*columns[name], *self.extremes.get(name, ())]
            if numbers:
                self.extremes[name] = (min(numbers), max(numbers))
        dialect.bulk_insert(
            self.connection, self.table, list(columns), zip(*columns.values(), strict=True)
        )

    def filled(self) -> None:
        """Say that all rows are in."""
        dialect.refresh_statistics(self.connection, self.table)


def same(columns: tuple[str, ...], left: FromClause, right: FromClause) -> ColumnElement[bool]:
    """That two sources of rows are equal in these columns."""
    return and_(*(left.c[column] == right.c[column] for column in columns))


def given_as(rows: FromClause) -> ColumnElement[int]:
    """The name under which staged answers were given."""
    return case((rows.c.given_as == OWN_NAME, rows.c.annotator_id), else_=rows.c.given_as)


def _table(recorded_at: int) -> Table:
    """As it is created: an answer without a time was labelled when it was recorded."""
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
    """An empty staging table, gone afterwards; an aborted transaction takes it with it."""
    made = Staging(connection, recorded_at)
    yield made
    made.table.drop(connection)
