"""Whether one relabeling explains an annotator's answers.

Two categories swapped, a scale reversed or off by one: such answers are not bad, they were only
read wrongly. The relabeling is the assignment of given to meant categories with which most of the
others' answers agree (Kuhn 1955, by `scipy.optimize.linear_sum_assignment`), found on one half of
the items and held against the other half.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding
from tracker.core.tallies import Answer, FloatArray, answers_in_pattern, pattern_without

_LEAST_ITEMS: Final = 20
_SURE: Final = 4.0
"""Standard errors that the agreement gains by it, at least, on items that it was not found on."""
_LEAST_GAIN: Final = 0.1
_LEAST_PART: Final = 2 / 3
"""Part of what the agreement lacks, that it gains at least."""
_OF_TRUTHS: Final = "low_gold_accuracy"
_ASKED: Final = frozenset({"low_agreement", "random_answers", _OF_TRUTHS})

Relabeled: TypeAlias = Mapping[int, int]
"""``{given: meant}``, category ids, of categories that are not meant as they are given."""


class _Row(NamedTuple):
    """An own answer, the share of each answer that it is held against, and the items."""

    own: Answer
    held: Mapping[Answer, float]
    items: int


@dataclass(frozen=True)
class Relabeling:
    """What an annotator's categories seem to mean.

    Attributes:
        meant: by the category given.
        before: how often the answers agree with the others', or with the truth.
        after: the same with the answers relabeled, on the half of the items that did not find it.
    """

    meant: Relabeled
    before: float
    after: float

    def to_dict(self, names: Mapping[int, str]) -> dict[str, object]:
        """Return it as details of a finding have it."""
        return {
            "relabeling": {names[given]: names[meant] for given, meant in self.meant.items()},
            "agreement_before": self.before,
            "agreement_after": self.after,
        }


def relabeling_details(
    flag: Finding, evidence: Evidence, names: Mapping[int, str]
) -> dict[str, object]:
    """Return what the details of a finding say of a relabeling; nothing of another kind's.

    ``relabeling`` is null if none explains the answers, or the finding is clear.
    """
    if flag.kind not in _ASKED:
        return {}
    relabeling = None
    if flag.state != "clear":
        rows = _of_truths if flag.kind == _OF_TRUTHS else _of_others
        relabeling = find_relabeling(
            list(rows(flag.annotator, evidence)), _reachable(flag, evidence)
        )
    return {"relabeling": None} if relabeling is None else relabeling.to_dict(names)


def _reachable(flag: Finding, evidence: Evidence) -> float:
    """Return how often the others agree with each other, or the truth; 1 if that is unknown."""
    if flag.kind == _OF_TRUTHS:
        return flag.peers or 1.0
    alignment = evidence.alignments.get(flag.annotator)
    return (alignment.peers if alignment else None) or 1.0


def _of_others(annotator: int, evidence: Evidence) -> Iterable[_Row]:
    for (own, pattern), items in evidence.tallies.counts.get(annotator, {}).items():
        number = answers_in_pattern(pattern) - 1
        if number:
            others = pattern_without(pattern, own)
            yield _Row(own, {answer: count / number for answer, count in others}, items)


def _of_truths(annotator: int, evidence: Evidence) -> Iterable[_Row]:
    for (truth, own, _), items in (evidence.gold or {}).get(annotator, {}).items():
        yield _Row(own, {truth: 1.0}, items)


def find_relabeling(rows: list[_Row], reachable: float) -> Relabeling | None:
    """Return the relabeling that explains the answers; None if there is none.

    ``reachable`` is how often an annotator of the same items can be expected to agree.
    """
    if sum(row.items for row in rows) < _LEAST_ITEMS:
        return None
    halves = _halves(rows)
    meant = _assignment(halves[0])
    meant = {given: to for given, to in meant.items() if given != to}
    if not meant:
        return None
    gain, error, before, after = _gain(halves[1], meant)
    enough = max(_LEAST_GAIN, _LEAST_PART * (reachable - before))
    if gain < enough or gain < _SURE * error:
        return None
    return Relabeling(dict(sorted(meant.items())), before, after)


def _halves(rows: list[_Row]) -> tuple[list[_Row], list[_Row]]:
    """Return the items in two halves, drawn at random and each time the same."""
    draw = np.random.default_rng(20)
    first = draw.binomial([row.items for row in rows], 0.5).tolist()
    half = [row._replace(items=items) for row, items in zip(rows, first, strict=True)]
    rest = [row._replace(items=row.items - items) for row, items in zip(rows, first, strict=True)]
    return half, rest


def _assignment(rows: Iterable[_Row]) -> Relabeled:
    """Return the categories that were given, each with the one that it stands for.

    Each cycle of the best assignment is kept only if the answers agree more often with it.
    """
    from scipy.optimize import linear_sum_assignment

    met: defaultdict[tuple[int, int], float] = defaultdict(float)
    for row in rows:
        for answer, share in row.held.items():
            for pair in product(row.own, answer):
                met[pair] += share * row.items
    categories = sorted({category for pair in met for category in pair})
    places = {category: place for place, category in enumerate(categories)}
    table: FloatArray = np.zeros((len(places), len(places)))
    for (given, meant), number in met.items():
        table[places[given], places[meant]] = number
    # What is as good as it is stays as it is.
    _, columns = linear_sum_assignment(table + 1e-6 * np.eye(len(places)), maximize=True)
    kept: dict[int, int] = {}
    for cycle in _cycles(columns.tolist()):
        gain = sum(table[place, columns[place]] - table[place, place] for place in cycle)
        if gain > 2 * math.sqrt(sum(table[place].sum() for place in cycle)):
            kept |= {categories[place]: categories[columns[place]] for place in cycle}
    used = {category for category, _ in met}
    return {given: meant for given, meant in kept.items() if given in used}


def _cycles(columns: list[int]) -> Iterable[list[int]]:
    """Yield the cycles of a permutation of more than one place."""
    left = set(range(len(columns)))
    while left:
        cycle = [left.pop()]
        while (after := columns[cycle[-1]]) in left:
            left.remove(after)
            cycle.append(after)
        if len(cycle) > 1:
            yield cycle


def _gain(rows: Iterable[_Row], meant: Relabeled) -> tuple[float, float, float, float]:
    """Return what agreement gains by relabeling, its standard error, and both agreements."""
    pairs = [
        (row.held.get(row.own, 0.0), row.held.get(relabeled, 0.0), row.items)
        for row in rows
        for relabeled in [tuple(sorted({meant.get(category, category) for category in row.own}))]
    ]
    was, becomes, items = np.array(pairs).T
    number = items.sum()
    gains = becomes - was
    gain = float(items @ gains / number)
    error = math.sqrt(float(items @ (gains - gain) ** 2)) / number
    return gain, error, float(items @ was / number), float(items @ becomes / number)
