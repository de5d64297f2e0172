"""More of an answer than its labels, on its way in: the confidence and the comment."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Double,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    and_,
    exists,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy.sql.selectable import FromClause

from tracker.storage import backends, seals
from tracker.storage.schema import AnswerDetail
from tracker.storage.schema.labels import ASSERTION, detail_of, own_name_key

_details = AnswerDetail.__table__
_staged = Table(
    "incoming_details",
    MetaData(),
    Column("source", SmallInteger, primary_key=True, autoincrement=False),
    Column("line", Integer, primary_key=True, autoincrement=False),
    Column("annotator_id", Integer, primary_key=True, autoincrement=False),
    Column("confidence", Double),
    Column("comment", Text),
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)

Detail = tuple[int, int, int, float | None, str | None]
"""The line, the annotator and the source of a staged row, its confidence and comment."""


class StagedDetails:
    """The details of one import's answers; ``table`` is None as long as there are none."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.table: Table | None = None

    def add(self, details: Sequence[Detail]) -> None:
        """Append details of staged rows; of several of one row the first holds."""
        first: dict[tuple[int, int, int], tuple[float | None, str | None]] = {}
        for line, annotator, source, confidence, comment in details:
            first.setdefault((source, line, annotator), (confidence, comment))
        if not first:
            return
        if self.table is None:
            _staged.create(self.connection)
            self.table = _staged
        sources, lines, annotators = (list(column) for column in zip(*first, strict=True))
        confidences, comments = (list(column) for column in zip(*first.values(), strict=True))
        columns = {"source": sources, "line": lines, "annotator_id": annotators}
        backends.backend_of(self.connection).bulk_insert(
            self.connection, _staged, columns | {"confidence": confidences, "comment": comments}
        )

    def new(self, row: FromClause, standing: FromClause) -> ColumnElement[bool]:
        """Return the condition that a staged row says more than is known of the standing one."""
        known = _details.alias("known_detail")
        same = exists(select(literal(1)).select_from(known)).where(
            detail_of(known, standing),
            known.c.confidence.is_not_distinct_from(_staged.c.confidence),
            known.c.comment.is_not_distinct_from(_staged.c.comment),
        )
        return (
            exists(select(literal(1)).select_from(_staged))
            .where(_of_row(row), ~same.correlate(_staged, standing))
            .correlate(row, standing)
        )

    def store(self, incoming: Table, project_id: int, change: int) -> None:
        """Store the details with the records of their rows, and drop the table.

        Of a record of several rows the first with details holds.
        """
        if self.table is None:
            return
        record = [*(incoming.c[name] for name in ASSERTION), own_name_key(incoming)]
        firsts = (
            select(*record[:-1], record[-1].label("name"), func.min(incoming.c.line).label("line"))
            .join(_staged, _of_row(incoming))
            .group_by(*record)
            .subquery("firsts")
        )
        key = [name for name in ASSERTION if name != "annotator_id"]
        self.connection.execute(
            insert(_details).from_select(
                ["project_id", "change_id", *key, "given_as", "confidence", "comment"],
                select(
                    literal(project_id),
                    literal(change),
                    *(firsts.c[name] for name in key),
                    firsts.c.name,
                    _staged.c.confidence,
                    _staged.c.comment,
                ).join(_staged, _of_row(firsts)),
            )
        )
        _staged.drop(self.connection)
        seals.seal_new_details(self.connection, project_id, change)


def _of_row(row: FromClause) -> ColumnElement[bool]:
    return and_(*(_staged.c[name] == row.c[name] for name in ("source", "line", "annotator_id")))
