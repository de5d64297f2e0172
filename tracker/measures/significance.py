"""Two results compared: is the difference more than chance would make?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tracker.core.shown import Message
from tracker.measures.coefficient import NOT_APPLICABLE, TOO_FEW_ITEMS, Coefficient
from tracker.measures.intervals import check_confidence
from tracker.measures.numeric.two_annotators import WITHOUT_SPREAD

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
        confidence: the level of the bounds, in (0, 1).

    Returns:
        The comparison, t with n - 1 degrees of freedom. Where the influences do not differ on
        any item: p = 1 for a difference of 0, else undefined (no_spread). Below two items
        undefined (too_few_items).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
        ValueError: the three sequences differ in length.

    Source:
        Gwet (2016), Educ. Psychol. Meas. 76, 609; the idea of comparing dependent coefficients
        item by item also in Vanbelle and Albert (2008), Br. J. Math. Stat. Psychol. 61, 481.
    """
    check_confidence(confidence)
    items = sum(weights)
    squares = math.fsum(
        count * (one - other) ** 2 for one, other, count in zip(first, second, weights, strict=True)
    )
    error = math.sqrt(squares * items / (items - 1)) if items > 1 else 0.0
    return _compared(
        difference,
        error,
        items - 1,
        TOO_FEW_ITEMS if items < 2 else None,
        Comparison(
            None,
            confidence=confidence,
            test="dependent_t",
            why=Message("comparisons.dependent_t_sentence"),
            n_first=items,
            n_second=items,
        ),
        same=True,
    )


def independent_t_test(
    first: Coefficient, second: Coefficient, confidence: float = 0.95
) -> Comparison:
    """Return the comparison of two coefficients on different items: Welch's t on the errors.

    Args:
        first: a coefficient, of the same measure as the second.
        second: a coefficient on other items; on the same ones this test is too timid.
        confidence: the level of the bounds, in (0, 1).

    Returns:
        The comparison, with Welch and Satterthwaite's degrees of freedom from ``items - 1`` of
        each. Undefined: as the first undefined coefficient; too_few_items if one has no error
        or fewer than two items; no_spread if both errors are 0, even for a difference of 0.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).

    Source:
        Welch (1947), Biometrika 34, 28; for coefficients Gwet (2016), Educ. Psychol. Meas. 76,
        609.
    """
    check_confidence(confidence)
    blank = Comparison(
        None,
        confidence=confidence,
        test="independent_t",
        why=Message("comparisons.independent_t_sentence"),
        n_first=first.items,
        n_second=second.items,
    )
    if first.value is None or second.value is None:
        reason = first.undefined or second.undefined or NOT_APPLICABLE
        return _compared(None, 0.0, 0.0, reason, blank, same=False)
    one, other = first.standard_error, second.standard_error
    difference = first.value - second.value
    if one is None or other is None or min(first.items, second.items) < 2:
        return _compared(difference, 0.0, 0.0, TOO_FEW_ITEMS, blank, same=False)
    error = math.hypot(one, other)
    freedom = 0.0
    if error > NO_DIFFERENCE:
        parts = (one / error) ** 4 / (first.items - 1) + (other / error) ** 4 / (second.items - 1)
        freedom = 1 / parts
    return _compared(difference, error, freedom, None, blank, same=False)


def _compared(
    difference: float | None,
    error: float,
    freedom: float,
    reason: str | None,
    blank: Comparison,
    *,
    same: bool,
) -> Comparison:
    """Return ``blank`` with its figures.

    ``same``: two results that never differ are equal, p = 1.
    """
    if difference is None or reason is not None:
        return replace(blank, difference=difference, undefined=reason)
    if error > NO_DIFFERENCE:
        return blank.by_t(difference, error, freedom)
    if same and abs(difference) <= NO_DIFFERENCE:
        return replace(blank, difference=0.0, standard_error=0.0, p_value=1.0)
    return replace(blank, difference=difference, standard_error=0.0, undefined=WITHOUT_SPREAD)


@dataclass(frozen=True)
class Comparison:
    """A difference of two results, the first minus the second.

    Attributes:
        difference: first less second, in the results' unit: of coefficients, of means, or the
            Hodges-Lehmann shift of a rank test; None if there is none.
        standard_error: of the difference; None for rank tests and where undefined.
        ci_low: lower bound of the difference; None if the data allow none.
        ci_high: upper bound of the difference, likewise.
        confidence: the level of the bounds, in (0, 1).
        statistic: t; or of Mann-Whitney the first's U, of Wilcoxon the sum of positive ranks.
        freedom: degrees of freedom of t; None for rank tests.
        p_value: two-sided, in [0, 1]; 1 if the two are the same throughout.
        test: "dependent_t", "independent_t", "student_t", "welch_t", "paired_t",
            "mann_whitney" or "wilcoxon".
        why: why this test, or why none.
        effect: the effect size, positive where the first is greater, or None.
        effect_name: "hedges_g" (Cohen's d over the pooled deviation, corrected),
            "hedges_g_average" (over the root of the mean of both variances), "d_z" (over the
            deviation of the differences) or "rank_biserial" (in [-1, 1]).
        n_first: items or values of the first.
        n_second: of the second; the same where they are paired.
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
        """Return the same with a difference against its error.

        Args:
            difference: the difference.
            error: its standard error, above 0.
            freedom: degrees of freedom of Student's t, above 0, whole or not.
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
