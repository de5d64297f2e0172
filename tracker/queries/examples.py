"""Examples of items: with an answer of a kind, of a pattern, or of pairs of annotators in time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, and_, case, func, select

from tracker.core.tallies import Answer, Pattern
from tracker.queries.packing import AS_COLUMNS
from tracker.queries.pattern_codes import Code, make_pattern_code, widen_pattern_code
from tracker.queries.retest import join_repeated_answers
from tracker.queries.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)
from tracker.queries.transitions import select_dated_answers


def select_example_items(
    connection: Connection,
    selection: Selection,
    wanted: Mapping[int, Collection[tuple[Answer, Pattern]]],
    most: int,
) -> dict[tuple[int, Answer, Pattern], list[int]]:
    """Return the first ``most`` items, by id, of each wanted answer and pattern.

    The shape is ``{(annotator, own answer, pattern): item ids}``, without empty entries.
    """
    if not wanted:
        return {}
    code = make_pattern_code(connection, selection)
    items, number = _listed(connection, selection, code, wanted, most)
    wider = widen_pattern_code(selection, code, number)
    if wider is not None:
        return select_example_items(connection, wider, wanted, most)
    return items


def _listed(
    connection: Connection,
    selection: Selection,
    code: Code,
    wanted: Mapping[int, Collection[tuple[Answer, Pattern]]],
    most: int,
) -> tuple[dict[tuple[int, Answer, Pattern], list[int]], int]:
    """Return the items, and the greatest number of answers to one of them."""
    answers = select_answer_rows(selection)
    columns = [code.items.c[name] for name in code.columns]
    key = [answers.c.annotator_id, answers.c.answer, *columns]
    place = func.row_number().over(partition_by=key, order_by=answers.c.item_id)
    ranked = (
        select(answers.c.item_id, code.items.c.answers.label("number"), *key, place.label("place"))
        .join(code.items, code.items.c.item_id == answers.c.item_id)
        .where(answers.c.annotator_id.in_(sorted(wanted)))
        .subquery("ranked")
    )
    asked = {who: set(keys) for who, keys in wanted.items()}
    listed: dict[tuple[int, Answer, Pattern], list[int]] = {}
    patterns: dict[tuple[Any, ...], Pattern] = {}
    largest = 0
    for item, number, annotator, answer, *codes, _ in stream_rows(
        connection, select(ranked).where(ranked.c.place <= most).order_by(ranked.c.item_id)
    ):
        largest = max(largest, number)
        own, known = read_selected_answer(answer), tuple(codes)
        pattern = patterns.get(known)
        if pattern is None:
            pattern = patterns[known] = code.decode(known)
        if (own, pattern) in asked[annotator]:
            items = listed.setdefault((annotator, own, pattern), [])
            if len(items) < most:  # a pattern may have come spelled in several ways
                items.append(item)
    return listed, largest


def select_changed_examples(
    connection: Connection, selection: Selection, annotators: Collection[int], most: int
) -> dict[int, list[tuple[int, Answer, Answer]]]:
    """Return the first items that some annotators answered differently when asked again.

    The shape is ``{annotator: [(item id, earlier answer, later answer)]}``.
    """
    if not annotators:
        return {}
    later, earlier, both = join_repeated_answers(selection)
    place = func.row_number().over(
        partition_by=later.c.annotator_id, order_by=[later.c.item_id, later.c["pass"]]
    )
    changed = (
        select(
            later.c.annotator_id,
            later.c.item_id,
            earlier.c.answer.label("earlier"),
            later.c.answer.label("later"),
            place.label("place"),
        )
        .select_from(both)
        .where(later.c.annotator_id.in_(sorted(annotators)), earlier.c.answer != later.c.answer)
        .subquery("changed")
    )
    statement = select(*list(changed.c)[:-1]).order_by(changed.c.annotator_id, changed.c.place)
    if selection.question.answers == "one":  # else the ids of a set come in any order
        statement = statement.where(changed.c.place <= most)
    changes: dict[int, list[tuple[int, Answer, Answer]]] = {}
    for annotator, item, *answers in stream_rows(connection, statement):
        before, after = (read_selected_answer(answer) for answer in answers)
        own_changes = changes.setdefault(annotator, [])
        if before != after and len(own_changes) < most:
            own_changes.append((item, before, after))
    return {annotator: own_changes for annotator, own_changes in changes.items() if own_changes}


def count_pair_order(
    connection: Connection, selection: Selection, pairs: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Return how often the first and the second of a pair was earlier, on items answered alike.

    The shape is ``{pair: (first earlier, second earlier, unknown or at the same time)}``.
    """
    if not pairs:
        return {}
    first, second = select_dated_answers(selection), select_dated_answers(selection).alias("second")
    known = and_(first.c.timed == 1, second.c.timed == 1)
    order = case(
        (and_(known, first.c.labeled_at < second.c.labeled_at), 0),
        (and_(known, first.c.labeled_at > second.c.labeled_at), 1),
        else_=2,
    ).label("order")
    key = [first.c.annotator_id, second.c.annotator_id, first.c.answer, second.c.answer, order]
    labelled = AS_COLUMNS.key(key)
    statement = (
        select(*labelled, func.count())
        .join_from(first, second, first.c.item_id == second.c.item_id)
        .where(
            first.c.annotator_id.in_(sorted({one for one, _ in pairs})),
            second.c.annotator_id.in_(sorted({other for _, other in pairs})),
        )
        .group_by(*(column.name for column in labelled))
    )
    wanted = {pair: [0, 0, 0] for pair in pairs}
    for one, other, own, others, which, items in stream_rows(connection, statement):
        if (one, other) in wanted and read_selected_answer(own) == read_selected_answer(others):
            wanted[one, other][which] += items
    return {pair: (counts[0], counts[1], counts[2]) for pair, counts in wanted.items()}
