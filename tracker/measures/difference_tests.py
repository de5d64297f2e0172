"""Tests of a difference: of two coefficients by t, of two columns by t or by ranks; and Holm's.

Hodges and Lehmann's estimate of a shift is a median over all pairs of values. The pairs are never
listed: an order statistic is found by bisection, counting pairs in sorted columns, so that columns
may be long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from tracker.core.errors import InvalidOption
from tracker.core.results import Message
from tracker.measures.difference_sentences import (
    ENOUGH,
    column_test_sentence,
    dependent_t_sentence,
    independent_t_sentence,
    too_few_values_sentence,
)
from tracker.measures.intervals import (
    NOT_APPLICABLE,
    TOO_FEW_ITEMS,
    WITHOUT_SPREAD,
    Coefficient,
    Floats,
    check_confidence,
)

_EXACT = 50  # values to a column up to which the distribution of the statistic is counted out
_FEW = 13  # figures with ties up to which every choice of their signs is made


class Shift(NamedTuple):
    """A shift in the columns' unit, and bounds that are None if too few values allow none."""

    estimate: float
    low: float | None
    high: float | None


def hodges_lehmann_shift(
    first: Sequence[float], second: Sequence[float], confidence: float
) -> Shift:
    """Return the median of all differences, a value of the first less one of the second.

    Both columns have one value or more, all finite. The bounds invert the Mann-Whitney test without
    ties, by its exact distribution up to 50 values a column, else by the normal one; ties widen
    them.

    Source:
        Hodges and Lehmann (1963), Ann. Math. Stat. 34, 598; Hollander and Wolfe (1999),
        Nonparametric Statistical Methods, 2nd ed., sections 4.2 and 4.3.
    """
    firsts, seconds = np.sort(np.asarray(first, float)), np.sort(np.asarray(second, float))
    m, n = len(firsts), len(seconds)
    pairs = m * n
    tail = (1 - confidence) / 2
    if max(m, n) <= _EXACT:
        rank = _exact_rank(_ways_of_two(m, n), tail)
    else:
        rank = _normal_rank(pairs / 2, pairs * (m + n + 1) / 12, tail)

    def below(limit: float) -> int:
        return int(np.searchsorted(firsts, seconds + limit, side="right").sum())

    def at(place: int) -> float:
        low, high = firsts[0] - seconds[-1], firsts[-1] - seconds[0]
        return _nearest(firsts, seconds, _bisected(below, low, high, place))

    return _shift(at, pairs, rank)


def paired_hodges_lehmann_shift(differences: Sequence[float], confidence: float) -> Shift:
    """Return the median of all means of two differences, each with itself included.

    There is one difference or more, all finite; zeros count as any other. The bounds invert the
    signed-rank test without ties, by its exact distribution up to 50 differences, else by the
    normal one; ties widen them.

    Source:
        As `hodges_lehmann_shift`, sections 3.2 and 3.3.
    """
    values = np.sort(np.asarray(differences, float))
    negated = -values[::-1]  # a sum of two differences is a difference of these
    n = len(values)
    pairs = n * (n + 1) // 2
    tail = (1 - confidence) / 2
    if n <= _EXACT:
        rank = _exact_rank(_ways_of_signs(n), tail)
    else:
        rank = _normal_rank(pairs / 2, pairs * (2 * n + 1) / 12, tail)

    def below(limit: float) -> int:
        twice = np.searchsorted(values, negated + limit, side="right").sum()
        return int(twice + (2 * values <= limit).sum()) // 2

    def at(place: int) -> float:
        return _nearest(values, negated, _bisected(below, 2 * values[0], 2 * values[-1], place)) / 2

    return _shift(at, pairs, rank)


