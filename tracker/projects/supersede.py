"""Records moved to the past, and back: what stands is always the best record that is left."""

from __future__ import annotations

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
)

from tracker.storage.schema import Label, PastLabel
from tracker.storage.schema.labels import ANSWER, same_answer_key, standing_order

_labels = Label.__table__
_past = PastLabel.__table__


def supersede_labels(
    connection: Connection, which: ColumnElement[bool], taken_back_by: int | None = None
) -> None:
    """Move standing labels to the past, taken back by a change or merely superseded."""
    columns = [*(column.name for column in _labels.columns), "taken_back_by"]
    taken_back = literal(taken_back_by, _past.c.taken_back_by.type)
    moved = select(*_labels.columns, taken_back).where(which)
    connection.execute(insert(_past).from_select(columns, moved))
    connection.execute(delete(_labels).where(which))


def restore_superseded_labels(
    connection: Connection, project_id: int, touched_by: ColumnElement[bool]
) -> None:
    """Let the best record that is left stand, for every answer that now has none.

    Only answers that have a past record under the condition are considered.
    """
    answer = [_past.c[column] for column in ANSWER]
    touched = select(*answer).where(touched_by).distinct().subquery()
    best_first = [column.desc() for column in standing_order(_past)]
    rank = func.dense_rank().over(partition_by=answer, order_by=best_first).label("number")
    stands = _labels.alias("stands")
    answered = exists(select(literal(1)).select_from(stands)).where(
        stands.c.project_id == project_id, same_answer_key(ANSWER, stands, _past)
    )
    ours = and_(_past.c.project_id == project_id, _past.c.taken_back_by.is_(None))
    ranked = (
        select(*_past.columns, rank)
        .join(touched, same_answer_key(ANSWER, touched, _past))
        .where(ours, ~answered.correlate(_past))
        .subquery()
    )
    columns = [column.name for column in _labels.columns]
    best = select(*(ranked.c[column] for column in columns)).where(ranked.c.number == 1)
    connection.execute(insert(_labels).from_select(columns, best))
    key = tuple(column.name for column in _past.primary_key.columns)
    same = exists(select(literal(1)).select_from(stands)).where(same_answer_key(key, stands, _past))
    connection.execute(delete(_past).where(ours, same.correlate(_past)))
