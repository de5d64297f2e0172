"""Errors from samples drawn anew, from annotators left out in turn, and from clusters of items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, Pattern, pattern_without
from tracker.measures.estimate import spread_of_drawn
from tracker.measures.intervals import (
    ASYMMETRIC,
    NO_SPREAD,
    Coefficient,
    Parts,
    Spread,
    confidence_interval,
    degrees_of_freedom,
    spread_bounds,
)
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Floats, Sample

_AT_A_TIME = 4_000_000  # drawn numbers held together: 32 MB


def bootstrap_draws(sample: Sample, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield numbers of items of each pattern in samples of equal size, drawn with replacement.

    Items of one pattern are alike, so that a draw of all items is one draw from a multinomial
    over the patterns, and a million items cost no more than their patterns do.

    Yields:
        Parts of shape (b, P), whole numbers, ``replicates`` rows in all; the same for a seed.

    Raises:
        InvalidOption: fewer than 2 replicates.

    Source:
        Efron (1979), Ann. Stat. 7, 1.
    """
    if replicates < 2:
        raise InvalidOption(f"a bootstrap of {replicates} replicates says nothing", "use 1000")
    generator = np.random.default_rng(seed)
    items = sample.table.items
    step = max(1, _AT_A_TIME // max(len(items), 1))
    for start in range(0, replicates, step):
        number = min(step, replicates - start)
        drawn = generator.multinomial(int(items.sum()), items / items.sum(), size=number)
        yield drawn.astype(np.float64)  # products of matrices of integers are slow


def bootstrap(
    sample: Sample, coefficients: Sequence[Coefficient], *, replicates: int, seed: int
) -> list[Coefficient]:
    """Return coefficients of a sample with errors and percentile bounds from resampled items.

    All of them see the same samples. Samples in which a coefficient is undefined (one category
    only, say) are left out of it; a coefficient that depends on who answered what, or that is
    undefined, or of which nearly all samples are, keeps what it has.

    Raises:
        InvalidOption: fewer than 2 replicates.
    """
    redrawn = {
        c.measure: again
        for c in coefficients
        if c.value is not None and (again := MEASURES[c.measure].redrawn) is not None
    }
    values: dict[str, list[Floats]] = {name: [] for name in redrawn}
    for items in bootstrap_draws(sample, replicates, seed) if redrawn else ():
        for name, again in redrawn.items():
            values[name].append(again(sample, items))
    return [
        _resampled(c, np.concatenate(values[c.measure])) if c.measure in values else c
        for c in coefficients
    ]


def _resampled(coefficient: Coefficient, values: Floats) -> Coefficient:
    spread = spread_of_drawn(values, coefficient.confidence)
    if spread is None or coefficient.standard_error is None:
        return coefficient
    if spread[0] < NO_SPREAD:  # samples of what does not vary say nothing: the exact bound stands
        return coefficient
    return coefficient.with_error(*spread, "bootstrap")


def jackknife_item_patterns(
    patterns: ItemPatterns, tallies: AnnotatorTallies
) -> Iterator[tuple[int, ItemPatterns]]:
    """Yield the item patterns without each annotator, from what their answers met.

    Yields:
        ``(annotator, patterns of the others' answers)``; an item that he alone answered is gone.
    """
    for annotator, met in tallies.counts.items():
        answered: Counter[Pattern] = Counter()
        left: Counter[Pattern] = Counter()
        for (own, pattern), items in met.items():
            answered[pattern] += items
            rest = pattern_without(pattern, own)
            if rest:
                left[rest] += items
        yield annotator, patterns - ItemPatterns(answered) + ItemPatterns(left)


def jackknife_pulls(
    without_each: Sequence[float | None], center: float | None = None, number: int | None = None
) -> list[float] | None:
    """Return what each annotator adds to the error over annotators: the squares add up to it.

    Annotators are a sample, too. The delete-one jackknife leaves each of the ``number`` out in
    turn, or some drawn from them: ``without_each`` are the values without each, None if undefined.
    ``center`` is their mean unless given. None of fewer than three values, or if one is undefined.

    Source:
        Efron and Stein (1981), Ann. Stat. 9, 586; for kappas Gwet (2014), chapter 5, section 5.4.
    """
    values = [value for value in without_each if value is not None]
    if len(values) < max(3, len(without_each)):
        return None
    middle = math.fsum(values) / len(values) if center is None else center
    part = math.sqrt(((number or len(values)) - 1) / len(values))
    return [part * (value - middle) for value in values]


def jackknife_over_annotators(
    coefficient: Coefficient, without_each: Sequence[float | None]
) -> Coefficient:
    """Return a coefficient with the error of `jackknife_pulls`, and t of one freedom less."""
    if coefficient.value is None:
        return coefficient
    pulls = jackknife_pulls(without_each)
    if pulls is None:
        return coefficient.with_error(None)
    error, least = math.hypot(*pulls), 0.0 if coefficient.measure == "percent_agreement" else -1.0
    low, high = confidence_interval(
        coefficient.value, error, len(pulls), coefficient.confidence, low=least
    )
    return coefficient.with_error(error, low, high, "jackknife over annotators")


def coefficient_over_clusters(
    coefficient: Coefficient,
    sums: tuple[float, float],
    clusters: int,
    name: str,
    how: str = ASYMMETRIC,
    *,
    of_pairs: bool = False,
) -> Coefficient:
    """Return a coefficient with the error for clusters of items, such as a document's sentences.

    Items of one cluster may be alike; clusters are independent. The error is that of the
    clusters' sums of influences, and clusters stand for items in the bounds; the posterior is
    not drawn, which takes items for independent.

    Args:
        coefficient: the coefficient.
        sums: over clusters, of the second and of the fourth power of the sum of their items'
            influences.
        clusters: how many there are.
        name: of the attribute that makes them.
        how: how the bounds are made, see `spread_bounds`.
        of_pairs: as the estimate says.

    Source:
        Liang and Zeger (1986), Biometrika 73, 13, with the correction C / (C - 1).
    """
    if coefficient.value is None or coefficient.standard_error is None:
        return coefficient
    if clusters < 2:
        return coefficient.with_error(None)
    squares, fourths = sums
    error = math.sqrt(squares * clusters / (clusters - 1))
    if error < NO_SPREAD:
        return coefficient
    columns = np.array([[float(clusters)], [squares], [fourths]])
    freedom = float(degrees_of_freedom(*columns)[0])
    # A coefficient without a chance term is a share; alpha has one, if in another unit.
    chance = 1.0 if "expected_disagreement" in coefficient.details else None
    parts = Parts(coefficient.observed, coefficient.expected, None, chance)
    spread = Spread(coefficient.value, error, parts, clusters, clusters, freedom, of_pairs=of_pairs)
    low, high, _ = spread_bounds(spread, coefficient.confidence, how)
    return coefficient.with_error(error, low, high, f"clustered by {name}")


def most_influential_patterns(influence: Floats, most: int) -> list[int]:
    """Return the places of the patterns whose single items weigh most, the strongest first."""
    order = np.argsort(-np.abs(influence), kind="stable")
    strongest: list[int] = order[:most].tolist()
    return strongest


def jackknife_without_item(
    sample: Sample, measure: str, places: Sequence[int]
) -> list[float | None]:
    """Return the coefficient without one item of each of some patterns, exactly; None if undefined.

    The measure is one that can be bootstrapped; ``places`` are those of the patterns in the table.
    """
    rows = np.repeat(sample.table.items[None, :].astype(np.float64), len(places), axis=0)
    rows[np.arange(len(places)), list(places)] -= 1
    redrawn = MEASURES[measure].redrawn
    assert redrawn is not None
    values = redrawn(sample, rows)
    return [None if np.isnan(value) else float(value) for value in values]
