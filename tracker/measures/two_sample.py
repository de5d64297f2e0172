"""Two columns of figures, per item or per annotator: the test that fits, and its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, variance
from typing import Final

from tracker.core.errors import InvalidOption
from tracker.measures.coefficient import TOO_FEW_ITEMS
from tracker.measures.hodges_lehmann import shift_of_pairs, shift_of_two
from tracker.measures.intervals import check_confidence
from tracker.measures.numeric.two_annotators import WITHOUT_SPREAD
from tracker.measures.significance import Comparison

UNPAIRED_TESTS: Final = ("welch_t", "mann_whitney", "student_t")
PAIRED_TESTS: Final = ("paired_t", "wilcoxon")

_TITLES: Final = {
    "welch_t": "Welch's t test",
    "mann_whitney": "The Mann-Whitney test",
    "student_t": "Student's t test",
    "paired_t": "The paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
_EFFECTS: Final = {
    "welch_t": "hedges_g_average",
    "mann_whitney": "rank_biserial",
    "student_t": "hedges_g",
    "paired_t": "d_z",
    "wilcoxon": "rank_biserial",
}
_LARGE: Final = 5000  # beyond, Shapiro and Wilk's p is not to be trusted, and a mean is normal
_ORDERS: Final = 9999  # up to so many, the orders of two columns are listed
_DIGITS: Final = 12  # significant ones; what differs less is equal but for rounding

Column = Sequence[float]


def two_columns(
    first: Column,
    second: Column,
    *,
    paired: bool,
    test: str | None = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
) -> Comparison:
    """Return the comparison of two columns by the test that fits, or by the given one.

    Without ``test`` the t test is taken (paired, or Welch's: equal variances are neither tested
    nor assumed) where the differences, or both columns, pass for normal by Shapiro and Wilk, or
    have more than 5000 values, whose mean is normal anyway; else the rank test. Student's is
    taken only on request. Values equal to twelve significant digits are equal.

    Args:
        first: finite figures; leave out what is undefined.
        second: likewise; where paired, of the same items or annotators in the same order.
        paired: whether the two are.
        test: one of `PAIRED_TESTS` or of `UNPAIRED_TESTS`.
        confidence: the level of the bounds, in (0, 1).
        alpha: the level of the test for normality, in (0, 1).

    Returns:
        The comparison. Undefined: too_few_items (a column of fewer than two values), no_spread
        (a t test of columns, or differences, that do not vary). Where no value, or no pair,
        differs: p = 1, a difference and an effect of 0, and no statistic. Wilcoxon's p and
        effect leave out pairs without a difference, as he did; the shift and its bounds do not.

    Raises:
        InvalidOption: there is no such test, or a level is not in (0, 1).
        ValueError: paired columns differ in length, or a figure is not finite.

    Source:
        Welch (1947), Biometrika 34, 28; Mann and Whitney (1947), Ann. Math. Stat. 18, 50;
        Wilcoxon (1945), Biometrics Bull. 1, 80; Shapiro and Wilk (1965), Biometrika 52, 591.
        Effects: Hedges (1981), J. Educ. Stat. 6, 107; for Welch's Delacre et al. (2021),
        doi:10.31234/osf.io/tu6mp; d_z: Cohen (1988); rank-biserial: Kerby (2014), Compr.
        Psychol. 3, 11.IT.3.1.
    """
    check_confidence(confidence)
    if not 0 < alpha < 1:
        raise InvalidOption(f"a level of {alpha} is not between 0 and 1", "use 0.05, for example")
    allowed = PAIRED_TESTS if paired else UNPAIRED_TESTS
    if test is not None and test not in allowed:
        kind = "paired" if paired else "unpaired"
        raise InvalidOption(
            f"{test!r} is no test of {kind} columns", f"one of {', '.join(allowed)}"
        )
    if paired and len(first) != len(second):
        raise ValueError("paired columns have the same length")
    blank = Comparison(None, confidence=confidence, n_first=len(first), n_second=len(second))
    if min(len(first), len(second)) < 2:
        why = "There are fewer than two values."
        return replace(blank, test=test or allowed[0], why=why, undefined=TOO_FEW_ITEMS)
    digits = _digits([*first, *second])
    columns = [[round(float(value), digits) for value in column] for column in (first, second)]
    if paired:
        columns = [[round(one - other, digits) for one, other in zip(*columns, strict=True)]]
    chosen, why = (test, "as it was asked for") if test else _choice(columns, allowed, alpha)
    blank = replace(
        blank, test=chosen, why=f"{_TITLES[chosen]}, {why}.", effect_name=_EFFECTS[chosen]
    )
    values = {value for column in columns for value in column}
    if values == {0.0} or (len(values) == 1 and not paired):
        blank = replace(blank, why=f"{blank.why[:-1]}; no value differs.")
        return replace(blank, difference=0.0, p_value=1.0, effect=0.0)
    if chosen.endswith("_t"):
        return _paired_means(blank, columns[0]) if paired else _means(blank, *columns)
    return _signed_ranks(blank, columns[0]) if paired else _ranks(blank, *columns)


def _digits(values: Column) -> int:
    """Return the decimal places that leave the greatest value twelve significant digits."""
    greatest = max(abs(value) for value in values)
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a column holds a figure that is not finite")
    return _DIGITS - math.ceil(math.log10(greatest)) if greatest else _DIGITS


def _choice(columns: Sequence[Column], allowed: Sequence[str], alpha: float) -> tuple[str, str]:
    """Return the test for means if all columns pass for normal, else that for ranks; and why."""
    normality = [_normal(column, alpha) for column in columns]
    one_only = len(columns) == 1
    names = ["the column of differences"] if one_only else ["the first column", "the second column"]
    reasons = " and ".join(
        f"{name} {said}" for name, (_, said) in zip(names, normality, strict=True)
    )
    normal = all(passed for passed, _ in normality)
    return allowed[0 if normal else 1], f"because {reasons}"


def _normal(column: Column, alpha: float) -> tuple[bool, str]:
    """Return whether a mean of the column may be taken for normal, and why."""
    n = len(column)
    if min(column) == max(column):
        return False, "does not vary"
    if n > _LARGE:
        return True, f"has a normal mean, having {n} values"
    if n < 3:
        return False, "has too few values to pass for normal"
    from scipy.stats import shapiro

    p = float(shapiro(column).pvalue)
    said = "passes for normal" if p >= alpha else "does not pass for normal"
    return p >= alpha, f"{said} (Shapiro-Wilk p = {p:.2g}, level {alpha:g})"


def _spread(column: Column) -> float:
    """Return the variance, exactly 0 where the column does not vary."""
    return 0.0 if min(column) == max(column) else variance(column)


def _paired_means(blank: Comparison, differences: Column) -> Comparison:
    mean, spread, n = fmean(differences), _spread(differences), len(differences)
    if not spread:
        fixed = differences[0]
        return replace(blank, difference=fixed, standard_error=0.0, undefined=WITHOUT_SPREAD)
    blank = replace(blank, effect=mean / math.sqrt(spread))
    return blank.by_t(mean, math.sqrt(spread / n), n - 1)


def _means(blank: Comparison, first: Column, second: Column) -> Comparison:
    """Return Student's and Welch's t; what each takes for the common variance scales the effect."""
    n, m = len(first), len(second)
    one, other = _spread(first), _spread(second)
    if not one and not other:
        fixed = first[0] - second[0]
        return replace(blank, difference=fixed, standard_error=0.0, undefined=WITHOUT_SPREAD)
    difference = fmean(first) - fmean(second)
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


def _ranks(blank: Comparison, first: Column, second: Column) -> Comparison:
    """Return Mann and Whitney's test; p is exact if all orders can be listed, ties or not."""
    from scipy.stats import PermutationMethod, mannwhitneyu

    few = math.comb(len(first) + len(second), len(first)) <= _ORDERS
    test = mannwhitneyu(first, second, method=PermutationMethod(_ORDERS) if few else "auto")
    shift = shift_of_two(first, second, blank.confidence)
    return replace(
        blank,
        difference=shift.estimate,
        ci_low=shift.low,
        ci_high=shift.high,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
        effect=2 * float(test.statistic) / (len(first) * len(second)) - 1,
    )


def _signed_ranks(blank: Comparison, differences: Column) -> Comparison:
    from scipy.stats import rankdata, wilcoxon

    moved = [value for value in differences if value]
    ranks = rankdata([abs(value) for value in moved])
    positive = math.fsum(rank for rank, value in zip(ranks, moved, strict=True) if value > 0)
    shift = shift_of_pairs(differences, blank.confidence)
    return replace(
        blank,
        difference=shift.estimate,
        ci_low=shift.low,
        ci_high=shift.high,
        statistic=positive,
        p_value=float(wilcoxon(moved).pvalue),
        effect=4 * positive / (len(moved) * (len(moved) + 1)) - 1,
    )