def _shift(at: Callable[[int], float], pairs: int, rank: int) -> Shift:
    """Return the median, and the order statistics ``rank`` from either end, counted from 1."""
    estimate = (at((pairs + 1) // 2) + at(pairs // 2 + 1)) / 2
    return Shift(estimate, *((at(rank), at(pairs + 1 - rank)) if rank > 0 else (None, None)))


def _bisected(below: Callable[[float], int], low: float, high: float, place: int) -> float:
    """Return the least limit with ``place`` pairs or more at or below it, but for rounding."""
    width = max(abs(low), abs(high)) * 2.0**-50
    low -= width
    while high - low > width:
        middle = (low + high) / 2
        low, high = (low, middle) if below(middle) >= place else (middle, high)
    return float(high)


def _nearest(firsts: Floats, seconds: Floats, limit: float) -> float:
    """Return the difference of two values that is nearest to a limit, rounding undone."""
    above = np.searchsorted(firsts, seconds + limit)
    next_up, next_down = firsts[above.clip(max=len(firsts) - 1)], firsts[above.clip(min=1) - 1]
    near = np.concatenate([next_up - seconds, next_down - seconds])
    return float(near[np.abs(near - limit).argmin()])


def _exact_rank(ways: Sequence[int], tail: float) -> int:
    """Return the greatest rank whose bounds miss a shift with at most ``tail`` on either side."""
    most = tail * sum(ways) * (1 + 1e-12)  # 1 - .8 is a trace below .2
    return next(rank for rank, reached in enumerate(accumulate(ways)) if reached > most)


def _normal_rank(mean: float, variance: float, tail: float) -> int:
    from scipy.special import ndtri

    return math.floor(mean + float(ndtri(tail)) * math.sqrt(variance))


def _ways_of_two(m: int, n: int) -> list[int]:
    """Return how many orders of two columns give each value of Mann and Whitney's U, without ties.

    The coefficients of the product over i to n of (1 - q**(m + i)) / (1 - q**i).
    """
    ways = [1] + [0] * (m * n)
    for i in range(1, n + 1):
        for place in range(m * n, m + i - 1, -1):
            ways[place] -= ways[place - m - i]
        for place in range(i, m * n + 1):
            ways[place] += ways[place - i]
    return ways


def _ways_of_signs(n: int) -> list[int]:
    """Return how many signs of the ranks 1 to n give each sum of the positive ones."""
    ways = [1]
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for place, count in enumerate(ways):
            longer[place + rank] += count
        ways = longer
    return ways


# Below this an error, or a difference, of coefficients is the rounding of a zero.
NO_DIFFERENCE: Final = 1e-12


def dependent_t_test(
    first: Sequence[float],
    second: Sequence[float],
    weights: Sequence[int],
    difference: float,
    confidence: float = 0.95,
) -> Comparison:
    """Return the comparison of two coefficients on the same items: paired t on item influences.

    Items that are hard for the one are hard for the other, and what they share drops out.

    Args:
        first: per joint pattern, the influence of one item on the first coefficient: the change
            that its presence makes, to first order, so that the squared error is
            n / (n - 1) times the sum over items of the squared influences.
        second: likewise of the second coefficient.
        weights: the items of each joint pattern; all items of either coefficient, those with an
            influence of 0 included.
        difference: the first coefficient less the second.
        confidence: of the bounds.

    t has n - 1 degrees of freedom. If the influences do not differ on any item: p = 1 for a
    difference of 0, else undefined (no_spread). Below two items undefined (too_few_items).

    Raises:
        ValueError: the three sequences differ in length.

    Source:
        Gwet (2016), Educ. Psychol. Meas. 76, 609; the idea of comparing dependent coefficients
        item by item also in Vanbelle and Albert (2008), Br. J. Math. Stat. Psychol. 61, 481.
    """
    check_confidence(confidence)
    items = sum(weights)
    squares = math.fsum(
        count * (influence - other) ** 2
        for influence, other, count in zip(first, second, weights, strict=True)
    )
    comparison = Comparison(
        difference,
        confidence=confidence,
        test="dependent_t",
        why=Message(dependent_t_sentence),
        n_first=items,
        n_second=items,
    )
    if items < 2:
        return replace(comparison, undefined=TOO_FEW_ITEMS)
    error = math.sqrt(squares * items / (items - 1))
    if error > NO_DIFFERENCE:
        return comparison.by_t(difference, error, items - 1)
    if abs(difference) <= NO_DIFFERENCE:
        return replace(comparison, difference=0.0, standard_error=0.0, p_value=1.0)
    return comparison.without_spread(difference)


def independent_t_test(
    first: Coefficient, second: Coefficient, confidence: float = 0.95
) -> Comparison:
    """Return the comparison of two coefficients on different items: Welch's t on the errors.

    Both are of the same measure. On the same items this test is too timid. Welch and
    Satterthwaite's degrees of freedom are made of ``items - 1`` of each.

    Undefined: as the first undefined coefficient; too_few_items if one has no error or fewer than
    two items; no_spread if both errors are 0, even for a difference of 0.

    Source:
        Welch (1947), Biometrika 34, 28; for coefficients Gwet (2016), Educ. Psychol. Meas. 76,
        609.
    """
    check_confidence(confidence)
    comparison = Comparison(
        None,
        confidence=confidence,
        test="independent_t",
        why=Message(independent_t_sentence),
        n_first=first.items,
        n_second=second.items,
    )
    if first.value is None or second.value is None:
        reason = first.undefined or second.undefined or NOT_APPLICABLE
        return replace(comparison, undefined=reason)
    first_error, second_error = first.standard_error, second.standard_error
    difference = first.value - second.value
    if first_error is None or second_error is None or min(first.items, second.items) < 2:
        return replace(comparison, difference=difference, undefined=TOO_FEW_ITEMS)
    error = math.hypot(first_error, second_error)
    if error <= NO_DIFFERENCE:
        return comparison.without_spread(difference)
    parts = (first_error / error) ** 4 / (first.items - 1)
    parts += (second_error / error) ** 4 / (second.items - 1)
    return comparison.by_t(difference, error, 1 / parts)


@dataclass(frozen=True)
class Comparison:
    """A difference of two results, the first minus the second.

    Attributes:
        difference: first less second, in the results' unit: of coefficients, of means, or the
            Hodges-Lehmann shift of a rank test; None if there is none.
        standard_error: of the difference; None for rank tests and if undefined.
        ci_low: lower bound of the difference; None if the data allow none.
        ci_high: upper bound of the difference, likewise.
        confidence: the level of the bounds, in (0, 1).
        statistic: t; or of Mann-Whitney the first's U, of Wilcoxon the sum of positive ranks.
        freedom: degrees of freedom of t; None for rank tests.
        p_value: two-sided, in [0, 1]; 1 if the two are the same throughout.
        test: "dependent_t", "independent_t", "student_t", "welch_t", "paired_t",
            "mann_whitney" or "wilcoxon".
        why: why this test, or why none.
        effect: the effect size, positive if the first is greater, or None.
        effect_name: "hedges_g" (Cohen's d over the pooled deviation, corrected),
            "hedges_g_average" (over the root of the mean of both variances), "d_z" (over the
            deviation of the differences) or "rank_biserial" (in [-1, 1]).
        n_first: items or values of the first.
        n_second: of the second; the same if they are paired.
        undefined: why there is no ``p_value``: too_few_items, no_spread (the error is 0 and the
            difference is not), or the reason for which a coefficient is undefined; else None.
        p_value_annotators: likewise of other annotators, not of other items.
        undefined_annotators: why there is none.
    """

    difference: float | None
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    statistic: float | None = None
    freedom: float | None = None
    p_value: float | None = None
    test: str = ""
    why: Message | None = None
    effect: float | None = None
    effect_name: str | None = None
    n_first: int = 0
    n_second: int = 0
    undefined: str | None = None
    p_value_annotators: float | None = None
    undefined_annotators: str | None = NOT_APPLICABLE

    def by_t(self, difference: float, error: float, freedom: float) -> Comparison:
        """Return the same with a difference against its error, above 0, by Student's t.

        The degrees of freedom are above 0, whole or not.
        """
        # Imported here, because scipy costs more than the rest of the program's start.
        from scipy.special import stdtr, stdtrit

        statistic = difference / error
        reach = float(stdtrit(freedom, (1 + self.confidence) / 2)) * error
        return replace(
            self,
            difference=difference,
            standard_error=error,
            ci_low=difference - reach,
            ci_high=difference + reach,
            statistic=statistic,
            freedom=freedom,
            p_value=2 * float(stdtr(freedom, -abs(statistic))),
        )

    def without_spread(self, difference: float) -> Comparison:
        """Return the same with a difference whose error is 0."""
        return replace(self, difference=difference, standard_error=0.0, undefined=WITHOUT_SPREAD)


UNPAIRED_TESTS: Final = ("welch_t", "mann_whitney", "student_t")
PAIRED_TESTS: Final = ("paired_t", "wilcoxon")

_EFFECTS: Final = {
    "welch_t": "hedges_g_average",
    "mann_whitney": "rank_biserial",
    "student_t": "hedges_g",
    "paired_t": "d_z",
    "wilcoxon": "rank_biserial",
}
_ORDERS: Final = 9999  # up to so many, the orders of two columns are listed
_DIGITS: Final = 12  # significant ones; what differs less is equal but for rounding


class _Column(NamedTuple):
    """Figures, and how many items have each."""

    values: list[float]
    counts: Sequence[int]

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float:
        return math.fsum(map(math.prod, zip(self.values, self.counts, strict=True))) / self.n

    @property
    def spread(self) -> float:
        """The variance, exactly 0 if the column does not vary."""
        if min(self.values) == max(self.values):
            return 0.0
        mean = self.mean
        rows = zip(self.values, self.counts, strict=True)
        return math.fsum(items * (value - mean) ** 2 for value, items in rows) / (self.n - 1)

    @property
    def every(self) -> list[float]:
        """The figure of each item, as the rank tests need them."""
        rows = zip(self.values, self.counts, strict=True)
        return [value for value, items in rows for _ in range(items)]


def two_sample_test(
    first: Sequence[float],
    second: Sequence[float],
    *,
    paired: bool,
    counts: tuple[Sequence[int], Sequence[int]] | None = None,
    test: str | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """Return the comparison of two columns by the test of their design, or by the given one.

    Without ``test`` the design decides, never the figures: the t test (paired, or Welch's) if
    each column has 30 values or more, else the rank test. The figures are not first tested for
    normality or equal variances: a test chosen by another test does not keep its level (Zimmerman
    2004; Rochon et al. 2012). Student's is taken only on request. Values equal to twelve
    significant digits are equal.

    Args:
        first: finite figures; leave out what is undefined.
        second: likewise; if paired, of the same items in the same order.
        paired: whether the two are.
        counts: how many items have each figure of the first and of the second; None for one each.
        test: one of `PAIRED_TESTS` or of `UNPAIRED_TESTS`.
        confidence: of the bounds.

    Undefined: too_few_items (a column of fewer than two values), no_spread (a t test of columns,
    or differences, that do not vary). If no value, or no pair, differs: p = 1, a difference and an
    effect of 0, and no statistic. Wilcoxon's p and effect leave out pairs without a difference, as
    he did; the shift and its bounds do not.

    Raises:
        InvalidOption: there is no such test.
        ValueError: paired columns differ in length, or a figure is not finite.

    Source:
        Welch (1947), Biometrika 34, 28; Mann and Whitney (1947), Ann. Math. Stat. 18, 50;
        Wilcoxon (1945), Biometrics Bull. 1, 80. The choice: Zimmerman (2004), Br. J. Math. Stat.
        Psychol. 57, 173; Rochon, Gondan and Kieser (2012), BMC Med. Res. Methodol. 12, 81.
        Effects: Hedges (1981), J. Educ. Stat. 6, 107; for Welch's Delacre et al. (2021),
        doi:10.31234/osf.io/tu6mp; d_z: Cohen (1988); rank-biserial: Kerby (2014), Compr.
        Psychol. 3, 11.IT.3.1.
    """
    check_confidence(confidence)
    check_two_sample_test(test, paired=paired)
    if paired and len(first) != len(second):
        raise ValueError("paired columns have the same length")
    digits = _digits([*first, *second])
    items = counts or ([1] * len(first), [1] * len(second))
    columns = [
        _Column([round(float(value), digits) for value in column], number)
        for column, number in zip((first, second), items, strict=True)
    ]
    sizes = columns[0].n, columns[1].n
    blank = Comparison(None, confidence=confidence, n_first=sizes[0], n_second=sizes[1])
    design = PAIRED_TESTS if paired else UNPAIRED_TESTS
    chosen = test or design[0 if min(sizes) >= ENOUGH else 1]
    if min(sizes) < 2:
        why = Message(too_few_values_sentence)
        return replace(blank, test=test or design[0], why=why, undefined=TOO_FEW_ITEMS)
    if paired:
        pairs = zip(columns[0].values, columns[1].values, strict=True)
        columns = [_Column([round(before - after, digits) for before, after in pairs], items[0])]
    values = {value for column in columns for value in column.values}
    equal = values == {0.0} or (len(values) == 1 and not paired)
    about = {"test": chosen, "sizes": sizes, "requested": test is not None, "equal": equal}
    why = Message(column_test_sentence, **about)
    blank = replace(blank, test=chosen, why=why, effect_name=_EFFECTS[chosen])
    if equal:
        return replace(blank, difference=0.0, p_value=1.0, effect=0.0)
    if chosen.endswith("_t"):
        return _paired_means(blank, columns[0]) if paired else _means(blank, *columns)
    every = [column.every for column in columns]
    return _signed_ranks(blank, every[0]) if paired else _ranks(blank, *every)


def check_two_sample_test(test: str | None, *, paired: bool) -> None:
    """Raise InvalidOption for a test that is not one of paired, or of unpaired, columns."""
    allowed = PAIRED_TESTS if paired else UNPAIRED_TESTS
    if test is not None and test not in allowed:
        sides = "have the same items" if paired else "have no item in common"
        raise InvalidOption(
            f"{test!r} is no test of two sides that {sides}", f"one of {', '.join(allowed)}"
        )


def _digits(values: Sequence[float]) -> int:
    """Return the decimal places that leave the greatest value twelve significant digits."""
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a column holds a figure that is not finite")
    greatest = max(map(abs, values), default=0.0)
    return _DIGITS - math.ceil(math.log10(greatest)) if greatest else _DIGITS


def _paired_means(blank: Comparison, differences: _Column) -> Comparison:
    mean, spread, n = differences.mean, differences.spread, differences.n
    if not spread:
        return blank.without_spread(differences.values[0])
    blank = replace(blank, effect=mean / math.sqrt(spread))
    return blank.by_t(mean, math.sqrt(spread / n), n - 1)


def _means(blank: Comparison, first: _Column, second: _Column) -> Comparison:
    """Return Student's and Welch's t; what each takes for the common variance scales the effect."""
    n, m = first.n, second.n
    first_spread, second_spread = first.spread, second.spread
    if not first_spread and not second_spread:
        return blank.without_spread(first.values[0] - second.values[0])
    difference = first.mean - second.mean
    if blank.test == "student_t":
        freedom = of_effect = float(n + m - 2)
        common = ((n - 1) * first_spread + (m - 1) * second_spread) / freedom
        error = math.sqrt(common * (1 / n + 1 / m))
    else:
        error = math.sqrt(first_spread / n + second_spread / m)
        freedom = _satterthwaite(first_spread / n, n, second_spread / m, m)
        common = (first_spread + second_spread) / 2
        of_effect = _satterthwaite(first_spread, n, second_spread, m)
    if of_effect > 1:
        effect = _hedges(of_effect) * difference / math.sqrt(common)
        blank = replace(blank, effect=effect)
    return blank.by_t(difference, error, freedom)


def _satterthwaite(first: float, n: int, second: float, m: int) -> float:
    """Return the degrees of freedom of a sum of two variance terms with n - 1 and m - 1 of them."""
    share = first / (first + second)
    return 1 / (share**2 / (n - 1) + (1 - share) ** 2 / (m - 1))


def _hedges(freedom: float) -> float:
    """Return the factor that makes Cohen's d unbiased (Hedges 1981)."""
    half = freedom / 2
    return math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(half)


def _ranks(blank: Comparison, first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Return Mann and Whitney's test; p is exact if all orders can be listed, ties or not."""
    from scipy.stats import PermutationMethod, mannwhitneyu

    few = math.comb(len(first) + len(second), len(first)) <= _ORDERS
    test = mannwhitneyu(first, second, method=PermutationMethod(_ORDERS) if few else "auto")
    shift = hodges_lehmann_shift(first, second, blank.confidence)
    return replace(
        blank,
        difference=shift.estimate,
        ci_low=shift.low,
        ci_high=shift.high,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
        effect=2 * float(test.statistic) / (len(first) * len(second)) - 1,
    )


def _signed_ranks(blank: Comparison, differences: Sequence[float]) -> Comparison:
    from scipy.stats import rankdata

    moved = [value for value in differences if value]
    ranks = rankdata([abs(value) for value in moved])
    positive = math.fsum(rank for rank, value in zip(ranks, moved, strict=True) if value > 0)
    shift = paired_hodges_lehmann_shift(differences, blank.confidence)
    return replace(
        blank,
        difference=shift.estimate,
        ci_low=shift.low,
        ci_high=shift.high,
        statistic=positive,
        p_value=_of_signed_ranks(moved, ranks, positive),
        effect=4 * positive / (len(moved) * (len(moved) + 1)) - 1,
    )


def _of_signed_ranks(moved: Sequence[float], ranks: Floats, positive: float) -> float:
    """Return the two-sided p-value; with ties among few, of every choice of signs.

    That is what SciPy does, but it ranks the figures anew for each choice, up to a second long.
    """
    from scipy.stats import wilcoxon

    if len(moved) > _FEW or len({*ranks}) == len(ranks):
        return float(wilcoxon(moved).pvalue)
    sums = np.zeros(1)
    for rank in ranks:
        sums = np.concatenate([sums, sums + rank])
    return min(1.0, 2 * float(np.mean(sums <= min(positive, sums[-1] - positive))))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for their number; None stays, and is not counted.

    Rejecting all of alpha at most holds the chance of any wrong rejection at alpha (Holm 1979,
    Scand. J. Statist. 6, 65-70).
    """
    ranked = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        highest = max(highest, min(1.0, p * (len(ranked) - rank)))
        corrected[place] = highest
    return corrected
