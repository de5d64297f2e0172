"""One annotator's successes against all others', in strata: where no item is shared by many.

Null hypothesis (Cochran 1954; Mantel and Haenszel 1959; Birch 1964): within a stratum the
annotator's trials are a random sample of everyone's, so successes are hypergeometric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tracker.audit.statistics.poisson_binomial import (
    EXACT_ITEMS,
    Tails,
    clamped_tail_probability,
    poisson_binomial_normal_tails,
)
from tracker.core.tallies import FloatArray

_Z_TAIL = 0.025


class Stratum(NamedTuple):
    """Own successes and trials, and everyone's, one's own included."""

    own: int
    trials: int
    all_own: int
    all_trials: int

    @property
    def tells(self) -> bool:
        """Whether others tried as well, and not all alike."""
        return 0 < self.trials < self.all_trials and 0 < self.all_own < self.all_trials


class Pool(NamedTuple):
    """The strata added up; only those that can tell are in any of it.

    ``peers`` is what the others would have reached in the annotator's mix of strata.
    """

    own: int
    trials: int
    expected: float
    peers: float
    tails: Tails


def pool_strata(strata: Iterable[Stratum]) -> Pool | None:
    """One annotator against the others; None where no stratum can tell."""
    telling = [stratum for stratum in strata if stratum.tells]
    if not telling:
        return None
    own = sum(stratum.own for stratum in telling)
    trials = sum(stratum.trials for stratum in telling)
    chances = [stratum.all_own / stratum.all_trials for stratum in telling]
    expected = sum(s.trials * chance for s, chance in zip(telling, chances, strict=True))
    peers = sum(s.trials * (s.all_own - s.own) / (s.all_trials - s.trials) for s in telling)
    if trials <= EXACT_ITEMS:
        total: FloatArray = np.ones(1)
        for stratum in telling:
            total = np.convolve(total, _hypergeometric(stratum))
        tails = Tails(
            clamped_tail_probability(float(total[: own + 1].sum())),
            clamped_tail_probability(float(total[own:].sum())),
        )
    else:
        variance = sum(
            s.trials * chance * (1 - chance) * (s.all_trials - s.trials) / (s.all_trials - 1)
            for s, chance in zip(telling, chances, strict=True)
        )
        tails = poisson_binomial_normal_tails(own, expected, variance)
    return Pool(own, trials, expected / trials, peers / trials, tails)


def clopper_pearson(successes: int, trials: int) -> tuple[float, float]:
    """The exact 95% interval of a share (Clopper and Pearson 1934), by beta quantiles."""
    from scipy.special import betaincinv

    low = betaincinv(successes, trials - successes + 1, _Z_TAIL) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - _Z_TAIL) if successes < trials else 1.0
    return float(low), float(high)


def _hypergeometric(stratum: Stratum) -> FloatArray:
    """Probabilities of 0 to ``trials`` own successes; shape (trials + 1,)."""
    _, trials, good, every = stratum
    return np.array([_ways(k, trials, good, every) for k in range(trials + 1)])


def _ways(k: int, trials: int, good: int, every: int) -> float:
    if k > good or trials - k > every - good:
        return 0.0
    return math.exp(
        _log_choose(good, k) + _log_choose(every - good, trials - k) - _log_choose(every, trials)
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
