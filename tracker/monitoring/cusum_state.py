"""The parts of a control chart that knows neither the level of a figure nor its spread."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from tracker.monitoring.autocorrelation import GRID, PRIOR, autocorrelation_weights
from tracker.monitoring.series import ZERO, FloatArray, Series

# Sampling alone makes the dispersion 1. One far below it is no calm but periods that are alike
# because nearly all their answers agree; the first period with an ordinary disagreement would
# stand out from them. Where sampling is all, this makes false alarms a little rarer.
_LEAST_DISPERSION: Final = 0.5

# The points that raised an alarm were chosen for lying far out. Taken in full, they set the new
# level too far out as well, and one false alarm brings another as the figure comes back.
_OF_THE_CHOSEN: Final = 0.5


@dataclass
class Known:
    """The knowledge of the present level, one point after another, for each autocorrelation.

    Columns are of shape (20,), one place for each autocorrelation of the `GRID`. A point is judged
    by what it has beyond what its predecessor lets one expect.

    Attributes:
        start: the place of its first point.
        floor: the least dispersion.
        belief: what is believed of each autocorrelation, as a logarithm.
        weight: the points' weights, 1 / error^2, summed.
        mean: their weighted mean.
        squares: their recursive residuals squared, summed.
        freedom: how many residuals that is.
        last: the last point's value and 1, both over its error.
    """

    start: int
    floor: float
    belief: FloatArray = field(default_factory=PRIOR.copy)
    weight: FloatArray = field(default_factory=lambda: np.zeros_like(GRID))
    mean: FloatArray = field(default_factory=lambda: np.zeros_like(GRID))
    squares: FloatArray = field(default_factory=lambda: np.zeros_like(GRID))
    freedom: int = 0
    last: tuple[float, float] | None = None

    @classmethod
    def of(cls, series: Series, start: int, stop: int, belief: FloatArray) -> Known:
        """Return what follows from the points from ``start`` up to, without, ``stop``, for half."""
        known = cls(start, _LEAST_DISPERSION if series.known else 0.0, belief)
        for value, error in zip(series.values[start:stop], series.errors[start:stop], strict=True):
            known.scored(float(value), float(error))
        known.weight *= _OF_THE_CHOSEN
        return known

    def take(self, value: float, error: float) -> tuple[FloatArray, FloatArray]:
        """Add one more point.

        Returns:
            Its recursive residual: how far it lies from the mean of those before, over the error
            of that; 0 for the first. On a level the residuals are independent of each other,
            with the dispersion as their common variance. And that error over the point's own.

        Source:
            Brown, Durbin and Evans (1975), J. R. Stat. Soc. B 37, 149, section 2.
        """
        row = (value / error, 1 / error)
        if self.last is None:
            scale = np.sqrt(1 - GRID**2)
            own, unit = scale * row[0], scale * row[1]
            residual, wider = np.zeros_like(GRID), np.ones_like(GRID)
        else:
            own, unit = (now - GRID * before for now, before in zip(row, self.last, strict=True))
            wider = np.sqrt(1 + unit**2 / self.weight)
            residual = (own - unit * self.mean) / wider
            self.squares = self.squares + residual**2
            self.freedom += 1
        self.last = row
        self.weight = self.weight + unit**2
        self.mean = self.mean + (own - unit * self.mean) * unit / self.weight
        return residual, wider

    def scored(self, value: float, error: float) -> float:
        """Add one more point, and return its score by those before.

        Returns:
            The standard normal score of its residual over the root mean square of those before,
            which is t with as many degrees of freedom as there are, averaged over what is
            believed of the autocorrelation; 0 while there is none, or while all points without
            errors are the same.

        Source:
            Hawkins (1987), The Statistician 36, 299; also Hawkins and Olwell (1998), Cumulative
            Sum Charts and Charting for Quality Improvement, chapter 7.
        """
        # Imported here, because scipy costs more than the rest of the program's start.
        from scipy.special import ndtri, stdtr

        freedom, squares = self.freedom, self.squares
        believed = autocorrelation_weights(self.belief)
        residual, wider = self.take(value, error)
        dispersion = np.maximum(squares / freedom, self.floor) if freedom else squares
        if dispersion.max() == 0:
            return 0.0
        dispersion = np.maximum(dispersion, dispersion.max() * ZERO)
        t = residual / np.sqrt(dispersion)
        likelihood = (freedom + 1) * np.log1p(t**2 / freedom) + np.log(dispersion * wider**2)
        self.belief = self.belief - likelihood / 2
        below, above = (float(believed @ stdtr(freedom, side)) for side in (t, -t))
        # Below this a probability's normal score is lost to rounding; it is -37.
        score = float(ndtri(max(min(below, above), 1e-300)))
        return score if below < above else -score


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
        """Add the score of the point at a place, and return the sum."""
        self.height = max(0.0, self.height + self.sign * score - REFERENCE)
        if self.height == 0:
            self.zero = place
        return self.height


def cusum_change_start(series: Series, start: int, zero: int, last: int, sign: int) -> int:
    """Return the most likely place of the first point of a new level.

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


REFERENCE: Final = 0.5
"""What a score must exceed for the sum to grow: best for a change of one standard deviation."""


def average_run_length(limit: float) -> float:
    """Return the mean number of scores until a one-sided sum, begun at 0, exceeds its limit.

    The sum is max(0, sum + score - 0.5), the scores standard normal and independent. From s the
    mean is L(s) = 1 + L(0) Phi(0.5 - s) + integral from 0 to the limit of
    L(x) phi(x + 0.5 - s) dx, solved at the nodes of Gauss and Legendre.

    Args:
        limit: 0 or more, in standard deviations.

    Source:
        Page (1954), Biometrika 41, 100, for the equation; Goel and Wu (1971), Technometrics 13,
        221, for its solution.
    """
    # Imported here, because scipy costs more than the rest of the program's start.
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(40)
    sums = np.concatenate(([0.0], (nodes + 1) * limit / 2))
    density = np.exp(-((sums[1:] + REFERENCE - sums[:, None]) ** 2) / 2) / math.sqrt(2 * math.pi)
    reached = np.column_stack((ndtr(REFERENCE - sums), density * weights * limit / 2))
    return float(np.linalg.solve(np.eye(len(sums)) - reached, np.ones(len(sums)))[0])


@lru_cache(maxsize=64)
def cusum_limit(run_length: float) -> float:
    """Return the limit at which `average_run_length` is ``run_length``, in standard deviations.

    It is 0 where every sum above 0 is an alarm and still they are rarer than asked, which is so
    below 3.24.
    """
    # By Siegmund's (1985) approximation the run length exceeds the exponential of the limit.
    low, high = 0.0, math.log(run_length) + 1.0
    if average_run_length(low) >= run_length:
        return low
    while high - low > 1e-9:
        middle = (low + high) / 2
        if average_run_length(middle) < run_length:
            low = middle
        else:
            high = middle
    return high
