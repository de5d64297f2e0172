"""Two annotators on a numeric scale: correlation, concordance, and limits of agreement.

All figures come from sums over the cross-table of their answers, which are exact integers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from tracker.core.tallies import Answer
from tracker.measures.coefficient import (
    NO_OVERLAP,
    NOT_APPLICABLE,
    SINGLE_CATEGORY,
    TOO_FEW_ITEMS,
)
from tracker.measures.intervals import check_confidence
from tracker.measures.numeric.variance import numeric_whole_numbers

WITHOUT_SPREAD: Final = "no_spread"  # the error is 0: the data say nothing about the spread
LIMITS: Final = 1.96  # standard deviations from the bias to a limit of agreement


@dataclass(frozen=True)
class NumericFigure:
    """One figure of two annotators.

    Attributes:
        value: the figure, or None if it cannot be computed.
        undefined: why ``value`` is None: no_overlap, too_few_items, single_category (no
            variation) or not_applicable (an answer that is no number).
        ci_low: lower confidence bound, or None.
        ci_high: upper confidence bound, or None.
        unbounded: why there are no bounds: as ``undefined``, too_few_items, or no_spread (the
            error is 0, as of a perfect correlation).
    """

    value: float | None
    undefined: str | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    unbounded: str | None = None


@dataclass(frozen=True)
class NumericAgreement:
    """The agreement of two annotators on a numeric scale; x is the first, y the second.

    Attributes:
        items: items that both answered.
        confidence: the level of all bounds, in (0, 1).
        pearson: the product-moment correlation, in [-1, 1]; blind to bias and to scale.
        spearman: the same of mid-ranks: only the order of the values enters.
        concordance: Lin's concordance correlation, in [-1, 1]: 1 only where x = y throughout.
        bias: the mean of y - x, in the values' unit: positive where the second gives more.
        sd: the standard deviation of y - x (n - 1), in the values' unit; never with bounds.
        lower_limit: bias - 1.96 sd, the lower limit of agreement.
        upper_limit: bias + 1.96 sd, between which and the lower one some 95% of the
            differences lie where they are normal, whatever ``confidence`` is.
    """

    items: int
    confidence: float
    pearson: NumericFigure
    spearman: NumericFigure
    concordance: NumericFigure
    bias: NumericFigure
    sd: NumericFigure
    lower_limit: NumericFigure
    upper_limit: NumericFigure

    def to_dict(self) -> dict[str, object]:
        """Return the figures as JSON has them, each a mapping of its own, key order included."""
        return asdict(self)


class _Moments(NamedTuple):
    """Sums over items of two integers x and y; variances and the covariance times items**2."""

    items: int
    shift: int  # the sum of y - x
    of_x: int
    of_y: int
    of_both: int
    of_shift: int


def numeric_agreement(
    table: Mapping[tuple[Answer, Answer], int],
    values: Mapping[int, float],
    confidence: float = 0.95,
) -> NumericAgreement:
    """Return correlations, concordance and limits of agreement of two annotators.

    Args:
        table: ``{(answer of the first, answer of the second): items}`` over the items that both
            answered.
        values: ``{category id: number}``.
        confidence: the level of the bounds, in (0, 1).

    Returns:
        The figures. All undefined: no_overlap (an empty table), not_applicable (an answer that
        is not one category with a number). Of one item only the bias is defined. Where one of
        the two did not vary, Pearson and Spearman are undefined (single_category) and the
        concordance is 0; it is undefined if both gave one and the same value throughout.
        Bounds need four items for Pearson and Spearman, three for the others.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).

    Source:
        Pearson: Fisher's z, variance 1 / (n - 3). Spearman: Bonett and Wright (2000),
        Psychometrika 65, 23, variance (1 + r**2 / 2) / (n - 3). Concordance: Lin (1989),
        Biometrics 45, 255, moments over n, its z-transform with the variance as corrected in
        Biometrics 56 (2000), 324. Limits: Bland and Altman (1986), Lancet 327, 307, where the
        variance of a limit is 3 sd**2 / n, with Student's t.
    """
    check_confidence(confidence)
    numbers, unit = numeric_whole_numbers(values)
    items = sum(table.values())
    known = all(answer in numbers for pair in table for answer in pair)
    if not items or not known:
        reason = NOT_APPLICABLE if items else NO_OVERLAP
        none = _undefined(reason)
        return NumericAgreement(items, confidence, none, none, none, none, none, none, none)
    pairs: Counter[tuple[int, int]] = Counter()
    for (one, other), count in table.items():
        pairs[numbers[one], numbers[other]] += count
    sums = _moments(pairs)
    ranks = _moments(_mid_ranks(pairs))
    return NumericAgreement(
        items,
        confidence,
        _correlation(sums, confidence, of_ranks=False),
        _correlation(ranks, confidence, of_ranks=True),
        _concordance(sums, confidence),
        *_limits(sums, unit, confidence),
    )


def _undefined(reason: str) -> NumericFigure:
    return NumericFigure(None, reason, unbounded=reason)


def _moments(pairs: Mapping[tuple[int, int], int]) -> _Moments:
    n = sum(pairs.values())
    x = sum(count * one for (one, _), count in pairs.items())
    y = sum(count * other for (_, other), count in pairs.items())
    x_x = sum(count * one * one for (one, _), count in pairs.items())
    y_y = sum(count * other * other for (_, other), count in pairs.items())
    x_y = sum(count * one * other for (one, other), count in pairs.items())
    of_x, of_y, of_both = n * x_x - x * x, n * y_y - y * y, n * x_y - x * y
    return _Moments(n, y - x, of_x, of_y, of_both, of_x + of_y - 2 * of_both)


def _mid_ranks(pairs: Mapping[tuple[int, int], int]) -> Counter[tuple[int, int]]:
    """Return the pairs with each value replaced by twice its mid-rank, which is an integer."""
    ranks: list[dict[int, int]] = []
    for side in (0, 1):
        totals: Counter[int] = Counter()
        for pair, count in pairs.items():
            totals[pair[side]] += count
        lower = 0
        ranks.append({})
        for value in sorted(totals):
            ranks[side][value] = 2 * lower + totals[value] + 1
            lower += totals[value]
    ranked: Counter[tuple[int, int]] = Counter()
    for (one, other), count in pairs.items():
        ranked[ranks[0][one], ranks[1][other]] += count
    return ranked


def _correlation(sums: _Moments, confidence: float, *, of_ranks: bool) -> NumericFigure:
    if sums.items < 2:
        return _undefined(TOO_FEW_ITEMS)
    if not sums.of_x or not sums.of_y:
        return _undefined(SINGLE_CATEGORY)
    square = Fraction(sums.of_both**2, sums.of_x * sums.of_y)
    value = math.copysign(math.sqrt(square), sums.of_both)
    if sums.items < 4:
        return NumericFigure(value, unbounded=TOO_FEW_ITEMS)
    if square == 1:
        return NumericFigure(value, unbounded=WITHOUT_SPREAD)
    variance = (1 + float(square) / 2 if of_ranks else 1.0) / (sums.items - 3)
    return _transformed(value, math.sqrt(variance), confidence)


def _concordance(sums: _Moments, confidence: float) -> NumericFigure:
    """Return Lin's coefficient r C.

    R, C and the location shift u enter only by rational products.
    """
    if sums.items < 2:
        return _undefined(TOO_FEW_ITEMS)
    whole = sums.of_x + sums.of_y + sums.shift**2
    if not whole:
        return _undefined(SINGLE_CATEGORY)
    value = Fraction(2 * sums.of_both, whole)
    if sums.items < 3:
        return NumericFigure(float(value), unbounded=TOO_FEW_ITEMS)
    accuracy = Fraction(4 * sums.of_x * sums.of_y, whole**2)  # C squared
    moved = Fraction(2 * sums.shift**2, whole)  # C times u squared
    variance = (accuracy - value**2) * (1 - value**2)
    variance += value**2 * moved * (2 * (1 - value) - moved / 2)
    if abs(value) == 1 or not variance:
        return NumericFigure(float(value), unbounded=WITHOUT_SPREAD)
    of_z = variance / ((sums.items - 2) * (1 - value**2) ** 2)
    return _transformed(float(value), math.sqrt(of_z), confidence)


def _transformed(value: float, error: float, confidence: float) -> NumericFigure:
    """Return bounds from a normal interval around the inverse hyperbolic tangent."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + confidence) / 2)) * error
    if abs(value) == 1:  # so close to 1 that it has been rounded to it
        return NumericFigure(value, unbounded=WITHOUT_SPREAD)
    centre = math.atanh(value)
    return NumericFigure(value, None, math.tanh(centre - reach), math.tanh(centre + reach))


def _limits(sums: _Moments, unit: int, confidence: float) -> tuple[NumericFigure, ...]:
    """Return bias, standard deviation, lower and upper limit of agreement, in the values' unit."""
    from scipy.special import stdtrit

    n = sums.items
    bias = float(Fraction(sums.shift, n * unit))
    if n < 2:
        few = _undefined(TOO_FEW_ITEMS)
        return NumericFigure(bias, unbounded=TOO_FEW_ITEMS), few, few, few
    spread = math.sqrt(Fraction(sums.of_shift, n * (n - 1) * unit * unit))
    why = TOO_FEW_ITEMS if n < 3 else None if spread else WITHOUT_SPREAD
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / math.sqrt(n)

    def figure(value: float, width: float) -> NumericFigure:
        if why is not None:
            return NumericFigure(value, unbounded=why)
        return NumericFigure(value, None, value - width * reach, value + width * reach)

    low, high = bias - LIMITS * spread, bias + LIMITS * spread
    wider = math.sqrt(3)
    return figure(bias, 1), NumericFigure(spread), figure(low, wider), figure(high, wider)
