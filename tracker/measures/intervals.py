"""Intervals for a figure computed over items: Student, Wilson, logarithmic, and without spread.

Items are the unit everywhere, never the pairs of answers within them, because the pairs of one
item share its difficulty and are not independent.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tracker.core.errors import InvalidOption

Bounds = tuple[float, float]
Floats = NDArray[np.float64]


def check_confidence(confidence: float) -> None:
    """Accept a confidence level strictly between 0 and 1.

    Raises:
        InvalidOption: for anything else, NaN included.
    """
    if not 0 < confidence < 1:
        raise InvalidOption(
            f"a confidence level of {confidence} is not between 0 and 1", "use 0.95, for example"
        )


@lru_cache(maxsize=4096)  # of very many pairs of annotators many share their number of items
def _quantile(confidence: float, freedom: int | None) -> float:
    """Return the two-sided quantile of Student's t, or of the normal if ``freedom`` is None."""
    # Imported here, because scipy costs more than the rest of the program's start.
    from scipy.special import ndtri, stdtrit

    check_confidence(confidence)
    upper = (1 + confidence) / 2
    return float(ndtri(upper) if freedom is None else stdtrit(freedom, upper))


def confidence_interval(
    value: float,
    standard_error: float,
    items: int,
    confidence: float,
    *,
    low: float = -1.0,
    high: float = 1.0,
) -> Bounds:
    """Return ``value`` plus and minus t standard errors, t with ``items - 1`` degrees of freedom.

    Args:
        value: the estimate.
        standard_error: its standard error, in the same unit.
        items: the items it rests on, two or more.
        confidence: the share of such intervals that cover the truth, in (0, 1).
        low: the least value that the figure can have; bounds are clipped to it.
        high: the greatest value that the figure can have.

    Returns:
        The lower and the upper bound. A value outside ``low`` to ``high`` stays inside its bounds.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
        ValueError: fewer than two items; one item has no spread to learn from.

    Source:
        Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 5.
    """
    if items < 2:
        raise ValueError("an interval needs two items or more")
    reach = _quantile(confidence, items - 1) * standard_error
    return max(min(low, value), value - reach), min(max(high, value), value + reach)


def confidence_intervals(
    values: Floats, standard_errors: Floats, items: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return `confidence_interval` of very many figures from -1 to 1 at once; NaN below two items.

    Args:
        values: the estimates, (C,).
        standard_errors: theirs, (C,).
        items: whole numbers of items, (C,).
        confidence: in (0, 1).

    Returns:
        The lower bounds and the upper, each (C,).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
    """
    different, place = np.unique(items, return_inverse=True)
    quantiles = [_quantile(confidence, int(n) - 1) if n > 1 else math.nan for n in different]
    reach = np.array(quantiles)[place] * standard_errors
    low, high = np.minimum(-1.0, values), np.maximum(1.0, values)
    return np.maximum(low, values - reach), np.minimum(high, values + reach)


def degrees_of_freedom(items: Floats, squares: Floats, fourths: Floats) -> Floats:
    """Return degrees of freedom of a variance that was estimated from influences, (C,).

    The fewer items carry the variance, the less it is known: 2 n / (k - (n - 3) / (n - 1)), k the
    kurtosis of the influences; n - 1 where they are normally distributed.

    Args:
        items: items with an influence, two or more, (C,).
        squares: the sum of the squared influences, above 0, (C,).
        fourths: the sum of their fourth powers, (C,).

    Returns:
        From 1 to n - 1.

    Source:
        The variance of a variance, Cramér (1946), Mathematical Methods of Statistics, section
        27.4; equated to a chi square's by Satterthwaite (1946), Biometrics Bull. 2, 110.
    """
    kurtosis = items * fourths / squares**2
    # Never 0 or below: a kurtosis is 1 or more. Rounding may say otherwise.
    excess = np.maximum(kurtosis - (items - 3) / (items - 1), 2 / (items - 1))
    freedom: Floats = np.clip(2 * items / excess, 1.0, items - 1)
    return freedom


def log_confidence_intervals(
    values: Floats, standard_errors: Floats, freedom: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return Student's t on the logarithm of ``1 - value``, for figures from -1 to 1.

    Args:
        values: the estimates, below 1, (C,).
        standard_errors: theirs, above 0, (C,).
        freedom: degrees of freedom of t, not always whole, (C,).
        confidence: in (0, 1).

    Returns:
        The lower bounds and the upper, each (C,). A value below -1 stays inside its bounds.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
    """
    from scipy.special import stdtrit

    check_confidence(confidence)
    room = 1 - values
    # Where the error is many times the room, the lower bound is -1 whatever it is.
    reach = np.minimum(stdtrit(freedom, (1 + confidence) / 2) * standard_errors / room, 700.0)
    low: Floats = np.maximum(np.minimum(-1.0, values), 1 - room * np.exp(reach))
    high: Floats = 1 - room * np.exp(-reach)
    return low, high


def interval_without_spread(value: float, items: int, confidence: float) -> Bounds:
    """Return bounds of a mean in [0, 1] of which every item gave the same ``value``.

    The standard error is 0 then and says nothing. But were more than a share ``1 - b`` of all
    items different, with ``b ** items = 1 - confidence``, a sample without any of them would be
    less likely than ``1 - confidence``. So at least ``b`` of all items give ``value``, and the
    others anything from 0 to 1. For a value of 1 this is the exact one-sided lower bound of
    Clopper and Pearson (1934), 0.05 ** (1 / items) at 95%.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
    """
    check_confidence(confidence)
    alike = (1 - confidence) ** (1 / items)
    return value * alike, value * alike + (1 - alike)


def wilson_interval(
    share: float, size: float, confidence: float, freedom: int | None = None
) -> Bounds:
    """Return the score interval of a share, ``size`` observations strong.

    Args:
        share: the estimate, in [0, 1].
        size: the (effective) number of independent observations, above 0.
        confidence: in (0, 1).
        freedom: degrees of freedom of Student's t where ``size`` was itself estimated from a
            spread; None for the normal quantile.

    Returns:
        The lower and the upper bound, both in [0, 1].

    Raises:
        InvalidOption: the confidence level is not in (0, 1).

    Source:
        Wilson (1927), J. Am. Stat. Assoc. 22, 209; with an effective size and t: Korn and
        Graubard (1998), Survey Methodology 24, 193, and Dean and Pagano (2015), J. Surv. Stat.
        Methodol. 3, 484.
    """
    square = _quantile(confidence, freedom) ** 2 / size
    centre = (share + square / 2) / (1 + square)
    reach = math.sqrt(square * share * (1 - share) + square * square / 4) / (1 + square)
    # Rounding must not push a bound past the estimate when the share is 0 or 1.
    return max(0.0, min(share, centre - reach)), min(1.0, max(share, centre + reach))
