"""How often the audit is wrong, and what it finds, over crowds of very different makes.

python audit_grid.py [--crowds 6000] [--seed 0] [--bad 0.6]

Each crowd is drawn from a grid: 3 to 40 annotators; 60 to 4,000 items of 2 to 5 answers; none to
40% of the annotators bad, in one of six ways or in several; skills that vary by up to 10 points
(one standard deviation); with or without items on which a quarter more answers are wrong, and
mostly wrong in the same way. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process for each core

import numpy as np
from crowd_arrays import BLOCKS, Answers

from tracker.audit.result import MOST_LOST

WAYS = ("constant", "random", "lenient", "careless", "worse", "copying")
PEOPLE = (3, 5, 8, 12, 20, 40)
ITEMS = {60: 0.2, 120: 0.2, 250: 0.2, 500: 0.15, 1000: 0.1, 2000: 0.1, 4000: 0.05}
HARD, MISSED, COMMON = 0.25, 0.25, 0.8  # share of hard items, fewer right, same wrong answer
FAR = 0.1  # who is right less often than the honest by this much is truly worse
MOST_WRONG, MOST_HONEST = 0.05, 0.02


@dataclass(frozen=True)
class Cell:
    """One point of the grid."""

    people: int
    items: int
    answers: int
    bad: float
    way: str
    sd: float
    hard: bool


@dataclass(frozen=True)
class Audited:
    """What was found in one crowd.

    Attributes:
        cell: the crowd's make.
        bad: bad annotators, and how many of them have a flag.
        honest: annotators who are neither bad nor truly worse, and how many have a flag.
        right: flags on the bad, and on the truly worse.
        wrong: kinds of the flags on others.
        doubted: whether the audit warns that the others are no reliable yardstick.
    """

    cell: Cell
    bad: tuple[int, int]
    honest: tuple[int, int]
    right: int
    wrong: tuple[str, ...]
    doubted: bool


def drawn(rng: np.random.Generator, bad: float | None) -> Cell:
    """A random point of the grid, with that share of bad annotators if it is given."""
    people = int(rng.choice(PEOPLE))
    return Cell(
        people,
        int(rng.choice([*ITEMS], p=[*ITEMS.values()])),
        min(int(rng.integers(2, 6)), people),
        float(rng.choice([0.0, 0.1, 0.2, 0.4] if bad is None else [bad])),
        str(rng.choice([*WAYS, "several"])),
        float(rng.choice([0.0, 0.05, 0.07, 0.1])),
        bool(rng.random() < 0.5),
    )


def audited(seed: int, bad: float | None = None) -> Audited:
    """One crowd, made and audited."""
    rng = np.random.default_rng(seed)
    cell = drawn(rng, bad)
    crowd, ways, source, right = made(rng, cell)
    honest = [who for who in range(cell.people) if who not in ways and not math.isnan(right[who])]
    level = np.mean([right[who] for who in honest])
    worse = {who for who in honest if right[who] <= level - FAR}
    same = {who: source.get(who, who) for who in range(cell.people)}  # copiers, and who is copied
    good, wrong, caught, accused = 0, [], set(), set()
    flags = crowd.audited()
    for flag in flags:
        if flag.state != "flagged" or flag.remark:
            continue
        who = {flag.annotator, flag.other} - {None}
        if flag.other is not None:
            correct = same[flag.annotator] == same[flag.other]
        else:
            correct = flag.annotator in ways or flag.annotator in worse
        if correct:
            good += 1
            caught |= who & ways.keys()
        else:
            wrong.append(flag.kind)
            accused |= who - ways.keys() - worse
    return Audited(
        cell,
        (len(ways), len(caught)),
        (len(honest) - len(worse), len(accused)),
        good,
        tuple(wrong),
        crowd.share_standing_out(flags) > MOST_LOST,
    )


def made(
    rng: np.random.Generator, cell: Cell
) -> tuple[Answers, dict[int, str], dict[int, int], np.ndarray]:
    """The answers; who is bad, and how; whom copiers copy; each one's share of right answers."""
    ordinal = cell.way == "lenient"
    k = int(rng.integers(3 if ordinal else 2, 6))
    shares = rng.dirichlet(np.full(k, 4.0))
    truth = rng.choice(k, cell.items, p=shares)
    level = rng.uniform(0.7, 0.9)
    skill = np.clip(level + cell.sd * rng.standard_normal(cell.people), 0.35, 0.98)
    order = rng.permutation(cell.people).tolist()
    number = max(1, round(cell.bad * cell.people)) if cell.bad else 0
    ways = {who: rng.choice(WAYS) if cell.way == "several" else cell.way for who in order[:number]}
    source = {who: int(rng.choice(order[number:])) for who, way in ways.items() if way == "copying"}
    seats = _seats(rng, cell, source)
    item, who = np.repeat(np.arange(cell.items), seats.shape[1]), seats.ravel()
    place = _places(rng, who, cell.people)
    hard = (rng.random(cell.items) < HARD) & cell.hard
    usual = (truth + rng.integers(1, k, cell.items)) % k  # the wrong answer to a hard item

    def honestly(skills: np.ndarray) -> np.ndarray:
        chance = np.maximum(skills - MISSED * hard[item], 0.5 / k)
        if ordinal:
            step = np.where(rng.random(len(item)) < 0.5, 1, -1)
            other = truth[item] + step
            other = np.where((other < 0) | (other >= k), truth[item] - step, other)
        else:
            other = (truth[item] + rng.integers(1, k, len(item))) % k
        other = np.where(hard[item] & (rng.random(len(item)) < COMMON), usual[item], other)
        return np.where(rng.random(len(item)) < chance, truth[item], other)

    own = honestly(skill[who])
    blind = rng.integers(0, k, len(item))
    half = rng.random(len(item)) < 0.5
    careless = honestly(np.full(len(item), min(0.5, level - 0.2)))
    for bad, way in ways.items():
        mine = who == bad
        lean = np.minimum(own + 1, k - 1) if ordinal else np.full(len(own), rng.integers(k))
        instead = {
            "constant": np.full(len(own), rng.choice(k, p=shares)),
            "random": blind,
            "lenient": np.where(half, lean, own),
            "careless": careless,
            "worse": np.where(place > 0.5, blind, own),
            "copying": own,
        }[way]
        own = np.where(mine, instead, own)
    for bad, model in source.items():
        given = np.full(cell.items, -1)
        given[item[who == model]] = own[who == model]
        own = np.where((who == bad) & (given[item] >= 0), given[item], own)
    block = np.minimum((place * BLOCKS).astype(np.int64), BLOCKS - 1)
    with np.errstate(invalid="ignore"):
        right = np.bincount(who, own == truth[item], cell.people) / np.bincount(
            who, minlength=cell.people
        )
    return Answers(item, who, own, block, k, ordinal), ways, source, right


