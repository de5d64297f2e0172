"""A series of figures over time, each from its own period's answers, with their weights."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]

TOO_FEW_POINTS: Final = "too_few_points"

ZERO: Final = 1e-12
"""Below this a number is the rounding of a zero."""


@dataclass(frozen=True)
class Point:
    """The figure of one period alone, without answers of any other period.

    Attributes:
        at: the period's end, microseconds since 1970.
        value: the figure.
        error: its standard error, 0 or more, in the figure's unit.
        items: the items that it rests on; 0 if that is not known.
    """

    at: int
    value: float
    error: float
    items: int = 0


@dataclass(frozen=True)
class Series:
    """Points as columns, in order of time.

    Attributes:
        at: the periods' ends, microseconds since 1970.
        values: the figures, (n,).
        errors: what each is weighed with, (n,), above 0: its error, or the typical one where that
            is greater; all 1 where no error is above 0.
        known: whether any error is above 0, so that ``errors`` has the figures' unit.
    """

    at: tuple[int, ...]
    values: FloatArray
    errors: FloatArray
    known: bool

    @property
    def weights(self) -> FloatArray:
        """One over the squared error of each, (n,)."""
        return 1.0 / self.errors**2

    def part(self, start: int, stop: int) -> Series:
        """Return the points from place ``start`` up to, without, ``stop``."""
        places = slice(start, stop)
        return Series(self.at[places], self.values[places], self.errors[places], self.known)

    def mean(self, start: int, stop: int) -> float:
        """Return the weighted mean of the points from place ``start`` up to, without, ``stop``."""
        return float(np.average(self.values[start:stop], weights=self.weights[start:stop]))


def series_of_points(points: Sequence[Point], *, so_far: bool = False) -> Series:
    """Return points as columns, none of them weighing more than a typical one.

    The error of a figure is computed from the same answers as the figure, so that a lucky period
    has a small one, and one in which all agree has none. Weighed with it, that period would
    outweigh all others, and pull every mean towards it. So no error counts as less than the
    median of those above 0. (Of steady projects whose agreement is a share of 10 to 80 items,
    52 weeks showed a change in 3 of 100; with half the median for a floor it was 31.) A great
    error counts as it is: few answers do weigh less.

    Args:
        points: in order of time.
        so_far: take for each point the median up to it, so that what is said of a point does not
            change with those that come later. Points before the first error above 0 take that.

    Raises:
        ValueError: the points are not in order of time, or one has no finite value or error, or
            an error below 0.
    """
    for before, after in pairwise(points):
        if before.at >= after.at:
            raise ValueError("points are in order of time, one a period")
    for point in points:
        if not math.isfinite(point.value):
            raise ValueError("a point has a value; a period without one is left out")
        if not 0 <= point.error < math.inf:
            raise ValueError(f"an error of {point.error} is not 0 or more")
    errors = np.array([point.error for point in points], dtype=np.float64)
    typical = _medians(errors)
    known = not np.isnan(typical).all()
    if known:
        first = typical[~np.isnan(typical)][0]
        so_far_typical = np.where(np.isnan(typical), first, typical)
        errors = np.maximum(errors, so_far_typical if so_far else typical[-1])
    return Series(
        tuple(point.at for point in points),
        np.array([point.value for point in points], dtype=np.float64),
        errors if known else np.ones_like(errors),
        known,
    )


def series_as_angles(points: Sequence[Point], bounds: tuple[float, float]) -> list[Point]:
    """Return the points on a scale on which the spread does not depend on the level.

    A share of few items leans towards the middle, and so does a coefficient near its bounds: of
    20 items that agree with 0.9 a low share is likelier than a high one that is as far away.
    The arcsine of a share has the same spread at any level, and nearly no lean once three eighths
    of an item are added to either side.

    Args:
        points: figures, errors and the items of each.
        bounds: the least and the greatest value of the figure; what lies beyond counts as these.

    Returns:
        The angles and their errors, in radians.

    Source:
        Anscombe (1948), Biometrika 35, 246.
    """
    low, high = bounds
    angles = []
    for point in points:
        share = min(max((point.value - low) / (high - low), 0.0), 1.0)
        if point.items:
            share = (share * point.items + 3 / 8) / (point.items + 3 / 4)
        steepness = math.sqrt(share * (1 - share))
        error = point.error / (high - low) / steepness if steepness > ZERO else 0.0
        angles.append(replace(point, value=math.asin(2 * share - 1), error=error))
    return angles


def _medians(errors: FloatArray) -> FloatArray:
    """Return for each place the median of the errors above 0 so far; NaN while there is none."""
    medians = np.full(len(errors), math.nan)
    above: list[float] = []
    for place, error in enumerate(errors.tolist()):
        if error > ZERO:
            insort(above, error)
        if above:
            middle = len(above) // 2
            medians[place] = (above[middle] + above[~middle]) / 2
    return medians
