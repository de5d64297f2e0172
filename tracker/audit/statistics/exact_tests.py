"""The tests and models that findings rest on. Pure: tallies in, numbers out."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from tracker.core.tallies import FloatArray, IntArray, Pattern, answers_in_pattern

# -- Does a figure fall over time? A trend test and a cumulative sum over blocks of answers -------


@dataclass(frozen=True)
class Fall:
    """How a figure fell from its earlier blocks to its later ones.

    Attributes:
        block: the first block after the fall, by the cumulative sum.
        trend_p: one-sided p-value of the trend.
        sum_p: one-sided p-value of the cumulative sum.
    """

    block: int
    before: float
    after: float
    trend_p: float
    sum_p: float

    @property
    def p_value(self) -> float:
        """Twice the smaller of the two, at most 1 (Bonferroni)."""
        return min(1.0, 2.0 * min(self.trend_p, self.sum_p))


def cochran_armitage_fall(
    answers: FloatArray, total: FloatArray, squares: FloatArray
) -> Fall | None:
    """Test blocks in order of time for a falling figure.

    The trend is Cochran and Armitage's (Armitage 1955, equation 6): the covariance of the block's
    number and the figure, which for a figure of 0 and 1 is their test of proportions. The
    cumulative sum of deviations from the mean, scaled, is a Brownian bridge if nothing changes;
    the chance that it rises above x is exp(-2 x^2) (Smirnov 1939; Brown, Durbin and Evans 1975).

    Answers, the figure's sum over these and its squares' are by block. None if the figure never
    varies or fewer than two blocks have an answer.
    """
    number = float(answers.sum())
    if (answers > 0).sum() < 2:
        return None
    mean = float(total.sum()) / number
    variance = float(squares.sum()) / number - mean**2
    if variance <= 1e-12:
        return None
    time = np.arange(len(answers)) - float((np.arange(len(answers)) * answers).sum()) / number
    scale = math.sqrt(variance * float((answers * time**2).sum()))
    trend = float((time * total).sum()) / scale
    path = np.cumsum(total - answers * mean)[:-1]
    top = int(np.argmax(path))
    height = max(float(path[top]), 0.0) / math.sqrt(variance * number)
    early, late = answers[: top + 1].sum(), answers[top + 1 :].sum()
    if not early or not late:
        return None
    return Fall(
        block=top + 1,
        before=float(total[: top + 1].sum() / early),
        after=float(total[top + 1 :].sum() / late),
        trend_p=0.5 * math.erfc(-trend / math.sqrt(2.0)),
        sum_p=math.exp(-2.0 * height**2),
    )


# -- Many tests at once: the share of wrong findings among the findings is held, not each test's --


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The q-value of each p-value, in the same order; between 0 and 1.

    Rejecting all with q <= alpha holds the false discovery rate at alpha (Benjamini and Hochberg
    1995, procedure (1)): q of the k-th smallest of m is the least m p / rank over ranks >= k.
    """
    if not p_values:
        return []
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    q_values = np.empty_like(adjusted)
    q_values[order] = adjusted
    return [float(value) for value in q_values]


# -- How likely a count of own answers is, if the annotator answered as the co-annotators did -----

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
    return np.asarray(reduce(np.convolve, sorted(parts, key=len), np.ones(1)))


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
    return _tails_at(count, poisson_binomial(chances))


def _tails_at(count: int, probabilities: FloatArray) -> Tails:
    lower, upper = probabilities[: count + 1].sum(), probabilities[count:].sum()
    return Tails(clamped_tail_probability(float(lower)), clamped_tail_probability(float(upper)))


