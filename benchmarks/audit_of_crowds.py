"""What the audit says of simulated crowds: of honest ones, of bad ones, and how surely.

python audit_of_crowds.py honest|bad|power|all [--crowds 1000]
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

from tracker.audit import KINDS, Flag, audit

KIND_NAMES = [kind.name for kind in KINDS]


def flagged(crowd: Crowd) -> list[Flag]:
    """The findings that stand up."""
    return [f for f in audit(crowd.regather(), crowd.regather) if f.state == "flagged"]


def honest_crowd(seed: int, unequal: float = 0.0) -> Crowd:
    """5 to 50 annotators of 20 to 200 answers; items unequal, and each one's mix of them too."""
    random = Random(seed)
    number = random.randint(5, 50)
    categories = random.randint(2, 5)
    voices = dict.fromkeys(range(number), honest)
    accuracy = random.uniform(0.65, 0.85)
    if unequal:
        voices = {w: skilled(min(0.98, max(0.4, random.gauss(accuracy, unequal)))) for w in voices}
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
        ordinal=not unequal and random.random() < 0.3,
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


def _unequal(seed: int) -> tuple[set[str], bool]:
    crowd = honest_crowd(seed, 0.07)
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


def bad_crowd(seed: int) -> tuple[Crowd, dict[int, str]]:
    """20 annotators of 40 to 150 answers; one to five of them bad, in different ways."""
    random = Random(seed)
    ways = {
        "constant": lambda: always(random.randrange(3)),
        "random": lambda: blindly,
        "leaning": lambda: leans(random.randrange(3), 0.5),
        "tires": lambda: tires(0.5),
        "repeats": lambda: repeats_itself(0.6),
        "careless": lambda: skilled(0.5),
    }
    number = random.randint(1, 5)
    planted = {20 - n - 1: random.choice([*ways]) for n in range(number)}
    voices = dict.fromkeys(range(20), honest) | {w: ways[way]() for w, way in planted.items()}
    together = None
    if random.random() < 0.5:
        voices[10], planted[10], together = copies(1), "copier", (1, 10)
    crowd = make_crowd(
        random,
        voices,
        answers=random.randint(40, 150),
        per_item=random.randint(3, 5),
        categories=3,
        accuracy=0.8,
        spread=0.1,
        mixed=True,
        together=together,
    )
    return crowd, planted


def _bad(seed: int) -> tuple[Counter[str], Counter[str], Counter[tuple[str, bool]]]:
    crowd, planted = bad_crowd(seed)
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    caught = set()
    for flag in flagged(crowd):
        who = {flag.annotator, flag.other} - {None}
        if who & planted.keys():
            right[flag.kind] += 1
            caught |= who
        else:
            wrong[flag.kind] += 1
    found = Counter((way, who in caught) for who, way in planted.items())
    return right, wrong, found


def of_bad(number: int) -> None:
    """Share of flags that are on honest annotators, and of bad annotators that are flagged."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    found: Counter[tuple[str, bool]] = Counter()
    for a, b, c in in_parallel(_bad, range(10_000, 10_000 + number)):
        right, wrong, found = right + a, wrong + b, found + c
    total = right.total() + wrong.total()
    print(f"\ncrowds with bad annotators: {number} crowds, {total} flags")
    print(f"  on honest annotators: {wrong.total() / max(total, 1):.1%}  {dict(wrong)}")
    for way in sorted({way for way, _ in found}):
        share = found[way, True] / (found[way, True] + found[way, False])
        print(f"  {way:<12} flagged {share:6.1%} of {found[way, True] + found[way, False]}")


PLANTED: dict[str, tuple[Callable, str]] = {
    "constant_category": (always(1), "always one category"),
    "random_answers": (blindly, "answers blindly"),
    "copying": (copies(1), "copies another"),
    "category_bias": (leans(1, 0.4), "one category to 40 % of items unseen"),
    "low_agreement": (skilled(0.5), "right 50 % of the time"),
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
    kinds = {f.kind for f in flagged(crowd) if 10 in (f.annotator, f.other)}
    return kind in kinds, bool(kinds)


def of_power(number: int, kinds: list[str]) -> None:
    """Share of crowds in which the one planted annotator is flagged, of the kind and at all."""
    print(f"\npower: 20 annotators, 4 answers an item, peers right 80 %; {number} crowds each")
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
    parser.add_argument("what", choices=["honest", "unequal", "bad", "power", "all"])
    parser.add_argument("--crowds", type=int, default=1000)
    parser.add_argument("--kind", action="append", choices=[*PLANTED])
    given = parser.parse_args()
    if given.what in {"honest", "all"}:
        of_honest(given.crowds, _honest, "honest, of equal skill")
    if given.what in {"unequal", "all"}:
        of_honest(given.crowds, _unequal, "honest, skills unequal by .07 (standard deviation)")
    if given.what in {"bad", "all"}:
        of_bad(given.crowds)
    if given.what in {"power", "all"}:
        of_power(max(given.crowds // 5, 20), given.kind or [*PLANTED])


if __name__ == "__main__":
    main()
