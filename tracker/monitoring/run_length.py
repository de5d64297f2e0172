"""The number of standard normal scores until a cumulative sum raises an alarm by chance."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

REFERENCE: Final = 0.5
"""What a score must exceed for the sum to grow: best for a change of one standard deviation."""

_NODES: Final = 40
# The solution is known to this many units of a standard deviation.
_NEAR: Final = 1e-9


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

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    sums = np.concatenate(([0.0], (nodes + 1) * limit / 2))
    density = np.exp(-((sums[1:] + REFERENCE - sums[:, None]) ** 2) / 2) / math.sqrt(2 * math.pi)
    reached = np.column_stack((ndtr(REFERENCE - sums), density * weights * limit / 2))
    return float(np.linalg.solve(np.eye(len(sums)) - reached, np.ones(len(sums)))[0])


@lru_cache(maxsize=64)
def limit_for(run_length: float) -> float:
    """Return the limit at which `average_run_length` is ``run_length``, in standard deviations.

    It is 0 where every sum above 0 is an alarm and still they are rarer than asked, which is so
    below 3.24.
    """
    # By Siegmund's (1985) approximation the run length exceeds the exponential of the limit.
    low, high = 0.0, math.log(run_length) + 1.0
    if average_run_length(low) >= run_length:
        return low
    while high - low > _NEAR:
        middle = (low + high) / 2
        if average_run_length(middle) < run_length:
            low = middle
        else:
            high = middle
    return high
