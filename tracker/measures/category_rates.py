"""How well annotators agree on each category, and the summary of a project.

An agreement on category j is an unordered pair of distinct annotators and an item to which both
gave j; a potential agreement is one where at least one of the two gave j. An answer may hold
several categories, and items may have any number of annotators.

Source: J. S. Uebersax, "Raw agreement indices" (john-uebersax.com/stat/raw.htm), and
P. W. Siegel's category agreement of 2018.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean, median
from typing import Final, TypeAlias

import numpy as np

from tracker.core.tallies import ItemPatterns, Pattern, answers_in_pattern
from tracker.measures.chance_corrected import fleiss_kappa
from tracker.measures.estimate import (
    FEW,
    posterior_gamma_draws,
    posterior_quantiles,
    priors,
    spread_of_drawn,
)
from tracker.measures.intervals import (
    ASYMMETRIC,
    NO_OVERLAP,
    NO_SPREAD,
    Coefficient,
    check_confidence,
    check_interval_method,
    wilson_interval,
)
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.resampling import bootstrap_draws
from tracker.measures.sample import Floats, Integers, Sample, Table
from tracker.measures.weights import weights

_ANSWERS = ((0,), (1,))  # without the category, with it
Split: TypeAlias = tuple[tuple[int, int, int], ...]


def one_vs_rest_coefficients(
    sample: Sample, categories: Sequence[int], confidence: float = 0.95, interval: str = ASYMMETRIC
) -> dict[int, tuple[Coefficient, Coefficient]]:
    """Return Fleiss' kappa and Krippendorff's alpha of each category against all others.

    Args:
        sample: the answers, whatever its weights and distance: here an answer has the category
            or has it not. An answer of several categories counts once for each.
        categories: which, by id.
        confidence: of the bounds.
        interval: how the bounds are made, see `spread_bounds`.

    Returns:
        ``{category: (fleiss_kappa, krippendorff_alpha)}``, undefined as those are: with
        single_category if all answers have it, or none has.

    Source:
        Fleiss (1971), Psychol. Bull. 76, 378, p. 381, in the form for varying numbers of answers;
        for sets of categories Artstein and Poesio (2008), Comput. Linguist. 34, 555, section 4.
    """
    having = one_vs_rest_patterns(sample, categories)
    splits = [_against_the_rest(sample.table, having.get(n)) for n in range(len(categories))]
    return {
        category: _of_split(split, sample.annotators, confidence, interval)
        for category, split in zip(categories, splits, strict=True)
    }


@lru_cache(maxsize=1024)  # of 238 numbers as categories 53 differ, see benchmarks/ordinary.py
def _of_split(
    split: Split, annotators: int, confidence: float, interval: str
) -> tuple[Coefficient, Coefficient]:
    sizes, having, items = np.array(split, dtype=np.int64).reshape(-1, 3).T
    counts = np.stack([sizes - having, having], axis=1)
    owner, answer = np.nonzero(counts)
    table = Table(_ANSWERS, items, sizes, owner, answer, counts[owner, answer])
    sample = Sample(table, annotators, weights("identity", _ANSWERS))
    return (
        fleiss_kappa(sample).coefficient(confidence, interval),
        krippendorff_alpha(sample).coefficient(confidence, interval),
    )


def one_vs_rest_patterns(
    sample: Sample, categories: Sequence[int]
) -> Mapping[int, tuple[Integers, Integers]]:
    """Return for each category, by place, the patterns that hold it, and in how many answers."""
    table = sample.table
    place = {category: n for n, category in enumerate(categories)}
    members = [
        (code, place[category])
        for code, answer in enumerate(table.answers)
        for category in answer
        if category in place
    ]
    if not members:
        return {}
    codes, places = np.array(members, dtype=np.int64).T
    # Each entry once for each category of its answer: in most projects that is itself.
    first = np.searchsorted(codes, table.answer, side="left")
    number = np.searchsorted(codes, table.answer, side="right") - first
    entry = np.repeat(np.arange(len(table.answer)), number)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(number) - number, number)
    key = places[first[entry] + within] * len(table.items) + table.owner[entry]
    keys, back = np.unique(key, return_inverse=True)
    holding = np.bincount(back, table.count[entry], len(keys)).astype(np.int64)
    category, pattern = np.divmod(keys, len(table.items))
    starts = np.searchsorted(category, np.arange(len(categories) + 1))
    return {
        n: (pattern[starts[n] : starts[n + 1]], holding[starts[n] : starts[n + 1]])
        for n in range(len(categories))
    }


def _against_the_rest(table: Table, held: tuple[Integers, Integers] | None) -> Split:
    """Return how many items of n answers have h that hold the category: n, h, items."""
    having = np.zeros(len(table.items), dtype=np.int64)
    if held is not None:
        pattern, holding = held
        having[pattern] = holding
    most = int(table.sizes.max(initial=0)) + 1
    keys, back = np.unique(table.sizes * most + having, return_inverse=True)
    sizes, having = np.divmod(keys, most)
    items = np.bincount(back, table.items, len(keys)).astype(np.int64)
    return tuple(zip(sizes.tolist(), having.tolist(), items.tolist(), strict=True))


Holding: TypeAlias = tuple[int, int]
"""An item's answers, and how many of them hold a category."""


