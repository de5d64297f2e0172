"""The bootstrap over items: errors and bounds from samples drawn with replacement."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tracker.errors import InvalidOption
from tracker.measures.coefficient import NO_SPREAD, Coefficient
from tracker.measures.krippendorff import disagreement
from tracker.measures.patterns import CHANCES
from tracker.measures.sample import Sample

__all__ = ["BOOTSTRAPPED", "bootstrap", "draws"]

Floats = NDArray[np.float64]

_AT_A_TIME = 4_000_000  # drawn numbers held together: 32 MB


def draws(sample: Sample, replicates: int, seed: int) -> Iterator[Floats]:
    """Numbers of items of each pattern in samples of as many items, drawn with replacement.

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


def _sums(table_entries: Floats, sample: Sample, items: Floats) -> Floats:
    """Sums over answers of an entry's value times the drawn items, shape (b, A)."""
    table = sample.table
    if len(table.answers) * len(table.items) <= _AT_A_TIME:
        dense = np.zeros((len(table.items), len(table.answers)))
        dense[table.owner, table.answer] = table_entries
        return items @ dense
    from scipy.sparse import csr_array

    shape = (len(table.items), len(table.answers))
    sparse = csr_array((table_entries, (table.owner, table.answer)), shape)
    sums: Floats = np.asarray((sparse.T @ items.T).T)
    return sums


def _percent(sample: Sample, items: Floats) -> Floats:
    return sample.mean_agreement(items)


def _corrected(chance: str) -> Callable[[Sample, Floats], Floats]:
    def replicate(sample: Sample, items: Floats) -> Floats:
        drawn = np.maximum(items.sum(axis=1, keepdims=True), 1)
        shares = _sums(sample.entry_shares, sample, items) / drawn
        expected = CHANCES[chance].expected(sample, shares)
        return _ratio(sample.mean_agreement(items) - expected, 1 - expected)

    return replicate


def _alpha(sample: Sample, items: Floats) -> Floats:
    found = disagreement(sample)
    kept = items[:, sample.table.sizes > 1]
    table = found.table
    totals = _sums(table.count.astype(np.float64), replace(sample, table=table), kept)
    answers = totals.sum(axis=1)
    if found.between.name == "ordinal":
        # Ranks are made of the answers, and so are drawn anew with them.
        return np.array([_one_alpha(sample, part) for part in items])
    apart = (totals * found.between.against(totals)).sum(axis=1)
    expected = _ratio(apart, answers * (answers - 1))  # NaN where no item of two answers is drawn
    return 1 - _ratio(_ratio(kept @ found.within, answers), expected)


def _one_alpha(sample: Sample, items: Floats) -> float:
    drawn = items > 0
    if not (drawn & (sample.table.sizes > 1)).any():
        return math.nan
    found = disagreement(replace(sample, table=replace(sample.table, items=items.astype(np.int64))))
    return 1 - found.observed / found.expected if found.expected > 0 else math.nan


def _ratio(upper: Floats, lower: Floats) -> Floats:
    found: Floats = np.divide(upper, lower, out=np.full(upper.shape, np.nan), where=lower > 1e-15)
    return found


BOOTSTRAPPED: Mapping[str, Callable[[Sample, Floats], Floats]] = {
    "percent_agreement": _percent,
    "scott_pi": _corrected("fleiss"),
    "fleiss_kappa": _corrected("fleiss"),
    "gwet_ac1": _corrected("gwet"),
    "gwet_ac2": _corrected("gwet"),
    "brennan_prediger": _corrected("uniform"),
    "krippendorff_alpha": _alpha,
}


def bootstrap(
    sample: Sample, found: Sequence[Coefficient], *, replicates: int, seed: int
) -> list[Coefficient]:
    """Coefficients with errors and percentile bounds from resampled items.

    All of them see the same samples. Samples in which a coefficient is undefined (one category
    only, say) are left out of it; a coefficient that depends on who answered what, or that is
    undefined, or of which nearly all samples are, keeps what it has.

    Args:
        sample: the answers that the coefficients were computed from.
        found: the coefficients.
        replicates: how many samples, 2 or more.
        seed: of the random numbers.

    Raises:
        InvalidOption: fewer than 2 replicates.
    """
    wanted = [c for c in found if c.value is not None and c.measure in BOOTSTRAPPED]
    values: dict[str, list[Floats]] = {c.measure: [] for c in wanted}
    for items in draws(sample, replicates, seed) if wanted else ():
        for name, parts in values.items():
            parts.append(BOOTSTRAPPED[name](sample, items))
    return [
        _resampled(c, np.concatenate(values[c.measure])) if c.measure in values else c
        for c in found
    ]


def _resampled(found: Coefficient, values: Floats) -> Coefficient:
    kept = values[~np.isnan(values)]
    if len(kept) < len(values) / 2 or found.standard_error is None:
        return found
    error = float(kept.std(ddof=1))
    if error < NO_SPREAD:  # samples of what does not vary say nothing: the exact bound stands
        return found
    tail = (1 - found.confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    return replace(
        found,
        standard_error=error,
        ci_low=float(low),
        ci_high=float(high),
        method="bootstrap",
    )
