"""A category that two parts of the annotators read in two ways.

Nobody is bad, then: half of the people read an ambiguous item as one category, half as another, or
begin a place of a scale earlier. A consensus of all answers settles on one of the two schools and
holds it against the other, so that findings about people only repeat what is about the definition.

A category is divided if at least a fifth of the annotators, and two or more, give it more often
than the others of their items do, and as many less often: each with p at most .05 and odds of 2.
People are then compared with their own side.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.findings import make_tests
from tracker.audit.joint_tallies import annotator_tallies_without
from tracker.audit.kind import MINIMUM_INFORMATIVE, Finding, Key, Kind, ProjectFinding, TestResult
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.audit.statistics.exact_tests import binomial
from tracker.audit.statistics.mantel_haenszel import Usage
from tracker.audit.statistics.pair_dependence import BoolArray
from tracker.core.audit_tallies import JointAnswers
from tracker.core.tallies import FloatArray, IntArray, Pattern, answers_in_pattern

KIND: Final = "divided_definition"
BLIND: Final = frozenset({"constant_category", "random_answers"})
"""Findings about people whose answers do not depend on the items: they have no reading."""
ITEMS_SHOWN: Final = 5
_SIDED: Final = (CATEGORY_BIAS, SEVERITY_BIAS, LOW_AGREEMENT)
"""Kinds by which people of one side stand out if everybody is the yardstick."""
_MOST_DIVIDED: Final = 2
_SHARE: Final = 0.2
_LEAST: Final = 2
_SURE: Final = 0.05
_ODDS: Final = 2.0
_ALIKE: Final = 0.2
_LEAST_PAIRS: Final = 125
_RARE: Final = 0.05


@dataclass(frozen=True)
class DividedDefinition(ProjectFinding):
    """A category, and the annotators of both sides by id.

    Attributes:
        more: who give it more often than the others of their items, the most telling first.
        p_value: how likely as many stand out by chance, on the side with fewer.
        items: names of items on which about half gave it.
        informative: items that both sides answered.
    """

    kind: ClassVar[str] = KIND
    category: int = field()
    more: tuple[int, ...]
    less: tuple[int, ...]
    p_value: float
    items: tuple[str, ...] = ()
    certain: bool = True
    informative: int = 0

    def values(self, names: Mapping[int, Any], categories: Mapping[int, str]) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "category": categories[self.category],
            "more": sorted(names[annotator] for annotator in self.more),
            "less": sorted(names[annotator] for annotator in self.less),
            "p_value": self.p_value,
            "evidence": list(self.items),
        }


def _candidates(usages: Sequence[Usage]) -> list[DividedDefinition]:
    """Return the categories that may be read in two ways, the clearest first.

    If an annotator gives a category more often, another one is given less often: of two
    categories whose sides are each other's the clearer one is told.
    """
    sides: defaultdict[int, tuple[dict[int, float], dict[int, float]]] = defaultdict(
        lambda: ({}, {})
    )
    annotators: defaultdict[int, int] = defaultdict(int)
    for usage in usages:
        if usage.informative < MINIMUM_INFORMATIVE:
            continue
        annotators[usage.category] += 1
        odds, p_value = usage.odds_ratio, 2 * min(usage.tails)
        if odds is None or p_value > _SURE:
            continue
        if odds >= _ODDS:
            sides[usage.category][0][usage.annotator] = p_value
        elif odds <= 1 / _ODDS:
            sides[usage.category][1][usage.annotator] = p_value
    candidates = []
    for category, (more, less) in sides.items():
        number, fewer = annotators[category], min(len(more), len(less))
        if fewer >= max(_LEAST, _SHARE * number):
            p_value = min(float(binomial(number, _SURE / 2)[fewer:].sum()), 1.0)
            telling = math.fsum(map(math.log, [*more.values(), *less.values()]))
            first, second = (tuple(sorted(side, key=side.__getitem__)) for side in (more, less))
            candidates.append((telling, DividedDefinition(category, first, second, p_value)))
    definitions: list[DividedDefinition] = []
    for _, definition in sorted(candidates, key=lambda pair: pair[0]):
        if not any(_mirrors(definition, other) for other in definitions):
            definitions.append(definition)
    return definitions[:_MOST_DIVIDED]


def _mirrors(definition: DividedDefinition, other: DividedDefinition) -> bool:
    """Return whether most of those who give one category more often give the other less often."""
    more, less = set(definition.more) & set(other.less), set(definition.less) & set(other.more)
    return 2 * len(more) >= len(definition.more) and 2 * len(less) >= len(definition.less)


def divide_findings(
    evidence: Evidence,
    findings: Sequence[Finding],
    consult: Callable[[Collection[TestResult]], JointAnswers],
    categories: Mapping[int, str],
) -> tuple[list[Finding], list[DividedDefinition]]:
    """Return the findings, and the categories that are read in two ways, without their items.

    A flag about somebody who does not stand out on their own side of a definition that surely is
    divided, nor agrees less if both sides read it alike, is "insufficient"; ``details.divided``
    is the category. ``consult`` returns the answers to the items of the annotators whom some
    findings are about. Those whose answers do not depend on the items are left out.
    """
    findings = [*findings]
    accused = [flag for flag in findings if flag.state == "flagged" and flag.other is None]
    blind = {flag.annotator for flag in accused if flag.kind in BLIND}
    joint, usages = None, evidence.usages
    if blind:
        joint = consult(accused)
        rest = Evidence(annotator_tallies_without(joint, blind))
        usages = [usage for usage in rest.usages if usage.annotator not in blind]
    candidates = _candidates(usages)
    if not candidates:
        return findings, []
    joint = joint or consult(accused)
    definitions = []
    for definition in candidates:
        sides = _everybody(definition.category, usages)
        reduced = joint.about(definition.category) if evidence.several else joint
        alike, informative = _sides_read_alike(reduced, definition.category, sides)
        if alike is None or alike:
            certain = alike is not None
            definitions.append(replace(definition, certain=certain, informative=informative))
        if alike:
            note = {"divided": categories[definition.category]}
            keys = _own_side_stands_for(findings, definition, sides, joint, evidence)
            findings = [
                replace(flag, state="insufficient", severity=None).with_details(note)
                if flag.key in keys
                else flag
                for flag in findings
            ]
    return findings, definitions


def _everybody(category: int, usages: Sequence[Usage]) -> tuple[set[int], set[int]]:
    """Return who gives a category more often than the others do, and who less often."""
    mine = [usage for usage in usages if usage.category == category]
    high = {usage.annotator for usage in mine if (usage.odds_ratio or 0.0) > 1}
    return high, {usage.annotator for usage in mine if usage.odds_ratio is not None} - high


def _sides_read_alike(
    joint: JointAnswers, category: int, sides: tuple[set[int], set[int]]
) -> tuple[bool | None, int]:
    """Return whether each side reads the category alike, and the items that both sides answered.

    It is None if too few pairs of answers can tell. People who answer carelessly lean to a
    category, too, but not on the same items: of items to which the other side gave the same
    answers, the correlation of two answers of one side is at most .2 or half of the other side's.
    In 32 simulated crowds it is .22 to .58 of schools, nominal or on a scale, and in 27 crowds -.05
    to .21 of crowds that lean carelessly, but for two of too few pairs. A side that hardly ever
    gives the category, or always does, reads it alike.
    """
    high, low = (np.isin(joint.annotators, sorted(side))[joint.annotator] for side in sides)
    first, pairs, items = _correlation(joint, category, high, low)
    second, other_pairs, _ = _correlation(joint, category, low, high)
    known = [one for one in (first, second) if one is not None]
    alike = bool(known) and min(known) >= max(_ALIKE, max(known) / 2)
    return None if alike and min(pairs, other_pairs) < _LEAST_PAIRS else alike, items


def _correlation(
    joint: JointAnswers, category: int, side: BoolArray, others: BoolArray
) -> tuple[float | None, float, int]:
    """Return the correlation of giving a category within a side, its pairs of answers, the items.

    It is that within strata: the items to which the others gave the same answers; None of a side
    that gives the category to less than `_RARE` of these items, or to all but as few.
    """
    places = len(joint.items)
    holds = np.array([category in answer for answer in joint.answers])[joint.answer]
    table = np.zeros((places, len(joint.answers)), dtype=np.int64)
    np.add.at(table, (joint.item[others], joint.answer[others]), 1)
    _, stratum = np.unique(table, axis=0, return_inverse=True)
    answers = np.bincount(joint.item[side], minlength=places)
    gave = np.bincount(joint.item[side & holds], minlength=places)
    compared = np.bincount(joint.item[others], minlength=places) > 0
    weight = joint.items * compared

    def total(values: FloatArray | IntArray) -> FloatArray:
        return np.bincount(stratum.ravel(), weight * values).astype(np.float64)

    pairs, both = total(answers * (answers - 1)), total(gave * (gave - 1))
    # Two answers to two items of a stratum are independent.
    apart = total(answers) ** 2 - total(answers**2)
    able = (apart > 0) & (pairs > 0)
    chance = (total(gave) ** 2 - total(gave**2))[able] / apart[able]
    most = (total(gave)[able] / total(answers)[able] - chance) @ pairs[able]
    excess = both[able].sum() - chance @ pairs[able]
    items = int(weight[answers > 0].sum())
    share = total(gave)[able].sum() / max(total(answers)[able].sum(), 1.0)
    rare = min(share, 1 - share) < _RARE
    correlation = float(excess / most) if most > 0 else 0.0
    return None if rare else correlation, float(pairs[able].sum()) / 2, items


def _own_side_stands_for(
    findings: Sequence[Finding],
    definition: DividedDefinition,
    sides: tuple[set[int], set[int]],
    joint: JointAnswers,
    evidence: Evidence,
) -> set[Key]:
    """Return the flags about people who stand out neither on their side nor if both read alike."""
    named = {kind.name for kind in _SIDED}
    flags = [
        flag
        for flag in findings
        if flag.state == "flagged" and flag.kind in named and flag.details.get("against") != "gold"
    ]
    merged = annotator_tallies_without(_merged(joint, definition.category), ())
    anywhere = _standing_out((LOW_AGREEMENT,), replace(evidence, tallies=merged, gold=None))
    keys: set[Key] = set()
    for everybody, core in zip(sides, (definition.more, definition.less), strict=True):
        tallies = annotator_tallies_without(joint, {*joint.annotators.tolist()} - {*core})
        stands = anywhere | _standing_out(_SIDED, replace(evidence, tallies=tallies, gold=None))
        keys |= {
            flag.key
            for flag in flags
            if flag.annotator in everybody and (*flag.key, flag.over) not in stands
        }
    return keys


def _merged(joint: JointAnswers, category: int) -> JointAnswers:
    """Return the answers with a category as the answer that its items were given most, too."""
    holds = np.array([answer == (category,) for answer in joint.answers])[joint.answer]
    others = np.isin(joint.item, joint.item[holds]) & ~holds
    most = np.bincount(joint.answer[others], joint.weight[others], 1).argmax()
    return replace(joint, answer=np.where(holds, most, joint.answer))


def _standing_out(kinds: Sequence[Kind], evidence: Evidence) -> set[tuple[object, ...]]:
    return {
        (*test.key, test.over)
        for test in make_tests(kinds, evidence).results
        if test.notable and test.p_value is not None and test.p_value <= _SURE
    }


def patterns_that_show(category: int, patterns: Collection[Pattern], most: int) -> list[Pattern]:
    """Return the patterns in which a category is given by about half, the most telling first."""

    def split(pattern: Pattern) -> float:
        held = sum(count for answer, count in pattern if category in answer)
        number = answers_in_pattern(pattern)
        return min(held, number - held) / number

    telling = [pattern for pattern in patterns if split(pattern) > 0]
    return sorted(telling, key=lambda pattern: (-split(pattern), -answers_in_pattern(pattern)))[
        :most
    ]
