"""How sure a figure would be of other items, and of other numbers of answers to each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np

from tracker.core.tallies import ItemPatterns, answers_in_pattern
from tracker.measures.category_rates import category_rate_influences, category_rates
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import Spread, spread_bounds
from tracker.measures.more_answers import Between, thinned, variance_with_answers
from tracker.measures.sample import Sample

SEED: Final = 20_250_101
_FEWEST, _SHARE, _MOST_KNOWN = 30, 0.2, 20  # items, of those compared, with so many answers
_ASSURED, _NEARLY = 0.9, 1.1
_MOST_ITEMS: Final = 1e12
_LEAST_EXCESS: Final = 0.02  # of a kurtosis; that of items half of which agree is next to none

Reads = Callable[[ItemPatterns], Sample]
Measured = Callable[[ItemPatterns], Estimate]


def rate_of(category: int, read: Reads) -> Measured:
    """Return the rate of a category with the influence of each item; see `category_rates`."""

    def rate(patterns: ItemPatterns) -> Estimate:
        sample = read(patterns)
        influence = category_rate_influences(sample, [category])[0][0]
        compared = ~np.isnan(influence)
        counts = sample.table.items[compared]
        items = int(counts.sum())
        value = category_rates(patterns, [category])[0].rate
        return Estimate(
            "rate", value, influence=influence[compared], counts=counts,
            items=items, compared=items, of_pairs=True,
        )  # fmt: skip

    return rate


def share_of(category: int, read: Reads) -> Measured:
    """Return the mean over items of the share of their answers that hold a category."""

    def share(patterns: ItemPatterns) -> Estimate:
        table = read(patterns).table
        holds = np.array([category in answer for answer in table.answers], dtype=np.float64)
        own = table.over_patterns(table.count * holds[table.answer]) / table.sizes
        items = int(table.items.sum())
        value = float(own @ table.items) / items
        return Estimate(
            "share", value, influence=(own - value) / items, counts=table.items,
            items=items, compared=items, of_pairs=True,
        )  # fmt: skip

    return share


@dataclass(frozen=True)
class Precision:
    """What the error of a figure is made of.

    Attributes:
        estimate: the figure.
        items: how many items it is of.
        variance: the variance that one item brings; that of n items is ``variance / n``.
        confidence: the level of the intervals.
    """

    estimate: Estimate
    items: int
    variance: float
    confidence: float

    def half_width(self, items: float, variance: float | None = None) -> float:
        """Return half the width of the interval of so many items, of another variance each."""
        estimate, times = self.estimate, items / self.items
        assert estimate.value is not None
        freedom = estimate.freedom
        error = math.sqrt((self.variance if variance is None else variance) / items)
        bounds = spread_bounds(
            Spread(
                estimate.value,
                error,
                estimate.parts,
                max(round(estimate.items * times), 2),
                max(round(estimate.compared * times), 2),
                None if freedom is None else max(freedom * times, 1.0),
                None,
                estimate.of_pairs,
            ),
            self.confidence,
        )
        return math.nan if bounds.high is None else (bounds.high - (bounds.low or 0.0)) / 2

    def items_for(self, half_width: float, today: int, first: float, then: float) -> float | None:
        """Return the fewest items, today's or more, of an interval no wider than is wanted.

        ``first`` is the variance that each of ``today``'s items brings, ``then`` that of each
        further one. Returns None if no number is enough.
        """
        from scipy.optimize import brentq

        def excess(log_items: float) -> float:
            items = math.exp(log_items)
            old = min(today, items)
            variance = (old * first + (items - old) * then) / items
            return self.half_width(items, variance) - half_width

        low, high = math.log(max(today, 2)), math.log(_MOST_ITEMS)
        if excess(low) <= 0:
            return float(max(today, 2))
        return None if excess(high) > 0 else math.exp(brentq(excess, low, high, xtol=1e-7))


def precision_of(patterns: ItemPatterns, measured: Measured, confidence: float) -> Precision | None:
    """Return what the error of a figure of some items is made of; None if it has none."""
    estimate = measured(patterns) if patterns.items else None
    if estimate is None or estimate.value is None or not estimate.standard_error:
        return None
    variance = estimate.standard_error**2 * patterns.items
    return Precision(estimate, patterns.items, variance, confidence)


class Projected:
    """What items bring to the variance of a figure, by how many answers each has.

    Attributes:
        today: the precision of the figure as it is; of a project without answers, of those assumed.
    """

    def __init__(
        self,
        measured: Measured,
        confidence: float,
        patterns: ItemPatterns,
        drawn: Callable[[int], ItemPatterns] | None = None,
    ) -> None:
        """``drawn`` returns items with so many answers; for None they are those there are."""
        today = precision_of(patterns, measured, confidence)
        assert today is not None
        self.today = today
        self._measured, self._confidence, self._drawn = measured, confidence, drawn
        self._patterns = patterns
        self.variance = cache(self._variance)

    def _variance(self, answers: int) -> Between:
        """Return the variance that an item with so many answers brings."""
        if self._drawn is None:
            return variance_with_answers(self._known, answers)
        precision = precision_of(self._drawn(answers), self._measured, self._confidence)
        return Between.exactly(math.nan if precision is None else precision.variance)

    @cached_property
    def _known(self) -> dict[int, float]:
        """What items bring with as many answers as enough of them have, and with fewer."""
        sizes: Counter[int] = Counter()
        for pattern, items in self._patterns:
            sizes[answers_in_pattern(pattern)] += items
        compared = sum(items for size, items in sizes.items() if size > 1)
        known = {}
        for answers in range(2, min(max(sizes), _MOST_KNOWN) + 1):
            items = sum(items for size, items in sizes.items() if size >= answers)
            if items < max(_FEWEST, compared * _SHARE):
                break
            some = thinned(self._patterns, answers, np.random.default_rng([SEED, answers]))
            precision = precision_of(some, self._measured, self._confidence)
            if precision is not None:
                known[answers] = precision.variance
        return known or {2: self.today.variance}


# -- How well a variance is known that was estimated ----------------------------------------------


def certainty(estimate: Estimate) -> float | None:
    """Return the degrees of freedom of an estimated variance; None if no item's part is known.

    As `degrees_of_freedom`, but without a bound above: a plan has no reason to be more careful
    than the items are.
    """
    if estimate.influence is None or estimate.counts is None:
        return estimate.freedom
    squares = float(estimate.counts @ estimate.influence**2)
    fourths = float(estimate.counts @ estimate.influence**4)
    items = int(estimate.counts.sum())
    excess = items * fourths / squares**2 - (items - 3) / (items - 1)
    return 2 * items / max(excess, _LEAST_EXCESS)


def variance_bounds(freedom: float | None, confidence: float) -> tuple[float, float]:
    """Return by what a variance may have to be multiplied: those of a chi square about it."""
    if freedom is None:
        return 1.0, 1.0
    from scipy.stats import chi2

    tail = (1 - confidence) / 2
    return freedom / float(chi2.ppf(1 - tail, freedom)), freedom / float(chi2.ppf(tail, freedom))


def assurance(freedom: float | None) -> float:
    """Return by what a planned half-width is smaller than the one that is wanted, 1 or less.

    So that it is reached, but for a tenth, with probability .9, although the variance is known
    from a few items only (Kupper and Hafner 1989, The American Statistician 43, 101).
    """
    if freedom is None:
        return 1.0
    from scipy.stats import chi2

    return min(1.0, _NEARLY / math.sqrt(freedom / float(chi2.ppf(1 - _ASSURED, freedom))))
