"""Who gave what to a sample of items, for a second opinion on findings about some annotators."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, Connection, Select, func, select, union

from tracker.audit.joint import JointAnswers, joint_answers
from tracker.counting.gold import with_truths
from tracker.counting.selection import Selection, answers_of, read_answer, stream
from tracker.counting.sequence import dated_answers

__all__ = ["joint_sample"]

MOST = 50_000
"""Answers of everybody in a sample. A project of fewer is read whole."""

OF_EACH, LEAST_OF_EACH = 400, 60
"""Items of each annotator asked for, beside those; fewer of each if many are asked for."""

OF_A_PAIR = 150
"""Items that two annotators share, of each pair asked for."""

_SPREAD, _RANGE = 2_654_435_761, 1 << 32  # Knuth's multiplicative hash of an item's number


def joint_sample(
    connection: Connection,
    selection: Selection,
    answers: int,
    annotators: Collection[int],
    pairs: Collection[tuple[int, int]] = (),
) -> JointAnswers:
    """Return all answers to some items, the same ones each time.

    Args:
        connection: to the database.
        selection: which answers are counted.
        answers: how many there are.
        annotators: whose items are wanted, whatever their share of all answers.
        pairs: whose shared items are wanted.
    """
    items = None
    if answers > MOST:
        items = _sampled(selection, MOST / answers, annotators, pairs)
    rows = with_truths(selection, dated_answers(selection, items))
    columns = (rows.c.item_id, rows.c.annotator_id, rows.c.answer, rows.c.labelled_at)
    held = select(*columns, rows.c.timed, rows.c.truth)
    if selection.references:
        held = held.where(rows.c.timed.is_not(None))  # a truth comes as an answer of nobody
    return joint_answers(
        (item, who, read_answer(own), at if timed else None, truth and read_answer(truth))
        for item, who, own, at, timed, truth in stream(connection, held.order_by(*columns[:2]))
    )


def _sampled(
    selection: Selection,
    share: float,
    annotators: Collection[int],
    pairs: Collection[tuple[int, int]],
) -> CompoundSelect[Any]:
    """The ids of the items: a share of all, some of each annotator, some of each pair."""
    of_all = answers_of(selection, "of_all")
    parts: list[Select[Any]] = [
        select(of_all.c.item_id).where(_spread(of_all.c.item_id) < int(share * _RANGE))
    ]
    if annotators:
        own = answers_of(selection, "own")
        most = max(LEAST_OF_EACH, min(OF_EACH, 4 * OF_EACH // len(annotators)))
        wanted = own.c.annotator_id.in_(sorted(annotators))
        parts.append(_first(select(own.c.item_id).where(wanted), own.c.annotator_id, most))
    if pairs:
        one, other = answers_of(selection, "one"), answers_of(selection, "other")
        key = one.c.annotator_id * _RANGE + other.c.annotator_id
        wanted = key.in_(sorted(a * _RANGE + b for a, b in pairs))
        both = select(one.c.item_id).join_from(one, other, one.c.item_id == other.c.item_id)
        both = both.where(
            one.c.annotator_id.in_(sorted({a for a, _ in pairs})),
            other.c.annotator_id.in_(sorted({b for _, b in pairs})),
            wanted,
        )
        parts.append(_first(both, key, OF_A_PAIR))
    return union(*parts)


def _first(of: Select[Any], key: ColumnElement[Any], most: int) -> Select[Any]:
    """The first items in the order of their hashes, of each key."""
    (item,) = of.selected_columns
    place = func.row_number().over(partition_by=key, order_by=_spread(item))
    ranked = of.add_columns(place.label("place")).subquery()
    return select(ranked.c.item_id).where(ranked.c.place <= most)


def _spread(item: ColumnElement[Any]) -> ColumnElement[Any]:
    return (item * _SPREAD) % _RANGE
