"""A figure with each item's influence, from which its error follows; and its posterior."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.measures.intervals import (
    ASYMMETRIC,
    NO_SPREAD,
    SINGLE_CATEGORY,
    Coefficient,
    Detail,
    Parts,
    Spread,
    coverage_quantile,
    degrees_of_freedom,
    spread_bounds,
)
from tracker.measures.sample import Floats, Sample, Table, pattern_table_of

Redrawn: TypeAlias = Callable[[Sample, Floats], Floats]
"""A sample and numbers of items of each pattern, (B, P), to the coefficient's values, (B,)."""

FEW: Final = 100
"""Below so many items that say more than "all gave the most frequent answer" the posterior is
drawn; above, formulas hold."""

MANY_ANSWERS: Final = 5
"""Answers to an item; of more, a share of pairs has a posterior without weights, too."""

_LIKE_PAIRS = 3  # answers to an item, up to which it says as little as a pair
_SPLITS = 9  # of two categories side by side on an item of many answers
_MOST_DRAWN = 4_000_000  # 32 MB
_MOST_EVEN = 40  # columns
_LARGE = 20  # from so large a shape on an approximation to the gamma distribution is close enough


def posterior_bounds(
    sample: Sample, redrawn: Redrawn, confidence: float, *, apart: bool = False
) -> tuple[float, float] | None:
    """Return the bounds of a coefficient's posterior; None if items are many or answers alike.

    With ``apart``, items on which the two answers that differ most stand side by side are
    supposed, too: with weights, few items of that kind make most of the disagreement, and a small
    sample may have none.
    """
    drawn = _populations(sample.table, _furthest(sample) if apart else None, confidence)
    values = [redrawn(replace(sample, table=table), shares) for table, shares in drawn]
    if any((1 - confidence) / 2 < np.isnan(each).mean() <= 0.5 for each in values):
        return -math.inf, 1.0  # more draws have no value than lie beyond a bound
    return posterior_quantiles(values, confidence)


def posterior_quantiles(values: Sequence[Floats], confidence: float) -> tuple[float, float] | None:
    """Return bounds between which the middle ``confidence`` of the values of each prior lies."""
    spreads = [spread_of_drawn(drawn, confidence) for drawn in values]
    bounds = [spread[1:] for spread in spreads if spread is not None]
    if not bounds or len(bounds) < len(values):
        return None
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def spread_of_drawn(values: Floats, confidence: float) -> tuple[float, float, float] | None:
    """Return the standard deviation of drawn values, and their bounds; None if half are NaN."""
    kept = values[~np.isnan(values)]
    if len(kept) < len(values) / 2:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail]).tolist()
    return float(kept.std(ddof=1)), low, high


def _furthest(sample: Sample) -> tuple[Answer, Answer] | None:
    """Return the two possible answers that agree least; None of fewer than two."""
    first, second = np.triu_indices(len(sample.table.answers), 1)
    if not len(first):
        return None
    place = int(sample.weighting.between(first, second).argmin())
    return sample.table.answers[first[place]], sample.table.answers[second[place]]


@lru_cache(maxsize=4)  # all coefficients of a sample are drawn together
def _populations(
    table: Table, furthest: tuple[Answer, Answer] | None, confidence: float
) -> list[tuple[Table, Floats]]:
    """Return for each prior the table with its patterns, (P,), and drawn shares of each, (B, P)."""
    if informative_items_of(table) >= FEW or len(np.unique(table.answer)) < 2:
        return []
    compared = table.compared()
    drawn = []
    for prior in priors(usual_size(compared), int(compared.items.sum()), confidence):
        ordered = _in_order(_with_supposed(table, furthest, prior))
        supposed = pattern_table_of(ItemPatterns(dict.fromkeys(ordered, 1)), table.answers)
        shares = posterior_gamma_draws(tuple(ordered.values()), confidence, prior.shrinking)
        # As of very many items: a population has no correction for being small.
        drawn.append((supposed, shares * 1e6))
    return drawn


def informative_items_of(table: Table) -> int:
    """Return how many items are compared and have anything but the most frequent answer."""
    compared = table.compared()
    unanimous = compared.count == compared.sizes[compared.owner]
    alike, items = compared.answer[unanimous], compared.items[compared.owner[unanimous]]
    by_answer = np.bincount(alike, items, len(table.answers) or 1)
    return int(compared.items.sum()) - int(by_answer.max(initial=0))


