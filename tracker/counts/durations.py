"""How long answers took, compared with the others' times for the same items."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Select,
    Subquery,
    and_,
    case,
    cast,
    func,
    select,
)

from tracker.core.audit_tallies import AnswerTimes
from tracker.counts.selection import Selection, labels, stream_rows, where_counted

_MS = 1000.0


def select_answer_durations(connection: Connection, selection: Selection) -> dict[int, AnswerTimes]:
    """Return each annotator's median time, and median ratio to the others' mean on the items."""
    beside = _beside_others(selection)
    who = beside.c.annotator_id
    ranked = select(
        who,
        beside.c.spent,
        beside.c.ratio,
        func.count().over(partition_by=who).label("answers"),
        func.count(beside.c.ratio).over(partition_by=who).label("compared"),
        _place(beside, beside.c.spent).label("by_time"),
        # Those without a ratio come last, whatever the database does with NULL.
        _place(beside, case((beside.c.ratio.is_(None), 1), else_=0), beside.c.ratio).label(
            "by_ratio"
        ),
    ).subquery("ranked")
    statement = (
        select(
            ranked.c.annotator_id,
            func.max(ranked.c.answers),
            func.avg(_middle(ranked.c.by_time, ranked.c.answers, ranked.c.spent)),
            func.max(ranked.c.compared),
            func.avg(_middle(ranked.c.by_ratio, ranked.c.compared, ranked.c.ratio)),
        )
        .group_by(ranked.c.annotator_id)
        .order_by(ranked.c.annotator_id)
    )
    return {
        annotator: AnswerTimes(
            answers, float(median) / _MS, compared, None if ratio is None else float(ratio)
        )
        for annotator, answers, median, compared, ratio in stream_rows(connection, statement)
    }


def select_fastest_items(
    connection: Connection, selection: Selection, annotators: Collection[int], most: int
) -> dict[int, list[tuple[int, float, float]]]:
    """Return the items that annotators answered fastest compared with the others, fastest first.

    The shape is ``{annotator: [(item id, seconds, the others' mean seconds)]}``.
    """
    if not annotators:
        return {}
    beside = _beside_others(selection)
    ranked = (
        select(beside, _place(beside, beside.c.ratio).label("place"))
        .where(beside.c.annotator_id.in_(sorted(annotators)), beside.c.ratio.is_not(None))
        .subquery("ranked")
    )
    statement: Select[Any] = (
        select(ranked.c.annotator_id, ranked.c.item_id, ranked.c.spent, ranked.c.mean)
        .where(ranked.c.place <= most)
        .order_by(ranked.c.annotator_id, ranked.c.place)
    )
    fastest: dict[int, list[tuple[int, float, float]]] = {}
    for annotator, item, spent, mean in stream_rows(connection, statement):
        fastest.setdefault(annotator, []).append((item, spent / _MS, mean / _MS))
    return fastest


def _beside_others(selection: Selection) -> Subquery:
    """Return one row per answer of known time: item_id, annotator_id, spent, others' mean, ratio.

    Times are milliseconds. Mean and ratio are NULL if no other time is known, or all are 0.
    """
    columns = (labels.c.item_id, labels.c.annotator_id)
    answers = (
        select(*columns, func.min(labels.c.spent_ms).label("spent"))
        .where(where_counted(selection, alone=True), labels.c.spent_ms.is_not(None))
        .group_by(*columns)
        .subquery("answers")
    )
    item, spent = answers.c.item_id, answers.c.spent
    others = func.sum(spent).over(partition_by=item) - spent
    number = func.count().over(partition_by=item) - 1
    known = and_(number > 0, others > 0)
    mean = case((known, cast(others, Float) / cast(number, Float)))
    beside = select(answers, mean.label("mean")).subquery("beside")
    ratio = cast(beside.c.spent, Float) / beside.c.mean
    return select(beside, ratio.label("ratio")).subquery("ratios")


def _place(of: Subquery, *order: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.row_number().over(partition_by=of.c.annotator_id, order_by=[*order, of.c.item_id])


def _middle(
    place: ColumnElement[Any], number: ColumnElement[Any], value: ColumnElement[Any]
) -> ColumnElement[Any]:
    """Return the value if it is the middle one of so many, or one of the middle two; else NULL."""
    return case((and_(2 * place >= number, 2 * place <= number + 2), cast(value, Float)))
