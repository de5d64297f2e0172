"""How often 95% intervals for ratings hold the truth: ``python benchmarks/intraclass_coverage.py``.

The F bounds of ICC(1), which assume normal values, beside the interval of Krippendorff's alpha on
the interval scale, which estimates the same and assumes nothing of the kind. Annotators know the
rating or guess; two to five answer each item. Every interval is the program's own. The true value
is the figure of a sample so large that it is the population. A row is one population and size.
"""

from __future__ import annotations

import argparse
import math
from itertools import product

import numpy as np
from as_program import sample
from populations import Floats, Population, population

from tracker.core.tallies import ItemPatterns, Pattern
from tracker.measures.numeric import intraclass_correlations
from tracker.measures.registry import MEASURES

SIZES = (50, 100)
FIVE, TWO = (0.2, 0.2, 0.2, 0.2, 0.2), (0.9, 0.1)
Estimate = tuple[float, float | None, float | None]


def icc(of: Population, drawn: Floats) -> Estimate:
    """Return ICC(1) of one sample and the bounds of F."""
    patterns: dict[Pattern, int] = {
        tuple(((int(value),), int(counts[value])) for value in np.flatnonzero(counts)): int(items)
        for counts, items in zip(of.counts, drawn, strict=True)
        if items
    }
    values = {category: float(category) for category in range(of.categories)}
    form = intraclass_correlations(ItemPatterns(patterns), values)[0]
    return math.nan if form.value is None else form.value, form.ci_low, form.ci_high


def alpha(of: Population, drawn: Floats) -> Estimate:
    """Return interval-scale alpha of one sample and its interval."""
    function = MEASURES["krippendorff_alpha"].function
    assert function is not None
    figure = function(sample(of, drawn, "interval")).coefficient()
    return math.nan if figure.value is None else figure.value, figure.ci_low, figure.ci_high


def coverage(of: Population, size: int, samples: int) -> tuple[float, float]:
    """Return the share of samples whose interval holds the truth, of ICC(1) and of alpha."""
    whole = np.round(of.chances * 1e9)
    true = [figure(of, whole)[0] for figure in (icc, alpha)]
    hits, with_interval = [0, 0], [0, 0]
    for row in of.draw(size, samples, np.random.default_rng(size)):
        for place, figure in enumerate((icc, alpha)):
            _, low, high = figure(of, row)
            if low is not None and high is not None:
                with_interval[place] += 1
                hits[place] += low - 1e-9 <= true[place] <= high + 1e-9
    first, second = (hit / number for hit, number in zip(hits, with_interval, strict=True))
    return first, second


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000, help="of each population and size")
    samples = parser.parse_args().samples
    print("| ratings | reliability | annotators | items | ICC(1), F | alpha, interval |")
    print("|---|---|---|---|---|---|")
    for (name, shares), knows, annotators, size in product(
        {"five values, even": FIVE, "two values, 90/10": TWO}.items(), (60, 90), (2, 5), SIZES
    ):
        of = population(shares, f"knows {knows}%", annotators, near=1.0).by_counts()
        fields = " | ".join(f"{100 * one:.0f}" for one in coverage(of, size, samples))
        print(f"| {name} | .{knows} | {annotators} | {size} | {fields} |", flush=True)
    print(f"\nstandard error of a cell up to {100 * math.sqrt(0.05 * 0.95 / samples):.1f}")


if __name__ == "__main__":
    main()