def _in_order(items: dict[Pattern, float]) -> dict[Pattern, float]:
    """Return the patterns in an order that depends neither on their own order nor on answer ids.

    Answers are numbered by how often they were given, then by the patterns that they are in.
    """
    often: Counter[Answer] = Counter()
    met: dict[Answer, list[tuple[tuple[int, ...], int, float]]] = {}
    for pattern, number in items.items():
        counts = tuple(sorted(count for _, count in pattern))
        for answer, count in pattern:
            often[answer] += round(count * number * 1e6)
            met.setdefault(answer, []).append((counts, count, number))
    ranked = sorted(met, key=lambda answer: (-often[answer], sorted(met[answer]), answer))
    rank = {answer: place for place, answer in enumerate(ranked)}

    def place(pattern: Pattern) -> list[tuple[int, int]]:
        return sorted((rank[answer], count) for answer, count in pattern)

    return {pattern: items[pattern] for pattern in sorted(items, key=place)}


def _with_supposed(
    table: Table, furthest: tuple[Answer, Answer] | None, prior: Prior
) -> dict[Pattern, float]:
    """Return items of each pattern, with the prior's added."""
    used = [table.answers[code] for code in np.unique(table.answer).tolist()]
    numbers, size = _items(table), prior.size
    for answer in used:
        _add(numbers, ((answer, size),), prior.weight / len(used))
    frequent = _most_frequent(table)
    pairs = {
        (min(first, second), max(first, second))
        for first in frequent
        for second in used
        if first != second
    }
    supposed = [(pair, 1 / len(pairs)) for pair in sorted(pairs)]
    if furthest is not None:
        supposed.append((furthest, 1.0))
    for (first, second), share in supposed:
        for split in prior.splits:
            sides = (first, split), (second, size - split)
            _add(numbers, tuple(sorted(sides)), prior.each * share)
    return numbers


@dataclass(frozen=True)
class Prior:
    """What is supposed of items of ``size`` answers before any is seen.

    Attributes:
        size: answers to an item.
        weight: unanimous items, and the most items on which two categories are split.
        shrinking: by how much all items, seen or supposed, count less when they are drawn.
    """

    size: int
    weight: float
    shrinking: float

    @property
    def splits(self) -> list[int]:
        """How many of the answers go to one of two categories; not all if there are very many."""
        places = np.linspace(1, self.size - 1, min(self.size - 1, _SPLITS))
        return [int(place) for place in np.unique(places.round())]

    @property
    def each(self) -> float:
        """Items of each split, half a one at most."""
        return min(0.5, self.weight / len(self.splits))


@lru_cache(maxsize=256)
def priors(size: int, items: int, confidence: float) -> tuple[Prior, ...]:
    """Return the priors for ``items`` of ``size`` answers; bounds are the widest of theirs.

    Of up to three answers one item is unanimous and one at most is split. An item of more answers
    shows its own agreement well, and a whole supposed one would outweigh it: with 50
    annotators who toss coins, alpha's interval then lies above 0 in half of the samples. With few
    supposed items, a rare category that was not seen is not expected. So both weights are tried,
    and the draws are spread as Student's t is, because the prior no longer widens them.
    """
    if size <= _LIKE_PAIRS:
        return (Prior(size, 1.0, 1.0),)
    freedom = max(items - 1, 1)
    ratio = coverage_quantile(confidence, None) / coverage_quantile(confidence, freedom)
    shrinking = ratio**2 * freedom / (items + 1)
    share = _LIKE_PAIRS / size
    return Prior(size, share, shrinking), Prior(size, math.sqrt(share), shrinking)


def _items(table: Table) -> dict[Pattern, float]:
    numbers: dict[Pattern, float] = {}
    for entries, items in zip(table.entries(), table.items.tolist(), strict=True):
        _add(numbers, tuple(sorted((table.answers[code], n) for code, n in entries)), items)
    return numbers


def _add(numbers: dict[Pattern, float], pattern: Pattern, items: float) -> None:
    numbers[pattern] = numbers.get(pattern, 0.0) + items


