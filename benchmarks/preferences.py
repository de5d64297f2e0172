"""How often the intervals of strengths hold, and how often ranks and position are wrongly certain.

Items are comparisons of two models in a random order, each answered by several people; people who
answer the same item share a taste for one of the two. The position of an honest person is tested
though tastes differ; a planted one follows the first place in a share of their answers.

    python benchmarks/preferences.py [RUNS]
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.kinds.position_bias import POSITION_BIAS
from tracker.core.tallies import AnnotatorTallies
from tracker.measures.paired_comparisons import (
    Comparisons,
    Row,
    Strengths,
    fit_strengths,
)

LEVEL = 0.95


def simulated(
    random: Any, models: int, items: int, people: int, *, taste: float, order: float = 0.0
) -> tuple[list[Row], np.ndarray]:
    """Return comparisons by item pattern, and the true strengths."""
    true = np.linspace(1.0, -1.0, models)
    rows: Counter[tuple[Any, ...]] = Counter()
    for _ in range(items):
        first, second = random.choice(models, 2, replace=False)
        gap = true[first] - true[second] + order + random.normal(0, taste)
        weights = np.array([gap / 2, np.log(0.6), -gap / 2])
        chances = np.exp(weights) / np.exp(weights).sum()
        drawn = random.multinomial(people, chances).tolist()
        rows[(f"m{first}", f"m{second}", *drawn)] += 1
    return [Row(*key, number) for key, number in rows.items()], true


def coverage(runs: int, models: int, items: int, people: int, taste: float) -> dict[str, float]:
    """Return how often intervals hold the strength, and ranks the rank, of every model."""
    random = np.random.default_rng(1)
    inside = ranks = order = done = 0
    for _ in range(runs):
        rows, true = simulated(random, models, items, people, taste=taste)
        fit = fit_strengths(Comparisons(rows), order=True)
        if not isinstance(fit, Strengths) or len(fit.names) < models:
            continue
        done += 1
        centre = _limit(taste) * true
        inside += float((np.abs(fit.values - centre) <= 1.959964 * fit.errors).mean())
        ranks += all(low <= place + 1 <= high for place, (low, high) in enumerate(fit.ranks(LEVEL)))
        assert fit.order is not None
        order += abs(fit.order[0]) <= 1.959964 * fit.order[1]
    return {"defined": done / runs, "strengths": inside / done, "ranks": ranks / done,
            "order": order / done}  # fmt: skip


def _limit(taste: float) -> float:
    """Return by how much tastes that differ draw strengths together: 1 if they do not."""
    if not taste:
        return 1.0
    random = np.random.default_rng(2)
    rows, true = simulated(random, 6, 60_000, 1, taste=taste)
    fit = fit_strengths(Comparisons(rows))
    assert isinstance(fit, Strengths)
    return float(fit.values @ true[: len(fit.values)] / (true @ true))


def position(
    runs: int, items: int, *, models: int = 6, people: int = 8, taste: float = 0.8,
    first: float = 0.0,
) -> dict[str, float]:  # fmt: skip
    """Return how often somebody is called biased: the honest, and one who follows the first."""
    random = np.random.default_rng(3)
    true = np.linspace(1.0, -1.0, models)
    honest = found = 0
    for _ in range(runs):
        orders: dict[int, Counter[tuple[int, int, int]]] = {}
        for who in range(people):
            own = true + random.normal(0, taste, models)
            counts = orders.setdefault(who, Counter())
            for _ in range(items):
                one, other = random.choice(models, 2, replace=False).tolist()
                wins = random.random() < 1 / (1 + np.exp(own[other] - own[one]))
                if who == 0 and random.random() < first:
                    wins = True
                counts[one, other, int(wins)] += 1
        shown = {
            who: [Row(f"m{one}", f"m{other}", n * wins, 0, n * (1 - wins))
                  for (one, other, wins), n in counts.items()]
            for who, counts in orders.items()
        }  # fmt: skip
        evidence = Evidence(AnnotatorTallies(), orders=shown)
        results = {result.annotator: result for result in POSITION_BIAS.find(evidence)}
        called = {who: (result.p_value or 1.0) <= 0.05 and result.notable
                  for who, result in results.items()}  # fmt: skip
        tested = {who: (result.p_value or 1.0) <= 0.05 for who, result in results.items()}
        found += called[0]
        honest += sum(tested[who] for who in range(1, people)) / (people - 1)
    return {"planted found": found / runs, "honest p <= 0.05": honest / runs}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for models, items, people, taste in ((4, 60, 3, 0.0), (6, 150, 3, 1.5), (6, 600, 5, 1.5)):
        shares = coverage(runs, models, items, people, taste)
        told = ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
        print(f"{models} models, {items} items of {people} answers, taste {taste:g}: {told}")
    for items in (20, 40, 100):
        for first in (0.0, 0.3):
            shares = position(runs, items, first=first)
            told = ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
            print(f"{items} answers each, {first:.0%} for the first place: {told}")


if __name__ == "__main__":
    main()
