"""Further counts: answers against the truth, votes on each item, the extent of spans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, func, select

from tracker.counting.selection import Selection, answers_of, counted, labels, read_answer, stream
from tracker.tally import Answer

__all__ = ["answers_per_item", "confusions", "recent_pace", "votes"]


def confusions(
    connection: Connection, selection: Selection
) -> tuple[dict[int, dict[tuple[Answer, Answer], int]], int]:
    """Truths against answers: ``{annotator: {(truth, answer): answers}}``, and the items.

    The truth of an item is the answer of its reference annotator; of several, the first's.
    No reference annotator is held against a truth, also not one asked into the comparison.
    """
    if not selection.references:
        return {}, 0
    reference = labels.alias("reference")
    # Of the same items, whenever they were labelled: a truth is true before it is written down.
    truths_of = Selection(selection.project, where=selection.where)
    first = (
        select(reference.c.item_id, func.min(reference.c.annotator_id).label("annotator_id"))
        .where(
            counted(truths_of, reference),
            reference.c.annotator_id.in_(sorted(selection.references)),
        )
        .group_by(reference.c.item_id)
        .subquery("first_reference")
    )
    truths = answers_of(truths_of, "truths")
    answers = answers_of(selection.without(selection.references))
    both = (
        select(answers.c.item_id, answers.c.annotator_id, truths.c.answer.label("truth"))
        .add_columns(answers.c.answer)
        .join_from(
            first,
            truths,
            (truths.c.item_id == first.c.item_id) & (truths.c.annotator_id == first.c.annotator_id),
        )
        .join(answers, answers.c.item_id == truths.c.item_id)
        .subquery("both")
    )
    key = [both.c.annotator_id, both.c.truth, both.c.answer]
    counts: dict[int, dict[tuple[Answer, Answer], int]] = {}
    for annotator, truth, answer, number in stream(
        connection, select(*key, func.count()).group_by(*key)
    ):
        table = counts.setdefault(annotator, {})
        cell = (read_answer(truth), read_answer(answer))
        table[cell] = table.get(cell, 0) + number
    items = connection.scalar(select(func.count(both.c.item_id.distinct()))) or 0
    return counts, items


def votes(connection: Connection, selection: Selection) -> Iterator[tuple[Any, ...]]:
    """How many annotators gave an item each category: (item id, category id, annotators).

    Ordered by item; `NONE_APPLIES` stands for answers without a label.
    """
    key = (labels.c.item_id, labels.c.category_id)
    statement = (
        select(*key, func.count(labels.c.annotator_id.distinct()))
        .where(counted(selection))
        .group_by(*key)
        .order_by(*key)
    )
    yield from stream(connection, statement)


def answers_per_item(connection: Connection, selection: Selection) -> dict[int, int]:
    """How many items have each number of answers: ``{answers: items}``."""
    answers = (
        select(labels.c.item_id, func.count(labels.c.annotator_id.distinct()).label("answers"))
        .where(counted(selection))
        .group_by(labels.c.item_id)
        .subquery("answers")
    )
    rows = stream(connection, select(answers.c.answers, func.count()).group_by(answers.c.answers))
    return dict(sorted((number, items) for number, items in rows))


def recent_pace(
    connection: Connection, selection: Selection, days: int
) -> tuple[int, int, int] | None:
    """Labels in the days before the newest: (labels, oldest moment, newest moment)."""
    newest = connection.scalar(select(func.max(labels.c.labelled_at)).where(counted(selection)))
    if newest is None:
        return None
    since = newest - days * 86_400_000_000
    row = connection.execute(
        select(func.count().label("labels"), func.min(labels.c.labelled_at).label("oldest")).where(
            counted(selection), labels.c.labelled_at > since
        )
    ).one()
    return row.labels, row.oldest, newest
