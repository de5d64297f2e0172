"""A figure over items, and its intervals: Student, Wilson, logarithmic, and without spread.

Items are the unit everywhere, never the pairs of answers within them, because the pairs of one
item share its difficulty and are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.core.errors import InvalidOption

Bounds = tuple[float, float]
Floats = NDArray[np.float64]


def check_confidence(confidence: float) -> None:
    """Accept a confidence level strictly between 0 and 1.

    Raises:
        InvalidOption: for anything else, NaN included.
    """
    if not 0 < confidence < 1:
        raise InvalidOption(
            f"a confidence level of {confidence} is not between 0 and 1", "use 0.95, for example"
        )


@lru_cache(maxsize=4096)  # of very many pairs of annotators many share their number of items
def coverage_quantile(confidence: float, freedom: int | None) -> float:
    """Return the two-sided quantile of Student's t, or of the normal if ``freedom`` is None."""
    # Imported here, because scipy costs more than the rest of the program's start.
    from scipy.special import ndtri, stdtrit

    check_confidence(confidence)
    upper = (1 + confidence) / 2
    return float(ndtri(upper) if freedom is None else stdtrit(freedom, upper))


def confidence_interval(
    value: float,
    standard_error: float,
    items: int,
    confidence: float,
    *,
    low: float = -1.0,
    high: float = 1.0,
) -> Bounds:
    """Return ``value`` plus and minus t standard errors, t with ``items - 1`` degrees of freedom.

    Bounds are clipped to the least and the greatest value that the figure can have, ``low`` and
    ``high``; a value outside them stays inside its bounds. Raises ValueError for fewer than two
    items: one item has no spread to learn from.

    Source:
        Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 5.
    """
    if items < 2:
        raise ValueError("an interval needs two items or more")
    reach = coverage_quantile(confidence, items - 1) * standard_error
    return max(min(low, value), value - reach), min(max(high, value), value + reach)


