"""How often two teams from one pool of people seem to differ: the table of docs/compare.md.

Run ``python benchmarks/teams.py``. Nothing changed: both teams answer other items of one kind, and
their members' accuracies vary. A test over items asks whether these annotators would differ on
other items; `compared_with_other_people` asks whether other annotators would.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from tracker.compare.people import compared_with_other_people
from tracker.core.tallies import AnnotatorTallies, Answer, ItemPatterns, Pattern, make_pattern
from tracker.measures.difference_tests import independent_t_test
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.resampling import jackknife_item_patterns
from tracker.measures.sample import sample_for_measures

CATEGORIES = 3
SIZES = (3, 5, 10)
SPREADS = (0.0, 0.07)


def team(
    rng: np.random.Generator, people: int, items: int, level: float, spread: float
) -> tuple[ItemPatterns, AnnotatorTallies]:
    """Answers of a team: three to an item, by its members in turn."""
    skill = np.clip(level + spread * rng.standard_normal(people), 0.4, 0.99)
    patterns: Counter[Pattern] = Counter()
    met: dict[int, Counter[tuple[Answer, Pattern]]] = {who: Counter() for who in range(people)}
    for _ in range(items):
        truth = int(rng.integers(CATEGORIES))
        given = {}
        for who in rng.permutation(people)[:3].tolist():
            wrong = (truth + int(rng.integers(1, CATEGORIES))) % CATEGORIES
            given[who] = (truth if rng.random() < skill[who] else wrong,)
        pattern = make_pattern(given.values())
        patterns[pattern] += 1
        for who, own in given.items():
            met[who][own, pattern] += 1
    return ItemPatterns(patterns), AnnotatorTallies(met)


def p_values(
    rng: np.random.Generator, people: int, items: int, levels: tuple[float, float], spread: float
) -> tuple[float, float]:
    """The p-value of other items, and that of other people."""
    figures, without = [], []
    for side, level in enumerate(levels):
        patterns, tallies = team(rng, people, items, level, spread)
        figures.append(krippendorff_alpha(sample_for_measures(patterns, people)).coefficient())
        without.append(
            {
                f"{side} {who}": krippendorff_alpha(sample_for_measures(left, people - 1)).value
                for who, left in jackknife_item_patterns(patterns, tallies)
            }
        )
    found = independent_t_test(figures[1], figures[0])
    found = compared_with_other_people(found, without[0], without[1])
    return found.p_value or 1.0, found.p_value_annotators or 1.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=400, help="pairs of teams in each row")
    parser.add_argument("--items", type=int, default=150, help="of each team")
    given = parser.parse_args()
    print("| annotators a team | sd of accuracy | accuracy | p < .05 | p of other people < .05 |")
    print("|---:|---:|---|---:|---:|")
    rng = np.random.default_rng(1)
    for people in SIZES:
        for spread, levels in (
            *((spread, (0.85, 0.85)) for spread in SPREADS),
            (SPREADS[1], (0.85, 0.75)),
        ):
            rows = [p_values(rng, people, given.items, levels, spread) for _ in range(given.pairs)]
            shares = [f"{np.mean([row[k] < 0.05 for row in rows]):.1%}" for k in (0, 1)]
            told = " / ".join(str(level) for level in dict.fromkeys(levels))
            print(f"| {people} | {spread} | {told} | {shares[0]} | {shares[1]} |")


if __name__ == "__main__":
    main()
