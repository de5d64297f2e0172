"""Answers in the order of their times, each with the one just before it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    FunctionElement,
    Subquery,
    Text,
    case,
    cast,
    func,
    select,
)

from tracker.core.audit_tallies import Sequences
from tracker.queries.annotator_patterns import ANSWER, against_patterns
from tracker.queries.selection import Selection, counted, labels, stream

_DAY = 86_400_000_000  # microseconds


def dated_answers(selection: Selection, items: CompoundSelect[Any] | None = None) -> Subquery:
    """Return one row per answer: item_id, annotator_id, answer, labelled_at, timed (1 or 0).

    ``items`` gives the ids of the items; None for all.
    """
    columns = (labels.c.item_id, labels.c.annotator_id)
    timed = case((labels.c.timed, 1), else_=0)
    statement = select(*columns).where(counted(selection, alone=True))
    if items is not None:
        statement = statement.where(labels.c.item_id.in_(items))
    if selection.project.answers == "one":
        answer = labels.c.category_id.label("answer")
        more: list[ColumnElement[Any]] = [answer, labels.c.labelled_at, timed.label("timed")]
        return statement.add_columns(*more).subquery("dated")
    more = [
        func.aggregate_strings(cast(labels.c.category_id, Text), "+").label("answer"),
        func.min(labels.c.labelled_at).label("labelled_at"),
        func.min(timed).label("timed"),
    ]
    return statement.add_columns(*more).group_by(*columns).subquery("dated")


def over_time(
    function: FunctionElement[Any], dated: Subquery, *apart: ColumnElement[Any]
) -> ColumnElement[Any]:
    """Return a window over each annotator's timed answers in order; untimed ones are apart.

    If answers have the same time, the one to the item with the lower id comes first.
    """
    placed: ColumnElement[Any] = function.over(
        partition_by=[dated.c.annotator_id, dated.c.timed, *apart],
        order_by=[dated.c.labelled_at, dated.c.item_id],
    )
    return placed


def sequences(connection: Connection, selection: Selection) -> Sequences:
    """Return on how many items an answer came after another and met a pattern of the item.

    The answer before is the annotator's last timed answer to another item, if its time is
    earlier: the order of answers of the same time is unknown.
    """
    dated = dated_answers(selection)
    columns = (dated.c.item_id, dated.c.annotator_id, dated.c.answer)
    before = func.lag(dated.c.answer, type_=dated.c.answer.type)
    before_at = func.lag(dated.c.labelled_at, type_=dated.c.labelled_at.type)
    ordered = select(
        *columns,
        dated.c.timed,
        dated.c.labelled_at,
        over_time(before, dated).label("previous"),
        over_time(before_at, dated).label("previous_at"),
    ).subquery("ordered")
    known = (ordered.c.timed == 1) & (ordered.c.previous_at < ordered.c.labelled_at)
    followed = select(
        *(ordered.c[column.name] for column in columns),
        case((known, ordered.c.previous)).label("previous"),  # else NULL
    ).subquery("followed")
    extra = {"previous": ANSWER}
    return against_patterns(connection, selection, followed, extra=extra, every=True)


def days_active(connection: Connection, selection: Selection) -> dict[int, tuple[int, int, int]]:
    """Return each annotator's number of days (UTC) with a timed answer, and the first and last.

    The shape is ``{annotator: (days, first moment, last moment)}``.
    """
    at, who = labels.c.labelled_at, labels.c.annotator_id
    statement = (
        select(who, func.count((at - at % _DAY).distinct()), func.min(at), func.max(at))
        .where(counted(selection, alone=True), labels.c.timed)
        .group_by(who)
    )
    return {who: (days, first, last) for who, days, first, last in stream(connection, statement)}
