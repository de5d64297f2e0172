"""The three tallies, each by one statement (by two where items have very many answers)."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from sqlalchemy import Connection, func, select

from tracker.counting.against import against_patterns
from tracker.counting.codes import make_code, widened
from tracker.counting.selection import Selection, answers_of, stream
from tracker.tally import AnnotatorTallies, ItemPatterns, Pattern

__all__ = ["annotator_tallies", "item_patterns", "items_of_patterns", "recount"]


def item_patterns(connection: Connection, selection: Selection) -> ItemPatterns:
    """How many items have each pattern of answers, in the order of the patterns.

    In one order sums of fractions over them are the same on every database.
    """
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
    if wider is not None:
        return item_patterns(connection, wider)
    return ItemPatterns(dict(sorted(counts.items())))


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
    return AnnotatorTallies(against_patterns(connection, selection, answers_of(selection)))


def recount(
    connection: Connection, selection: Selection, excluded: frozenset[int]
) -> AnnotatorTallies:
    """The annotator tallies with some annotators' answers taken out of the patterns.

    An excluded annotator is met by the patterns of the others with the own answer added.
    """
    answers = answers_of(selection)
    return AnnotatorTallies(against_patterns(connection, selection, answers, excluded))
