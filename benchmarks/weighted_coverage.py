"""How often 95% intervals of weighted figures hold the truth: the second table of docs/figures.md.

Run ``python benchmarks/weighted_coverage.py``. Annotators know the answer or guess, whatever the
truth: most disagreements are small, some as large as they can be, and weights make these count
most. Every interval is the program's own. A field has the least and the median coverage over its
populations; in brackets those of Wilson's interval alone.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import median

import numpy as np
from as_program import sample
from populations import Population, population

from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample
from tracker.measures.weights import weights

SIZES = (50, 100, 200)
SHARES = ((0.34, 0.33, 0.33), (0.4, 0.25, 0.2, 0.1, 0.05))
CROWDS = ((2, False), (5, True))  # annotators, and whether answers are missing
KNOWS = {"0.6": "knows 60%", "0.75": "knows 75%", "0.9": "knows 90%"}
FIGURES = {
    "percent_agreement": "percent agreement",
    "gwet_ac1": "AC2",
    "brennan_prediger": "Brennan-Prediger",
}


def read(of: Population, row: np.ndarray, weighting: str) -> Sample:
    """A sample with its weights."""
    numbers = {category: float(category) for category in range(of.categories)}
    own = weights(weighting, tuple((category,) for category in numbers), numbers)
    return replace(sample(of, row), weighting=own)


def covered(of: Population, weighting: str, size: int, samples: int) -> Iterator[tuple[str, ...]]:
    """By figure the share of intervals that hold the true value: ours, and Wilson's."""
    whole = read(of, np.round(of.chances * 1e9), weighting)
    drawn = of.draw(size, samples, np.random.default_rng(size))
    for name in FIGURES:
        function = MEASURES[name].function
        assert function is not None
        true, hits = function(whole).value, [0, 0]
        assert true is not None
        for row in drawn:
            ours = function(read(of, row, weighting))
            for place, one in enumerate((ours, replace(ours, sample=None))):
                found = one.coefficient()
                if found.ci_low is not None and found.ci_high is not None:
                    hits[place] += found.ci_low - 1e-9 <= true <= found.ci_high + 1e-9
        yield name, *(hit / samples for hit in hits)  # type: ignore[misc]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=300, help="of each population and size")
    samples = parser.parse_args().samples
    cells: dict[tuple[str, str, int], list[tuple[float, float]]] = defaultdict(list)
    for kappa, shares, crowd, weighting, size in product(
        KNOWS, SHARES, CROWDS, ("linear", "quadratic"), SIZES
    ):
        of = population(shares, KNOWS[kappa], crowd[0], varying=crowd[1], near=1.0).by_counts()
        for name, ours, wilson in covered(of, weighting, size, samples):
            cells[name, kappa, size].append((float(ours), float(wilson)))
    print(f"| weighted | kappa | {' | '.join(f'{size} items' for size in SIZES)} |")
    print(f"|---|---|{'---|' * len(SIZES)}")
    for name, kappa in product(FIGURES, KNOWS):
        fields = (_field(cells[name, kappa, size]) for size in SIZES)
        print(f"| {FIGURES[name]} | {kappa} | {' | '.join(fields)} |")
    every = [ours for some in cells.values() for ours, _ in some]
    inside = sum(0.93 <= ours <= 0.97 for ours in every) / len(every)
    error = math.sqrt(0.95 * 0.05 / samples)
    print(
        f"\n{len(every)} cells, {inside:.0%} from 93 to 97%, "
        f"{sum(ours < 0.93 for ours in every) / len(every):.0%} below, least {min(every):.1%}; "
        f"standard error of one cell {error:.1%}"
    )


def _field(some: list[tuple[float, float]]) -> str:
    ours, wilson = zip(*some, strict=True)
    pairs = (f"{100 * min(x):.0f} / {100 * median(x):.0f}" for x in (ours, wilson))
    return "{} ({})".format(*pairs)


if __name__ == "__main__":
    main()
