"""Answers that two annotators share and most others of the item do not."""

from __future__ import annotations

from collections.abc import Collection

from tracker.core.tallies import Answer, Pattern, answers_in


def is_minority(answer: Answer, pattern: Pattern) -> bool:
    """Return whether two could have given it with fewer than half of the item's others."""
    held = dict(pattern).get(answer, 0)
    return held > 1 and 2 * (held - 2) < answers_in(pattern) - 2


def minority_answers(pattern: Pattern) -> list[Answer]:
    """Return the answers of a pattern that two may share against most of the others."""
    return [answer for answer, _ in pattern if is_minority(answer, pattern)]


def all_answers(pattern: Pattern) -> list[Answer]:
    """Return all answers of a pattern."""
    return [answer for answer, _ in pattern]


def chance_of_sharing(pattern: Pattern, answers: Collection[Answer]) -> float:
    """Return the probability that two of the item's annotators gave the same of these answers."""
    size = answers_in(pattern)
    held = dict(pattern)
    ways = sum(held[answer] * (held[answer] - 1) for answer in answers)
    return ways / (size * (size - 1)) if ways else 0.0
