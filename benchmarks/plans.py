"""How often a plan keeps its word: projects drawn, planned from their first items, and finished.

    python benchmarks/plans.py [PROJECTS]

Three kinds of items: alike but for their category, easy or hard, and with shares of their own. For
each way the half-width that the finished project has is held against the one that was wanted, and
the interval of the answers to collect against what it takes by a population of 40,000 items.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tracker.core.tallies import ItemPatterns, answers_in_pattern, make_pattern
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, sample_for_measures
from tracker.plan.plan import Costs, Now, Ways
from tracker.plan.projection import (
    Measured,
    Precision,
    Projected,
    certainty,
    precision_of,
    rate_of,
    share_of,
)
from tracker.projects.goals import Want

ITEMS, ANSWERS, POPULATION, CONFIDENCE = 200, 3, 40_000, 0.95
SHARES = (0.5, 0.3, 0.2)


def alike(truth: int, draw: np.random.Generator) -> np.ndarray:
    """An item on which whoever answers errs as often as on any other."""
    return around(truth, 0.8)


def easy_or_hard(truth: int, draw: np.random.Generator) -> np.ndarray:
    """An item that is easy or hard."""
    return around(truth, draw.choice([0.95, 0.45]))


def own_shares(truth: int, draw: np.random.Generator) -> np.ndarray:
    """An item with shares of its own, whatever its category."""
    return draw.dirichlet(np.array(SHARES) * 0.8)


def around(truth: int, accuracy: float) -> np.ndarray:
    shares = np.full(len(SHARES), (1 - accuracy) / (len(SHARES) - 1))
    shares[truth] = accuracy
    return shares


Kind = Callable[[int, np.random.Generator], np.ndarray]


def items_of(kind: Kind, number: int, draw: np.random.Generator) -> list[np.ndarray]:
    """The shares of the answers to each of some items."""
    return [kind(draw.choice(len(SHARES), p=SHARES), draw) for _ in range(number)]


def answered(items: Sequence[np.ndarray], answers: int, draw: np.random.Generator) -> np.ndarray:
    """So many answers to each item, (items, answers)."""
    return np.array([draw.choice(len(SHARES), answers, p=shares) for shares in items]) + 1


def patterns_of(*rows: np.ndarray) -> ItemPatterns:
    """The patterns of items with these answers."""
    tally = Counter(make_pattern((int(a),) for a in row) for part in rows for row in part)
    return ItemPatterns(dict(tally))


def read(patterns: ItemPatterns) -> Sample:
    return sample_for_measures(
        patterns, 10, categories=[1, 2, 3], declared=True, values={}, weighting="identity",
        by_rank=False, scale="nominal", several=False, ordered=False,
    )  # fmt: skip


def alpha(patterns: ItemPatterns) -> object:
    function = MEASURES["krippendorff_alpha"].function
    return function(read(patterns))


FIGURES: dict[str, tuple[Measured, float]] = {
    "krippendorff_alpha": (alpha, 0.04),
    "rate": (rate_of(2, read), 0.05),
    "share": (share_of(1, read), 0.035),
}


def half_width(precision: Precision) -> float:
    figure = precision.estimate.coefficient(CONFIDENCE)
    return (figure.ci_high - figure.ci_low) / 2


def main() -> None:
    projects = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{projects} projects each of {ITEMS} items with {ANSWERS} answers")
    print(f"{'items':13} {'figure':19} {'way':13} {'planned':>7} {'within 10%':>10} {'covered':>8}")
    for kind in (alike, easy_or_hard, own_shares):
        draw = np.random.default_rng(1)
        population = items_of(kind, POPULATION, draw)
        for name, (measured, wanted) in FIGURES.items():
            reached, covered, planned = Counter(), Counter(), Counter()
            true = {}
            for _ in range(projects):
                items = items_of(kind, ITEMS, draw)
                first = answered(items, ANSWERS, draw)
                patterns = patterns_of(first)
                projected = Projected(measured, CONFIDENCE, patterns)
                today = projected.today
                now = Now(today.estimate.value, half_width(today), ITEMS, ANSWERS)
                sizes = Counter(answers_in_pattern(p) for p, n in patterns for _ in range(n))
                ways = Ways(projected, now, sizes, certainty(today.estimate),
                            Want(name, None, wanted), Costs(None, 500))  # fmt: skip
                for way in ways.all():
                    each = round(way.answers_per_item)
                    more = answered(items, max(each - ANSWERS, 0), draw)
                    old = np.concatenate([first, more], axis=1)
                    new = answered(items_of(kind, way.items - ITEMS, draw), each, draw)
                    parts = [old, new] if way.items > ITEMS else [old]
                    done = precision_of(patterns_of(*parts), measured, CONFIDENCE)
                    planned[way.way] += 1
                    reached[way.way] += half_width(done) <= 1.1 * wanted
                    if way.way == "more_items":
                        if not true:
                            whole = patterns_of(answered(population, ANSWERS, draw))
                            there = precision_of(whole, measured, CONFIDENCE)
                            true[0] = there.items_for(wanted, 0, there.variance, there.variance)
                        needed = max(true[0] - ITEMS, 0) * ANSWERS
                        high = way.answers_high
                        covered[way.way] += way.answers_low <= needed <= high
            for way, number in planned.items():
                cover = f"{covered[way] / number:8.1%}" if covered[way] else f"{'':8}"
                print(f"{kind.__name__:13} {name:19} {way:13} {number:7} "
                      f"{reached[way] / number:10.1%} {cover}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
