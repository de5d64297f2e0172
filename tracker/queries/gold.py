"""Answers compared with the truth: the truth of each item, and the answers to it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    case,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)

from tracker.core.audit_tallies import GoldTallies
from tracker.core.tallies import Answer
from tracker.queries.annotator_patterns import ANSWER, count_against_patterns
from tracker.queries.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)

NOBODY = 0
"""Whose answers truths are among the answers to their item; annotators are numbered from 1."""


def count_gold_confusions(
    connection: Connection, selection: Selection
) -> tuple[dict[int, dict[tuple[Answer, Answer], int]], int]:
    """Return truths against answers, ``{annotator: {(truth, answer): answers}}``, and the items.

    The truth of an item is the answer of its reference annotator; if there are several, the
    first one's. A reference annotator is never compared with a truth, even if named.
    """
    if not selection.references:
        return {}, 0
    both = _held(selection)
    key = [both.c.annotator_id, both.c.truth, both.c.answer]
    held = both.c.truth.is_not(None)
    counts: dict[int, dict[tuple[Answer, Answer], int]] = {}
    for annotator, truth, answer, number in stream_rows(
        connection, select(*key, func.count()).where(held).group_by(*key)
    ):
        table = counts.setdefault(annotator, {})
        cell = (read_selected_answer(truth), read_selected_answer(answer))
        table[cell] = table.get(cell, 0) + number
    items = connection.scalar(select(func.count(both.c.item_id.distinct())).where(held)) or 0
    return counts, items


def gold_tallies(connection: Connection, selection: Selection) -> GoldTallies:
    """Return on how many items with a truth each annotator's answer met it, by item pattern.

    The truths are those of `confusions`. Answers of references are in no tally and no pattern.
    """
    if not selection.references:
        return {}
    return count_against_patterns(
        connection,
        selection.without(selection.references),
        _held(selection),
        frozenset({NOBODY}),
        {"truth": ANSWER},
        every=True,
    )


def select_answers_with_truths(selection: Selection, answers: Subquery) -> Subquery:
    """Return all answers to some items, each with the item's truth.

    The truth is NULL if there is none, and for answers of references. Truths come as answers
    without an annotator and are found among the other answers to their item: to sort all
    answers by item is slow, to look up a truth for each is slower.
    """
    if not selection.references:
        return select(answers, cast(null(), answers.c.answer.type).label("truth")).subquery(
            "with_truth"
        )
    truths = select_first_truths(selection).subquery("truths")
    own: dict[str, ColumnElement[Any]] = {
        "item_id": truths.c.item_id,
        "annotator_id": literal(NOBODY),
        "answer": truths.c.truth,
    }
    rows = union_all(
        select(answers), select(*(own.get(column.name, null()) for column in answers.c))
    ).subquery("rows")
    truth = func.max(case((rows.c.annotator_id == NOBODY, rows.c.answer))).over(
        partition_by=rows.c.item_id
    )
    held = rows.c.annotator_id.not_in([NOBODY, *sorted(selection.references)])
    return select(rows, case((held, truth)).label("truth")).subquery("with_truth")


def _held(selection: Selection) -> Subquery:
    """Return answers to the items that have a truth, with it; see `select_answers_with_truths`."""
    items = select(select_first_truths(selection).subquery("true").c.item_id)
    compared = selection.without(selection.references)
    return select_answers_with_truths(
        selection, select_answer_rows(compared, alone=True, items=items)
    )


def select_first_truths(selection: Selection) -> Select[Any]:
    """Return one row per item that has a truth: item_id, truth."""
    # Of the same items, whenever they were labeled: a truth is true before it is written down.
    of_references = Selection(selection.question, where=selection.where, only=selection.references)
    answers = select_answer_rows(of_references, "of_references", alone=True)
    place = func.row_number().over(partition_by=answers.c.item_id, order_by=answers.c.annotator_id)
    ranked = select(answers, place.label("place")).subquery("ranked")
    return select(ranked.c.item_id, ranked.c.answer.label("truth")).where(ranked.c.place == 1)
