"""The rise or fall of a figure: a straight line through the periods."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tracker.core.results import Record
from tracker.measures.intervals import WITHOUT_SPREAD, check_confidence
from tracker.monitoring.autocorrelation import (
    GRID,
    PRIOR,
    Autocorrelation,
    Whitened,
    autocorrelation_weights,
    least_series_dispersion,
    series_misfit,
)
from tracker.monitoring.change_points import change_point_divisions
from tracker.monitoring.series import (
    TOO_FEW_POINTS,
    ZERO,
    FloatArray,
    Point,
    Series,
    series_of_points,
)

_30_DAYS: Final = 30 * 86_400 * 1_000_000

# What levels must explain better than a line, in twice the logarithm of a likelihood. Without it
# chance levels hide that neighbors depend on each other: of 26 weeks with an autocorrelation of
# .5, 11 of 100 had a slope with p < .05, with it 6; a real change of level is worth far more.
_PRICE_OF_LEVELS: Final = 4.0


@dataclass(frozen=True)
class Slope(Record):
    """How fast a figure rises (above 0) or falls (below).

    Attributes:
        per_30_days: the change of the figure in 30 days, in its unit; None below 3 points.
        standard_error: of it; None likewise.
        ci_low: its lower bound; None if undefined.
        ci_high: its upper bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        p_value: two-sided, in [0, 1], of no slope at all; None if undefined.
        dispersion: the squared deviations from the line over what the errors lead one to expect:
            about 1 where sampling is all; None below 3 points or where no error is above 0.
        n: the points.
        undefined: why there is no ``p_value``: too_few_points (below 3) or no_spread (no errors,
            and the points lie on a line that is not level); else None.
        autocorrelation: of neighboring points about the line; None if undefined.
    """

    per_30_days: float | None = None
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    p_value: float | None = None
    dispersion: float | None = None
    n: int = 0
    undefined: str | None = None
    autocorrelation: Autocorrelation | None = None


@dataclass(frozen=True)
class Line:
    """A line by generalized least squares for one autocorrelation.

    Attributes:
        rise: its slope, in the figure's unit over that of the times.
        error: the standard error of it, the dispersion included.
        dispersion: of the points about it, over what their errors lead one to expect.
        misfit: twice the negative logarithm of the autocorrelation's likelihood, the line
            integrated out, but for a constant.
    """

    rise: float
    error: float
    dispersion: float
    misfit: float


def slope_line(series: Series, times: FloatArray, autocorrelation: float) -> Line:
    """Return the line through a series whose neighbors correlate by as much.

    The error counts the dispersion where that is above the least, see
    `tracker.monitoring.autocorrelation.least_series_dispersion`.

    Args:
        series: three points or more.
        times: of each, (n,), not all the same.
        autocorrelation: in [0, 1).

    Source:
        Harville (1977), J. Am. Stat. Assoc. 72, 320, for the likelihood without the line.
    """
    white = Whitened.of(series, (np.ones_like(times), times), autocorrelation)
    information = white.columns.T @ white.columns
    line = np.linalg.solve(information, white.columns.T @ white.values)
    left = white.values - white.columns @ line
    freedom = len(times) - 2
    dispersion = float(left @ left) / freedom / white.variance
    least = least_series_dispersion(series, autocorrelation)
    scale = max(dispersion, least, ZERO**2) * white.variance
    restricted = (
        freedom * (math.log(scale) + dispersion * white.variance / scale)
        + float(np.linalg.slogdet(information)[1])
        - math.log(white.variance)
    )
    error = math.sqrt(scale * float(np.linalg.inv(information)[1, 1]))
    return Line(float(line[1]), error, dispersion, restricted)


def slope(points: Sequence[Point], confidence: float = 0.95) -> Slope:
    """Return the weighted least squares slope of the figure, averaged over the autocorrelation.

    Weights are 1 / error^2. Periods mostly differ by more than sampling: other items, other
    people. The standard error is therefore multiplied by the root of the dispersion. Neighboring
    periods may depend on each other: the line is computed for each autocorrelation from 0 to
    0.95, and each counts by how well it explains the points about the line, or about the levels
    that `tracker.monitoring.change_points` would find, because a change of level is no dependence.
    Beforehand independence counts one half. p and bounds are those of the mixture of the lines' t
    distributions.

    Args:
        points: in order of time; no answer is in two of them.
        confidence: the level of the bounds, in (0, 1).

    Returns:
        The slope, t with n - 2 degrees of freedom. Below 3 points undefined (too_few_points).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
        ValueError: see `tracker.monitoring.series.series_of_points`.

    Source:
        Draper and Smith (1998), Applied Regression Analysis, 3rd ed., chapter 9; the dispersion,
        and never below 1, as Birge (1932), Phys. Rev. 40, 207; the average over the
        autocorrelation as Zellner and Tiao (1964), J. Am. Stat. Assoc. 59, 763.
    """
    check_confidence(confidence)
    blank = Slope(confidence=confidence, n=len(points))
    series = series_of_points(points)
    if len(points) < 3:
        return replace(blank, undefined=TOO_FEW_POINTS)
    months = np.array([(at - series.at[0]) / _30_DAYS for at in series.at])
    months -= np.average(months, weights=series.weights)
    lines = [slope_line(series, months, float(autocorrelation)) for autocorrelation in GRID]
    if not series.known and math.sqrt(lines[0].dispersion) <= ZERO:
        return _on_a_line(blank, lines[0].rise, float(np.ptp(months)))
    of_line = np.array([line.misfit for line in lines]) - lines[0].misfit
    of_line += series_misfit(series, lines[0].dispersion, 2, 0.0) + math.log(len(points))
    of_levels = (
        np.array([division.price for division in change_point_divisions(series)]) + _PRICE_OF_LEVELS
    )
    likely = PRIOR + np.logaddexp(-of_line / 2, -of_levels / 2)
    weights = autocorrelation_weights(likely)
    dispersion = float(weights @ [line.dispersion for line in lines]) if series.known else None
    mixture = replace(blank, dispersion=dispersion, autocorrelation=Autocorrelation.of(likely))
    return _mixed(mixture, weights, lines)


def _on_a_line(blank: Slope, rise: float, months: float) -> Slope:
    """Return the slope of points without errors that all lie on one line."""
    if abs(rise) * months <= ZERO:
        level = replace(blank, per_30_days=0.0, standard_error=0.0, ci_low=0.0, ci_high=0.0)
        return replace(level, p_value=1.0)
    return replace(blank, per_30_days=rise, standard_error=0.0, undefined=WITHOUT_SPREAD)


def _mixed(slope: Slope, weights: FloatArray, lines: Sequence[Line]) -> Slope:
    """Return the slope with what follows from lines that count by their weights."""
    # Imported here, because scipy costs more than the rest of the program's start.
    from scipy.special import stdtr

    rises = np.array([line.rise for line in lines])
    errors = np.array([line.error for line in lines])
    rise = float(weights @ rises)
    error = math.sqrt(float(weights @ (errors**2 + (rises - rise) ** 2)))

    def below(value: float) -> float:
        return float(weights @ stdtr(slope.n - 2, (value - rises) / errors))

    tail = (1 - slope.confidence) / 2
    under = below(0.0)
    return replace(
        slope,
        per_30_days=rise,
        standard_error=error,
        ci_low=_where(below, tail, rise, error),
        ci_high=_where(below, 1 - tail, rise, error),
        p_value=min(1.0, 2 * min(under, 1 - under)),
    )


def _where(below: Callable[[float], float], share: float, rise: float, error: float) -> float:
    """Return the value below which a share of a distribution lies, searched from its middle."""
    reach = error
    while not below(rise - reach) < share < below(rise + reach):
        reach *= 2
    low, high = rise - reach, rise + reach
    for _ in range(60):  # until the bound is known to far less than its error
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return (low + high) / 2
