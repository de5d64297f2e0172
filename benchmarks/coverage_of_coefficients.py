"""How often nominal 95% intervals cover the true value: the table of docs/figures.md.

Run ``python benchmarks/coverage_of_coefficients.py``; it takes some minutes. Samples of 10 to 200
items are drawn from populations whose true figures are known (`populations`): two categories of
50/50, 90/10 and 99/1 and five, two to five annotators and one to five answers, and two categories
of 50/50 and 90/10 by 8, 20 and 50 annotators; kappas from 0 to 0.9. Each sample's interval covers
the true value or does not: the asymmetric one and "t", both by the program. Samples in which a
figure is undefined have no interval and do not count.

A cell is one figure, population and size. Each field of the table has, over its cells, the least
and the median coverage, then the share of cells from 93 to 97%, then the same for t. With 2,000
samples a coverage of 95% is found to within 1 point; the least of many cells is lower by chance
alone. ``--all`` prints every cell with its mean widths.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from statistics import median

import numpy as np
from as_program import check, sample
from populations import ALPHA, ESTIMATES, Estimates, Floats, Population, population

from tracker.core.tallies import ItemPatterns, make_pattern
from tracker.measures.category_rates import category_rates
from tracker.measures.chance_corrected import fleiss_kappa
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import INTERVALS, Parts, Spread, spread_bounds
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample

CONFIDENCE = 0.95
SIZES = (10, 20, 50, 100, 200)
SHARES = {
    "50 / 50": (0.5, 0.5),
    "90 / 10": (0.9, 0.1),
    "99 / 1": (0.99, 0.01),
    "five categories": (0.4, 0.25, 0.2, 0.1, 0.05),
}
EVEN_AND_SKEWED = tuple(SHARES)[:2]
AGREEMENT = ("none", "weak", "mild", "strong", "knows 90%")
CROWDS = ((2, False), (3, False), (5, False), (5, True))
MANY = ((8, False), (20, False), (50, False))
AMONG_MANY = ", 8 to 50 annotators"
OF_PAIRS = ("percent_agreement", "gwet_ac1", "gwet_ac2", "brennan_prediger")
BY_NAME = ("cohen_kappa", "conger_kappa", "light_kappa")
OF_NUMBERS = ("alpha, ordinal", "alpha, interval")
WANTED, MOST = 0.93, 0.97
NO_ERROR = 1e-7  # below, an error is the rounding of a zero
SHARE, KAPPA, NUMBERS, RATE = (
    "percent agreement, AC1, Brennan-Prediger",
    "nominal alpha and kappas",
    "ordinal and interval alpha",
    "category rates",
)


@dataclass(frozen=True)
class Cell:
    """One figure of samples of one size from one population.

    Attributes:
        figure: its name.
        family: what is put together in the table.
        shares: the key of `SHARES`.
        of: the population's name.
        size: items in a sample.
        true: the true value.
        without: the share of samples without a value or without asymmetric bounds.
        covered: by interval the share of those that hold the true value.
        width: by interval the mean width.
    """

    figure: str
    family: str
    shares: str
    of: str
    size: int
    true: float
    without: float
    covered: dict[str, float]
    width: dict[str, float]


Bounds = tuple[Floats, Floats]


def coefficient_bounds(
    of: Population, drawn: Floats, estimates: dict[str, Estimates]
) -> dict[str, dict[str, Bounds]]:
    """By measure and interval the program's bounds, sample by sample; NaN if there are none."""
    every = {measure: {how: _no_bounds(len(drawn)) for how in INTERVALS} for measure in estimates}
    for n, row in enumerate(drawn):
        whole = _sample(of, row)
        taken = cache(partial(_read, whole))
        for measure, found in estimates.items():
            if np.isnan(found.value[n]):
                continue
            value = float(found.value[n])
            spread = Spread(
                value,
                float(found.error[n]) if found.error[n] > NO_ERROR else 0.0,
                _parts(found, n, measure),
                int(found.items[n]),
                int(found.compared[n]),
                float(found.freedom[n]),
                _likely(measure, value, taken),
                measure in OF_PAIRS,
            )
            for how, (low, high) in every[measure].items():
                told = spread_bounds(spread, CONFIDENCE, how)
                if told.low is not None and told.high is not None:
                    low[n], high[n] = told.low, told.high
    return every


def _no_bounds(samples: int) -> Bounds:
    return np.full(samples, np.nan), np.full(samples, np.nan)


def _sample(of: Population, row: Floats) -> Sample:
    """A drawn sample as the program has it, annotators not named."""
    few, place = _by_counts(of)
    return sample(few, np.bincount(place, row, len(few.counts)))


def _read(whole: Sample, scale: str) -> Sample:
    return replace(whole, scale=scale)


