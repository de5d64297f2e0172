"""The alternative annotator test: whether a model may stand in for each of the people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np

from tracker.core.beside_columns import BesideColumns
from tracker.core.results import Hidden, Record
from tracker.core.tallies import FloatArray, IntArray
from tracker.measures.intervals import NO_OVERLAP, TOO_FEW_ITEMS
from tracker.measures.sample import pattern_table_of

LEAST_ITEMS: Final = 30
"""Items that the model, a person and one other person or more answered, at least."""
FALSE_DISCOVERIES: Final = 0.05
MOST_ITEMS: Final = 1_000_000
Alike = Callable[[IntArray, IntArray], FloatArray]
"""Returns for each two places of answers how much alike they are; more is more alike."""


@dataclass(frozen=True)
class PersonTested(Record):
    """The model against one person, as judged by the others.

    Attributes:
        person: the id.
        annotator: the name.
        items: compared, that the model, the person and one of the others or more answered.
        model_wins: the share on which the model is as near to the others as the person, or nearer.
        human_wins: the share on which the person is as near as the model, or nearer.
        epsilon: by how much the person may be nearer, for what a person costs more.
        p_value: of the hypothesis that the person is nearer by ``epsilon`` or more; None of fewer
            than 30 items.
        rejected: whether it is, as one of all people's; None if it was not tested.
        exact: whether p is exact, all differences being the same.
    """

    person: Annotated[int, Hidden]
    annotator: str
    items: int
    model_wins: float
    human_wins: float
    epsilon: float
    p_value: float | None
    rejected: bool | None
    exact: bool = False


@dataclass(frozen=True)
class AlternativeTest(Record):
    """The test of one model.

    Attributes:
        epsilon: that of all people; None if it differs.
        omega: the share of the people tested for whom the hypothesis is rejected.
        rho: the mean of their ``model_wins``.
        passed: whether omega is .5 or more; None if it is undefined.
        tested: how many people were.
        items_needed: items of a person until omega could reach .5, were all shares to stay as they
            are; None if it has, or if more people are nearer to the others than is allowed.
        humans: all who share items with the model, those tested first.
        undefined: why there is no omega.
    """

    epsilon: float | None
    omega: float | None
    rho: float | None
    passed: bool | None
    tested: int
    items_needed: int | None
    humans: Sequence[PersonTested]
    undefined: str | None = None


Advantages = Mapping[int, tuple[int, int, int]]
"""``{person: (items on which the model is nearer to the others, both are, the person is)}``."""


def alternative_test(
    advantages: Advantages,
    epsilons: Mapping[int, float],
    names: Mapping[int, str],
    *,
    least: int = LEAST_ITEMS,
) -> AlternativeTest:
    """Return the alternative annotator test of a model from its advantages and the people's.

    On each item that a person shares with the model and with other people, the model and the
    person are scored by how much alike their answers are to those of the others, on average. The
    person's advantage is whether theirs is as near or nearer, less whether the model's is: 1, 0
    or -1. The hypothesis that its mean is ``epsilon`` or more is tested for each person by a
    one-sided t test, or exactly if all advantages are the same, and rejected by the procedure of
    Benjamini and Yekutieli at 5 %.

    Args:
        advantages: see `count_advantages`.
        epsilons: of each person, by id.
        names: likewise.
        least: items of a person who is tested.

    Undefined: no_overlap if no item of the model has two people, too_few_items if nobody has
    ``least`` such items.

    Source:
        Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, ACL
        2025; Benjamini and Yekutieli (2001), Ann. Statist. 29, 1165-1188, theorem 1.3.
    """
    tested: list[PersonTested] = []
    few: list[PersonTested] = []
    for person, (nearer, ties, farther) in advantages.items():
        items = nearer + ties + farther
        epsilon = epsilons[person]
        shares = (nearer + ties) / items, (farther + ties) / items
        if items < least:
            few.append(PersonTested(person, names[person], items, *shares, epsilon, None, None))
            continue
        p, exact = _p_value(nearer, ties, farther, epsilon)
        tested.append(PersonTested(person, names[person], items, *shares, epsilon, p, None, exact))
    few.sort(key=lambda row: row.annotator)
    tested.sort(key=lambda row: row.annotator)
    distinct = {row.epsilon for row in [*tested, *few]} or set(epsilons.values())
    common = distinct.pop() if len(distinct) == 1 else None
    if not tested:
        why = TOO_FEW_ITEMS if few else NO_OVERLAP
        return AlternativeTest(common, None, None, None, 0, None, few, why)
    rejected = by_rejections([row.p_value or 0.0 for row in tested])
    humans = [
        replace(row, rejected=is_rejected)
        for row, is_rejected in zip(tested, rejected, strict=True)
    ]
    omega = sum(rejected) / len(humans)
    rho = math.fsum(row.model_wins for row in humans) / len(humans)
    needed = None if omega >= 0.5 else _items_needed(humans)
    return AlternativeTest(common, omega, rho, omega >= 0.5, len(humans), needed, [*humans, *few])


def count_advantages(beside: BesideColumns, alike: Alike) -> Advantages:
    """Return on how many items the model, neither or the person is nearer to the others' answers.

    ``beside`` has rows of one model. ``alike`` compares two places in its answers; minus the
    square of a difference orders answers as minus the root of its mean does.
    """
    rows = beside.where(beside.sizes[beside.pattern] > 1)
    people, place = np.unique(rows.person, return_inverse=True)
    counts = np.zeros((len(people), 3), dtype=np.int64)
    np.add.at(counts, (place, _advantages(rows, alike) + 1), rows.items)
    return {
        person: (nearer, ties, farther)
        for person, (nearer, ties, farther) in zip(people.tolist(), counts.tolist(), strict=True)
    }


def _advantages(rows: BesideColumns, alike: Alike) -> IntArray:
    """Return the person's advantage on each row's items: 1, 0 or -1."""
    shape = (len(rows.patterns), len(rows.answers), len(rows.answers))
    key = np.ravel_multi_index((rows.pattern, rows.given, rows.own), shape)
    distinct, place = np.unique(key, return_inverse=True)
    pattern, given, own = np.unravel_index(distinct, shape)
    kept, pattern = np.unique(pattern, return_inverse=True)
    table = pattern_table_of([(rows.patterns[n], 1) for n in kept.tolist()], rows.answers)
    others = table.take(pattern)
    case, answer, count = others.owner, others.answer, others.count
    # The others' answers: the person's own is taken out of the pattern once.
    near = [
        np.bincount(case, count * alike(by[case], answer), len(distinct)) - alike(by, own)
        for by in (own, given)
    ]
    apart = near[0] - near[1]
    apart[np.abs(apart) <= 1e-9 * np.maximum(1.0, np.abs(near[0]))] = 0.0
    return np.sign(apart).astype(np.int64)[place]


def _p_value(nearer: int, ties: int, farther: int, epsilon: float) -> tuple[float, bool]:
    """Return p of a mean advantage of ``epsilon`` or more, and whether it is exact.

    Args:
        nearer: items on which the model is nearer, whose advantage is -1.
        ties: on which both are as near.
        farther: on which the person is nearer, 1.
        epsilon: the least advantage under the hypothesis.

    If all advantages are the same, the t test has no denominator. Among distributions of a mean
    of ``epsilon`` or more the one that gives n such items most often gives them with probability
    ((1 - epsilon) / 2)^n if all are -1, (1 - epsilon)^n if all are 0, and 1 if all are 1.
    """
    from scipy.special import stdtr

    items = nearer + ties + farther
    if items in {nearer, ties, farther}:
        often = (1 - epsilon) / 2 if nearer else 1 - epsilon if ties else 1.0
        return float(min(often, 1.0) ** items), True
    mean = (farther - nearer) / items
    variance = (farther + nearer - items * mean**2) / (items - 1)
    return float(stdtr(items - 1, (mean - epsilon) / math.sqrt(variance / items))), False


def by_rejections(p_values: Sequence[float], level: float = FALSE_DISCOVERIES) -> list[bool]:
    """Return which hypotheses the procedure of Benjamini and Yekutieli (2001) rejects."""
    number = len(p_values)
    harmonic = math.fsum(1 / n for n in range(1, number + 1))
    ranked = sorted(p_values)
    below = [p for n, p in enumerate(ranked, 1) if p <= n * level / (number * harmonic)]
    return [bool(below) and p <= below[-1] for p in p_values]


def _items_needed(humans: Sequence[PersonTested]) -> int | None:
    """Return how many items a person needs for half of the people's p to be low enough."""
    number = len(humans)
    half = math.ceil(number / 2)
    harmonic = math.fsum(1 / n for n in range(1, number + 1))
    bound = half * FALSE_DISCOVERIES / (number * harmonic)
    needed = sorted(_items_of(row, bound) for row in humans)[half - 1]
    return None if needed >= MOST_ITEMS else needed


def _items_of(row: PersonTested, bound: float) -> int:
    """Return from how many items on a person's p would be ``bound`` at most, by bisection."""
    ties = row.model_wins + row.human_wins - 1
    if row.human_wins - row.model_wins >= row.epsilon:
        return MOST_ITEMS

    def is_low(items: int) -> bool:
        nearer, alike = round((row.model_wins - ties) * items), round(ties * items)
        return _p_value(nearer, alike, items - nearer - alike, row.epsilon)[0] <= bound

    low, high = 1, LEAST_ITEMS
    while high < MOST_ITEMS and not is_low(high):
        low, high = high, high * 2
    while high - low > 1 and high < MOST_ITEMS:
        middle = (low + high) // 2
        low, high = (low, middle) if is_low(middle) else (middle, high)
    return min(max(high, LEAST_ITEMS), MOST_ITEMS)