def _seats(rng: np.random.Generator, cell: Cell, source: dict[int, int]) -> np.ndarray:
    """Who answers each item; copiers also most of the items of whom they copy."""
    seats = np.argsort(rng.random((cell.items, cell.people)), axis=1)[:, : cell.answers]
    if cell.answers < cell.people:
        for who, model in source.items():
            there = (seats == model).any(1) & ~(seats == who).any(1)
            for item in np.flatnonzero(there & (rng.random(cell.items) < 0.6)).tolist():
                seats[item, rng.choice(np.flatnonzero(seats[item] != model))] = who
    return seats


def _places(rng: np.random.Generator, who: np.ndarray, people: int) -> np.ndarray:
    """When each answer was given, as a part of the annotator's own; from 0 to 1."""
    order = np.lexsort((rng.random(len(who)), who))
    number = np.bincount(who, minlength=people)
    first = np.cumsum(number) - number
    place = np.empty(len(who))
    place[order] = (np.arange(len(who)) - first[who[order]]) / number[who[order]]
    return place


# -- the table -----------------------------------------------------------------------------


def rows(crowds: Sequence[Audited]) -> Iterator[tuple[str, list[Audited]]]:
    """The crowds of every level of every factor, and of every two levels of some factors."""
    yield "all", [*crowds]
    alone = ("answers", "bad", "way", "people", "items", "sd", "hard")
    both = (("answers", "bad"), ("people", "bad"), ("way", "bad"), ("way", "people"))
    for factors in [*((one,) for one in alone), *both]:
        levels = [sorted({getattr(one.cell, f) for one in crowds}) for f in factors]
        for values in product(*levels):
            title = ", ".join(_title(f, v) for f, v in zip(factors, values, strict=True))
            wanted = [*zip(factors, values, strict=True)]
            yield title, [c for c in crowds if all(getattr(c.cell, f) == v for f, v in wanted)]


