"""Item patterns prepared for the nominal measures: exact sums, as integers and fractions.

Sums are grouped by the number of answers to an item, so that a pattern costs integer additions
only and a result is exact: "all in one category" and "perfect" are then equalities, not
tolerances. Answers never become columns; a project of 100,000 different answers costs no more
than one of two.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from tracker.measures.coefficient import NO_OVERLAP, TOO_FEW_ANNOTATORS, TOO_FEW_ITEMS
from tracker.tally import Answer, ItemPatterns, Pattern, answers_in

__all__ = [
    "Row",
    "answer_shares",
    "answer_totals",
    "linearised",
    "observed",
    "rows_of",
    "why_not_comparable",
]


class Row(NamedTuple):
    """One pattern: how many items have it, and its sizes."""

    pattern: Pattern
    items: int
    answers: int
    agreeing: int  # ordered pairs of distinct annotators who gave the same answer

    @property
    def agreement(self) -> float:
        """The share of agreeing pairs, in [0, 1]; of a pattern of two answers or more."""
        return self.agreeing / (self.answers * (self.answers - 1))


def rows_of(patterns: ItemPatterns, at_least: int = 1) -> list[Row]:
    """The patterns of ``at_least`` answers or more."""
    rows = []
    for pattern, items in patterns:
        answers = answers_in(pattern)
        if answers >= at_least:
            agreeing = sum(count * (count - 1) for _, count in pattern)
            rows.append(Row(pattern, items, answers, agreeing))
    return rows


def observed(rows: Sequence[Row]) -> tuple[Fraction, int]:
    """Observed agreement, and the items compared.

    The mean over items of two answers or more of the share of agreeing pairs of annotators
    (Fleiss 1971, equations 1 and 2, with the item's own number of answers).

    Returns:
        The mean, in [0, 1] (0 where no item can be compared), and the number of those items.
    """
    agreeing: Counter[int] = Counter()
    compared = 0
    for row in rows:
        if row.answers > 1:
            agreeing[row.answers] += row.items * row.agreeing
            compared += row.items
    total = sum((Fraction(pairs, n * (n - 1)) for n, pairs in agreeing.items()), Fraction(0))
    return (total / compared if compared else total), compared


def why_not_comparable(rows: Sequence[Row], annotators: int, compared: int) -> str | None:
    """Why nothing can be compared, or None where something can."""
    if not rows:
        return TOO_FEW_ITEMS
    if annotators < 2:
        return TOO_FEW_ANNOTATORS
    return None if compared else NO_OVERLAP


def answer_totals(rows: Sequence[Row]) -> Counter[Answer]:
    """How many annotators gave each answer, over all items of ``rows``."""
    totals: Counter[Answer] = Counter()
    for row in rows:
        for answer, count in row.pattern:
            totals[answer] += row.items * count
    return totals


def answer_shares(rows: Sequence[Row]) -> tuple[Mapping[Answer, int], int]:
    """The mean over items of each answer's share of the item, over a common denominator.

    Every item weighs the same, however many answers it has (Gwet 2014, chapter 2).

    Returns:
        ``{answer: numerator}`` and the denominator; the numerators add up to it.
    """
    unit = math.lcm(*{row.answers for row in rows})
    shares: Counter[Answer] = Counter()
    for row in rows:
        weight = row.items * (unit // row.answers)
        for answer, count in row.pattern:
            shares[answer] += weight * count
    return shares, unit * sum(row.items for row in rows)


def linearised(squares: float, items: int) -> float:
    """The standard error of a ratio from its items' influences.

    Args:
        squares: the sum over items of the squared influence, the change of the figure that an
            item's presence makes, to first order.
        items: how many items there are.

    Returns:
        ``sqrt(squares * items / (items - 1))``, in the unit of the figure; 0 for one item.

    Source:
        Cochran (1977), Sampling Techniques, 3rd ed., section 6.4; Gwet (2014), chapter 5.
    """
    return math.sqrt(squares * items / (items - 1)) if items > 1 else 0.0
