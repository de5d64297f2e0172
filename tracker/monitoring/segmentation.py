"""The best division of a series into stretches of one mean each, over all divisions."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tracker.monitoring.series import FloatArray

SHORTEST: Final = 2
"""The fewest points of a stretch: a single one is an outlier, not a level."""


def partition(values: FloatArray, variances: FloatArray, autocorrelation: float = 0.0) -> list[int]:
    """Return the places at which the stretches of the best division start, the first of them 0.

    Best is the division of the least sum of squared deviations from its stretches' means, each
    over its variance, plus 3 log n for every change, plus log(n_i / n) for every stretch of n_i
    points: twice the negative logarithm of the modified Bayes information criterion. Every
    division with stretches of two points or more is looked at, in n^2 / 2 steps. Neighbors
    within a stretch may correlate; then the deviations are those from what the neighbor before
    lets one expect.

    Args:
        values: in order of time, (n,).
        variances: of each, above 0, (n,).
        autocorrelation: within a stretch, in [0, 1).

    Source:
        Jackson et al. (2005), IEEE Signal Process. Lett. 12, 105, for the search; Zhang and
        Siegmund (2007), Biometrics 63, 22, for what is best, their case of a known variance;
        Chakar et al. (2017), Bernoulli 23, 1408, for stretches of an autoregression.
    """
    n = len(values)
    if n < 2 * SHORTEST:
        return [0]
    weights = 1.0 / variances
    centred = values - np.average(values, weights=weights)  # or the squares below would cancel
    one, deviation = np.sqrt(weights), np.sqrt(weights) * centred
    sums = [
        _Sums(left, right, autocorrelation)
        for left, right in ((one, one), (one, deviation), (deviation, deviation))
    ]
    change = 3.0 * math.log(n)
    start_of_stretch = math.log(1 - autocorrelation**2)  # its first point varies by more
    best = np.full(n + 1, math.inf)  # of the points before each place; the first starts no change
    best[0] = -change
    came_from = np.zeros(n + 1, dtype=np.int64)
    for stop in range(SHORTEST, n + 1):
        start = np.arange(stop - SHORTEST + 1)
        weight, total, squares = (one.of(start, stop) for one in sums)
        within = squares - total**2 / weight
        costs = best[start] + within + np.log((stop - start) / n) + change - start_of_stretch
        came_from[stop] = np.argmin(costs)
        best[stop] = costs[came_from[stop]]
    starts, stop = [], n
    while stop > 0:
        stop = int(came_from[stop])
        starts.append(stop)
    return starts[::-1]


class _Sums:
    """Sums of the products of two whitened columns over any stretch."""

    def __init__(self, one: FloatArray, other: FloatArray, autocorrelation: float) -> None:
        """Whiten two columns of a series over their errors, (n,), and add up their products."""
        variance = 1 - autocorrelation**2
        later = (one[1:] - autocorrelation * one[:-1]) * (other[1:] - autocorrelation * other[:-1])
        self._first = one * other
        self._later = np.concatenate(([0.0, 0.0], np.cumsum(later / variance)))

    def of(self, start: NDArray[np.int64], stop: int) -> FloatArray:
        """Return the sums over the points from each start up to, without, ``stop``."""
        sums: FloatArray = self._first[start] + self._later[stop] - self._later[start + 1]
        return sums
