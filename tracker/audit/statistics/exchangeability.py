"""How likely a sum over items is, if the annotator could be any of the item's annotators.

Null hypothesis: given the answers to an item, each of its annotators is as likely as the other to
have given each of them, independently over items. A value per answer (its agreement with the
others', its place on a scale) is then a draw from the item's own values, whatever the item.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np

from tracker.audit.statistics.poisson_binomial import EXACT_ITEMS, Tails, clamped_tail_probability
from tracker.core.tallies import FloatArray, IntArray, Pattern, answers_in_pattern

_FINEST = 840  # steps of less than 1/840 are as good as none


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The greatest step that both are multiples of."""
    return Fraction(
        math.gcd(one.numerator * other.denominator, other.numerator * one.denominator),
        one.denominator * other.denominator,
    )


@dataclass(frozen=True)
class Draws:
    """What one answer to an item of each of some patterns may be worth.

    Attributes:
        values: shape (patterns, K), padded; K the most distinct answers of a pattern.
        chances: the probability of each, 0 where padded; rows add up to 1.
        steps: by pattern the spacing of the lattice that its values are on, exactly; 0 where
            there is only one value, or no lattice.
    """

    values: FloatArray
    chances: FloatArray
    steps: tuple[Fraction, ...]

    @cached_property
    def mean(self) -> FloatArray:
        """Expected value by pattern."""
        return np.asarray((self.values * self.chances).sum(axis=1))

    @cached_property
    def variance(self) -> FloatArray:
        """Variance by pattern, exactly 0 where all values are alike."""
        centred = self.values - self.mean[:, None]
        spread = np.asarray((self.chances * centred**2).sum(axis=1))
        return np.where(self.alike(), 0.0, spread)

    def step(self, patterns: IntArray) -> float:
        """The spacing of a sum of draws from some patterns; 0 where it is too fine to matter."""
        different, place = self._different_steps
        met = np.unique(place[patterns]).tolist()
        found = reduce(_common, (different[n] for n in met), Fraction(0))
        return float(found) if found.denominator <= _FINEST else 0.0

    @cached_property
    def _different_steps(self) -> tuple[list[Fraction], IntArray]:
        """The different steps, and the place among them of each pattern's."""
        places: dict[Fraction, int] = {}
        place = [places.setdefault(step, len(places)) for step in self.steps]
        return [*places], np.array(place, dtype=np.int64)

    def alike(self) -> FloatArray:
        """Whether a pattern has only one value, so that nothing can be told from it."""
        possible = self.chances > 0
        low = np.where(possible, self.values, np.inf).min(axis=1, initial=np.inf)
        high = np.where(possible, self.values, -np.inf).max(axis=1, initial=-np.inf)
        return np.asarray(low == high)


def exchangeable_draws(
    patterns: Sequence[Pattern], worth: Callable[[Pattern], tuple[list[float], Fraction]]
) -> Draws:
    """Draws from each of some patterns: ``worth`` gives its answers' values, and their step."""
    width = max((len(pattern) for pattern in patterns), default=1)
    values, chances = np.zeros((len(patterns), width)), np.zeros((len(patterns), width))
    steps = []
    for row, pattern in enumerate(patterns):
        size = answers_in_pattern(pattern)
        values[row, : len(pattern)], step = worth(pattern)
        chances[row, : len(pattern)] = [count / size for _, count in pattern]
        steps.append(step)
    return Draws(values, chances, tuple(steps))


def exchangeable_sum_tails(
    draws: Draws, pattern: IntArray, items: IntArray, excess: float
) -> Tails:
    """Return both tails of a sum of draws that is ``excess`` above its expectation.

    By Lugannani and Rice's saddlepoint formula (1980) with Daniels' correction for a lattice
    (1987, equation 6.4); normal beyond ``EXACT_ITEMS`` items. Patterns that cannot tell add
    nothing to the excess and may be among them.

    Args:
        draws: of all patterns.
        pattern: which ones, as places in ``draws``; shape (rows,).
        items: how many items have them; shape (rows,).
        excess: the sum seen less its expectation.
    """
    return Tails(*(_upper_tail(draws, pattern, items, way * excess, way) for way in (-1, 1)))


def exchangeable_lower_tail(
    draws: Draws, pattern: IntArray, items: IntArray, excess: float
) -> float:
    """Return the lower of both tails alone; see `exchangeable_sum_tails`."""
    return _upper_tail(draws, pattern, items, -excess, -1)