def _likely(
    measure: str, value: float, taken: Callable[[str], Sample]
) -> tuple[float, float] | None:
    """The bounds of the posterior; of a kappa of named annotators from Fleiss' kappa."""
    if measure in OF_PAIRS:
        function = MEASURES[measure].function
        assert function is not None
        return function(taken("nominal")).likely(CONFIDENCE)
    if measure.startswith(ALPHA):
        return krippendorff_alpha(taken(measure.removeprefix(ALPHA))).likely(CONFIDENCE)
    fleiss = fleiss_kappa(taken("nominal"))
    if measure in BY_NAME:
        return Estimate(measure, value, twin=fleiss).likely(CONFIDENCE)
    return fleiss.likely(CONFIDENCE)


def _parts(found: Estimates, n: int, measure: str) -> Parts:
    observed = None if found.observed is None else round(float(found.observed[n]), 12)
    if measure == "percent_agreement":
        return Parts(observed)
    expected = None if found.expected is None else float(found.expected[n])
    return Parts(observed, expected, None, 1.0)


@cache
def _by_counts(of: Population) -> tuple[Population, np.ndarray]:
    """A population in which annotators are not named, and the place of each pattern in it."""
    kept, place = np.unique(of.counts, axis=0, return_inverse=True)
    chances = np.bincount(place.ravel(), of.chances, len(kept))
    return Population(of.name, of.annotators, of.categories, chances, kept, None), place.ravel()


def rate_bounds(held: Floats, holdings: list[tuple[int, int]]) -> tuple[dict[str, Bounds], Floats]:
    """The program's bounds of a category's rate, and the rates, sample by sample.

    Args:
        held: items of each number of answers and of those with the category, (B, H).
        holdings: those numbers.
    """
    patterns = [
        make_pattern([(1,)] * holding + [(0,)] * (size - holding)) for size, holding in holdings
    ]
    rates = np.full(len(held), np.nan)
    every = {how: _no_bounds(len(held)) for how in INTERVALS}
    for n, row in enumerate(held.astype(int).tolist()):
        counted = ItemPatterns({p: items for p, items in zip(patterns, row, strict=True) if items})
        for how, (low, high) in every.items():
            (rate,) = category_rates(counted, [1], CONFIDENCE, how)
            if rate.rate is not None and rate.ci_low is not None and rate.ci_high is not None:
                rates[n], low[n], high[n] = rate.rate, rate.ci_low, rate.ci_high
    return every, rates


def fits(measure: str, of: Population) -> bool:
    """Whether a coefficient has a meaning of its own for a population."""
    if measure in OF_NUMBERS:
        return of.categories > 2
    if measure == "cohen_kappa":
        return of.annotators == 2
    if measure in BY_NAME:
        complete = of.answers is not None and bool((of.answers >= 0).all())
        return of.annotators > 2 and complete and len(of.chances) < 1_000
    return True


def cells(task: tuple[str, str, tuple[int, bool], int, int]) -> list[Cell]:
    """Every cell of one population."""
    shares, agreement, crowd, samples, seed = task
    of = population(SHARES[shares], agreement, crowd[0], varying=crowd[1])
    shares += AMONG_MANY if crowd in MANY else ""
    generator = np.random.default_rng([seed, *map(ord, of.name)])
    found = []
    for size in SIZES:
        named = [name for name in BY_NAME if fits(name, of)]
        if named:
            found += _of_coefficients(of, named, of.draw(size, samples, generator), shares)
        few = of.by_counts()
        drawn = few.draw(size, samples, generator)
        others = [name for name in ESTIMATES if name not in BY_NAME and fits(name, few)]
        found += _of_coefficients(few, others, drawn, shares)
        found += _of_rates(few, drawn, shares)
    return found


def _of_coefficients(
    of: Population, measures: list[str], drawn: Floats, shares: str
) -> Iterator[Cell]:
    for measure in measures:
        check(of, drawn, measure)
    # Many samples of a rare category are the same: each is computed once.
    rows, times = np.unique(drawn, axis=0, return_counts=True)
    estimates = {measure: ESTIMATES[measure](of, rows) for measure in measures}
    every = coefficient_bounds(of, rows, estimates)
    for measure in measures:
        true = float(ESTIMATES[measure](of, of.chances[None, :] * 1e9).value[0])
        family = SHARE if measure in OF_PAIRS else NUMBERS if measure in OF_NUMBERS else KAPPA
        value = estimates[measure].value
        yield _cell(measure, family, shares, of, drawn, every[measure], times, value, true)


