"""Krippendorff's alpha, from item patterns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from tracker.measures.coefficient import Coefficient, estimate, single_category
from tracker.measures.rows import (
    Row,
    answer_totals,
    linearised,
    observed,
    rows_of,
    why_not_comparable,
)
from tracker.tally import Answer, ItemPatterns

__all__ = ["krippendorff_alpha"]


def krippendorff_alpha(
    patterns: ItemPatterns, *, annotators: int, confidence: float = 0.95
) -> Coefficient:
    """Krippendorff's alpha under the nominal metric, at most 1; 0 is chance level.

    Items of one answer are dropped. ``observed`` and ``expected`` are agreements, one less the
    disagreements D_o and D_e, so that ``value = 1 - D_o / D_e`` has the common form.

    Undefined: as percent_agreement, and single_category.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C; error by
        Gwet (2014), chapter 5, which linearises alpha without its small-sample correction.
    """
    rows = rows_of(patterns)
    _, compared = observed(rows)
    reason = why_not_comparable(rows, annotators, compared)
    if reason is not None:
        return Coefficient("krippendorff_alpha", None, reason, confidence=confidence)
    rows = [row for row in rows if row.answers > 1]
    totals = answer_totals(rows)
    answers = totals.total()
    agreement = _weighted_agreement(rows, answers)
    pairs = sum(total * (total - 1) for total in totals.values())
    chance = Fraction(pairs, answers * (answers - 1))
    if chance == 1:
        return single_category("krippendorff_alpha", compared, confidence)
    return estimate(
        "krippendorff_alpha",
        float((agreement - chance) / (1 - chance)),
        _error(rows, totals, agreement, compared),
        observed=float(agreement),
        expected=float(chance),
        items=compared,
        compared=compared,
        confidence=confidence,
    )


def _weighted_agreement(rows: Sequence[Row], answers: int) -> Fraction:
    """One less alpha's observed disagreement: items weigh as many answers as they have."""
    by_size: dict[int, int] = {}
    for row in rows:
        by_size[row.answers] = by_size.get(row.answers, 0) + row.items * row.agreeing
    return sum((Fraction(pairs, n - 1) for n, pairs in by_size.items()), Fraction(0)) / answers


def _error(
    rows: Sequence[Row], totals: Counter[Answer], agreement: Fraction, compared: int
) -> float:
    """The linearised standard error over items, from the totals' plain squared shares."""
    answers = totals.total()
    plain = float(agreement)
    shares = {answer: total / answers for answer, total in totals.items()}
    chance = sum(total * total for total in totals.values()) / answers**2
    slope = 2 * (1 - plain) / (1 - chance)

    def influence(row: Row) -> float:
        own = row.agreeing / (row.answers - 1) - plain * row.answers
        by_chance = sum(count * shares[answer] for answer, count in row.pattern)
        return (own - slope * (by_chance - chance * row.answers)) / (answers * (1 - chance))

    squares = math.fsum(row.items * influence(row) ** 2 for row in rows)
    return linearised(squares, compared)
