"""When each answer counted: from the day it was given until another replaced it.

A day is the number of days since 1970, in the project's time zone. A *piece* is a stretch of whole
days: at the end of each, one answer of an annotator to an item counted. Most answers are one piece
without end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    CompoundSelect,
    FromClause,
    Integer,
    Select,
    Subquery,
    case,
    func,
    literal,
    select,
    type_coerce,
    union,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.core.clock import DAY
from tracker.counts.selection import Selection, labels, local_moment, select_answer, where_chosen
from tracker.storage.schema import SKIPPED, PastLabel
from tracker.storage.schema.labels import ORDER, of_question, same_answer_key, standing_order

NEVER = 2**31 - 1  # the day on which what lasts ends

_past = PastLabel.__table__
_ANSWER = ("item_id", "annotator_id", "pass")


@dataclass(frozen=True)
class Window:
    """Which answers count at the end of a day.

    Attributes:
        days: those of so many days, that one included; None for all.
        items: those to so many items, the last ones that got an answer of a second annotator;
            None for all.
    """

    days: int | None = None
    items: int | None = None


def select_valid_periods(selection: Selection, window: Window, *, contested: bool) -> Select[Any]:
    """Return the pieces of all answers: item_id, annotator_id, answer, first_day, end_day.

    ``contested`` says that some answers have several records or passes; the pieces of their
    items take longer to find. ``end_day`` is the first day on which it no longer counts.
    """
    plain = select(
        labels.c.item_id,
        labels.c.annotator_id,
        select_answer(selection).label("answer"),
        local_day(selection, labels.c.labeled_at).label("first_day"),
    ).where(
        of_question(labels, selection.question.key),
        labels.c.category_id != SKIPPED,
        *where_chosen(selection, alone=not contested),
    )
    if contested:
        plain = plain.where(labels.c.item_id.not_in(_contested(selection)))
    if not selection.single:
        plain = plain.group_by(*(labels.c[name] for name in (*_ANSWER, "labeled_at")))
    simple = plain.subquery("simple")
    statement: Select[Any] | CompoundSelect[Any] = select(
        *simple.c, _end(simple.c.first_day, literal(NEVER), window).label("end_day")
    )
    if contested:
        statement = union_all(statement, _settled(selection, window))
    if window.items is None:
        return select(statement.subquery("pieces"))
    return _of_last_items(statement.subquery("all_pieces"), window.items)


def local_day(selection: Selection, moment: ColumnElement[int]) -> ColumnElement[int]:
    """Return the day of a moment in the project's time zone, as days since 1970-01-01."""
    local = local_moment(selection.question.project.timezone, moment)
    return sql_cast(type_coerce(local, BigInteger) // DAY, Integer)


def _end(
    first: ColumnElement[int], replaced: ColumnElement[int], window: Window
) -> ColumnElement[int]:
    """Return the day on which a piece ends: when it is replaced, or leaves the window."""
    if window.days is None:
        return replaced
    leaves = first + window.days
    return case((replaced < leaves, replaced), else_=leaves)


# -- answers with several records or passes --------------------------------------------------


def _contested(selection: Selection) -> CompoundSelect[Any]:
    """Return the items whose answers have several records or passes."""
    question = selection.question.key
    return union(
        select(_past.c.item_id).where(
            of_question(_past, question), _past.c.taken_back_by.is_(None)
        ),
        select(labels.c.item_id).where(of_question(labels, question), labels.c["pass"] > 1),
    )


def _settled(selection: Selection, window: Window) -> Select[Any]:
    """Return the pieces of contested items: at each moment the lowest pass that holds an answer."""
    valid = _valid(selection, window)
    key = (valid.c.item_id, valid.c.annotator_id)
    edges = union(
        select(*key, valid.c.first_day.label("day")), select(*key, valid.c.end_day)
    ).subquery("edges")
    until = func.lead(edges.c.day, 1, NEVER).over(
        partition_by=[edges.c.item_id, edges.c.annotator_id], order_by=edges.c.day
    )
    stretches = select(edges, until.label("until")).subquery("stretches")
    first = func.row_number().over(
        partition_by=[stretches.c.item_id, stretches.c.annotator_id, stretches.c.day],
        order_by=valid.c["pass"],
    )
    held = (
        select(
            stretches.c.item_id,
            stretches.c.annotator_id,
            valid.c.answer,
            stretches.c.day.label("first_day"),
            stretches.c.until.label("end_day"),
            first.label("number"),
        )
        .join(
            valid,
            same_answer_key(("item_id", "annotator_id"), valid, stretches)
            & (valid.c.first_day <= stretches.c.day)
            & (valid.c.end_day > stretches.c.day),
        )
        .subquery("held")
    )
    names = ("item_id", "annotator_id", "answer", "first_day", "end_day")
    return select(*(held.c[name] for name in names)).where(held.c.number == 1)


def _valid(selection: Selection, window: Window) -> CTE:
    """Return the days on which each record of contested items stood, without skipped ones."""
    both = union_all(
        _records(selection, labels),
        _records(selection, _past).where(_past.c.taken_back_by.is_(None)),
    ).subquery("every_record")
    replaced = func.lead(both.c.labeled_at).over(
        partition_by=[both.c[name] for name in _ANSWER],
        order_by=standing_order(both),
    )
    records = select(both, replaced.label("replaced_at")).subquery("records")
    first = local_day(selection, records.c.labeled_at)
    replaced_on = func.coalesce(local_day(selection, records.c.replaced_at), NEVER)
    days = select(
        *(records.c[name] for name in (*_ANSWER, "answer", "least")),
        first.label("first_day"),
        _end(first, replaced_on, window).label("end_day"),
    ).subquery("days")
    counted = days.c.least != SKIPPED
    return select(days).where(days.c.first_day < days.c.end_day, counted).cte("valid")


def _records(selection: Selection, table: FromClause) -> Select[Any]:
    """Return one row per record of contested items, with its lowest category as ``least``."""
    key = [table.c[name] for name in (*_ANSWER, *ORDER)]
    least = table.c.category_id if selection.single else func.min(table.c.category_id)
    answer = select_answer(selection, table)
    statement = select(*key, answer.label("answer"), least.label("least")).where(
        of_question(table, selection.question.key),
        table.c.item_id.in_(_contested(selection)),
        *where_chosen(selection, table),
    )
    return statement if selection.single else statement.group_by(*key)


# -- the last items ----------------------------------------------------------------------------


def _of_last_items(every: Subquery, number: int) -> Select[Any]:
    """Return the pieces, cut to the time when their item is among the last ones in the window."""
    firsts = (
        select(every.c.item_id, every.c.annotator_id, func.min(every.c.first_day).label("day"))
        .group_by(every.c.item_id, every.c.annotator_id)
        .subquery("firsts")
    )
    place = func.row_number().over(
        partition_by=firsts.c.item_id, order_by=[firsts.c.day, firsts.c.annotator_id]
    )
    placed = select(firsts, place.label("place")).subquery("placed")
    in_turn = [placed.c.day, placed.c.item_id]
    leaves = func.lead(placed.c.day, number, NEVER).over(order_by=in_turn)
    lives = (
        select(placed.c.item_id, placed.c.day.label("enters"), leaves.label("leaves"))
        .where(placed.c.place == 2)
        .subquery("lives")
    )
    first = case((every.c.first_day < lives.c.enters, lives.c.enters), else_=every.c.first_day)
    end = case((every.c.end_day > lives.c.leaves, lives.c.leaves), else_=every.c.end_day)
    names = ("item_id", "annotator_id", "answer")
    return (
        select(*(every.c[name] for name in names), first.label("first_day"), end.label("end_day"))
        .join(lives, lives.c.item_id == every.c.item_id)
        .where(first < end)
    )
