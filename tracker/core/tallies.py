"""The three tallies: exact counts from which every figure follows.

An *answer* is the ascending tuple of the category ids that one annotator gave to one item:
one id in a project of one category per answer, any number in a project of several, ``()``
for "none applies". A *pattern* is the multiset of the answers to one item: ``(answer, number
of annotators)`` pairs in ascending order of answer. A *joint pattern* says who gave which:
``(annotator id, answer)`` pairs in ascending order of annotator. Skipped answers are in no tally.

All three are integers and add over disjoint sets of items, so they can be computed in parts,
merged, kept, and updated by a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Answer: TypeAlias = tuple[int, ...]
Pattern: TypeAlias = tuple[tuple[Answer, int], ...]
JointPattern: TypeAlias = tuple[tuple[int, Answer], ...]
IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def make_pattern(answers: Iterable[Answer]) -> Pattern:
    """Return the pattern of one item from its answers, in whatever order they come."""
    counts: dict[Answer, int] = {}
    for answer in answers:  # of a few answers a Counter takes twice as long
        counts[answer] = counts.get(answer, 0) + 1
    return tuple(sorted(counts.items()))


def answers_in_pattern(pattern: Pattern) -> int:
    """Return how many annotators answered an item of this pattern."""
    number = 0
    for _, count in pattern:
        number += count
    return number


def share_of_same(own: Answer, pattern: Pattern) -> float:
    """Return the share of the other answers to an item, of which there are some, that are the same.

    The pattern includes the own answer.
    """
    return (dict(pattern)[own] - 1) / (answers_in_pattern(pattern) - 1)


def computed_once(
    function: Callable[[Answer, Pattern], Value],
) -> Callable[[Answer, Pattern], Value]:
    """Return a function that computes its value once for each answer and pattern, as an object.

    A nested tuple computes its hash anew each time, which for a million rows takes longer.
    """
    known: dict[tuple[Answer, int], tuple[Value, Pattern]] = {}

    def value_of(answer: Answer, pattern: Pattern) -> Value:
        key = answer, id(pattern)
        value = known.get(key)
        if value is None:
            value = known[key] = (function(answer, pattern), pattern)
        return value[0]

    return value_of


def pattern_with(pattern: Pattern, own: Answer) -> Pattern:
    """Return the pattern of an item with one answer more."""
    counts = dict(pattern)
    counts[own] = counts.get(own, 0) + 1
    return tuple(sorted(counts.items()))


def most_given(pattern: Pattern) -> Answer | None:
    """Return the answer given most often; None if there is none, or several."""
    most = max((number for _, number in pattern), default=0)
    first = [answer for answer, number in pattern if number == most]
    return first[0] if len(first) == 1 else None


def pattern_without(pattern: Pattern, own: Answer) -> Pattern:
    """Return the pattern of the other annotators of an item, one answer of ``own`` taken out.

    Raises ValueError if no annotator gave ``own``.
    """
    counts = dict(pattern)
    if counts.get(own, 0) < 1:
        raise ValueError(f"no annotator gave {own} in {pattern}")
    counts[own] -= 1
    return tuple((answer, count) for answer, count in sorted(counts.items()) if count)


@dataclass(frozen=True)
class ItemPatterns:
    """How many items received each multiset of answers; one entry is one pattern.

    ``counts`` maps a pattern to a number of items; a negative number can only come from a
    subtraction of more than was there.
    """

    counts: Mapping[Pattern, int] = field(default_factory=dict)

    def __add__(self, other: ItemPatterns) -> ItemPatterns:
        total = Counter(self.counts)
        total.update(other.counts)
        return ItemPatterns(_without_zeros(total))

    def __sub__(self, other: ItemPatterns) -> ItemPatterns:
        rest = Counter(self.counts)
        rest.subtract(other.counts)
        return ItemPatterns(_without_zeros(rest))

    def __iter__(self) -> Iterator[tuple[Pattern, int]]:
        return iter(self.counts.items())

    @property
    def items(self) -> int:
        """Items with at least one answer."""
        return sum(self.counts.values())

    @property
    def items_compared(self) -> int:
        """Items with at least two answers."""
        return sum(items for pattern, items in self if answers_in_pattern(pattern) > 1)

    @property
    def answers(self) -> int:
        """Answers to all items."""
        return sum(items * answers_in_pattern(pattern) for pattern, items in self)

    @property
    def labels(self) -> int:
        """Categories in all answers; an answer of "none applies" has no label."""
        return sum(
            items * sum(len(answer) * count for answer, count in pattern) for pattern, items in self
        )


@dataclass(frozen=True)
class AnnotatorTallies:
    """For each annotator, the number of items with an own answer and a pattern.

    ``counts`` maps an annotator's id to ``{(own answer, pattern of the item): items}``;
    the pattern includes the own answer.
    """

    counts: Mapping[int, Mapping[tuple[Answer, Pattern], int]] = field(default_factory=dict)

    def __add__(self, other: AnnotatorTallies) -> AnnotatorTallies:
        return sum_tallies([self, other])

    def __sub__(self, other: AnnotatorTallies) -> AnnotatorTallies:
        less = {name: {key: -n for key, n in row.items()} for name, row in other.counts.items()}
        return sum_tallies([self, AnnotatorTallies(less)])


def sum_tallies(parts: Iterable[AnnotatorTallies]) -> AnnotatorTallies:
    """Return the sum of very many tallies, which pair by pair would be copied as often."""
    counts: dict[int, Counter[tuple[Answer, Pattern]]] = {}
    for part in parts:
        for annotator, items in part.counts.items():
            counts.setdefault(annotator, Counter()).update(items)
    left = {annotator: _without_zeros(items) for annotator, items in counts.items()}
    return AnnotatorTallies({annotator: items for annotator, items in left.items() if items})


@dataclass(frozen=True)
class PairTallies:
    """For each pair of annotators, the cross-table of their answers to shared items.

    ``counts`` maps ``(first id, second id)``, first < second, to
    ``{(answer of the first, answer of the second): items}``.
    """

    counts: Mapping[tuple[int, int], Mapping[tuple[Answer, Answer], int]] = field(
        default_factory=dict
    )


def _without_zeros(counts: Mapping[Key, int]) -> dict[Key, int]:
    return {key: count for key, count in counts.items() if count}


def is_minority(answer: Answer, pattern: Pattern) -> bool:
    """Return whether two could have given it with fewer than half of the item's others."""
    held = dict(pattern).get(answer, 0)
    return held > 1 and 2 * (held - 2) < answers_in_pattern(pattern) - 2


def minority_answers(pattern: Pattern) -> list[Answer]:
    """Return the answers of a pattern that two may share against most of the others."""
    return [answer for answer, _ in pattern if is_minority(answer, pattern)]


def distinct_answers(pattern: Pattern) -> list[Answer]:
    return [answer for answer, _ in pattern]


def chance_of_sharing(pattern: Pattern, answers: Collection[Answer]) -> float:
    """Return the probability that two of the item's annotators gave the same of these answers."""
    size = answers_in_pattern(pattern)
    held = dict(pattern)
    ways = sum(held[answer] * (held[answer] - 1) for answer in answers)
    return ways / (size * (size - 1)) if ways else 0.0