def usual_size(compared: Table) -> int:
    """Return the most frequent number of answers to a compared item; the greater of two."""
    items = np.bincount(compared.sizes, compared.items, minlength=1)
    return int(np.flatnonzero(items == items.max())[-1])


def _most_frequent(table: Table) -> list[Answer]:
    """Return the answer that was given most often, or those."""
    totals = table.over_answers(table.count * table.items[table.owner])
    return [table.answers[code] for code in np.flatnonzero(totals == totals.max()).tolist()]


def posterior_gamma_draws(shapes: tuple[float, ...], confidence: float, shrinking: float) -> Floats:
    """Return gamma variates of shrunken shapes, (B, P), whose ratios are draws from a Dirichlet.

    A Latin hypercube: each column is the B quantiles of its distribution, in an order of its own
    that is always the same, so that the same tally has the same bounds on every machine. 2,000
    rows, more if the tails are below 2.5%.
    """
    rows = min(max(100 / (1 - confidence), 2_000), 20_000, _MOST_DRAWN / len(shapes))
    number = max(round(rows), 1_000)  # of very many columns
    columns = [
        _quantiles(shape * shrinking, number)[_order(column, len(shapes), number)]
        for column, shape in enumerate(shapes)
    ]
    return np.stack(columns, axis=1)


@lru_cache(maxsize=512)
def _order(column: int, columns: int, number: int) -> NDArray[np.int32]:
    """Return the order of one column such that the columns together fill the space evenly.

    Source:
        The additive sequence of Roberts (2018), "The unreasonable effectiveness of quasirandom
        sequences", extremelearning.com.au; of very many columns, neighbors of which it would
        not set apart, at random.
    """
    if columns > _MOST_EVEN:
        # The raw bits of a generator, unlike what is made of them, never change.
        places = np.asarray(np.random.PCG64(column).random_raw(number), dtype=np.float64)
    else:
        step = 2.0
        for _ in range(64):  # the root of step ** (columns + 1) = 1 + step
            step = (1 + step) ** (1 / (columns + 1))
        evenly = (0.5 + np.arange(1, number + 1) * step ** -(column + 1)) % 1
        places = np.asarray(evenly, dtype=np.float64)
    order = np.empty(number, dtype=np.int32)
    order[np.argsort(places, kind="stable")] = np.arange(number)
    return order


@lru_cache(maxsize=256)
def _quantiles(shape: float, number: int) -> Floats:
    """Return the middles of ``number`` equal parts of a gamma distribution."""
    from scipy.special import gammaincinv, ndtri

    middles = (np.arange(number) + 0.5) / number
    if shape < _LARGE:
        return np.asarray(gammaincinv(shape, middles), dtype=np.float64)
    # Wilson and Hilferty (1931), Proc. Natl. Acad. Sci. 17, 684.
    cube_root = 1 - 1 / (9 * shape) + ndtri(middles) / (3 * math.sqrt(shape))
    return np.asarray(shape * cube_root**3, dtype=np.float64)


_NO_PARTS = Parts()


