"""Slices of the items on which the annotators agree less than on the rest.

Asked is how much of the disagreement within items, as Krippendorff's alpha weighs it, lies in the
slice, beside its share of the answers: what is labeled there is none of it. The unit is the item.
The p-value is that of the difference of the two means, by their pooled variance; where
disagreement is rare it is the hypergeometric one of the items with any, by the number of their
answers, if that is larger (`stratified`). All slices share one false discovery rate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tracker.agreement.metric import sample_under_metric
from tracker.audit.statistics.fdr import benjamini_hochberg
from tracker.audit.statistics.stratified import Stratum, pool_strata
from tracker.core.shown import Message
from tracker.core.tallies import ItemPatterns, Pattern, answers_in_pattern
from tracker.measures.krippendorff import krippendorff_alpha, krippendorff_disagreement
from tracker.projects.question import QuestionInfo
from tracker.queries import LEAST_ITEMS, Slice

KIND: Final = "weak_slice"
_SURE: Final = 0.01
"""The greatest q-value that is told."""
_LEAST_GAP: Final = 0.1
"""By how much alpha is lower than elsewhere, at least."""
_LEAST_RATIO: Final = 1.25
"""How many times the disagreement is that of the rest, at least."""
_RARE: Final = 0.7
"""Share of the other items without any disagreement, above which it is rare."""
_MOST: Final = 5


@dataclass(frozen=True)
class SliceAgreement:
    """A slice of the items beside all others.

    Attributes:
        slice: the attribute and its value.
        items: of the slice that two or more answered.
        figure: alpha of these; None if it is undefined.
        elsewhere: alpha of all other items, likewise.
        ratio: the disagreement within its items as a multiple of that of the others.
        explained: the share of all disagreement that would not be there if the slice was like the
            rest; below 0 if it is better.
        p_value: of the difference, if the slice was no worse.
        q_value: the same corrected for all slices.
    """

    slice: Slice
    items: int
    figure: float | None
    elsewhere: float | None
    ratio: float
    explained: float
    p_value: float
    q_value: float

    @property
    def weak(self) -> bool:
        """Whether it is surely worse, and by enough."""
        if self.figure is None or self.elsewhere is None:
            return False
        far = self.elsewhere - self.figure >= _LEAST_GAP and self.ratio >= _LEAST_RATIO
        return far and self.q_value <= _SURE

    def figures(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "attribute": self.slice.attribute,
            "value": self.slice.value,
            "items": self.items,
            "measure": "krippendorff_alpha",
            "figure": self.figure,
            "elsewhere": self.elsewhere,
            "explained": self.explained,
            "weak": self.weak,
            "p_value": self.p_value,
            "q_value": self.q_value,
        }

    def to_dict(
        self, question: str, _names: Mapping[int, str], _categories: Mapping[int, str]
    ) -> dict[str, Any]:
        """Return a weak slice as JSON, as a finding about the items."""
        told = ("attribute", "value", "items", "figure", "elsewhere", "explained")
        figures = self.figures()
        return {
            "kind": KIND,
            "question": question,
            "state": "flagged",
            **figures,
            "why": str(Message("definitions.weak_slice", **{name: figures[name] for name in told})),
        }


@dataclass(frozen=True)
class _Disagreement:
    """Disagreement by pattern: within an item, summed over its answers; and how many they are."""

    within: Mapping[Pattern, tuple[float, int]]

    def means(self, patterns: ItemPatterns) -> tuple[float, float, int, float]:
        """Return the mean, the items' squared distances from it, the items, and the answers."""
        rows = [(*self.within[one], items) for one, items in patterns if one in self.within]
        if not rows:
            return 0.0, 0.0, 0, 0.0
        within, sizes, items = np.array(rows, dtype=np.float64).T
        answers = float(items @ sizes)
        mean = float(items @ within) / answers
        squares = float(items @ (within - mean * sizes) ** 2)
        return mean, squares, int(items.sum()), answers


def weak_slices(slices: Sequence[SliceAgreement]) -> list[SliceAgreement]:
    """Return the slices that are worse, those first that explain most; at most five."""
    weak = [one for one in slices if one.weak]
    return sorted(weak, key=lambda one: -one.explained)[:_MOST]


def agreement_by_slice(
    question: QuestionInfo,
    names: Mapping[int, str],
    annotators: int,
    patterns: ItemPatterns,
    slices: Mapping[Slice, ItemPatterns],
) -> list[SliceAgreement]:
    """Return every slice beside the rest, by attribute and value.

    Args:
        question: whose answers they are.
        names: its categories by id, in order.
        annotators: how many gave the answers.
        patterns: of all items.
        slices: of the items of each slice; those of too few, or of nearly all items, are left out.
    """
    sample = sample_under_metric(question, names, patterns, annotators)
    if sample.why_not is not None:
        return []
    parts = krippendorff_disagreement(sample)
    if not parts.varied:
        return []
    compared = (one for one, items in patterns if items and answers_in_pattern(one) > 1)
    rows = zip(parts.within.tolist(), parts.table.sizes.tolist(), strict=True)
    disagreement = _Disagreement(dict(zip(compared, rows, strict=True)))
    total = float(parts.table.items @ parts.within)

    def alpha(some: ItemPatterns) -> float | None:
        return krippendorff_alpha(sample_under_metric(question, names, some, annotators)).value

    tested = []
    for key, own in slices.items():
        rest = patterns - own
        if min(own.items_compared, rest.items_compared) >= LEAST_ITEMS:
            tested.append((key, own, rest, _p_value(disagreement, own, rest)))
    q_values = benjamini_hochberg([p_value for *_, p_value in tested])
    found = []
    for (key, own, rest, p_value), q_value in zip(tested, q_values, strict=True):
        (mean, _, items, answers), other = disagreement.means(own), disagreement.means(rest)[0]
        ratio = mean / other if other else math.inf
        explained = (mean - other) * answers / total
        found.append(
            SliceAgreement(key, items, alpha(own), alpha(rest), ratio, explained, p_value, q_value)
        )
    return found


def _p_value(disagreement: _Disagreement, own: ItemPatterns, rest: ItemPatterns) -> float:
    """Return how likely the slice's disagreement is by chance, or more of it."""
    mean, squares, items, answers = disagreement.means(own)
    other, other_squares, others, other_answers = disagreement.means(rest)
    pooled = (squares + other_squares) / max(items + others - 2, 1)
    variance = pooled * (items / answers**2 + others / other_answers**2)
    if variance <= 0:
        return 1.0
    p_value = 0.5 * math.erfc((mean - other) / math.sqrt(2 * variance))
    strata, rest_strata = _any_disagreement(own), _any_disagreement(rest)
    without = sum(items - some for some, items in rest_strata.values())
    if without < _RARE * others:
        return p_value
    pool = pool_strata(_strata(strata, rest_strata))
    return 1.0 if pool is None else max(p_value, pool.tails.upper)


def _any_disagreement(patterns: ItemPatterns) -> dict[int, tuple[int, int]]:
    """Return by the number of answers on how many items not all are alike, and of how many."""
    some: Counter[int] = Counter()
    every: Counter[int] = Counter()
    for pattern, items in patterns:
        size = answers_in_pattern(pattern)
        if size > 1:
            every[size] += items
            some[size] += items * (len(pattern) > 1)
    return {size: (some[size], every[size]) for size in every}


def _strata(
    own: Mapping[int, tuple[int, int]], rest: Mapping[int, tuple[int, int]]
) -> Iterator[Stratum]:
    for size, (some, items) in own.items():
        other_some, others = rest.get(size, (0, 0))
        yield Stratum(some, items, some + other_some, items + others)
