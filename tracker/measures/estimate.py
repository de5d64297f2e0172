"""A figure with the influence of each item, from which its error follows in any design."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.measures.coefficient import SINGLE_CATEGORY, Coefficient, Detail, Parts, bounds
from tracker.measures.intervals import check_confidence

__all__ = ["Estimate", "Floats", "single_category", "undefined"]

Floats: TypeAlias = NDArray[np.float64]

_NO_PARTS = Parts()


@dataclass(frozen=True, eq=False)
class Estimate:
    """A measure's value and what its uncertainty rests on.

    Attributes:
        measure: the measure's name.
        value: the coefficient, or None.
        undefined: why there is none, or None.
        parts: observed and expected agreement.
        influence: for one item of each pattern, the change of the value that its presence
            makes, to first order, shape (P,) with the patterns in the tally's order; the squared
            influences add up to the value's variance (Gwet 2014, chapter 5; Cochran 1977,
            section 6.4). None where no error can be had.
        counts: items of each pattern, (P,).
        squares: the sum of the squared influences where they were not kept one by one.
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
    items: int = 0
    compared: int = 0
    reading: dict[str, str] = field(default_factory=dict)
    more: dict[str, Detail] = field(default_factory=dict)

    @property
    def standard_error(self) -> float | None:
        """The linearised error over items; None below two items compared."""
        if self.compared < 2:
            return None
        squares, total = self.squares, self.items
        if self.influence is not None and self.counts is not None:
            squares = float(self.counts @ (self.influence * self.influence))
            total = int(self.counts.sum())
        return None if squares is None else math.sqrt(squares * total / (total - 1))

    @property
    def details(self) -> dict[str, Detail]:
        """What else the figure carries; see `Coefficient`."""
        found: dict[str, Detail] = dict(self.reading)
        if self.parts.observed_disagreement is not None:
            found["observed_disagreement"] = self.parts.observed_disagreement
            found["expected_disagreement"] = self.parts.expected_disagreement
        return found | self.more

    def coefficient(self, confidence: float = 0.95) -> Coefficient:
        """The figure with its error and bounds; raises InvalidOption for a bad confidence."""
        check_confidence(confidence)
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
        found = bounds(
            self.value,
            error,
            self.parts,
            items=self.items,
            compared=self.compared,
            confidence=confidence,
        )
        return replace(
            plain,
            standard_error=error,
            ci_low=found.low,
            ci_high=found.high,
            method=found.method,
        )


def undefined(
    measure: str,
    reason: str,
    items: int = 0,
    parts: Parts = _NO_PARTS,
    *,
    reading: dict[str, str],
) -> Estimate:
    """There is no figure, and this is why."""
    return Estimate(measure, None, reason, parts, items=items, reading=reading)


def single_category(measure: str, items: int, *, reading: dict[str, str]) -> Estimate:
    """Nothing but one category was given: agreement is certain, and 0 / 0 is no coefficient."""
    return undefined(measure, SINGLE_CATEGORY, items, Parts(1.0, 1.0), reading=reading)