def poisson_binomial_normal_tails(count: int, mean: float, variance: float) -> Tails:
    """The same from the normal distribution with a continuity correction of one half.

    Twice the smaller tail is the p-value of Mantel and Haenszel's statistic
    ``(|count - mean| - 0.5)^2 / variance`` on one degree of freedom (1959, equation for M-H
    chi-square), which is 1 here if count and mean differ by less than one half.
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


# -- How likely a sum over items is, if the annotator could be any of the item's annotators -------


_FINEST = 840  # steps of less than 1/840 are as good as none


@dataclass(frozen=True)
class Draws:
    """What one answer to an item of each of some patterns may be worth.

    Attributes:
        values: shape (patterns, K), padded; K the most distinct answers of a pattern.
        chances: the probability of each, 0 if padded; rows add up to 1.
        steps: by pattern the spacing of the lattice that its values are on, exactly; 0 if
            there is only one value, or no lattice.
    """

    values: FloatArray
    chances: FloatArray
    steps: tuple[Fraction, ...]

    @cached_property
    def mean(self) -> FloatArray:
        """Expected value by pattern."""
        return np.asarray((self.values * self.chances).sum(axis=1))

    @cached_property
    def variance(self) -> FloatArray:
        """Variance by pattern, exactly 0 if all values are alike."""
        centred = self.values - self.mean[:, None]
        spread = np.asarray((self.chances * centred**2).sum(axis=1))
        return np.where(self.alike(), 0.0, spread)

    def step(self, patterns: IntArray) -> float:
        """The spacing of a sum of draws from some patterns; 0 if it is too fine to matter."""
        distinct, place = self._distinct_steps
        met = [distinct[n] for n in np.unique(place[patterns]).tolist()]
        size = math.lcm(*(step.denominator for step in met))
        steps = (step.numerator * (size // step.denominator) for step in met)
        common = Fraction(math.gcd(*steps), size)
        return float(common) if common.denominator <= _FINEST else 0.0

    @cached_property
    def _distinct_steps(self) -> tuple[list[Fraction], IntArray]:
        """The distinct steps, and the place among them of each pattern's."""
        places: dict[Fraction, int] = {}
        place = [places.setdefault(step, len(places)) for step in self.steps]
        return [*places], np.array(place, dtype=np.int64)

    def alike(self) -> FloatArray:
        """Whether a pattern has only one value, so that nothing can be told from it."""
        possible = self.chances > 0
        low = np.where(possible, self.values, np.inf).min(axis=1, initial=np.inf)
        high = np.where(possible, self.values, -np.inf).max(axis=1, initial=-np.inf)
        return np.asarray(low == high)


def exchangeable_draws(
    patterns: Sequence[Pattern], worth: Callable[[Pattern], tuple[list[float], Fraction]]
) -> Draws:
    """Draws from each of some patterns: ``worth`` gives its answers' values, and their step."""
    width = max((len(pattern) for pattern in patterns), default=1)
    values, chances = np.zeros((len(patterns), width)), np.zeros((len(patterns), width))
    steps = []
    for row, pattern in enumerate(patterns):
        size = answers_in_pattern(pattern)
        values[row, : len(pattern)], step = worth(pattern)
        chances[row, : len(pattern)] = [count / size for _, count in pattern]
        steps.append(step)
    return Draws(values, chances, tuple(steps))


def exchangeable_sum_tails(
    draws: Draws, pattern: IntArray, items: IntArray, excess: float
) -> Tails:
    """Return both tails of a sum of draws that is ``excess`` above its expectation.

    By Lugannani and Rice's saddlepoint formula (1980) with Daniels' correction for a lattice
    (1987, equation 6.4); normal beyond ``EXACT_ITEMS`` items. Patterns that cannot tell add
    nothing to the excess and may be among them.

    ``pattern`` are places in ``draws``, ``items`` how many items have them; both of shape (rows,).
    """
    return Tails(*(_upper_tail(draws, pattern, items, way * excess, way) for way in (-1, 1)))


def exchangeable_lower_tail(
    draws: Draws, pattern: IntArray, items: IntArray, excess: float
) -> float:
    """Return the lower of both tails alone; see `exchangeable_sum_tails`."""
    return _upper_tail(draws, pattern, items, -excess, -1)


def _upper_tail(draws: Draws, pattern: IntArray, items: IntArray, excess: float, way: int) -> float:
    """Return the upper tail of a sum of draws that are all multiplied by ``way``, 1 or -1."""
    variance = draws.variance[pattern]
    telling = variance > 0
    if not telling.any():
        return 1.0
    pattern, items = pattern[telling], items[telling]
    deviation = math.sqrt(float((items * variance[telling]).sum()))
    step = draws.step(pattern)
    if items.sum() > EXACT_ITEMS:
        scale = deviation * math.sqrt(2.0)
        return clamped_tail_probability(0.5 * math.erfc((excess - step / 2) / scale))
    centred = way * (draws.values - draws.mean[:, None])[pattern]
    return _Curve(centred, draws.chances[pattern], items, deviation, step).upper(excess)


