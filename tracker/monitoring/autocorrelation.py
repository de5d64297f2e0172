"""The dependence of neighboring periods, estimated from a series.

The periods of a project may share people, sources and moods, so that a high one is followed by a
high one: an autoregression of the first order. Taken for independent, such periods have too many
alarms, changes and slopes. How strong the dependence is, is not known; it is estimated beside
everything else, and each result is averaged over what it may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracker.core.results import Record
from tracker.monitoring.series import ZERO, FloatArray, Series

GRID: Final[FloatArray] = np.linspace(0.0, 0.95, 20)
"""The autocorrelations that are thought possible, (20,); a negative one would only narrow."""

PRIOR: Final[FloatArray] = np.log(np.where(GRID == 0, 0.5, 0.5 / (len(GRID) - 1)))
"""The logarithm of what is believed of each beforehand: independence one half, (20,)."""

FEW_PERIODS: Final = 26
"""Below so many periods the autocorrelation cannot be told well enough to rely on."""


@dataclass(frozen=True)
class Autocorrelation(Record):
    """The correlation of neighboring periods, given the trend or levels that are fitted.

    Attributes:
        value: the mean of what is believed of it, in [0, 1).
        ci_low: with probability 0.975 it is this or more.
        ci_high: with probability 0.975 it is this or less.
    """

    value: float
    ci_low: float
    ci_high: float

    @classmethod
    def of(cls, log_weights: FloatArray) -> Autocorrelation:
        """Return what follows from logarithmic weights of the `GRID`."""
        weights = autocorrelation_weights(log_weights)
        below = np.cumsum(weights)
        low, high = (int(np.searchsorted(below, tail)) for tail in (0.025, 0.975))
        last = len(GRID) - 1
        return cls(float(weights @ GRID), float(GRID[low]), float(GRID[min(high, last)]))


def autocorrelation_weights(log_weights: FloatArray) -> FloatArray:
    """Return weights that add up to 1 from logarithmic ones, (20,)."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def least_series_dispersion(series: Series, autocorrelation: float) -> float:
    """Return the least dispersion of points whose neighbors correlate by as much.

    What a period has beyond what its neighbor lets one expect varies by its sampling error at
    least, because answers to other items err independently; less than that is luck. 0 if errors
    are not known.
    """
    return 1 / (1 - autocorrelation**2) if series.known else 0.0


def series_misfit(
    series: Series, left: float, parameters: int, autocorrelation: float, stretches: int = 1
) -> float:
    """Return how badly a fit explains a series: minus twice the log-likelihood.

    Args:
        series: the points, n of them.
        left: the points' variance about the fit, by that of their errors, over n - parameters.
        parameters: how many figures were fitted.
        autocorrelation: of neighbors within a stretch, in [0, 1).
        stretches: of points that do not depend on those of other stretches.

    Returns:
        The likelihood but for a constant, the dispersion being what is left or the least.
    """
    n = len(series.values)
    dispersion = max(left, least_series_dispersion(series, autocorrelation), ZERO)
    return (
        n * math.log(dispersion)
        + (n - stretches) * math.log(1 - autocorrelation**2)
        + (n - parameters) * left / dispersion
    )


@dataclass(frozen=True, eq=False)
class Whitened:
    """A series and its regressors, divided by their errors and freed of an autocorrelation.

    Each row is what a period has beyond what its predecessor lets one expect; the first is scaled
    to the same variance (Prais and Winsten 1954).

    Attributes:
        values: (n,).
        columns: (n, p).
        variance: of a row, as a share of a period's, in (0, 1].
    """

    values: FloatArray
    columns: FloatArray
    variance: float

    @classmethod
    def of(cls, series: Series, columns: Sequence[FloatArray], autocorrelation: float) -> Whitened:
        """Return whiten values and columns, each of (n,), in the figure's unit."""
        rows = np.column_stack((series.values, *columns)) / series.errors[:, None]
        variance = 1 - autocorrelation**2
        whitened = np.vstack((rows[:1] * np.sqrt(variance), rows[1:] - autocorrelation * rows[:-1]))
        return cls(whitened[:, 0], whitened[:, 1:], variance)