def confidence_intervals(
    values: Floats, standard_errors: Floats, items: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return `confidence_interval` of very many figures from -1 to 1 at once; NaN below two items.

    All arrays, the lower and the upper bounds too, have shape (C,).
    """
    distinct, place = np.unique(items, return_inverse=True)
    quantiles = [coverage_quantile(confidence, int(n) - 1) if n > 1 else math.nan for n in distinct]
    reach = np.array(quantiles)[place] * standard_errors
    low, high = np.minimum(-1.0, values), np.maximum(1.0, values)
    return np.maximum(low, values - reach), np.minimum(high, values + reach)


def degrees_of_freedom(items: Floats, squares: Floats, fourths: Floats) -> Floats:
    """Return degrees of freedom of a variance that was estimated from influences, (C,).

    The fewer items carry the variance, the less it is known: 2 n / (k - (n - 3) / (n - 1)), k the
    kurtosis of the influences; n - 1 where they are normally distributed.

    Args:
        items: items with an influence, two or more, (C,).
        squares: the sum of the squared influences, above 0, (C,).
        fourths: the sum of their fourth powers, (C,).

    Returns:
        From 1 to n - 1.

    Source:
        The variance of a variance, Cramér (1946), Mathematical Methods of Statistics, section
        27.4; equated to a chi square's by Satterthwaite (1946), Biometrics Bull. 2, 110.
    """
    kurtosis = items * fourths / squares**2
    # Never 0 or below: a kurtosis is 1 or more. Rounding may say otherwise.
    excess = np.maximum(kurtosis - (items - 3) / (items - 1), 2 / (items - 1))
    return np.clip(2 * items / excess, 1.0, items - 1)


def log_confidence_intervals(
    values: Floats, standard_errors: Floats, freedom: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return Student's t on the logarithm of ``1 - value``, for figures from -1 to 1.

    All arrays, the lower and the upper bounds too, have shape (C,). Values are below 1, and one
    below -1 stays inside its bounds; errors are above 0; degrees of freedom need not be whole.
    """
    from scipy.special import stdtrit

    check_confidence(confidence)
    room = 1 - values
    # Where the error is many times the room, the lower bound is -1 whatever it is.
    reach = np.minimum(stdtrit(freedom, (1 + confidence) / 2) * standard_errors / room, 700.0)
    low: Floats = np.maximum(np.minimum(-1.0, values), 1 - room * np.exp(reach))
    high: Floats = 1 - room * np.exp(-reach)
    return low, high


def interval_without_spread(value: float, items: int, confidence: float) -> Bounds:
    """Return bounds of a mean in [0, 1] of which every item gave the same ``value``.

    The standard error is 0 then and says nothing. But were more than a share ``1 - b`` of all
    items different, with ``b ** items = 1 - confidence``, a sample without any of them would be
    less likely than ``1 - confidence``. So at least ``b`` of all items give ``value``, and the
    others anything from 0 to 1. For a value of 1 this is the exact one-sided lower bound of
    Clopper and Pearson (1934), 0.05 ** (1 / items) at 95%.
    """
    check_confidence(confidence)
    alike = (1 - confidence) ** (1 / items)
    return value * alike, value * alike + (1 - alike)


def wilson_interval(
    share: float, size: float, confidence: float, freedom: int | None = None
) -> Bounds:
    """Return the score interval of a share in [0, 1] of ``size`` independent observations.

    ``size`` may be an effective number, above 0. ``freedom`` is that of Student's t if ``size`` was
    itself estimated from a spread; None for the normal quantile.

    Source:
        Wilson (1927), J. Am. Stat. Assoc. 22, 209; with an effective size and t: Korn and
        Graubard (1998), Survey Methodology 24, 193, and Dean and Pagano (2015), J. Surv. Stat.
        Methodol. 3, 484.
    """
    square = coverage_quantile(confidence, freedom) ** 2 / size
    centre = (share + square / 2) / (1 + square)
    reach = math.sqrt(square * share * (1 - share) + square * square / 4) / (1 + square)
    # Rounding must not push a bound past the estimate when the share is 0 or 1.
    return max(0.0, min(share, centre - reach)), min(1.0, max(share, centre + reach))


NO_OVERLAP: Final = "no_overlap"  # no item has two answers, so there is nothing to compare
SINGLE_CATEGORY: Final = "single_category"  # expected agreement is 1: chance explains it all
TOO_FEW_ITEMS: Final = "too_few_items"
TOO_FEW_ANNOTATORS: Final = "too_few_annotators"
NOT_APPLICABLE: Final = "not_applicable"  # the measure is not defined for this kind of project
WITHOUT_SPREAD: Final = "no_spread"  # the error is 0: the data say nothing about the spread

Detail: TypeAlias = str | float | int | None

# Below this a standard error is the rounding of a zero. A real one is far greater: a single
# disagreement among ten million items still gives 1e-7.
NO_SPREAD: Final = 1e-12


@dataclass(frozen=True)
class Parts:
    """The parts that a coefficient is computed from.

    Attributes:
        observed: observed agreement, a share in [0, 1]; None if distances have no limit.
        expected: agreement expected by chance, likewise.
        observed_disagreement: alpha's D_o, in the unit of its distance.
        expected_disagreement: alpha's D_e, likewise.
    """

    observed: float | None = None
    expected: float | None = None
    observed_disagreement: float | None = None
    expected_disagreement: float | None = None


@dataclass(frozen=True)
class Coefficient:
    """One measure's figure for one selection of items.

    Attributes:
        measure: the measure's name in the registry.
        value: the coefficient, or None if it cannot be computed.
        undefined: why ``value`` is None, one of the reasons above; None if there is a value.
        observed: observed agreement, a share in [0, 1], if the measure has one.
        expected: agreement expected by chance, likewise.
        standard_error: of ``value`` over a sample of items; None for a single item.
        ci_low: lower confidence bound; None if the data say nothing about the spread.
        ci_high: upper confidence bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        items: the items that entered the value.
        method: how the bounds came to be: "Wilson", "posterior", "log" or "t" (see
            `spread_bounds`), "one-sided exact" (a perfect figure, whose error of 0 says
            nothing), "bootstrap", …; None if there are none.
        details: what else belongs to the figure: ``weights``, alpha's ``scale`` or ``distance``
            with ``observed_disagreement`` and ``expected_disagreement`` in its unit, the
            ``true_positives``, ``precision`` and ``recall`` of spans.

    Raises:
        ValueError: there are both a value and a reason for having none, or neither.
    """

    measure: str
    value: float | None
    undefined: str | None = None
    observed: float | None = None
    expected: float | None = None
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    items: int = 0
    method: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if (self.value is None) == (self.undefined is None):
            raise ValueError(f"{self.measure} needs either a value or a reason for having none")

    def with_error(
        self,
        error: float | None,
        low: float | None = None,
        high: float | None = None,
        method: str | None = None,
    ) -> Coefficient:
        """Return the figure with another error, and the bounds that follow from it."""
        return replace(self, standard_error=error, ci_low=low, ci_high=high, method=method)

    def to_dict(self) -> dict[str, Detail]:
        """Return the figure as the JSON of ``tracker agreement`` has it, key order included."""
        names = (
            "measure", "value", "standard_error", "ci_low", "ci_high", "confidence", "items",
            "undefined", "observed", "expected", "method",
        )  # fmt: skip
        return {**{name: getattr(self, name) for name in names}, **self.details}


ASYMMETRIC: Final = "asymmetric"
INTERVALS: Final = (ASYMMETRIC, "t")


def check_interval_method(name: str) -> None:
    if name not in INTERVALS:
        raise InvalidOption(f"there is no interval {name!r}", f"one of: {', '.join(INTERVALS)}")


class MethodBounds(NamedTuple):
    """An interval and its method; all None if there is none."""

    low: float | None = None
    high: float | None = None
    method: str | None = None


@dataclass(frozen=True)
class Spread:
    """What is known about how far a coefficient may be from the truth.

    Attributes:
        value: the coefficient.
        error: its standard error.
        parts: its parts; without an expected agreement ``value`` is a share in [0, 1].
        items: items that entered the value.
        compared: those of them with two answers or more.
        freedom: degrees of freedom of the error; None for ``items - 1``.
        likely: the bounds of the posterior, if there is one.
        of_pairs: whether the value is a share of pairs, but for a chance term that is known or
            nearly so; Wilson's interval fits it.
    """

    value: float
    error: float
    parts: Parts
    items: int
    compared: int
    freedom: float | None = None
    likely: tuple[float, float] | None = None
    of_pairs: bool = False

    @property
    def least(self) -> float:
        """The least value that the coefficient can have, -1 if it depends on the items."""
        expected = self.parts.expected
        if expected is None:
            return 0.0 if self.parts.expected_disagreement is None else -1.0
        # With weights chance may agree so much that even full disagreement is rare.
        return min(-1.0, -expected / (1 - expected)) if self.of_pairs else -1.0


def spread_bounds(of: Spread, confidence: float, how: str = ASYMMETRIC) -> MethodBounds:
    """Return the bounds that an error over items supports.

    Below two items compared there are none. For an error of 0 they are the posterior's; else those
    of `interval_without_spread` for a plain agreement; for a figure corrected for chance, if all
    agree on every item or no two do on any, the same bounds of the observed agreement with the
    expected one held; otherwise none.

    Raises:
        InvalidOption: ``how`` is not one of `INTERVALS`.
    """
    check_interval_method(how)
    if of.compared < 2:
        return MethodBounds()
    if how == ASYMMETRIC and of.likely is not None:
        return _with_posterior(of, of.likely, confidence)
    if of.error < NO_SPREAD:
        return _without_spread(of, confidence)
    if how != ASYMMETRIC:
        least = max(-1.0, of.least)
        bounds = confidence_interval(of.value, of.error, of.items, confidence, low=least)
        return MethodBounds(*bounds, "t")
    if of.of_pairs:
        return MethodBounds(*_wilson(of, confidence), "Wilson")
    value, error, freed = np.array([[of.value], [of.error], [of.freedom or of.items - 1.0]])
    below, above = log_confidence_intervals(value, error, freed, confidence)
    return MethodBounds(float(below[0]), float(above[0]), "log")


def _with_posterior(of: Spread, likely: tuple[float, float], confidence: float) -> MethodBounds:
    """Return the posterior's bounds; of a share of pairs never within Wilson's."""
    low, high = max(likely[0], min(of.least, of.value)), likely[1]
    if not of.of_pairs or of.error < NO_SPREAD:
        return MethodBounds(low, high, "posterior")
    wilson = _wilson(of, confidence)
    return MethodBounds(min(low, wilson[0]), max(high, wilson[1]), "posterior and Wilson")


def _wilson(of: Spread, confidence: float) -> tuple[float, float]:
    """Return Wilson's bounds on the effective number of items, for the coefficient as a share."""
    least = min(of.least, of.value)
    share, error = (of.value - least) / (1 - least), of.error / (1 - least)
    if not 0 < share < 1:  # an error without room for it: the chance term alone varies
        return confidence_interval(of.value, of.error, of.items, confidence, low=least)
    low, high = wilson_interval(share, share * (1 - share) / error**2, confidence, of.items - 1)
    return least + low * (1 - least), least + high * (1 - least)


def _without_spread(of: Spread, confidence: float) -> MethodBounds:
    parts = of.parts
    if parts.expected is None and parts.expected_disagreement is None:
        bounds = interval_without_spread(of.value, of.compared, confidence)
        return MethodBounds(*bounds, "one-sided exact")
    if parts.observed in {0, 1} and parts.expected is not None:
        bounds = interval_without_spread(parts.observed, of.compared, confidence)
        low, high = ((bound - parts.expected) / (1 - parts.expected) for bound in bounds)
        return MethodBounds(max(-1.0, min(of.value, low)), max(of.value, high), "one-sided exact")
    return MethodBounds()
