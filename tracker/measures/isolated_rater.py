"""One rater, such as a model, beside a group of people: each coefficient, and that of the group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from tracker.core.tallies import Answer, Pattern
from tracker.measures.chance_corrected import CHANCES
from tracker.measures.estimate import Estimate, single_category_estimate, undefined_estimate
from tracker.measures.intervals import (
    NO_OVERLAP,
    NO_SPREAD,
    Parts,
    degrees_of_freedom,
    interval_without_spread,
)
from tracker.measures.krippendorff import cross_replication_reliability
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Floats, Integers, Sample, Table, pattern_table_of

Given: TypeAlias = Mapping[tuple[Answer, Pattern], int]
"""Items by the rater's answer and the pattern of the group's answers, which is not empty."""
Rows: TypeAlias = Sequence[tuple[tuple[Answer, Pattern], int]]
"""The same as rows, each of which has an influence of its own; two may be alike."""
Read: TypeAlias = Callable[[Table], Sample]
"""Returns answers under the question's reading."""

_CHANCE: Final = {
    "fleiss_kappa": "fleiss", "gwet_ac1": "gwet", "gwet_ac2": "gwet", "brennan_prediger": "uniform",
}  # fmt: skip
ALPHA: Final = "krippendorff_alpha"
RATER_MEASURES: Final = ("percent_agreement", ALPHA, *_CHANCE)
"""The measures of a rater beside a group, by their names in the registry."""


@dataclass(frozen=True, eq=False)
class Beside:
    """The answers of a rater and a group to the same items, under one reading.

    Attributes:
        rater: the rater's answers, an item of one answer in each row.
        group: the group's answers, row for row the same items.
        pooled: both together.
    """

    rater: Table
    group: Sample
    pooled: Sample


def rater_and_group(rows: Rows, answers: Sequence[Answer] = ()) -> tuple[Table, Table]:
    """Return the answers of a rater and of a group; ``answers`` get the first codes."""
    rater = pattern_table_of([(((own, 1),), items) for (own, _), items in rows], answers)
    return rater, pattern_table_of([(pattern, items) for (_, pattern), items in rows], answers)


def rater_beside_group(rater: Table, group: Table, read: Read, people: int) -> Beside:
    """Return the items on which a rater can be compared with a group as the group with itself.

    These are the items that two of the ``people`` or more answered; if there is none, all.
    """
    compared = np.flatnonzero(group.sizes > 1)
    if 0 < len(compared) < len(group.sizes):
        rater, group = rater.take(compared), group.take(compared)
    pooled = read(group + rater)
    rater, group = (table.recoded(pooled.table.answers) for table in (rater, group))
    return Beside(rater, replace(pooled, table=group, annotators=people), pooled)


def constant_rater(beside: Beside, read: Read) -> Beside:
    """Return one who gives the group's most frequent answer to all of the items."""
    group, place = beside.group, int(beside.group.shares.argmax())
    rater = replace(beside.rater, answer=np.full_like(beside.rater.answer, place))
    return rater_beside_group(rater, group.table, read, group.annotators)


def rater_coefficient(measure: str, beside: Beside) -> Estimate:
    """Return how far a rater agrees with a group, by one of `RATER_MEASURES`.

    The agreement observed on an item is the mean weight of the rater's answer and each of the
    group's, so that a member of the group stands beside the others in the same way. Expected is
    what the coefficient expects of two raters: of the group's shares and the rater's own, the
    mean for Fleiss' kappa and AC1, 1 / q for Brennan and Prediger. Alpha is the cross-replication
    reliability of the rater and the group.

    Undefined: no_overlap without an item; single_category, not_applicable as the measure is.

    Source:
        Vanbelle and Albert (2009), Agreement between an isolated rater and a group of raters,
        Statistica Neerlandica 63, 82-100, equation 3; Wong, Paritosh and Aroyo (2021),
        ACL-IJCNLP 2021, for alpha. The error linearizes the value over the items.
    """
    group, items = beside.group, beside.group.table.items
    if not len(items):
        return undefined_estimate(measure, NO_OVERLAP, reading=group.reading)
    if measure == ALPHA:
        of_pairs = cross_replication_reliability(beside.rater, group.table, beside.pooled)
        return replace(of_pairs, measure=ALPHA)
    agreement = _agreement(beside)
    number = int(items.sum())
    observed = float(items @ agreement) / number
    apart = (agreement - observed) / number
    common = {"counts": items, "items": number, "compared": number, "reading": group.reading}
    if measure == "percent_agreement":
        return Estimate(measure, observed, None, Parts(observed), apart, of_pairs=True, **common)  # type: ignore[arg-type]
    chance = CHANCES[_CHANCE[measure]]
    shares = (rater_shares(beside) + group.shares) / 2
    expected = float(chance.expected(group, shares))
    if 1 - expected < 1e-15:
        return single_category_estimate(measure, number, reading=group.reading)
    value = (observed - expected) / (1 - expected)
    slope = chance.slope(group, shares)
    held = group.table.over_patterns(group.entry_shares * slope[group.table.answer])
    by_chance = ((held + slope[beside.rater.answer]) / 2 - slope @ shares) / number
    influence = (apart - (1 - value) * by_chance) / (1 - expected)
    return Estimate(measure, value, None, Parts(observed, expected), influence, **common)  # type: ignore[arg-type]


