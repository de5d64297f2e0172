"""What the audit says of simulated crowds with all it looks at: of honest ones, and how surely.

python audit_of_crowds.py honest|power|all [--crowds 1000]

``audit_grid.py`` has crowds of more different makes, with bad annotators, and fewer kinds.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from random import Random

from crowds import (
    Crowd,
    always,
    blindly,
    copies,
    honest,
    leans,
    lower,
    make_crowd,
    repeats_itself,
    skilled,
    tires,
)

from tracker.audit.findings import Finding, audit
from tracker.audit.kinds import KINDS

KIND_NAMES = list(KINDS)


def flagged(crowd: Crowd) -> list[Finding]:
    """The findings that stand up."""
    return [f for f in audit(crowd.evidence(), consult=crowd.consult) if f.state == "flagged"]


def honest_crowd(seed: int) -> Crowd:
    """5 to 50 annotators of 20 to 200 answers; items unequal, and each one's mix of them too."""
    random = Random(seed)
    number = random.randint(5, 50)
    categories = random.randint(2, 5)
    voices = dict.fromkeys(range(number), honest)
    accuracy = random.uniform(0.65, 0.85)
    return make_crowd(
        random,
        voices,
        answers=random.randint(20, 200),
        per_item=min(random.randint(2, 6), number),
        categories=categories,
        shares=[random.uniform(0.3, 1.0) ** 2 for _ in range(categories)],
        accuracy=accuracy,
        spread=random.uniform(0.0, 0.15),
        mixed=True,
        ordinal=random.random() < 0.3,
    )


def naive(crowd: Crowd) -> set[int]:
    """Who a test of each one's category shares against the project's flags, uncorrected."""
    total = Counter(own for answers in crowd.items for own in answers.values())
    everything = total.total()
    found = set()
    mine: dict[int, Counter[int]] = {}
    for answers in crowd.items:
        for who, own in answers.items():
            mine.setdefault(who, Counter())[own] += 1
    for who, counts in mine.items():
        for category, all_of_it in total.items():
            n, share = counts.total(), all_of_it / everything
            if 0 < share < 1:
                z = (counts[category] - n * share) / math.sqrt(n * share * (1 - share))
                if math.erfc(abs(z) / math.sqrt(2)) <= 0.05:
                    found.add(who)
    return found


def _honest(seed: int) -> tuple[set[str], bool]:
    crowd = honest_crowd(seed)
    return {flag.kind for flag in flagged(crowd)}, bool(naive(crowd))


def in_parallel(task: Callable[[int], object], seeds: range) -> Iterator:
    """The results of a task for each seed, in their order, on two processes."""
    with ProcessPoolExecutor(2) as pool:
        for done, result in enumerate(pool.map(task, seeds, chunksize=10), start=1):
            if sys.stderr.isatty():
                print(f"\r{done} of {len(seeds)}", end="", file=sys.stderr)
            yield result


def of_honest(number: int, task: Callable[[int], object], title: str) -> None:
    """Share of crowds in which a kind flags anybody."""
    kinds: Counter[str] = Counter()
    anything = by_naive = 0
    for found, accused in in_parallel(task, range(number)):
        kinds.update(found)
        anything += bool(found)
        by_naive += accused
    print(f"\n{title}: {number} crowds; share in which anybody is flagged")
    for name in KIND_NAMES:
        print(f"  {name:<20}{kinds[name] / number:7.1%}")
    print(f"  {'any kind':<20}{anything / number:7.1%}")
    print(f"  {'naive test of shares':<20}{by_naive / number:6.1%}")


PLANTED: dict[str, tuple[Callable, str]] = {
    "constant_category": (always(1), "always one category"),
    "random_answers": (blindly, "answers blindly"),
    "copying": (copies(1), "copies another"),
    "category_bias": (leans(1, 0.4), "one category to 40% of items unseen"),
    "low_agreement": (skilled(0.5), "right 50% of the time"),
    "drift": (tires(0.5), "blindly in the second half"),
    "straight_lining": (repeats_itself(0.5), "half of the answers as the one before"),
    "severity_bias": (lower(0.5), "one place lower half of the time (5 places)"),
}

SIZES = (20, 30, 40, 60, 80, 120, 200)


def _power(task: tuple[str, int, int]) -> tuple[bool, bool]:
    kind, answers, seed = task
    random = Random(seed)
    ordinal = kind == "severity_bias"
    voices = dict.fromkeys(range(20), honest)
    voices[10] = PLANTED[kind][0]
    crowd = make_crowd(
        random,
        voices,
        answers=answers,
        per_item=4,
        categories=5 if ordinal else 3,
        accuracy=0.8,
        together=(1, 10) if kind == "copying" else None,
        ordinal=ordinal,
        skips=0.0,
    )
    kinds = {f.kind for f in flagged(crowd) if 10 in (f.annotator, f.other) and not f.remark}
    return kind in kinds, bool(kinds)


def of_power(number: int, kinds: list[str]) -> None:
    """Share of crowds in which the one planted annotator is flagged, of the kind and at all."""
    print(f"\npower: 20 annotators, 4 answers an item, peers right 80%; {number} crowds each")
    print(f"  {'answers':<42}" + "".join(f"{n:>8}" for n in SIZES))
    for kind in kinds:
        told = PLANTED[kind][1]
        cells = []
        for answers in SIZES:
            tasks = [(kind, answers, 1000 * answers + s) for s in range(number)]
            with ProcessPoolExecutor(2) as pool:
                hits = [hit for hit, _ in pool.map(_power, tasks, chunksize=10)]
            cells.append(sum(hits) / number)
        print(f"  {kind:<18}{told:<24.24}" + "".join(f"{c:8.0%}" for c in cells), flush=True)


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["honest", "power", "all"])
    parser.add_argument("--crowds", type=int, default=1000)
    parser.add_argument("--kind", action="append", choices=[*PLANTED])
    given = parser.parse_args()
    if given.what in {"honest", "all"}:
        of_honest(given.crowds, _honest, "honest, of equal skill")
    if given.what in {"power", "all"}:
        of_power(max(given.crowds // 5, 20), given.kind or [*PLANTED])


if __name__ == "__main__":
    main()
