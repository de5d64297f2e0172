"""The three tallies, each by one statement (by two where items have very many answers)."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Subquery,
    func,
    select,
)

from tracker.counting.codes import Code, make_code, packed, widened
from tracker.counting.selection import Selection, answers_of, read_answer, stream
from tracker.tally import AnnotatorTallies, Answer, ItemPatterns, Pattern

__all__ = ["annotator_tallies", "item_patterns", "items_of_patterns", "recount"]


def item_patterns(connection: Connection, selection: Selection) -> ItemPatterns:
    """How many items have each pattern of answers."""
    code = make_code(connection, selection)
    columns = [code.items.c[name] for name in code.columns]
    statement = select(*columns, func.count(), func.max(code.items.c.answers)).group_by(*columns)
    counts: dict[Pattern, int] = {}
    most = 0
    for *codes, items, answers in stream(connection, statement):
        most = max(most, answers)
        if code.most_answers is None or answers <= code.most_answers:
            pattern = code.decode(tuple(codes))
            counts[pattern] = counts.get(pattern, 0) + items
    wider = widened(selection, code, most)
    return ItemPatterns(counts) if wider is None else item_patterns(connection, wider)


def items_of_patterns(
    connection: Connection, selection: Selection, patterns: Set[Pattern], most: int
) -> dict[Pattern, list[int]]:
    """The first items by number, ``most`` at most, that have each of some patterns.

    Returns ``{pattern: ids}``.

    Items are looked at one after the other, because a code means nothing outside its statement.
    """
    code = make_code(connection, selection)
    columns = [code.items.c[name] for name in code.columns]
    found: dict[Pattern, list[int]] = {pattern: [] for pattern in patterns}
    known: dict[tuple[Any, ...], list[int] | None] = {}
    largest = 0
    for item, answers, *codes in stream(
        connection,
        select(code.items.c.item_id, code.items.c.answers, *columns).order_by(code.items.c.item_id),
    ):
        key = (answers, *codes)
        largest = max(largest, answers)
        if key not in known:
            known[key] = found.get(code.decode(tuple(codes)))
        items = known[key]
        if items is not None and len(items) < most:
            items.append(item)
    wider = widened(selection, code, largest)
    if wider is not None:
        return items_of_patterns(connection, wider, patterns, most)
    return found


def annotator_tallies(connection: Connection, selection: Selection) -> AnnotatorTallies:
    """Per annotator: on how many items an own answer met a pattern of the item."""
    return _annotator_tallies(connection, selection, selection)


def recount(
    connection: Connection, selection: Selection, excluded: frozenset[int]
) -> AnnotatorTallies:
    """The annotator tallies with some annotators' answers taken out of the patterns.

    An excluded annotator is met by the patterns of the others with the own answer added.
    """
    met = _annotator_tallies(connection, selection, selection.without(excluded))
    counts: dict[int, dict[tuple[Answer, Pattern], int]] = {}
    for annotator, tallies in met.counts.items():
        if annotator not in excluded:
            counts[annotator] = dict(tallies)
            continue
        mine: dict[tuple[Answer, Pattern], int] = {}
        for (own, pattern), items in tallies.items():
            held = dict(pattern)
            held[own] = held.get(own, 0) + 1
            key = (own, tuple(sorted(held.items())))
            mine[key] = mine.get(key, 0) + items
        counts[annotator] = mine
    return AnnotatorTallies(counts)


def _annotator_tallies(
    connection: Connection, answering: Selection, met: Selection
) -> AnnotatorTallies:
    """Answers of one selection against the item patterns of another."""
    code = make_code(connection, met)
    answers = answers_of(answering)
    key, read = _grouping(code, answers)
    # An outer join, although every such item has answers: it is read item by item, where
    # SQLite would put all patterns into a table with an index first.
    labels = [column.label(f"key_{n}") for n, column in enumerate(key)]
    statement = (
        select(*labels, func.count(), func.max(code.items.c.answers))
        .select_from(code.items.outerjoin(answers, answers.c.item_id == code.items.c.item_id))
        .group_by(*(label.name for label in labels))  # by name: it holds bound values
    )
    patterns: dict[tuple[Any, ...], Pattern] = {}
    own_answers: dict[int | str, Answer] = {}
    counts: dict[int, dict[tuple[Answer, Pattern], int]] = {}
    most = 0
    for *group, items, number in stream(connection, statement):
        most = max(most, number)
        if code.most_answers is not None and number > code.most_answers:
            continue
        known, annotator, answer = read(group)
        pattern = patterns.get(known)
        if pattern is None:
            pattern = patterns[known] = code.decode(known)
        own = own_answers.get(answer)
        if own is None:
            own = own_answers[answer] = read_answer(answer)
        mine = counts.setdefault(annotator, {})
        mine[own, pattern] = mine.get((own, pattern), 0) + items
    wider = widened(met, code, most)
    if wider is not None:
        return _annotator_tallies(connection, answering, wider)
    return AnnotatorTallies(counts)


def _grouping(
    code: Code, answers: Subquery
) -> tuple[list[ColumnElement[Any]], Callable[[list[Any]], tuple[tuple[Any, ...], int, Any]]]:
    """What annotator tallies are grouped by, and how to read it: codes, annotator, answer.

    Where all of it fits into one integer it is one, which sorts in half the time.
    """
    columns: list[ColumnElement[Any]] = [code.items.c[name] for name in code.columns]
    if code.bits is None:
        apart = [*columns, answers.c.annotator_id, answers.c.answer]
        return apart, lambda group: (tuple(group[:-2]), group[-2], group[-1])
    _, of_annotator, of_category = code.bits
    key = packed([*columns, answers.c.annotator_id, answers.c.answer], code.bits)

    def read(group: list[Any]) -> tuple[tuple[Any, ...], int, Any]:
        number = group[0]
        annotator = (number >> of_category) & ((1 << of_annotator) - 1)
        return (
            (number >> (of_annotator + of_category),),
            annotator,
            number & ((1 << of_category) - 1),
        )

    return [key], read