def _title(factor: str, value: object) -> str:
    return {
        "answers": f"{value} answers an item",
        "bad": f"{100 * value:.0f}% bad" if isinstance(value, float) else "",
        "way": f"{value}",
        "people": f"{value} annotators",
        "items": f"{value:,} items" if isinstance(value, int) else "",
        "sd": f"skills sd {value}",
        "hard": "some hard items" if value else "no hard items",
    }[factor]


def missed(crowds: Sequence[Audited], level: float) -> bool:
    """Whether a target is missed by more than chance, which is as rare as ``level``.

    Where some are bad, the share of flags that are on honest annotators; where nobody is, the
    share of annotators that are flagged.
    """
    from scipy.special import betainc

    if any(one.cell.bad for one in crowds):
        count = sum(len(one.wrong) for one in crowds)
        of, limit = count + sum(one.right for one in crowds), MOST_WRONG
    else:
        of, count = (sum(one.honest[n] for one in crowds) for n in (0, 1))
        limit = MOST_HONEST
    return bool(count and betainc(count, of - count + 1, limit) < level)


def line(title: str, crowds: Sequence[Audited], level: float) -> str:
    """One row of the table."""
    wrong, right = sum(len(one.wrong) for one in crowds), sum(one.right for one in crowds)
    honest, accused = (sum(one.honest[n] for one in crowds) for n in (0, 1))
    bad, found = (sum(one.bad[n] for one in crowds) for n in (0, 1))
    cells = (
        f"{len(crowds):,}",
        f"{wrong + right:,}",
        f"{wrong / (wrong + right):.1%}" if wrong + right else "-",
        f"{accused / honest:.2%}" if honest else "-",
        f"{found / bad:.0%}" if bad else "-",
        f"{sum(one.doubted for one in crowds) / len(crowds):.0%}" if crowds else "-",
    )
    return f"| {title} | {' | '.join(cells)} |{'  missed' if missed(crowds, level) else ''}"


def main() -> int:
    """Print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--crowds", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bad", type=float, help="share of bad annotators, in all crowds")
    given = parser.parse_args()
    crowds = []
    with ProcessPoolExecutor(2) as pool:
        seeds = range(given.seed, given.seed + given.crowds)
        for done, one in enumerate(
            pool.map(partial(audited, bad=given.bad), seeds, chunksize=8), start=1
        ):
            crowds.append(one)
            if sys.stderr.isatty():
                print(f"\r{done} of {given.crowds}", end="", file=sys.stderr)
    columns = "flags | on honest ones | honest ones flagged | bad ones found | doubted"
    print(f"| crowds of | crowds | {columns} |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    table = [*rows(crowds)]
    level = 0.05 / len(table)  # so that chance alone marks a row in one table of twenty
    for title, some in table:
        print(line(title, some, level))
    return int(any(missed(some, level) for _, some in table))


if __name__ == "__main__":
    raise SystemExit(main())
