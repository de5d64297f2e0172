"""Figures as if categories were merged, from the same tallies."""

from __future__ import annotations

from collections.abc import Mapping

from tracker.core.tallies import Answer, ItemPatterns, Pattern


def merge_answer(answer: Answer, into: Mapping[int, int]) -> Answer:
    """Return an answer in which each category ``c`` of ``into`` is ``into[c]``.

    A set holds it once.
    """
    return tuple(sorted({into.get(category, category) for category in answer}))


def merge_patterns(patterns: ItemPatterns, into: Mapping[int, int]) -> ItemPatterns:
    """Return the item patterns as if categories were one: ``{merged: the one it becomes}``."""
    counts: dict[Pattern, int] = {}
    for pattern, items in patterns:
        held: dict[Answer, int] = {}
        for answer, number in pattern:
            merged = merge_answer(answer, into)
            held[merged] = held.get(merged, 0) + number
        key = tuple(sorted(held.items()))
        counts[key] = counts.get(key, 0) + items
    return ItemPatterns(counts)


def without_category(patterns: ItemPatterns, category: int) -> ItemPatterns:
    """Return the item patterns without the answers that hold a category.

    Items left empty are gone.
    """
    counts: dict[Pattern, int] = {}
    for pattern, items in patterns:
        kept = tuple((answer, number) for answer, number in pattern if category not in answer)
        if kept:
            counts[kept] = counts.get(kept, 0) + items
    return ItemPatterns(counts)
