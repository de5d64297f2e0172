"""The parts of a chart that needs to be told neither the level of a figure nor its spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracker.trend.points import Series
from tracker.trend.run_length import REFERENCE

__all__ = ["Known", "Sum", "first_after"]

# Below this a probability's normal score is lost to rounding; it is -37.
_LEAST_PROBABILITY: Final = 1e-300

# Sampling alone makes the dispersion 1. One far below it is no calm but periods that are alike
# because nearly all their answers agree; the first period with an ordinary disagreement would
# stand out from them. Where sampling is all, this makes false alarms a little rarer.
_LEAST_DISPERSION: Final = 0.5

# The points that raised an alarm were chosen for lying far out. Taken in full, they set the new
# level too far out as well, and one false alarm brings another as the figure comes back.
_OF_THE_CHOSEN: Final = 0.5


@dataclass
class Known:
    """What is known of the present level, one point after another.

    Attributes:
        start: the place of its first point.
        floor: the least dispersion.
        weight: the points' weights, 1 / error^2, summed.
        mean: their weighted mean.
        squares: their recursive residuals squared, summed.
        freedom: how many residuals that is.
    """

    start: int
    floor: float
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    freedom: int = 0

    @classmethod
    def of(cls, series: Series, start: int, stop: int) -> Known:
        """What the points from ``start`` up to, without, ``stop`` say, taken for half."""
        known = cls(start, _LEAST_DISPERSION if series.known else 0.0)
        for value, error in zip(series.values[start:stop], series.errors[start:stop], strict=True):
            known.take(float(value), float(error))
        known.weight *= _OF_THE_CHOSEN
        return known

    def take(self, value: float, error: float) -> float:
        """Take in one more point.

        Returns:
            Its recursive residual: how far it lies from the mean of those before, over the error
            of that; 0 for the first. On a level the residuals are independent of each other,
            with the dispersion as their common variance.

        Source:
            Brown, Durbin and Evans (1975), J. R. Stat. Soc. B 37, 149, section 2.
        """
        residual = 0.0
        if self.weight > 0:
            residual = (value - self.mean) / math.sqrt(error**2 + 1 / self.weight)
            self.squares += residual**2
            self.freedom += 1
        self.weight += 1 / error**2
        self.mean += (value - self.mean) / (error**2 * self.weight)
        return residual

    def scored(self, value: float, error: float) -> float:
        """Take in one more point, and judge it by those before.

        Returns:
            The standard normal score of its residual over the root mean square of those before,
            which is t with as many degrees of freedom as there are; 0 while there is none, or
            while all points without errors are the same.

        Source:
            Hawkins (1987), The Statistician 36, 299; also Hawkins and Olwell (1998), Cumulative
            Sum Charts and Charting for Quality Improvement, chapter 7.
        """
        # Imported here, because scipy costs more than the rest of the program's start.
        from scipy.special import ndtri, stdtr

        freedom, squares = self.freedom, self.squares
        residual = self.take(value, error)
        dispersion = max(squares / freedom, self.floor) if freedom else 0.0
        if dispersion == 0:
            return 0.0
        beyond = float(stdtr(freedom, -abs(residual) / math.sqrt(dispersion)))
        return math.copysign(float(ndtri(max(beyond, _LEAST_PROBABILITY))), residual)


@dataclass
class Sum:
    """One of Page's (1954, Biometrika 41, 100) cumulative sums.

    Attributes:
        sign: 1 to sum what lies above the level, -1 what lies below.
        zero: the place at which it last stood at 0.
        height: the sum, in standard deviations, 0 or more.
    """

    sign: int
    zero: int = 0
    height: float = 0.0

    def add(self, score: float, place: int) -> float:
        """Add the score of the point at a place; the sum with it."""
        self.height = max(0.0, self.height + self.sign * score - REFERENCE)
        if self.height == 0:
            self.zero = place
        return self.height


def first_after(series: Series, start: int, zero: int, last: int, sign: int) -> int:
    """The most likely place of the first point of a new level.

    The sum leaves 0 at the change or, by a chance deviation, some points too early. One of the
    old level among the few of the new would hide the next change: it makes them look widely
    spread. So of the places since the sum left 0 the likeliest is taken.

    Args:
        series: all points.
        start: the place of the old level's first point.
        zero: where the sum last stood at 0, at or after ``start``.
        last: where it raised the alarm, after ``zero``.
        sign: 1 for a new level above the old, -1 for one below.

    Source:
        Hinkley (1970), Biometrika 57, 1.
    """
    weights = series.weights[start : last + 1]
    weight, total = np.cumsum(weights), np.cumsum(weights * series.values[start : last + 1])
    before, after = weight[:-1], weight[-1] - weight[:-1]
    rise = (total[-1] - total[:-1]) / after - total[:-1] / before
    likely = sign * rise / np.sqrt(1 / before + 1 / after)
    return zero + 1 + int(np.argmax(likely[zero - start :]))
