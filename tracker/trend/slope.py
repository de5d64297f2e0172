"""Does a figure rise or fall? A straight line through the periods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np

from tracker.measures.intervals import check_confidence
from tracker.measures.numbers.pairs import WITHOUT_SPREAD
from tracker.trend.points import TOO_FEW_POINTS, Point, laid_out

__all__ = ["Slope", "slope"]

_30_DAYS: Final = 30 * 86_400 * 1_000_000

# Below this a residual, or a rise, of figures without errors is the rounding of a zero.
_ZERO: Final = 1e-12


@dataclass(frozen=True)
class Slope:
    """How fast a figure rises (above 0) or falls (below).

    Attributes:
        per_30_days: the change of the figure in 30 days, in its unit; None below 3 points.
        standard_error: of it; None likewise.
        ci_low: its lower bound; None where undefined.
        ci_high: its upper bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        p_value: two-sided, in [0, 1], of no slope at all; None where undefined.
        dispersion: the squared deviations from the line over what the errors lead one to expect:
            about 1 where sampling is all; None below 3 points or where no error is above 0.
        n: the points.
        undefined: why there is no ``p_value``: too_few_points (below 3) or no_spread (no errors,
            and the points lie on a line that is not level); else None.
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

    def to_dict(self) -> dict[str, str | float | int | None]:
        """The slope as JSON has it, key order included."""
        return asdict(self)


def slope(points: Sequence[Point], confidence: float = 0.95) -> Slope:
    """Weighted least squares of the figure on time.

    Weights are 1 / error^2. Periods mostly differ by more than sampling: other items, other
    people. The standard error is therefore multiplied by the root of the dispersion where that
    is above 1; where it is below, by nothing, because periods that differ less than their
    sampling are luck.

    Args:
        points: in order of time; no answer is in two of them.
        confidence: the level of the bounds, in (0, 1).

    Returns:
        The slope, t with n - 2 degrees of freedom. Below 3 points undefined (too_few_points).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
        ValueError: see `tracker.trend.points.laid_out`.

    Source:
        Draper and Smith (1998), Applied Regression Analysis, 3rd ed., chapter 9; the dispersion,
        and never below 1, as Birge (1932), Phys. Rev. 40, 207.
    """
    check_confidence(confidence)
    blank = Slope(confidence=confidence, n=len(points))
    series = laid_out(points)
    if len(points) < 3:
        return replace(blank, undefined=TOO_FEW_POINTS)
    months = np.array([(at - series.at[0]) / _30_DAYS for at in series.at])
    weights = series.weights
    months -= np.average(months, weights=weights)
    deviations = series.values - np.average(series.values, weights=weights)
    spread = float(weights @ months**2)
    rise = float(weights @ (months * deviations)) / spread
    left = deviations - rise * months
    dispersion = float(weights @ left**2) / (len(points) - 2)
    if not series.known and math.sqrt(dispersion) <= _ZERO:
        return _on_a_line(blank, rise, float(np.ptp(months)))
    scale = max(dispersion, 1.0) if series.known else dispersion
    return _with_error(
        replace(blank, per_30_days=rise, dispersion=dispersion if series.known else None),
        math.sqrt(scale / spread),
    )


def _on_a_line(blank: Slope, rise: float, months: float) -> Slope:
    """Points without errors that all lie on one line."""
    if abs(rise) * months <= _ZERO:
        level = replace(blank, per_30_days=0.0, standard_error=0.0, ci_low=0.0, ci_high=0.0)
        return replace(level, p_value=1.0)
    return replace(blank, per_30_days=rise, standard_error=0.0, undefined=WITHOUT_SPREAD)


def _with_error(found: Slope, error: float) -> Slope:
    """The slope with its error, above 0, and what follows from it."""
    # Imported here, because scipy costs more than the rest of the program's start.
    from scipy.special import stdtr, stdtrit

    rise, freedom = found.per_30_days or 0.0, found.n - 2
    reach = float(stdtrit(freedom, (1 + found.confidence) / 2)) * error
    return replace(
        found,
        standard_error=error,
        ci_low=rise - reach,
        ci_high=rise + reach,
        p_value=2 * float(stdtr(freedom, -abs(rise) / error)),
    )