def _of_rates(of: Population, drawn: Floats, shares: str) -> Iterator[Cell]:
    """The most and the least frequent category."""
    for category in (0, of.categories - 1):
        both = np.stack([of.sizes, of.counts[:, category]], axis=1).astype(int)
        kept, place = np.unique(both, axis=0, return_inverse=True)
        into = (place.ravel()[:, None] == np.arange(len(kept))).astype(np.float64)
        size, holding = kept.T
        agreeing = holding * (holding - 1) / 2
        potential = (size * (size - 1) - (size - holding) * (size - holding - 1)) / 2
        chances = of.chances @ into
        rows, times = np.unique(drawn @ into, axis=0, return_counts=True)
        every, rates = rate_bounds(rows, [(int(s), int(h)) for s, h in kept])
        name = f"rate of category {category}"
        true = float(chances @ agreeing / (chances @ potential))
        yield _cell(name, RATE, shares, of, drawn, every, times, rates, true)


def _cell(
    figure: str,
    family: str,
    shares: str,
    of: Population,
    drawn: Floats,
    every: dict[str, Bounds],
    times: np.ndarray,
    value: Floats,
    true: float,
) -> Cell:
    covered, width = {}, {}
    for how, (low, high) in every.items():
        told = ~np.isnan(low)
        if not told.any():
            continue
        hold = (low - 1e-9 <= true) & (true <= high + 1e-9)
        covered[how] = float(np.average(hold[told], weights=times[told]))
        width[how] = float(np.average((high - low)[told], weights=times[told]))
    without = float(np.average(np.isnan(every[INTERVALS[0]][0]), weights=times))
    size = int(drawn[0].sum())
    return Cell(figure, family, shares, of.name, size, true, without, covered, width)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=2_000, help="of each population and size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, help="as many as the machine has, if left out")
    parser.add_argument("--annotators", type=int, nargs="*", help="all numbers, if left out")
    parser.add_argument("--all", action="store_true", help="every cell, a line each")
    asked = parser.parse_args()
    tasks = [
        (shares, agreement, crowd, asked.samples, asked.seed)
        for shares, agreement, crowd in product(SHARES, AGREEMENT, CROWDS + MANY)
        if (crowd in CROWDS or shares in EVEN_AND_SKEWED)
        and (asked.annotators is None or crowd[0] in asked.annotators)
    ]
    found: list[Cell] = []
    with ProcessPoolExecutor(asked.processes) as pool:
        for done, part in enumerate(pool.map(cells, tasks), 1):
            found += part
            print(f"{done} of {len(tasks)} populations", end="\r", file=sys.stderr, flush=True)
    if asked.all:
        _every(found)
    _table(found)


def _table(found: list[Cell]) -> None:
    """The table of docs/figures.md: asymmetric intervals and, in brackets, t."""
    print(f"| figures | categories | {' | '.join(f'{size} items' for size in SIZES)} |")
    print(f"|---|---|{'---|' * len(SIZES)}")
    groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in found:
        groups[cell.family, cell.shares].append(cell)
    rows = [*SHARES, *(shares + AMONG_MANY for shares in EVEN_AND_SKEWED)]
    for family, shares in product((SHARE, KAPPA, NUMBERS, RATE), rows):
        if (family, shares) in groups:
            fields = [_field([c for c in groups[family, shares] if c.size == n]) for n in SIZES]
            print(f"| {family} | {shares} | {' | '.join(fields)} |")
    for least in SIZES:
        for rare in (False, True):
            some = [c for c in found if c.size >= least and (c.shares == "99 / 1") == rare]
            if not some:
                continue
            words = "of 99 / 1" if rare else "without those of 99 / 1"
            told = "; ".join(f"{how} {_share(some, how)}" for how in INTERVALS)
            print(f"\n{len(some)} cells from {least} items on {words}: {told}")


def _field(some: list[Cell]) -> str:
    """Least and median of the asymmetric intervals, and of t."""
    both = []
    for how in INTERVALS:
        shares = [cell.covered[how] for cell in some if how in cell.covered]
        both.append(f"{100 * min(shares):.0f} / {100 * median(shares):.0f}")
    return f"{both[0]} ({both[1]})"


def _share(some: list[Cell], how: str) -> str:
    told = sorted(cell.covered[how] for cell in some if how in cell.covered)
    within, above = (sum(share >= limit for share in told) / len(told) for limit in (WANTED, MOST))
    return f"{within - above:.0%} from 93 to 97%, {above:.0%} above, least {told[0]:.1%}"


def _every(found: list[Cell]) -> None:
    for cell in found:
        told = "  ".join(
            f"{how} {share:.3f} / {cell.width[how]:.3f}" for how, share in cell.covered.items()
        )
        print(
            f"{cell.figure:18} {cell.of} {cell.shares:15} {cell.size:4}  true {cell.true:6.3f}  "
            f"{told}  without {cell.without:.3f}"
        )


if __name__ == "__main__":
    main()
