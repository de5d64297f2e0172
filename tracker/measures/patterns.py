"""Nominal coefficients of any number of annotators, from item patterns.

All have the form ``(observed - expected) / (1 - expected)`` and differ in what they expect.
Two answers agree when they are equal: in a project of several categories per answer, when they
are the same set. Each function takes the tally, ``annotators`` (how many annotators have an
answer in it) and the level of the bounds, and raises InvalidOption for a level outside (0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tracker.measures.coefficient import (
    NOT_APPLICABLE,
    Coefficient,
    estimate,
    single_category,
)
from tracker.measures.rows import (
    Row,
    answer_shares,
    linearised,
    observed,
    rows_of,
    why_not_comparable,
)
from tracker.tally import ItemPatterns

__all__ = ["fleiss_kappa", "percent_agreement", "scott_pi"]


def percent_agreement(
    patterns: ItemPatterns, *, annotators: int, confidence: float = 0.95
) -> Coefficient:
    """The mean over items of the share of pairs of annotators who agree, in [0, 1].

    Items of one answer do not enter. Perfect agreement has a one-sided bound.

    Undefined: too_few_items (none at all), too_few_annotators (below two), no_overlap.

    Source:
        Fleiss (1971), Psychol. Bull. 76, 378, equation 2. The error is that of a ratio over all
        items: the items of two answers are a random part of the sample, not its size.
    """
    rows = rows_of(patterns)
    share, compared = observed(rows)
    reason = why_not_comparable(rows, annotators, compared)
    if reason is not None:
        return Coefficient("percent_agreement", None, reason, confidence=confidence)
    value = float(share)
    squares = math.fsum(
        row.items * ((row.agreement - value) / compared) ** 2 for row in rows if row.answers > 1
    )
    return estimate(
        "percent_agreement",
        value,
        linearised(squares, sum(row.items for row in rows)),
        observed=value,
        expected=None,
        items=compared,
        compared=compared,
        confidence=confidence,
    )


def fleiss_kappa(
    patterns: ItemPatterns, *, annotators: int, confidence: float = 0.95
) -> Coefficient:
    """Fleiss' kappa for any number of answers to an item, at most 1; 0 is chance level.

    Expected agreement is the sum of the squared mean shares of the answers, over all items of
    one answer or more; observed agreement is that of items of two or more.

    Undefined: as percent_agreement, and single_category. The expected agreement is given even
    where the value is not.

    Source:
        Fleiss (1971), Psychol. Bull. 76, 378, equations 3 to 7; the form for varying numbers of
        answers is Gwet's (2014, chapter 2), the error a linearisation of the ratio of means.
    """
    return _fleiss("fleiss_kappa", rows_of(patterns), annotators, confidence)


def scott_pi(patterns: ItemPatterns, *, annotators: int, confidence: float = 0.95) -> Coefficient:
    """Scott's pi: Fleiss' kappa of exactly two annotators.

    Undefined: as fleiss_kappa, and not_applicable for three annotators or more.

    Source:
        Scott (1955), Public Opin. Q. 19, 321.
    """
    rows = rows_of(patterns)
    if rows and annotators > 2:
        return Coefficient("scott_pi", None, NOT_APPLICABLE, confidence=confidence)
    return _fleiss("scott_pi", rows, annotators, confidence)


def _fleiss(measure: str, rows: Sequence[Row], annotators: int, confidence: float) -> Coefficient:
    agreement, compared = observed(rows)
    items = sum(row.items for row in rows)
    reason = why_not_comparable(rows, annotators, compared)
    if not rows:
        return Coefficient(measure, None, reason, confidence=confidence)
    numerators, unit = answer_shares(rows)
    chance = Fraction(sum(part * part for part in numerators.values()), unit * unit)
    expected = float(chance)
    if reason is not None:
        return Coefficient(
            measure, None, reason, expected=expected, confidence=confidence, items=items
        )
    if chance == 1:
        return single_category(measure, items, confidence)
    value = float((agreement - chance) / (1 - chance))
    shares = {answer: part / unit for answer, part in numerators.items()}
    plain = float(agreement)
    slope = 2 * (1 - value) / items

    def influence(row: Row) -> float:
        own = (row.agreement - plain) / compared if row.answers > 1 else 0.0
        by_chance = sum(count * shares[answer] for answer, count in row.pattern) / row.answers
        return (own - slope * (by_chance - expected)) / (1 - expected)

    return estimate(
        measure,
        value,
        linearised(math.fsum(row.items * influence(row) ** 2 for row in rows), items),
        observed=plain,
        expected=expected,
        items=items,
        compared=compared,
        confidence=confidence,
    )
