"""The shift of one column from another by ranks: Hodges and Lehmann's estimate and interval.

The estimate is a median over all pairs of values. The pairs are never listed: an order statistic
is found by bisection, counting pairs in sorted columns, so that columns may be long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_EXACT = 50  # values to a column up to which the distribution of the statistic is counted out


class Shift(NamedTuple):
    """A shift in the columns' unit, and bounds that are None if too few values allow none."""

    estimate: float
    low: float | None
    high: float | None


def hodges_lehmann_shift(
    first: Sequence[float], second: Sequence[float], confidence: float
) -> Shift:
    """Return the median of all differences, a value of the first less one of the second.

    Args:
        first: one value or more, all finite.
        second: likewise.
        confidence: in (0, 1). The bounds invert the Mann-Whitney test without ties, by its exact
            distribution up to 50 values a column, else by the normal one; ties widen them.

    Source:
        Hodges and Lehmann (1963), Ann. Math. Stat. 34, 598; Hollander and Wolfe (1999),
        Nonparametric Statistical Methods, 2nd ed., sections 4.2 and 4.3.
    """
    import numpy as np

    one, two = np.sort(np.asarray(first, float)), np.sort(np.asarray(second, float))
    m, n = len(one), len(two)
    pairs = m * n
    tail = (1 - confidence) / 2
    if max(m, n) <= _EXACT:
        rank = _exact_rank(_ways_of_two(m, n), tail)
    else:
        rank = _normal_rank(pairs / 2, pairs * (m + n + 1) / 12, tail)

    def below(limit: float) -> int:
        return int(np.searchsorted(one, two + limit, side="right").sum())

    def at(place: int) -> float:
        return _nearest(one, two, _bisected(below, one[0] - two[-1], one[-1] - two[0], place))

    return _shift(at, pairs, rank)


def paired_hodges_lehmann_shift(differences: Sequence[float], confidence: float) -> Shift:
    """Return the median of all means of two differences, each with itself included.

    Args:
        differences: one or more, all finite; zeros count as any other.
        confidence: in (0, 1). The bounds invert the signed-rank test without ties, by its exact
            distribution up to 50 differences, else by the normal one; ties widen them.

    Source:
        As `hodges_lehmann_shift`, sections 3.2 and 3.3.
    """
    import numpy as np

    one = np.sort(np.asarray(differences, float))
    two = -one[::-1]  # a sum of two differences is a difference of these
    n = len(one)
    pairs = n * (n + 1) // 2
    tail = (1 - confidence) / 2
    if n <= _EXACT:
        rank = _exact_rank(_ways_of_signs(n), tail)
    else:
        rank = _normal_rank(pairs / 2, pairs * (2 * n + 1) / 12, tail)

    def below(limit: float) -> int:
        twice = np.searchsorted(one, two + limit, side="right").sum()
        return int(twice + (2 * one <= limit).sum()) // 2

    def at(place: int) -> float:
        return _nearest(one, two, _bisected(below, 2 * one[0], 2 * one[-1], place)) / 2

    return _shift(at, pairs, rank)


def _shift(at: Callable[[int], float], pairs: int, rank: int) -> Shift:
    """Return the median, and the order statistics ``rank`` from either end, counted from 1."""
    estimate = (at((pairs + 1) // 2) + at(pairs // 2 + 1)) / 2
    return Shift(estimate, *((at(rank), at(pairs + 1 - rank)) if rank > 0 else (None, None)))


def _bisected(below: Callable[[float], int], low: float, high: float, place: int) -> float:
    """Return the least limit with ``place`` pairs or more at or below it, but for rounding."""
    width = max(abs(low), abs(high)) * 2.0**-50
    low -= width
    while high - low > width:
        middle = (low + high) / 2
        low, high = (low, middle) if below(middle) >= place else (middle, high)
    return float(high)


def _nearest(one: NDArray[np.float64], two: NDArray[np.float64], limit: float) -> float:
    """Return the difference of two values that is nearest to a limit, rounding undone."""
    import numpy as np

    above = np.searchsorted(one, two + limit)
    next_up, next_down = one[above.clip(max=len(one) - 1)], one[above.clip(min=1) - 1]
    found = np.concatenate([next_up - two, next_down - two])
    return float(found[np.abs(found - limit).argmin()])


def _exact_rank(ways: Sequence[int], tail: float) -> int:
    """Return the greatest rank whose bounds miss a shift with at most ``tail`` on either side."""
    most = tail * sum(ways) * (1 + 1e-12)  # 1 - .8 is a trace below .2
    return next(rank for rank, reached in enumerate(accumulate(ways)) if reached > most)


def _normal_rank(mean: float, variance: float, tail: float) -> int:
    from scipy.special import ndtri

    return math.floor(mean + float(ndtri(tail)) * math.sqrt(variance))


def _ways_of_two(m: int, n: int) -> list[int]:
    """Return how many orders of two columns give each value of Mann and Whitney's U, without ties.

    The coefficients of the product over i to n of (1 - q**(m + i)) / (1 - q**i).
    """
    ways = [1] + [0] * (m * n)
    for i in range(1, n + 1):
        for place in range(m * n, m + i - 1, -1):
            ways[place] -= ways[place - m - i]
        for place in range(i, m * n + 1):
            ways[place] += ways[place - i]
    return ways


def _ways_of_signs(n: int) -> list[int]:
    """Return how many signs of the ranks 1 to n give each sum of the positive ones."""
    ways = [1]
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for place, count in enumerate(ways):
            longer[place + rank] += count
        ways = longer
    return ways