@dataclass(frozen=True)
class _Curve:
    """The cumulant generating function of a sum of centred draws; see `exchangeable_sum_tails`."""

    values: FloatArray
    chances: FloatArray
    items: IntArray
    deviation: float
    step: float

    def upper(self, excess: float) -> float:
        """Probability of ``excess`` or more."""
        top = np.where(self.chances > 0, self.values, -np.inf).max(axis=1)
        greatest = float((self.items * top).sum())
        if excess >= greatest - 1e-9 * max(1.0, greatest):
            reaching = np.where(np.isclose(self.values, top[:, None]), self.chances, 0.0)
            logs = (self.items * np.log(reaching.sum(axis=1))).sum()
            return clamped_tail_probability(math.exp(max(float(logs), -700.0)))
        low = np.where(self.chances > 0, self.values, np.inf).min(axis=1)
        if excess <= float((self.items * low).sum()) + 1e-9 * max(1.0, greatest):
            return 1.0
        at = excess - self.step / 2
        if abs(at) < 1e-6 * self.deviation:
            return 0.5
        if at < 0:
            mirrored = _Curve(-self.values, self.chances, self.items, self.deviation, self.step)
            return clamped_tail_probability(1.0 - mirrored._beyond(-at))
        return clamped_tail_probability(self._beyond(at))

    def _beyond(self, at: float) -> float:
        """The saddlepoint tail beyond ``at`` > 0."""
        tilt = self._tilt(at)
        log_mean, _, variance = self._cumulants(tilt)
        root = math.sqrt(max(2.0 * (tilt * at - log_mean), 0.0))
        half = tilt * self.step / 2
        stretched = tilt if half == 0 else 2.0 * math.sinh(min(half, 300.0)) / self.step
        wide = stretched * math.sqrt(variance)
        if root < 1e-5 or wide <= 0:
            return 0.5
        density = math.exp(-0.5 * root * root) / math.sqrt(2.0 * math.pi)
        return 0.5 * math.erfc(root / math.sqrt(2.0)) + density * (1.0 / wide - 1.0 / root)

    def _tilt(self, at: float) -> float:
        """Where the derivative is ``at``: Newton's method between brackets that only shrink."""
        low, high = 0.0, 1.0 / self.deviation
        while self._cumulants(high)[1] < at and high < 1e9:
            low, high = high, 2.0 * high
        tilt = 0.5 * (low + high)
        for _ in range(100):
            _, slope, curvature = self._cumulants(tilt)
            low, high = (tilt, high) if slope < at else (low, tilt)
            step = (slope - at) / curvature if curvature > 0 else math.inf
            following = tilt - step
            if not low < following < high:
                following = 0.5 * (low + high)
            if abs(following - tilt) <= 1e-12 * following:
                return following
            tilt = following
        return tilt

    def _cumulants(self, tilt: float) -> tuple[float, float, float]:
        """The function and its first two derivatives at ``tilt``."""
        exponent = np.where(self.chances > 0, tilt * self.values, -np.inf)
        top = exponent.max(axis=1, keepdims=True)
        weights = self.chances * np.exp(exponent - top)
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / total
        mean = (weights * self.values).sum(axis=1)
        square = (weights * (self.values - mean[:, None]) ** 2).sum(axis=1)
        logs = np.log(total[:, 0]) + top[:, 0]
        return (
            float((self.items * logs).sum()),
            float((self.items * mean).sum()),
            float((self.items * square).sum()),
        )


# -- One annotator's successes against all others', in strata: where no item is shared by many ----


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
    """One annotator against the others; None if no stratum can tell."""
    telling = [stratum for stratum in strata if stratum.tells]
    if not telling:
        return None
    own = sum(stratum.own for stratum in telling)
    trials = sum(stratum.trials for stratum in telling)
    chances = [stratum.all_own / stratum.all_trials for stratum in telling]
    expected = sum(s.trials * chance for s, chance in zip(telling, chances, strict=True))
    peers = sum(s.trials * (s.all_own - s.own) / (s.all_trials - s.trials) for s in telling)
    if trials <= EXACT_ITEMS:
        tails = _tails_at(own, reduce(np.convolve, map(_hypergeometric, telling)))
    else:
        variance = sum(
            s.trials * chance * (1 - chance) * (s.all_trials - s.trials) / (s.all_trials - 1)
            for s, chance in zip(telling, chances, strict=True)
        )
        tails = poisson_binomial_normal_tails(own, expected, variance)
    return Pool(own, trials, expected / trials, peers / trials, tails)


def clopper_pearson(successes: int, trials: int, tail: float = 0.025) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934), by beta quantiles.

    Each of its bounds is wrong with a probability of at most ``tail``; it is the 95% one.
    """
    from scipy.special import betaincinv

    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
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
