"""Two columns of figures, one figure per item: the test that their design asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tracker.core.errors import InvalidOption
from tracker.core.shown import Message
from tracker.measures.coefficient import TOO_FEW_ITEMS
from tracker.measures.hodges_lehmann import hodges_lehmann_shift, paired_hodges_lehmann_shift
from tracker.measures.intervals import check_confidence
from tracker.measures.numeric.two_annotators import WITHOUT_SPREAD
from tracker.measures.significance import Comparison

UNPAIRED_TESTS: Final = ("welch_t", "mann_whitney", "student_t")
PAIRED_TESTS: Final = ("paired_t", "wilcoxon")
ENOUGH: Final = 30
"""So many values have a mean that is nearly normal, whatever their distribution."""

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
        confidence: the level of the bounds, in (0, 1).

    Returns:
        The comparison. Undefined: too_few_items (a column of fewer than two values), no_spread
        (a t test of columns, or differences, that do not vary). If no value, or no pair, differs:
        p = 1, a difference and an effect of 0, and no statistic. Wilcoxon's p and effect leave out
        pairs without a difference, as he did; the shift and its bounds do not.

    Raises:
        InvalidOption: there is no such test, or the confidence level is not in (0, 1).
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
        why = Message("comparisons.too_few_values_sentence")
        return replace(blank, test=test or design[0], why=why, undefined=TOO_FEW_ITEMS)
    if paired:
        pairs = zip(columns[0].values, columns[1].values, strict=True)
        columns = [_Column([round(one - other, digits) for one, other in pairs], items[0])]
    values = {value for column in columns for value in column.values}
    equal = values == {0.0} or (len(values) == 1 and not paired)
    why = Message(
        "comparisons.column_test_sentence",
        test=chosen,
        sizes=sizes,
        requested=test is not None,
        equal=equal,
    )
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
        fixed = differences.values[0]
        return replace(blank, difference=fixed, standard_error=0.0, undefined=WITHOUT_SPREAD)
    blank = replace(blank, effect=mean / math.sqrt(spread))
    return blank.by_t(mean, math.sqrt(spread / n), n - 1)


def _means(blank: Comparison, first: _Column, second: _Column) -> Comparison:
    """Return Student's and Welch's t; what each takes for the common variance scales the effect."""
    n, m = first.n, second.n
    one, other = first.spread, second.spread
    if not one and not other:
        fixed = first.values[0] - second.values[0]
        return replace(blank, difference=fixed, standard_error=0.0, undefined=WITHOUT_SPREAD)
    difference = first.mean - second.mean
    if blank.test == "student_t":
        freedom = of_effect = float(n + m - 2)
        common = ((n - 1) * one + (m - 1) * other) / freedom
        error = math.sqrt(common * (1 / n + 1 / m))
    else:
        error = math.sqrt(one / n + other / m)
        freedom = _satterthwaite(one / n, n, other / m, m)
        common, of_effect = (one + other) / 2, _satterthwaite(one, n, other, m)
    corrected = _hedges(of_effect)
    if corrected is not None:
        blank = replace(blank, effect=corrected * difference / math.sqrt(common))
    return blank.by_t(difference, error, freedom)


def _satterthwaite(one: float, n: int, other: float, m: int) -> float:
    """Return the degrees of freedom of a sum of two variance terms with n - 1 and m - 1 of them."""
    share = one / (one + other)
    return 1 / (share**2 / (n - 1) + (1 - share) ** 2 / (m - 1))


def _hedges(freedom: float) -> float | None:
    """Return the factor that makes Cohen's d unbiased (Hedges 1981); None with one freedom."""
    if freedom <= 1:
        return None
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
    from scipy.stats import rankdata, wilcoxon

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
        p_value=float(wilcoxon(moved).pvalue),
        effect=4 * positive / (len(moved) * (len(moved) + 1)) - 1,
    )
