"""Errors of category rates if items are resampled, or come in clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tracker.measures.bootstrap import draws
from tracker.measures.category_rates import CategoryRate
from tracker.measures.coefficient import NO_SPREAD
from tracker.measures.estimate import Floats
from tracker.measures.intervals import wilson
from tracker.measures.one_vs_rest import holding
from tracker.measures.sample import Sample


def _pairs(sample: Sample, categories: Sequence[int]) -> tuple[Floats, Floats]:
    """Return agreements and potential agreements of one item of each pattern, both (C, P)."""
    shape = (len(categories), len(sample.table.items))
    agreeing, potential = np.zeros(shape), np.zeros(shape)
    sizes = sample.table.sizes
    for place, (pattern, number) in holding(sample, categories).items():
        answers = sizes[pattern]
        others = answers - number
        agreeing[place, pattern] = number * (number - 1) / 2
        potential[place, pattern] = (answers * (answers - 1) - others * (others - 1)) / 2
    return agreeing, potential


def rate_influences(sample: Sample, categories: Sequence[int]) -> tuple[Floats, Floats]:
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


def clustered_rate(
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
    low, high = wilson(rate.rate, size, rate.confidence, could_agree - 1)
    return replace(rate, standard_error=error, ci_low=low, ci_high=high)


def bootstrapped_rates(
    sample: Sample, rates: Sequence[CategoryRate], *, replicates: int, seed: int
) -> list[CategoryRate]:
    """Return rates with errors and percentile bounds from the same samples as the coefficients'.

    A rate that most samples leave undefined, or that has no error, keeps what it has.
    """
    agreeing, potential = _pairs(sample, [rate.category for rate in rates])
    parts = []
    for items in draws(sample, replicates, seed):
        upper, lower = items @ agreeing.T, items @ potential.T
        parts.append(np.divide(upper, lower, out=np.full(upper.shape, np.nan), where=lower > 0))
    values = np.concatenate(parts).T
    return [_resampled(rate, drawn) for rate, drawn in zip(rates, values, strict=True)]


def _resampled(rate: CategoryRate, values: Floats) -> CategoryRate:
    kept = values[~np.isnan(values)]
    if not rate.standard_error or len(kept) < len(values) / 2:
        return rate
    tail = (1 - rate.confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    error = float(kept.std(ddof=1))
    return replace(rate, standard_error=error, ci_low=float(low), ci_high=float(high))
