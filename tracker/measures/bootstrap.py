"""The bootstrap over items: errors and bounds from samples drawn with replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tracker.core.errors import InvalidOption
from tracker.measures import MEASURES
from tracker.measures.coefficient import NO_SPREAD, Coefficient
from tracker.measures.sample import Sample

Floats = NDArray[np.float64]

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
    """Return coefficients with errors and percentile bounds from resampled items.

    All of them see the same samples. Samples in which a coefficient is undefined (one category
    only, say) are left out of it; a coefficient that depends on who answered what, or that is
    undefined, or of which nearly all samples are, keeps what it has.

    Args:
        sample: the answers that the coefficients were computed from.
        coefficients: the coefficients.
        replicates: how many samples, 2 or more.
        seed: of the random numbers.

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
    kept = values[~np.isnan(values)]
    if len(kept) < len(values) / 2 or coefficient.standard_error is None:
        return coefficient
    error = float(kept.std(ddof=1))
    if error < NO_SPREAD:  # samples of what does not vary say nothing: the exact bound stands
        return coefficient
    tail = (1 - coefficient.confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    return replace(
        coefficient,
        standard_error=error,
        ci_low=float(low),
        ci_high=float(high),
        method="bootstrap",
    )
