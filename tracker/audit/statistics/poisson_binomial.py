"""How likely a count of own answers is, if the annotator answered as the co-annotators did.

Null hypothesis (Cochran 1954; Mantel and Haenszel 1959): given that ``held`` of the ``size``
annotators of an item gave the category, each of them is as likely as the other to be among those
who did. So a given annotator is one of them with probability ``held / size``, independently over
items, and the annotator's count over items is Poisson-binomial.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

EXACT_ITEMS = 500
"""Up to so many informative items the distribution is exact, beyond it is the normal one.

An exact one takes 0.1 to 0.5 ms at 500 items and, growing with their square, 2 to 15 ms at 5,000.
The normal one is still coarse at 500: with 1 in 5 on each item its p-values are 0.8 (upper tail)
to 1.5 (lower) of the exact ones near 0.001, 0.4 to 4 near 1e-6; with 1 in 20, 0.1 of it near 1e-5.
That decides nothing: beyond 500 items of at most 20 annotators an odds ratio of 2 is 4.6 standard
deviations or more, so it is the least effect a flag needs that draws the line, not the p-value."""

Z_95 = 1.959963984540054
"""Of a two-sided interval of 95%: the quantile 0.975 of the standard normal."""

Chance: TypeAlias = tuple[int, int, int]
"""(annotators who gave the category, annotators who answered, number of such items)."""

FloatArray: TypeAlias = NDArray[np.float64]


class Tails(NamedTuple):
    """Probability of a count as low as the one seen, and as high; both include it."""

    lower: float
    upper: float

    @property
    def two_sided(self) -> float:
        """Twice the smaller tail, at most 1."""
        return min(1.0, 2.0 * min(self.lower, self.upper))


def poisson_binomial(chances: Iterable[Chance]) -> FloatArray:
    """Probabilities of 0, 1, ... successes, one trial an item; shape (items + 1,).

    Items of equal chance are one binomial; the binomials are convolved, smallest first. All terms
    are positive, so that small probabilities keep their relative precision.
    """
    parts = [binomial(items, held / size) for held, size, items in chances]
    total: FloatArray = np.ones(1)
    for part in sorted(parts, key=len):
        total = np.convolve(total, part)
    return total


@lru_cache(maxsize=4096)
def binomial(trials: int, chance: float) -> FloatArray:
    """Probabilities of 0 to ``trials`` successes; shape (trials + 1,)."""
    if chance <= 0.0 or chance >= 1.0:
        certain: FloatArray = np.zeros(trials + 1)
        certain[trials if chance >= 1.0 else 0] = 1.0
        return certain
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    successes = np.arange(trials + 1)
    log_ways = log_factorial[-1] - log_factorial - log_factorial[::-1]
    log_chance = successes * math.log(chance) + (trials - successes) * math.log1p(-chance)
    probabilities: FloatArray = np.exp(log_ways + log_chance)
    return probabilities


def poisson_binomial_tails(count: int, chances: Iterable[Chance]) -> Tails:
    """Tails at ``count`` successes of the Poisson-binomial distribution of ``chances``."""
    probabilities = poisson_binomial(chances)
    return Tails(
        lower=clamped_tail_probability(float(probabilities[: count + 1].sum())),
        upper=clamped_tail_probability(float(probabilities[count:].sum())),
    )


def poisson_binomial_normal_tails(count: int, mean: float, variance: float) -> Tails:
    """The same from the normal distribution with a continuity correction of one half.

    Twice the smaller tail is the p-value of Mantel and Haenszel's statistic
    ``(|count - mean| - 0.5)^2 / variance`` on one degree of freedom (1959, equation for M-H
    chi-square), which is 1 here where count and mean differ by less than one half.
    """
    scale = math.sqrt(2.0 * variance)
    return Tails(
        lower=clamped_tail_probability(0.5 * math.erfc((mean - count - 0.5) / scale)),
        upper=clamped_tail_probability(0.5 * math.erfc((count - mean - 0.5) / scale)),
    )


def clamped_tail_probability(value: float) -> float:
    """Within (0, 1]: a tail that underflows is the smallest normal float, never 0."""
    return min(1.0, max(value, sys.float_info.min))


def upper_tail_bounds(number: FloatArray, seen: FloatArray, expected: FloatArray) -> FloatArray:
    """Return upper bounds of upper tails of sums of trials (Hoeffding 1956, theorem 5).

    Of all trials with the same number and the same expected successes, those of equal chance
    have the heaviest tail from one success above the expectation on.
    """
    from scipy.special import betainc

    number = np.maximum(number, 1.0)
    above = seen >= expected + 1.0
    seen = np.where(above, seen, 1.0)
    tail = betainc(seen, np.maximum(number - seen, 0.0) + 1.0, expected / number)
    return np.asarray(np.where(above, np.maximum(tail, np.finfo(np.float64).tiny), 1.0))