@dataclass(frozen=True, eq=False)
class Estimate:
    """A measure's value, and what its uncertainty is computed from.

    Attributes:
        measure: the measure's name.
        value: the coefficient, or None.
        undefined: why there is none, or None.
        parts: observed and expected agreement.
        influence: for one item of each pattern, the change of the value that its presence
            makes, to first order, shape (P,) with the patterns in the tally's order; the squared
            influences add up to the value's variance (Gwet 2014, chapter 5; Cochran 1977,
            section 6.4). None if no error can be had.
        counts: items of each pattern, (P,).
        squares: the sum of the squared influences if they were not kept one by one.
        fourths: the sum of their fourth powers, likewise.
        sample: the answers, if the posterior of the value can be drawn from them.
        redrawn: the value in samples drawn anew, likewise.
        twin: Fleiss' kappa of the same items, for a kappa that tells annotators apart: its
            posterior needs nothing but patterns, and theirs is as far below and above on the
            scale of ``1 - value``.
        of_pairs: whether it is a share of pairs of answers, but for a chance term; see `Spread`.
        items: items that enter the value, whose number less one are the degrees of freedom.
        compared: those of two answers or more.
        reading: what else names the figure: ``weights``, ``scale`` or ``distance``.
        more: further numbers that stand beside it.
    """

    measure: str
    value: float | None
    undefined: str | None = None
    parts: Parts = _NO_PARTS
    influence: Floats | None = None
    counts: NDArray[np.int64] | None = None
    squares: float | None = None
    fourths: float | None = None
    sample: Sample | None = field(default=None, repr=False)
    redrawn: Redrawn | None = None
    twin: Estimate | None = field(default=None, repr=False)
    of_pairs: bool = False
    items: int = 0
    compared: int = 0
    reading: dict[str, str] = field(default_factory=dict)
    more: dict[str, Detail] = field(default_factory=dict)

    @property
    def standard_error(self) -> float | None:
        """The linearized error over items; None below two items compared."""
        if self.compared < 2:
            return None
        squares, total = self._summed(2)
        if squares is None:
            return None
        error = math.sqrt(squares * total / (total - 1))
        return error if error > NO_SPREAD else 0.0

    def _summed(self, power: int) -> tuple[float | None, int]:
        """Return the sum over items of a power of their influences, and the number of items."""
        if self.influence is not None and self.counts is not None:
            return float(self.counts @ self.influence**power), int(self.counts.sum())
        return self.squares if power == 2 else self.fourths, self.items

    @property
    def freedom(self) -> float | None:
        """The degrees of freedom of the error; None if it has none of its own."""
        (squares, total), (fourths, _) = self._summed(2), self._summed(4)
        if not squares or fourths is None or math.sqrt(squares) < NO_SPREAD:
            return None
        sums = (np.array([float(x)]) for x in (total, squares, fourths))
        return float(degrees_of_freedom(*sums)[0])

    def likely(self, confidence: float) -> tuple[float, float] | None:
        """Return the bounds of the posterior, widened to hold the value; None if there is none."""
        if self.value is None:
            return None
        drawn = self._posterior(self.value, confidence)
        return None if drawn is None else (min(drawn[0], self.value), max(drawn[1], self.value))

    def _posterior(self, value: float, confidence: float) -> tuple[float, float] | None:
        if self.twin is None or self.twin.value is None:
            if self.sample is None or self.redrawn is None:
                return None
            apart = self.of_pairs and not self.sample.weighting.nominal
            return posterior_bounds(self.sample, self.redrawn, confidence, apart=apart)
        bounds, room = self.twin.likely(confidence), 1 - self.twin.value
        if bounds is None or room < NO_SPREAD:
            return bounds
        low, high = (1 - (1 - value) * (1 - bound) / room for bound in bounds)
        return max(min(-1.0, value), low), high

    @property
    def details(self) -> dict[str, Detail]:
        """What else the figure carries; see `Coefficient`."""
        details: dict[str, Detail] = {**self.reading}
        if self.parts.observed_disagreement is not None:
            details["observed_disagreement"] = self.parts.observed_disagreement
            details["expected_disagreement"] = self.parts.expected_disagreement
        return details | self.more

    def coefficient(self, confidence: float = 0.95, interval: str = ASYMMETRIC) -> Coefficient:
        """Return the figure with its error and bounds, see `spread_bounds`."""
        plain = Coefficient(
            self.measure,
            self.value,
            self.undefined,
            confidence=confidence,
            items=self.items,
            observed=self.parts.observed,
            expected=self.parts.expected,
            details=self.details,
        )
        error = self.standard_error
        if self.value is None or error is None:
            return plain
        asymmetric = interval == ASYMMETRIC
        spread = Spread(
            self.value,
            error,
            self.parts,
            self.items,
            self.compared,
            self.freedom if asymmetric else None,
            self.likely(confidence) if asymmetric else None,
            self.of_pairs,
        )
        return plain.with_error(error, *spread_bounds(spread, confidence, interval))


def undefined_estimate(
    measure: str, reason: str, items: int = 0, parts: Parts = _NO_PARTS, *, reading: dict[str, str]
) -> Estimate:
    return Estimate(measure, None, reason, parts, items=items, reading=reading)


def single_category_estimate(measure: str, items: int, *, reading: dict[str, str]) -> Estimate:
    """Return no value, if one category is all that was given: 0 / 0 is no coefficient."""
    return undefined_estimate(measure, SINGLE_CATEGORY, items, Parts(1.0, 1.0), reading=reading)