@dataclass(frozen=True)
class CategoryRate:
    """The agreement of a project on one category.

    Attributes:
        category: the category's id.
        labels: answers that hold it, on items of any number of answers.
        agreements: pairs of annotators and items where both gave it, A_j.
        potential_agreements: those where at least one of the two gave it, P_j.
        rate: A_j / P_j, in [0, 1]; None if P_j is 0.
        standard_error: of the rate over a sample of items; None below two items compared.
        ci_low: lower confidence bound of the rate.
        ci_high: upper confidence bound of the rate.
        specific_agreement: 2 A_j / (A_j + P_j), the chance that another annotator of the item
            gave the category, given that one did (Dice; Cicchetti and Feinstein 1990).
        confidence: the level of the bounds, in (0, 1).
        undefined: no_overlap if P_j is 0, else None.
    """

    category: int
    labels: int
    agreements: int
    potential_agreements: int
    rate: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    specific_agreement: float | None
    confidence: float
    undefined: str | None


def pairs_holding(answers: int, holding: int) -> tuple[int, int]:
    """Count the pairs of annotators who both gave a category, and those where either did."""
    others = answers - holding
    potential = (answers * (answers - 1) - others * (others - 1)) // 2
    return holding * (holding - 1) // 2, potential


@dataclass(slots=True)
class RateSums:
    """Integer sums over items for one category; a and p are A_jk and P_jk of one item."""

    labels: int = 0
    agreements: int = 0
    potential: int = 0
    items: int = 0  # with p above 0
    a_a: int = 0
    a_p: int = 0
    p_p: int = 0

    def add(self, agreeing: int, potential: int, items: int = 1) -> None:
        """Count ``items`` items with so many agreements and potential agreements each."""
        if potential:
            self.agreements += items * agreeing
            self.potential += items * potential
            self.items += items
            self.a_a += items * agreeing * agreeing
            self.a_p += items * agreeing * potential
            self.p_p += items * potential * potential

    def add_answers(self, answers: int, holding: int, items: int) -> None:
        """Count ``items`` items with ``answers`` answers, ``holding`` of them with the category."""
        self.labels += items * holding
        self.add(*pairs_holding(answers, holding), items)

    def squared_residuals(self) -> int:
        """Return the sum over items of (a P - A p) squared: P**4 times that of influences."""
        total, potential = self.agreements, self.potential
        return (
            self.a_a * potential * potential
            - 2 * self.a_p * total * potential
            + self.p_p * total * total
        )


def category_rates(
    patterns: ItemPatterns,
    categories: Sequence[int],
    confidence: float = 0.95,
    interval: str = ASYMMETRIC,
) -> list[CategoryRate]:
    """Return the rate of each of ``categories``, in their order, used or not.

    The error is that of a ratio of sums over items (Cochran 1977, section 6.4). The bounds are
    Wilson's on the effective number of items, R (1 - R) / variance, with t of one degree of
    freedom less than there are items where the category could agree. If those items do not
    differ (a rate of 0 or 1, or a single item) they are the effective number themselves, with
    the normal quantile. Of fewer than `posterior.FEW` such items the bounds are those of the
    posterior instead, unless ``interval`` is "t", which here stands for Wilson's always.
    ``benchmarks/coverage_of_coefficients.py`` measures how often either holds the true rate.

    Raises:
        InvalidOption: there is no such interval.
    """
    check_confidence(confidence)
    check_interval_method(interval)
    holdings: dict[int, Counter[Holding]] = {category: Counter() for category in categories}
    compared = 0
    for pattern, items in patterns:
        answers, holding = _holding(pattern)
        compared += items if answers > 1 else 0
        for category, count in holding:
            if category in holdings:
                holdings[category][answers, count] += items
    return [
        _rate(category, holdings[category], compared, confidence, interval)
        for category in categories
    ]


