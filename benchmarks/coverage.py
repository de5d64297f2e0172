"""How often nominal 95 % bounds of a category rate cover the true rate, by three methods.

Run ``python benchmarks/coverage.py``; it takes about half a minute. With three annotators, an
item where a category could agree has one, two or three answers that hold it, so that all samples
of n such items can be enumerated: the figures are exact and need no random numbers. The category
is on one item in ten. "spread" samples leave the annotators of an item nearly independent;
"clumped" ones have items that nearly all hold or that one annotator alone holds, which is what
careless annotators produce.

Columns: the bounds the program uses (`tracker.measures.rates`); t on the linearised error; and
Wilson's on the number of pairs, which takes the pairs of an item for independent. Each cell is
coverage / mean width.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, lgamma, log

from tracker.measures.intervals import interval, wilson
from tracker.measures.rates import CategoryRate, category_rates
from tracker.tally import ItemPatterns, make_pattern

# Probabilities that one, two or three of the annotators hold the category, given that one does.
POPULATIONS = {
    "spread": [
        (0.9, 0.07, 0.03),
        (0.6, 0.3, 0.1),
        (0.25, 0.35, 0.4),
        (0.03, 0.27, 0.7),
        (0.002, 0.07, 0.928),
    ],
    "clumped": [(0.83, 0.02, 0.15), (0.58, 0.02, 0.4), (0.27, 0.02, 0.71), (0.07, 0.005, 0.925)],
}
SIZES = (5, 10, 20, 50, 100, 200)
CONFIDENCE = 0.95
OTHER, HELD = (0,), (1,)


def samples(size: int, weights: tuple[float, float, float]) -> Iterator[tuple[list[int], float]]:
    """Every count of items by how many hold the category, with its probability."""
    for one in range(size + 1):
        for two in range(size - one + 1):
            counts = [one, two, size - one - two]
            logs = sum(
                count * log(weight) - lgamma(count + 1)
                for count, weight in zip(counts, weights, strict=True)
            )
            yield counts, exp(lgamma(size + 1) + logs)


def rate_of(counts: list[int]) -> CategoryRate:
    """The program's figure for a sample, with nine items in ten free of the category."""
    patterns = {make_pattern([OTHER] * 3): 9 * sum(counts)}
    for held, items in enumerate(counts, start=1):
        if items:
            patterns[make_pattern([HELD] * held + [OTHER] * (3 - held))] = items
    return category_rates(ItemPatterns(patterns), [1], CONFIDENCE)[0]


def coverage(size: int, weights: tuple[float, float, float]) -> list[tuple[float, float]]:
    """(coverage, mean width) of each method in the order of the columns."""
    one, two, three = weights
    true = (two + 3 * three) / (2 * one + 3 * two + 3 * three)
    found = [[0.0, 0.0] for _ in range(3)]
    for counts, probability in samples(size, weights):
        figure = rate_of(counts)
        rate, error, pairs = figure.rate, figure.standard_error, figure.potential_agreements
        low, high = figure.ci_low, figure.ci_high
        if rate is None or error is None or low is None or high is None:
            raise ValueError(f"no figure for {counts}")
        methods = (
            (low, high),
            interval(rate, error, 10 * size, CONFIDENCE, low=0.0),
            wilson(rate, pairs, CONFIDENCE),
        )
        for sums, (least, most) in zip(found, methods, strict=True):
            sums[0] += probability if least <= true <= most else 0.0
            sums[1] += probability * (most - least)
    return [(share, width) for share, width in found]


def main() -> None:
    """Print the table."""
    print(f"{'dependence':10} {'rate':>5} {'items':>5}   {'used':11}   {'t':11}   Wilson on pairs")
    for name, populations in POPULATIONS.items():
        for one, two, three in populations:
            true = (two + 3 * three) / (2 * one + 3 * two + 3 * three)
            for size in SIZES:
                cells = coverage(size, (one, two, three))
                shown = "   ".join(f"{share:.3f}/{width:.3f}" for share, width in cells)
                print(f"{name:10} {true:5.2f} {size:5}   {shown}", flush=True)


if __name__ == "__main__":
    main()
