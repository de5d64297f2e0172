"""Categories as numbers, and their variation between items and annotators as exact sums.

Values become integers in units of their common decimal denominator. So "no variation within
items" and "a perfect correlation" are equalities, not tolerances.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tracker.core.tallies import Answer, ItemPatterns, answers_in_pattern


def numeric_whole_numbers(values: Mapping[int, float]) -> tuple[dict[Answer, int], int]:
    """Return the values as integers, exactly as their decimals are written.

    Args:
        values: ``{category id: number}``; a number that is not finite counts as none.

    Returns:
        ``{answer of that one category: integer}``, and the unit by which to divide.
    """
    exact = {
        category: Fraction(repr(float(value)))
        for category, value in values.items()
        if math.isfinite(value)
    }
    unit = math.lcm(*(value.denominator for value in exact.values()))
    return {(category,): int(value * unit) for category, value in exact.items()}, unit


@dataclass(frozen=True)
class Variation:
    """The sums of squares of a one-way layout: items of two answers or more.

    Attributes:
        sizes: ``{answers to an item: items}``.
        totals: ``{answer: how many annotators gave it}`` over those items.
        left_out: items of one answer.
        between: sum of squares between items, in units squared.
        within: sum of squares within items, likewise.
    """

    sizes: Counter[int]
    totals: Counter[Answer]
    left_out: int
    between: Fraction
    within: Fraction

    @property
    def items(self) -> int:
        """Items of two answers or more."""
        return self.sizes.total()

    @property
    def answers(self) -> int:
        """Answers to them."""
        return self.totals.total()

    @property
    def size(self) -> Fraction:
        """Answers to an item, of two items or more; n0 if items differ in it.

        Source:
            Donner (1986), Int. Stat. Rev. 54, 67: (N - sum n_i**2 / N) / (I - 1).
        """
        squares = sum(items * n * n for n, items in self.sizes.items())
        return Fraction(self.answers**2 - squares, self.answers * (self.items - 1))


def sums_of_squares(patterns: ItemPatterns, numbers: Mapping[Answer, int]) -> Variation:
    """Return the sums of squares from the patterns; an answer without a number raises KeyError."""
    sizes: Counter[int] = Counter()
    totals: Counter[Answer] = Counter()
    of_items: Counter[int] = Counter()  # answers to an item -> sum of its items' squared sums
    left_out = 0
    for pattern, items in patterns:
        n = answers_in_pattern(pattern)
        if n < 2:
            left_out += items
            continue
        sizes[n] += items
        for answer, count in pattern:
            totals[answer] += items * count
        of_items[n] += items * sum(count * numbers[answer] for answer, count in pattern) ** 2
    total = sum(count * numbers[answer] for answer, count in totals.items())
    squares = sum(count * numbers[answer] ** 2 for answer, count in totals.items())
    by_item = sum((Fraction(square, n) for n, square in of_items.items()), Fraction(0))
    between = by_item - Fraction(total * total, totals.total() or 1)
    return Variation(sizes, totals, left_out, between, squares - by_item)


def is_complete_design(variation: Variation, own: Sequence[Mapping[Answer, int]]) -> bool:
    """Return whether every annotator answered every item that has an answer.

    Args:
        variation: the variation of the items of two answers or more.
        own: per annotator with an answer, ``{answer: items}`` over all items.

    Returns:
        True where each of those items has as many answers as there are annotators, and the
        annotators have no other answers than those.
    """
    counted: Counter[Answer] = Counter()
    for answers in own:
        counted.update(answers)
    return set(variation.sizes) == {len(own)} and counted == variation.totals


def squares_between_annotators(
    variation: Variation, own: Sequence[Mapping[Answer, int]], numbers: Mapping[Answer, int]
) -> Fraction:
    """Return the sum of squares between annotators of a complete design, in units squared."""
    sums = [sum(count * numbers[answer] for answer, count in one.items()) for one in own]
    return Fraction(sum(x * x for x in sums), variation.items) - Fraction(
        sum(sums) ** 2, variation.answers
    )
