"""The best division of a series into stretches of one mean each, over all divisions."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tracker.trend.points import FloatArray

__all__ = ["SHORTEST", "partition"]

SHORTEST: Final = 2
"""The fewest points of a stretch: a single one is an outlier, not a level."""


def partition(values: FloatArray, variances: FloatArray) -> list[int]:
    """The places at which the stretches of the best division start, the first of them 0.

    Best is the division of the least sum of squared deviations from its stretches' means, each
    over its variance, plus 3 log n for every change, plus log(n_i / n) for every stretch of n_i
    points: twice the negative logarithm of the modified Bayes information criterion. Every
    division with stretches of two points or more is looked at, in n^2 / 2 steps.

    Args:
        values: in order of time, (n,).
        variances: of each, above 0, (n,).

    Source:
        Jackson et al. (2005), IEEE Signal Process. Lett. 12, 105, for the search; Zhang and
        Siegmund (2007), Biometrics 63, 22, for what is best, their case of a known variance.
    """
    n = len(values)
    if n < 2 * SHORTEST:
        return [0]
    weights = 1.0 / variances
    centred = values - np.average(values, weights=weights)  # or the squares below would cancel
    weight, total, squares = (
        np.concatenate(([0.0], np.cumsum(column)))
        for column in (weights, weights * centred, weights * centred**2)
    )
    change = 3.0 * math.log(n)
    best = np.full(n + 1, math.inf)  # of the points before each place; the first starts no change
    best[0] = -change
    came_from = np.zeros(n + 1, dtype=np.int64)
    for stop in range(SHORTEST, n + 1):
        start = np.arange(stop - SHORTEST + 1)
        within = squares[stop] - squares[start]
        within -= (total[stop] - total[start]) ** 2 / (weight[stop] - weight[start])
        costs = best[start] + within + np.log((stop - start) / n) + change
        came_from[stop] = np.argmin(costs)
        best[stop] = costs[came_from[stop]]
    starts, stop = [], n
    while stop > 0:
        stop = int(came_from[stop])
        starts.append(stop)
    return starts[::-1]