def _agreement(beside: Beside) -> Floats:
    """Return the mean weight of the rater's answer and the group's to an item of each row, (P,)."""
    table = beside.group.table
    weight = beside.group.weighting.between(beside.rater.answer[table.owner], table.answer)
    return table.over_patterns(table.count * weight) / table.sizes


def rater_shares(beside: Beside) -> Floats:
    """Return the share of items to which the rater gave each answer, (A,)."""
    return beside.rater.over_answers(beside.rater.items) / max(int(beside.rater.items.sum()), 1)


def group_coefficient(measure: str, beside: Beside) -> Estimate:
    """Return the coefficient of the group's answers to the same items, row for row."""
    function = MEASURES[measure].function
    assert function is not None
    return function(beside.group)


def random_coefficient(measure: str, beside: Beside) -> float | None:
    """Return what a rater would reach that drew answers at the rater's own rates; None if none."""
    group, own = beside.group, rater_shares(beside)
    if measure == ALPHA:
        return 0.0 if group.items else None
    observed = float(own @ group.weighting.against(group.shares))
    if measure == "percent_agreement":
        return observed
    chance = CHANCES[_CHANCE[measure]]
    expected = float(chance.expected(group, (own + group.shares) / 2))
    return (observed - expected) / (1 - expected) if 1 - expected > 1e-15 else None


@dataclass(frozen=True)
class Gap:
    """How far one coefficient is above or below another one of the same items.

    Attributes:
        value: the rater's less the group's, or less another rater's.
        standard_error: over these items, on which both rest.
        items: their number.
        low: lower bound.
        high: the upper one.
        p_value: of no difference over items, by Student's t; None without any spread.
    """

    value: float
    standard_error: float
    items: int
    low: float
    high: float
    p_value: float | None


def gap_between(
    rater: Estimate, group: Estimate, confidence: float, people: Sequence[float] = ()
) -> Gap | None:
    """Return the difference of two coefficients of the same items; None if one has no error.

    The bounds are Student's t, of as many degrees of freedom as the items have that carry the
    difference, and reach at least as far as what no item of a sample of this size may have shown:
    see `degrees_of_freedom`, `interval_without_spread`. The reach over people (``people`` are
    their `jackknife_pulls`), t of as many less one, adds to that over items as the root of the sum
    of squares (Zou and Donner 2008, Stat. Med. 27, 1693).
    """
    if rater.value is None or group.value is None or rater.compared < 2 or group.compared < 2:
        return None
    assert rater.influence is not None
    assert group.influence is not None
    assert rater.counts is not None
    from scipy.special import stdtr, stdtrit

    number = int(rater.counts.sum())
    change = rater.influence - group.influence
    error = math.sqrt(float(rater.counts @ change**2) * number / (number - 1))
    freedom = number - 1.0
    if error > NO_SPREAD:
        sums = (number, rater.counts @ change**2, rater.counts @ change**4)
        freedom = float(degrees_of_freedom(*(np.array([float(each)]) for each in sums))[0])
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    alike, _ = interval_without_spread(1.0, number, confidence)
    reach = max(reach, 1 - alike)
    if people:
        t = float(stdtrit(len(people) - 1, (1 + confidence) / 2))
        reach = math.hypot(reach, t * math.hypot(*people))
    value = rater.value - group.value
    p = 2 * float(stdtr(freedom, -abs(value) / error)) if error > NO_SPREAD else None
    return Gap(value, error, number, value - reach, value + reach, p)


def agreement_with_majority(beside: Beside) -> tuple[Estimate, Estimate]:
    """Return how often the rater, and a member of the group, gave what most of the others did.

    For each member of the group the others' untied majority stands as the truth, for the rater
    and for that member alike; an item is one observation, whatever the size of its group.

    Undefined: no_overlap if the others of no item have one answer that most gave.
    """
    table = beside.group.table
    rows = [*map(_with_majority, beside.rater.answer.tolist(), table.entries())]
    rater, member, possible = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return tuple(  # type: ignore[return-value]
        _ratio(right, possible, table.items, beside.group.reading) for right in (rater, member)
    )


def _with_majority(rated: int, pattern: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """Return three shares of an item's members: the rater is right, they are right, it is known.

    Right is what the untied majority of the others gave.
    """
    size = sum(count for _, count in pattern)
    rater = member = possible = 0
    for answer, count in pattern if size > 1 else ():
        others = [(n - (other == answer), other) for other, n in pattern]
        (most, first), *rest = sorted(others, reverse=True)
        if most and (not rest or rest[0][0] < most):
            possible += count
            rater += count * (rated == first)
            member += count * (answer == first)
    return rater / size, member / size, possible / size


def _ratio(right: Floats, possible: Floats, items: Integers, reading: dict[str, str]) -> Estimate:
    """Return a ratio of means over items with its linearized influence (Cochran 1977, ch. 6)."""
    total = float(items @ possible)
    name = "percent_agreement"
    if not total:
        return undefined_estimate(name, NO_OVERLAP, reading=reading)
    value = float(items @ right) / total
    influence = np.where(possible > 0, (right - value * possible) / total, 0.0)
    compared = int(items[possible > 0].sum())
    counts = np.where(possible > 0, items, 0)
    return Estimate(
        name, value, None, Parts(value), influence, counts,
        of_pairs=True, items=compared, compared=compared, reading=reading,
    )  # fmt: skip