def _upper_tail(draws: Draws, pattern: IntArray, items: IntArray, excess: float, way: int) -> float:
    """Return the upper tail of a sum of draws that are all multiplied by ``way``, 1 or -1."""
    variance = draws.variance[pattern]
    telling = variance > 0
    if not telling.any():
        return 1.0
    pattern, items = pattern[telling], items[telling]
    deviation = math.sqrt(float((items * variance[telling]).sum()))
    step = draws.step(pattern)
    if items.sum() > EXACT_ITEMS:
        scale = deviation * math.sqrt(2.0)
        return clamped_tail_probability(0.5 * math.erfc((excess - step / 2) / scale))
    centred = way * (draws.values - draws.mean[:, None])[pattern]
    return _Curve(centred, draws.chances[pattern], items, deviation, step).upper(excess)


@dataclass(frozen=True)
class _Curve:
    """The cumulant generating function of a sum of centred draws; see `exchangeable_sum_tails`."""

    values: FloatArray
    chances: FloatArray
    items: IntArray
    deviation: float
    step: float

    def upper(self, excess: float) -> float:
        """Probability of ``excess`` or more."""
        top = np.where(self.chances > 0, self.values, -np.inf).max(axis=1)
        greatest = float((self.items * top).sum())
        if excess >= greatest - 1e-9 * max(1.0, greatest):
            reaching = np.where(np.isclose(self.values, top[:, None]), self.chances, 0.0)
            logs = (self.items * np.log(reaching.sum(axis=1))).sum()
            return clamped_tail_probability(math.exp(max(float(logs), -700.0)))
        if excess <= self._least() + 1e-9 * max(1.0, greatest):
            return 1.0
        at = excess - self.step / 2
        if abs(at) < 1e-6 * self.deviation:
            return 0.5
        if at < 0:
            mirrored = _Curve(-self.values, self.chances, self.items, self.deviation, self.step)
            return clamped_tail_probability(1.0 - mirrored._beyond(-at))
        return clamped_tail_probability(self._beyond(at))

    def _least(self) -> float:
        low = np.where(self.chances > 0, self.values, np.inf).min(axis=1)
        return float((self.items * low).sum())

    def _beyond(self, at: float) -> float:
        """The saddlepoint tail beyond ``at`` > 0."""
        tilt = self._tilt(at)
        log_mean, _, variance = self._cumulants(tilt)
        root = math.sqrt(max(2.0 * (tilt * at - log_mean), 0.0))
        half = tilt * self.step / 2
        stretched = tilt if half == 0 else 2.0 * math.sinh(min(half, 300.0)) / self.step
        wide = stretched * math.sqrt(variance)
        if root < 1e-5 or wide <= 0:
            return 0.5
        density = math.exp(-0.5 * root * root) / math.sqrt(2.0 * math.pi)
        return 0.5 * math.erfc(root / math.sqrt(2.0)) + density * (1.0 / wide - 1.0 / root)

    def _tilt(self, at: float) -> float:
        """Where the derivative is ``at``: Newton's method between brackets that only shrink."""
        low, high = 0.0, 1.0 / self.deviation
        while self._cumulants(high)[1] < at and high < 1e9:
            low, high = high, 2.0 * high
        tilt = 0.5 * (low + high)
        for _ in range(100):
            _, slope, curvature = self._cumulants(tilt)
            low, high = (tilt, high) if slope < at else (low, tilt)
            step = (slope - at) / curvature if curvature > 0 else math.inf
            following = tilt - step
            if not low < following < high:
                following = 0.5 * (low + high)
            if abs(following - tilt) <= 1e-12 * following:
                return following
            tilt = following
        return tilt

    def _cumulants(self, tilt: float) -> tuple[float, float, float]:
        """The function and its first two derivatives at ``tilt``."""
        exponent = np.where(self.chances > 0, tilt * self.values, -np.inf)
        top = exponent.max(axis=1, keepdims=True)
        weights = self.chances * np.exp(exponent - top)
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / total
        mean = (weights * self.values).sum(axis=1)
        square = (weights * (self.values - mean[:, None]) ** 2).sum(axis=1)
        logs = np.log(total[:, 0]) + top[:, 0]
        return (
            float((self.items * logs).sum()),
            float((self.items * mean).sum()),
            float((self.items * square).sum()),
        )