def _rate(
    category: int, holdings: Mapping[Holding, int], compared: int, confidence: float, interval: str
) -> CategoryRate:
    sums = RateSums()
    for (answers, holding), items in holdings.items():
        sums.add_answers(answers, holding, items)
    rate = rate_of_category(category, sums, compared, confidence)
    if interval != ASYMMETRIC or rate.rate is None or sums.items >= FEW:
        return rate
    likely = _likely(tuple(sorted(holdings.items())), compared, confidence)
    if likely is None:
        return rate
    return replace(rate, ci_low=min(likely[0], rate.rate), ci_high=max(likely[1], rate.rate))


@lru_cache(maxsize=1024)  # as `_of_split`
def _likely(
    holdings: tuple[tuple[Holding, int], ...], compared: int, confidence: float
) -> tuple[float, float] | None:
    """Return the bounds of a rate's posterior, see `tracker.measures.estimate`.

    What is unknown is how many of an item's annotators hold the category, given that one does.
    """
    items = {holding: float(number) for holding, number in holdings if holding[0] > 1}
    sizes: Counter[int] = Counter()
    for (answers, _), number in items.items():
        sizes[answers] += round(number)
    size = max(sizes, key=lambda answers: (sizes[answers], answers))
    values = []
    for prior in priors(size, compared, confidence):
        numbers = {(size, split): prior.each for split in prior.splits}
        numbers[size, size] = prior.weight / 2
        for holding, number in items.items():
            numbers[holding] = numbers.get(holding, 0.0) + number
        agreeing, potential = np.array([pairs_holding(*holding) for holding in sorted(numbers)]).T
        shapes = tuple(numbers[holding] for holding in sorted(numbers))
        drawn = posterior_gamma_draws(shapes, confidence, prior.shrinking)
        values.append((drawn @ agreeing) / (drawn @ potential))
    return posterior_quantiles(values, confidence)


