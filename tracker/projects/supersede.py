"""Records moved to the past, and back: what stands is always the best record that is left."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    delete,
    func,
    insert,
    literal,
    select,
)

from tracker.storage.schema import Label, PastLabel
from tracker.storage.schema.labels import ANSWER, standing_order

_labels = Label.__table__
_past = PastLabel.__table__


def supersede_labels(
    connection: Connection, which: ColumnElement[bool], taken_back_by: int | None = None
) -> None:
    """Move standing labels to the past, taken back by a change or merely superseded."""
    columns = [column.name for column in _labels.columns]
    connection.execute(
        insert(_past).from_select(
            [*columns, "taken_back_by"],
            select(*_labels.columns, literal(taken_back_by, _past.c.taken_back_by.type)).where(
                which
            ),
        )
    )
    connection.execute(delete(_labels).where(which))


def restore_superseded_labels(
    connection: Connection, project_id: int, touched_by: ColumnElement[bool]
) -> None:
    """Let the best record that is left stand, for every answer that now has none.

    Only for answers with a past record of that condition.
    """
    touched = (
        select(*(_past.c[column] for column in ANSWER)).where(touched_by).distinct().subquery()
    )
    number = (
        func.dense_rank()
        .over(
            partition_by=[_past.c[column] for column in ANSWER],
            order_by=[column.desc() for column in standing_order(_past)],
        )
        .label("number")
    )
    stands = _labels.alias("stands")
    vacant = (
        ~select(literal(1))
        .select_from(stands)
        .where(
            stands.c.project_id == project_id,
            *(stands.c[column] == _past.c[column] for column in ANSWER),
        )
        .correlate(_past)
        .exists()
    )
    ranked = (
        select(*_past.columns, number)
        .join(touched, and_(*(touched.c[column] == _past.c[column] for column in ANSWER)))
        .where(_past.c.project_id == project_id, _past.c.taken_back_by.is_(None), vacant)
        .subquery()
    )
    columns = [column.name for column in _labels.columns]
    best: Select[Any] = select(*(ranked.c[column] for column in columns)).where(
        ranked.c.number == 1
    )
    connection.execute(insert(_labels).from_select(columns, best))
    key = [column.name for column in _past.primary_key.columns]
    connection.execute(
        delete(_past).where(
            _past.c.project_id == project_id,
            _past.c.taken_back_by.is_(None),
            select(literal(1))
            .select_from(stands)
            .where(*(stands.c[column] == _past.c[column] for column in key))
            .correlate(_past)
            .exists(),
        )
    )
