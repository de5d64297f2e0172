"""A figure with the influence of each item, from which its error follows in any design."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.measures.coefficient import NO_SPREAD, SINGLE_CATEGORY, Coefficient, Detail, Parts
from tracker.measures.confidence_bounds import (
    ASYMMETRIC,
    Spread,
    check_interval_method,
    spread_bounds,
)
from tracker.measures.intervals import check_confidence, degrees_of_freedom
from tracker.measures.posterior import Redrawn, posterior_bounds
from tracker.measures.sample import Sample

Floats: TypeAlias = NDArray[np.float64]

_NO_PARTS = Parts()


@dataclass(frozen=True, eq=False)
class Estimate:
    """A measure's value, and what its uncertainty is computed from.

    Attributes:
        measure: the measure's name.
        value: the coefficient, or None.
        undefined: why there is none, or None.
        parts: observed and expected agreement.
        influence: for one item of each pattern, the change of the value that its presence
            makes, to first order, shape (P,) with the patterns in the tally's order; the squared
            influences add up to the value's variance (Gwet 2014, chapter 5; Cochran 1977,
            section 6.4). None if no error can be had.
        counts: items of each pattern, (P,).
        squares: the sum of the squared influences where they were not kept one by one.
        fourths: the sum of their fourth powers, likewise.
        sample: the answers, where the posterior of the value can be drawn from them.
        redrawn: the value in samples drawn anew, likewise.
        twin: Fleiss' kappa of the same items, for a kappa that tells annotators apart: its
            posterior needs nothing but patterns, and theirs is as far below and above on the
            scale of ``1 - value``.
        of_pairs: whether it is a share of pairs of answers, but for a chance term; see `Spread`.
        items: items that enter the value, whose number less one are the degrees of freedom.
        compared: those of two answers or more.
        reading: what else names the figure: ``weights``, ``scale`` or ``distance``.
        more: further numbers that stand beside it.
    """

    measure: str
    value: float | None
    undefined: str | None = None
    parts: Parts = _NO_PARTS
    influence: Floats | None = None
    counts: NDArray[np.int64] | None = None
    squares: float | None = None
    fourths: float | None = None
    sample: Sample | None = field(default=None, repr=False)
    redrawn: Redrawn | None = None
    twin: Estimate | None = field(default=None, repr=False)
    of_pairs: bool = False
    items: int = 0
    compared: int = 0
    reading: dict[str, str] = field(default_factory=dict)
    more: dict[str, Detail] = field(default_factory=dict)

    @property
    def standard_error(self) -> float | None:
        """The linearized error over items; None below two items compared."""
        if self.compared < 2:
            return None
        squares, total = self._summed(2)
        return None if squares is None else math.sqrt(squares * total / (total - 1))

    def _summed(self, power: int) -> tuple[float | None, int]:
        """Return the sum over items of a power of their influences, and the number of items."""
        if self.influence is not None and self.counts is not None:
            return float(self.counts @ self.influence**power), int(self.counts.sum())
        return self.squares if power == 2 else self.fourths, self.items

    @property
    def freedom(self) -> float | None:
        """The degrees of freedom of the error; None if it has none of its own."""
        (squares, total), (fourths, _) = self._summed(2), self._summed(4)
        if not squares or fourths is None or math.sqrt(squares) < NO_SPREAD:
            return None
        sums = (np.array([float(x)]) for x in (total, squares, fourths))
        return float(degrees_of_freedom(*sums)[0])

    def likely(self, confidence: float) -> tuple[float, float] | None:
        """Return the bounds of the posterior, widened to hold the value; None if there is none."""
        if self.value is None:
            return None
        drawn = self._posterior(self.value, confidence)
        return None if drawn is None else (min(drawn[0], self.value), max(drawn[1], self.value))

    def _posterior(self, value: float, confidence: float) -> tuple[float, float] | None:
        if self.twin is None or self.twin.value is None:
            if self.sample is None or self.redrawn is None:
                return None
            return posterior_bounds(self.sample, self.redrawn, confidence, apart=self.of_pairs)
        found, room = self.twin.likely(confidence), 1 - self.twin.value
        if found is None or room < NO_SPREAD:
            return found
        low, high = (1 - (1 - value) * (1 - bound) / room for bound in found)
        return max(min(-1.0, value), low), high

    @property
    def details(self) -> dict[str, Detail]:
        """What else the figure carries; see `Coefficient`."""
        details: dict[str, Detail] = dict(self.reading)
        if self.parts.observed_disagreement is not None:
            details["observed_disagreement"] = self.parts.observed_disagreement
            details["expected_disagreement"] = self.parts.expected_disagreement
        return details | self.more

    def coefficient(self, confidence: float = 0.95, interval: str = ASYMMETRIC) -> Coefficient:
        """Return the figure with its error and bounds, see `confidence_bounds`.

        Raises InvalidOption for a confidence level outside 0 to 1, or an unknown interval.
        """
        check_confidence(confidence)
        check_interval_method(interval)
        plain = Coefficient(
            self.measure,
            self.value,
            self.undefined,
            confidence=confidence,
            items=self.items,
            observed=self.parts.observed,
            expected=self.parts.expected,
            details=self.details,
        )
        error = self.standard_error
        if self.value is None or error is None:
            return plain
        asymmetric = interval == ASYMMETRIC
        spread = Spread(
            self.value,
            error,
            self.parts,
            self.items,
            self.compared,
            self.freedom if asymmetric else None,
            self.likely(confidence) if asymmetric else None,
            self.of_pairs,
        )
        limits = spread_bounds(spread, confidence, interval)
        return replace(
            plain,
            standard_error=error,
            ci_low=limits.low,
            ci_high=limits.high,
            method=limits.method,
        )


def undefined_estimate(
    measure: str,
    reason: str,
    items: int = 0,
    parts: Parts = _NO_PARTS,
    *,
    reading: dict[str, str],
) -> Estimate:
    """Return an estimate without a figure, with the reason."""
    return Estimate(measure, None, reason, parts, items=items, reading=reading)


def single_category_estimate(measure: str, items: int, *, reading: dict[str, str]) -> Estimate:
    """Return nothing but one category was given.

    Agreement is certain, and 0 / 0 is no coefficient.
    """
    return undefined_estimate(measure, SINGLE_CATEGORY, items, Parts(1.0, 1.0), reading=reading)
