"""A difference of two results, and the probability that chance alone makes one as great."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace


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
        why: in one sentence, why this test.
        effect: the effect size, positive where the first is greater, or None.
        effect_name: "hedges_g" (Cohen's d over the pooled deviation, corrected),
            "hedges_g_average" (over the root of the mean of both variances), "d_z" (over the
            deviation of the differences) or "rank_biserial" (in [-1, 1]).
        n_first: items or values of the first.
        n_second: of the second; the same where they are paired.
        undefined: why there is no ``p_value``: too_few_items, no_spread (the error is 0 and the
            difference is not), or the reason for which a coefficient is undefined; else None.
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
    why: str = ""
    effect: float | None = None
    effect_name: str | None = None
    n_first: int = 0
    n_second: int = 0
    undefined: str | None = None

    def to_dict(self) -> dict[str, str | float | int | None]:
        """Return the comparison as JSON has it, key order included."""
        return asdict(self)

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
