"""The bounds of a coefficient from its error over items, by one of two methods.

"asymmetric", the default, reaches its stated coverage with fewer items and with rare categories:
Wilson's interval for percent agreement, Brennan-Prediger and AC1; with weights, while items are
few, the wider of Wilson's and the posterior on either side; for alpha and the kappas the posterior
while items are few, then t on the logarithm of ``1 - value``. "t" is Student's t on
the value itself, as in Gwet (2014) and irrCAC. `benchmarks/coverage_of_coefficients.py` measures
how often each contains the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracker.core.errors import InvalidOption
from tracker.measures.coefficient import NO_SPREAD, Parts
from tracker.measures.intervals import (
    confidence_interval,
    interval_without_spread,
    log_confidence_intervals,
    wilson_interval,
)

ASYMMETRIC: Final = "asymmetric"
INTERVALS: Final = (ASYMMETRIC, "t")


def check_interval_method(name: str) -> None:
    """Raise InvalidOption for an unknown method."""
    if name not in INTERVALS:
        raise InvalidOption(f"there is no interval {name!r}", f"one of: {', '.join(INTERVALS)}")


@dataclass(frozen=True)
class Bounds:
    """An interval and its method."""

    low: float | None
    high: float | None
    method: str | None


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


def spread_bounds(of: Spread, confidence: float, how: str = ASYMMETRIC) -> Bounds:
    """Return the bounds that an error over items supports.

    Args:
        of: the coefficient and its error.
        confidence: in (0, 1).
        how: one of `INTERVALS`.

    Returns:
        Below two items compared: none. An error of 0: the posterior's; else those of
        `interval_without_spread` for a plain agreement; for a perfect figure corrected for chance
        the same bound of the observed agreement with the expected one held; otherwise none.

    Raises:
        InvalidOption: the confidence level is not in (0, 1), or there is no such interval.
    """
    check_interval_method(how)
    if of.compared < 2:
        return Bounds(None, None, None)
    if how == ASYMMETRIC and of.likely is not None:
        return _with_posterior(of, of.likely, confidence)
    if of.error < NO_SPREAD:
        return _without_spread(of, confidence)
    if how != ASYMMETRIC:
        low = 0.0 if of.least == 0 else -1.0
        return Bounds(*confidence_interval(of.value, of.error, of.items, confidence, low=low), "t")
    if of.of_pairs:
        return Bounds(*_wilson(of, confidence), "Wilson")
    freedom = of.items - 1.0 if of.freedom is None else of.freedom
    value, error, freed = np.array([[of.value], [of.error], [freedom]])
    below, above = log_confidence_intervals(value, error, freed, confidence)
    return Bounds(float(below[0]), float(above[0]), "log")


def _with_posterior(of: Spread, likely: tuple[float, float], confidence: float) -> Bounds:
    """Return the posterior's bounds; of a share of pairs never within Wilson's."""
    if not of.of_pairs or of.error < NO_SPREAD:
        return Bounds(*likely, "posterior")
    wilson = _wilson(of, confidence)
    return Bounds(min(likely[0], wilson[0]), max(likely[1], wilson[1]), "posterior and Wilson")


def _wilson(of: Spread, confidence: float) -> tuple[float, float]:
    """Return Wilson's bounds on the effective number of items, for the coefficient as a share."""
    least = min(of.least, of.value)
    share, error = (of.value - least) / (1 - least), of.error / (1 - least)
    if not 0 < share < 1:  # an error without room for it: the chance term alone varies
        return confidence_interval(of.value, of.error, of.items, confidence, low=least)
    low, high = wilson_interval(share, share * (1 - share) / error**2, confidence, of.items - 1)
    return least + low * (1 - least), least + high * (1 - least)


def _without_spread(of: Spread, confidence: float) -> Bounds:
    parts = of.parts
    if parts.expected is None and parts.expected_disagreement is None:
        found = interval_without_spread(of.value, of.compared, confidence)
        return Bounds(*found, "one-sided exact")
    if parts.observed == 1 and parts.expected is not None:
        lowest, _ = interval_without_spread(1.0, of.compared, confidence)
        corrected = (lowest - parts.expected) / (1 - parts.expected)
        return Bounds(max(-1.0, corrected), 1.0, "one-sided exact")
    return Bounds(None, None, None)
