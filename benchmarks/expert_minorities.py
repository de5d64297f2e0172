"""What the audit says of a few experts where most err alike, and of careless people and copiers.

python expert_minorities.py [--crowds 100] [--seed 0]

Ordinary people are right on nine of ten easy items and one of five hard ones; there, most of their
wrong answers are the same. The odd ones are right on 95% of all items (experts) or on less
(careless), or copy an ordinary annotator, or each other, on a share of the items that both answer.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process for each core

import numpy as np
from crowd_arrays import Answers


@dataclass(frozen=True)
class Design:
    """A make of crowds.

    Attributes:
        name: as in the table.
        people: how many annotators.
        odd: how many of them are odd.
        items: how many.
        answers: to each item.
        categories: how many.
        right: how often the odd ones are right; None for ordinary people who are copied.
        copied: share of the answers of the first odd one that the others copy.
        hard: share of hard items, on which ordinary people are right on ``missed``.
        missed: as before.
        common: share of the wrong answers to a hard item that are the same.
        known: share of the items with a known truth.
    """

    name: str
    people: int
    odd: int
    items: int
    answers: int = 4
    categories: int = 3
    right: float | None = 0.95
    copied: float = 0.0
    hard: float = 0.3
    missed: float = 0.2
    common: float = 1.0
    known: float = 0.0


DESIGNS = (
    Design("experts: 2 of 5", 5, 2, 300),
    Design("experts: 2 of 8", 8, 2, 500),
    Design("experts: 2 of 8, two categories, 40% hard", 8, 2, 500, categories=2, hard=0.4),
    Design("experts: 2 of 8, two categories, 20% hard", 8, 2, 500, categories=2, hard=0.2),
    Design("experts: 2 of 8, 60% of the errors alike", 8, 2, 500, common=0.6),
    Design("experts: 2 of 8, 3 answers", 8, 2, 500, 3),
    Design("experts: 2 of 8, all answer 200 items", 8, 2, 200, 8),
    Design("experts: 3 of 30", 30, 3, 1500),
    Design("experts: 3 of 30, two categories", 30, 3, 1500, categories=2),
    Design("experts: 4 of 50, 6 answers", 50, 4, 2000, 6),
    Design("expert: 1 of 8, alone", 8, 1, 500, categories=2, hard=0.4),
    Design("expert: 1 of 8, truth of a fifth known", 8, 1, 500, categories=2, hard=0.4, known=0.2),
    Design("careless (50%): 2 of 8", 8, 2, 500, right=0.5, hard=0.2, missed=0.6),
    Design("careless (60%): 8 of 20", 20, 8, 1000, right=0.6, hard=0.2, missed=0.6),
    Design("copies all: 2 of 8", 8, 2, 500, right=None, copied=1.0, hard=0.2, missed=0.6),
    Design("copies 90%: 2 of 8", 8, 2, 500, right=None, copied=0.9, hard=0.2, missed=0.6),
    Design("copies 80%: 2 of 8", 8, 2, 500, right=None, copied=0.8, hard=0.2, missed=0.6),
    Design(
        "copies all of careless: 2 of 8", 8, 2, 500, right=0.6, copied=1.0, hard=0.2, missed=0.6
    ),
    Design(
        "copies 90% of careless: 2 of 8", 8, 2, 500, right=0.6, copied=0.9, hard=0.2, missed=0.6
    ),
)


def made(rng: np.random.Generator, design: Design) -> Answers:
    """Return the answers of a crowd; the odd ones have the lowest numbers."""
    seats = np.argsort(rng.random((design.items, design.people)), axis=1)[:, : design.answers]
    item, who = np.repeat(np.arange(design.items), design.answers), seats.ravel()
    truth = rng.integers(0, design.categories, design.items)
    hard = (rng.random(design.items) < design.hard)[item]
    usual = (truth + rng.integers(1, design.categories, design.items)) % design.categories
    is_odd = who < design.odd
    right, common = np.where(hard, design.missed, 0.9), hard
    if design.right is not None:
        right, common = np.where(is_odd, design.right, right), hard & ~is_odd
    other = (truth[item] + rng.integers(1, design.categories, len(item))) % design.categories
    other = np.where(common & (rng.random(len(item)) < design.common), usual[item], other)
    own = np.where(rng.random(len(item)) < right, truth[item], other)
    model = np.full(design.items, -1)
    model[item[who == 0]] = own[who == 0]
    copied = is_odd & (model[item] >= 0) & (rng.random(len(item)) < design.copied)
    own = np.where(copied, model[item], own)
    known = np.where(rng.random(design.items) < design.known, truth, -1)
    return Answers(item, who, own, None, design.categories, truth=known if design.known else None)


def audited(design: Design, seed: int) -> tuple[int, int, int]:
    """Return how many odd ones and others are flagged, and the odd ones who may be experts."""
    flags = made(np.random.default_rng(seed), design).audited()
    accused, told = (
        {who for flag in some for who in (flag.annotator, flag.other) if who is not None}
        for some in (
            [flag for flag in flags if flag.state == "flagged"],
            [flag for flag in flags if {"minority", "known_right"} & flag.details.keys()],
        )
    )
    odd = set(range(design.odd))
    return len(accused & odd), len(accused - odd), len(told & odd - accused)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--crowds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first crowd")
    given = parser.parse_args()
    crowds, seeds = given.crowds, range(given.seed, given.seed + given.crowds)
    print("| crowds | odd ones flagged | may be experts | all others flagged |")
    print("|---|---:|---:|---:|")
    with ProcessPoolExecutor(2) as pool:
        for design in DESIGNS:
            found = [*pool.map(partial(audited, design), seeds, chunksize=10)]
            odd, others, told = (sum(column) for column in zip(*found, strict=True))
            of = design.odd * crowds
            rest = (design.people - design.odd) * crowds
            row = f"{odd / of:.1%} | {told / of:.1%} | {others / rest:.2%}"
            print(f"| {design.name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