@lru_cache(maxsize=4096)  # a curve has the same patterns at each of its points
def _holding(pattern: Pattern) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return how many answers a pattern has, and how many of them hold each category."""
    holding: Counter[int] = Counter()
    for answer, count in pattern:
        for category in answer:
            holding[category] += count
    return answers_in_pattern(pattern), tuple(holding.items())


def rate_of_category(
    category: int, sums: RateSums, compared: int, confidence: float
) -> CategoryRate:
    """Return the rate of one category from its sums over ``compared`` items with two answers."""
    agreements, potential = sums.agreements, sums.potential
    if not potential:
        return CategoryRate(
            category, sums.labels, 0, 0, None, None, None, None, None, confidence, NO_OVERLAP
        )
    rate, error = agreements / potential, None
    if compared > 1:
        squares = compared * sums.squared_residuals() / (compared - 1)
        error = math.sqrt(squares) / potential**2
    if error:
        size, freedom = rate * (1 - rate) / error**2, sums.items - 1
        low, high = wilson_interval(rate, size, confidence, freedom)
    else:
        low, high = wilson_interval(rate, sums.items, confidence)
    return CategoryRate(
        category=category,
        labels=sums.labels,
        agreements=agreements,
        potential_agreements=potential,
        rate=rate,
        standard_error=error,
        ci_low=low,
        ci_high=high,
        specific_agreement=2 * agreements / (agreements + potential),
        confidence=confidence,
        undefined=None,
    )


ENOUGH_PAIRS: Final = 20
"""Of fewer possible agreements a rate says next to nothing: of 19 pairs the 95% interval of a
rate of one half reaches .2 to either side, and a typo that nobody repeats has a rate of 0."""


@dataclass(frozen=True)
class Summary:
    """A project's category rates in one line; all None if no rate is defined.

    Attributes:
        lowest: the category of the lowest rate among those with enough pairs, the project's
            figure (Siegel 2018); of equal ones the first. Of all if fewer than two have enough.
        mean: of the defined rates, each category weighing the same.
        median: of the defined rates.
        passed_over: categories of a lower rate than ``lowest`` with fewer than `ENOUGH_PAIRS`.
    """

    lowest: CategoryRate | None
    mean: float | None
    median: float | None
    passed_over: tuple[CategoryRate, ...] = ()


def category_rate_summary(rates: Iterable[CategoryRate]) -> Summary:
    """Return the lowest, the mean and the median of the defined rates."""
    defined = [(rate.rate, rate) for rate in rates if rate.rate is not None]
    if not defined:
        return Summary(None, None, None)
    values = [value for value, _ in defined]
    enough = [pair for pair in defined if pair[1].potential_agreements >= ENOUGH_PAIRS]
    # Of two categories the rare one is the point: there each is judged, however few its pairs.
    least, lowest = min(enough if len(enough) > 1 else defined, key=lambda pair: pair[0])
    passed_over = tuple(rate for value, rate in defined if value < least)
    return Summary(lowest, fmean(values), median(values), passed_over)


def _pairs(sample: Sample, categories: Sequence[int]) -> tuple[Floats, Floats]:
    """Return agreements and potential agreements of one item of each pattern, both (C, P)."""
    shape = (len(categories), len(sample.table.items))
    agreeing, potential = np.zeros(shape), np.zeros(shape)
    sizes = sample.table.sizes
    for place, (pattern, number) in one_vs_rest_patterns(sample, categories).items():
        answers = sizes[pattern]
        others = answers - number
        agreeing[place, pattern] = number * (number - 1) / 2
        potential[place, pattern] = (answers * (answers - 1) - others * (others - 1)) / 2
    return agreeing, potential


def category_rate_influences(sample: Sample, categories: Sequence[int]) -> tuple[Floats, Floats]:
    """Return one item's influence on each category's rate, (C, P); and where it could agree.

    Returns:
        The influences, NaN of items of one answer; and 0 where an annotator of the item gave the
        category, so that two could agree on it, else NaN.
    """
    agreeing, potential = _pairs(sample, categories)
    items = sample.table.items
    possible = potential @ items
    rate = np.divide(agreeing @ items, possible, out=np.zeros(len(possible)), where=possible > 0)
    apart: Floats = agreeing - rate[:, None] * potential
    influence = apart / np.where(possible > 0, possible, 1.0)[:, None]
    influence[:, sample.table.sizes < 2] = np.nan
    return influence, np.where(potential > 0, 0.0, np.nan)


def clustered_category_rate(
    rate: CategoryRate, squares: float, clusters: int, could_agree: int
) -> CategoryRate:
    """Return a rate with the error of clusters of items; Wilson's bounds on the effective size.

    Args:
        rate: the rate.
        squares: the sum over clusters of the squared sum of their items' influences.
        clusters: how many have an item of two answers or more.
        could_agree: how many of them have one on which the category could be agreed.
    """
    if rate.rate is None or rate.standard_error is None:
        return rate
    if could_agree < 2:
        return replace(rate, standard_error=None, ci_low=None, ci_high=None)
    error = math.sqrt(squares * clusters / (clusters - 1))
    if error < NO_SPREAD:
        return rate
    size = rate.rate * (1 - rate.rate) / error**2
    low, high = wilson_interval(rate.rate, size, rate.confidence, could_agree - 1)
    return replace(rate, standard_error=error, ci_low=low, ci_high=high)


def bootstrapped_rates(
    sample: Sample, rates: Sequence[CategoryRate], *, replicates: int, seed: int
) -> list[CategoryRate]:
    """Return rates with errors and percentile bounds from the same samples as the coefficients'.

    A rate that most samples leave undefined, or that has no error, keeps what it has.
    """
    agreeing, potential = _pairs(sample, [rate.category for rate in rates])
    parts = []
    for items in bootstrap_draws(sample, replicates, seed):
        upper, lower = items @ agreeing.T, items @ potential.T
        parts.append(np.divide(upper, lower, out=np.full(upper.shape, np.nan), where=lower > 0))
    values = np.concatenate(parts).T
    return [_resampled(rate, drawn) for rate, drawn in zip(rates, values, strict=True)]


def _resampled(rate: CategoryRate, values: Floats) -> CategoryRate:
    spread = spread_of_drawn(values, rate.confidence)
    if spread is None or not rate.standard_error:
        return rate
    error, low, high = spread
    return replace(rate, standard_error=error, ci_low=low, ci_high=high)
