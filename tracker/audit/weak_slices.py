"""Slices of the items on which the annotators agree less than on the rest.

Asked is how much of the disagreement within items, as Krippendorff's alpha weighs it, lies in the
slice, beside its share of the answers: what is labeled there is none of it. The unit is the item.
The p-value is that of the difference of the two means, by their pooled variance; where
disagreement is rare it is the hypergeometric one of the items with any, by the number of their
answers, if that is larger (`stratified`). All slices share one false discovery rate.

A weak slice is only told if nothing else explains it (`unexplained_slices`): no slice that was told
before it, nobody who is flagged, and no other annotator.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from tracker.agreement.query import sample_under_metric
from tracker.audit.kind import ProjectFinding
from tracker.audit.slices_sql import LEAST_ITEMS, Slice
from tracker.audit.statistics.exact_tests import Stratum, benjamini_hochberg, pool_strata
from tracker.core.tallies import ItemPatterns, Pattern, answers_in_pattern, pattern_without
from tracker.measures.krippendorff import krippendorff_alpha, krippendorff_disagreement
from tracker.measures.sample import Sample
from tracker.projects.questions import QuestionInfo

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
_MOST_LOOKED_AT: Final = 10
"""Weak slices that are told if nothing explains them; and annotators who may explain one."""
_STILL_SURE: Final = 0.02
_STILL_PART: Final = 0.5
"""The greatest p-value, and the least part of the gap, of a slice without what may explain it."""

SliceTallies: TypeAlias = Mapping[int, Mapping[tuple[Any, ...], int]]
"""``{annotator: {(slices, own answer, pattern): items}}``; each bit of ``slices`` is one."""


@dataclass(frozen=True)
class SliceAgreement(ProjectFinding):
    """A slice of the items beside all others.

    Attributes:
        items: of the slice that two or more answered.
        figure: alpha of these; None if it is undefined.
        elsewhere: alpha of all other items, likewise.
        ratio: the disagreement within its items as a multiple of that of the others.
        explained: the share of all disagreement that would not be there if the slice was like the
            rest; below 0 if it is better.
        p_value: of the difference, if the slice was no worse.
        q_value: the same corrected for all slices.
    """

    kind: ClassVar[str] = KIND
    slice: Slice
    items: int
    figure: float | None
    elsewhere: float | None
    ratio: float
    explained: float
    p_value: float
    q_value: float

    @property
    def subject(self) -> str:
        """The slice as an option names it."""
        return f"{self.slice.attribute}={self.slice.value}"

    @property
    def informative(self) -> int:
        """Its items."""
        return self.items

    @property
    def weak(self) -> bool:
        """Whether it is surely worse, and by enough."""
        return self.worse(_LEAST_GAP) and self.q_value <= _SURE

    def worse(self, gap: float) -> bool:
        """Return whether it is worse by enough, sure or not."""
        if self.figure is None or self.elsewhere is None:
            return False
        return self.elsewhere - self.figure >= gap and self.ratio >= _LEAST_RATIO

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

    def values(self, _names: Mapping[int, Any], _categories: Mapping[int, str]) -> dict[str, Any]:
        """Return the figures as JSON."""
        return self.figures()


@dataclass(frozen=True)
class Reading:
    """How answers are read: those to a question, its categories by id, and how many gave them."""

    question: QuestionInfo
    names: Mapping[int, str]
    annotators: int

    def sample(self, patterns: ItemPatterns) -> Sample:
        """Return what coefficients are computed from."""
        return sample_under_metric(self.question, self.names, patterns, self.annotators)

    def disagreement(self, patterns: ItemPatterns) -> _Disagreement | None:
        """Return the disagreement within items of these patterns; None if there is none."""
        sample = self.sample(patterns)
        parts = None if sample.why_not is not None else krippendorff_disagreement(sample)
        if parts is None or not parts.varied:
            return None
        compared = (
            pattern for pattern, items in patterns if items and answers_in_pattern(pattern) > 1
        )
        rows = zip(parts.within.tolist(), parts.table.sizes.tolist(), strict=True)
        within = dict(zip(compared, rows, strict=True))
        return _Disagreement(within, float(parts.table.items @ parts.within))

    def compare(
        self, key: Slice, own: ItemPatterns, rest: ItemPatterns, of_all: _Disagreement | None = None
    ) -> SliceAgreement | None:
        """Return a slice beside the rest; None if either has too few items."""
        if min(own.items_compared, rest.items_compared) < LEAST_ITEMS:
            return None
        of_all = of_all or self.disagreement(own + rest)
        if of_all is None:
            return None
        (mean, _, items, answers), other = of_all.means(own), of_all.means(rest)[0]
        p_value = _p_value(of_all, own, rest)
        return SliceAgreement(
            key,
            items,
            krippendorff_alpha(self.sample(own)).value,
            krippendorff_alpha(self.sample(rest)).value,
            mean / other if other else math.inf,
            (mean - other) * answers / of_all.total,
            p_value,
            p_value,
        )


@dataclass(frozen=True)
class _Disagreement:
    """Disagreement by pattern: within an item, summed over its answers; and how many they are.

    ``total`` is that of all items.
    """

    within: Mapping[Pattern, tuple[float, int]]
    total: float

    def means(self, patterns: ItemPatterns) -> tuple[float, float, int, float]:
        """Return the mean, the items' squared distances from it, the items, and the answers."""
        rows = [
            (*self.within[pattern], items) for pattern, items in patterns if pattern in self.within
        ]
        if not rows:
            return 0.0, 0.0, 0, 0.0
        within, sizes, items = np.array(rows, dtype=np.float64).T
        answers = float(items @ sizes)
        mean = float(items @ within) / answers
        squares = float(items @ (within - mean * sizes) ** 2)
        return mean, squares, int(items.sum()), answers


def agreement_by_slice(
    reading: Reading, patterns: ItemPatterns, slices: Mapping[Slice, ItemPatterns]
) -> list[SliceAgreement]:
    """Return every slice beside the rest, by attribute and value.

    Slices of too few items, or of nearly all, are left out.
    """
    of_all = reading.disagreement(patterns)
    if of_all is None:
        return []
    compared = (
        reading.compare(key, own, patterns - own, of_all) for key, own in sorted(slices.items())
    )
    agreements = [agreement for agreement in compared if agreement is not None]
    q_values = benjamini_hochberg([agreement.p_value for agreement in agreements])
    return [
        replace(agreement, q_value=q) for agreement, q in zip(agreements, q_values, strict=True)
    ]


def weak_slices(slices: Sequence[SliceAgreement]) -> list[SliceAgreement]:
    """Return the slices that are worse, at most ten: attributes first one of which explains most.

    All slices of an attribute follow each other, so that one attribute is told before another.
    """
    weak = [agreement for agreement in slices if agreement.weak]
    most: dict[str, float] = {}
    for agreement in weak:
        name = agreement.slice.attribute
        most[name] = max(most.get(name, 0.0), agreement.explained)
    return sorted(
        weak,
        key=lambda agreement: (
            -most[agreement.slice.attribute],
            agreement.slice.attribute,
            -agreement.explained,
        ),
    )[:_MOST_LOOKED_AT]


def unexplained_slices(
    reading: Reading, weak: Sequence[SliceAgreement], counts: SliceTallies, sound: SliceTallies
) -> list[SliceAgreement]:
    """Return the weak slices that nothing else explains, at most five.

    The slices in ``weak`` that explain most come first; ``counts`` are the tallies by these, and
    ``sound`` the same without the answers of flagged annotators.
    """
    every, others = _patterns_by_slices(counts), _patterns_by_slices(sound)
    agreements: list[SliceAgreement] = []
    left_out = 0
    for place, agreement in enumerate(weak):
        bit = 1 << place
        if _holds(reading, agreement.slice, sound, others, bit, left_out):
            overall = reading.compare(agreement.slice, *_split(every, bit, 0))
            agreements.append(replace(overall, q_value=agreement.q_value) if overall else agreement)
            left_out |= bit
    return agreements[:_MOST]


def _holds(
    reading: Reading,
    key: Slice,
    counts: SliceTallies,
    patterns: Mapping[int, ItemPatterns],
    bit: int,
    left_out: int,
) -> bool:
    """Return whether a slice is weak outside of those left out, whoever is left out, too."""

    def still_weak(own: ItemPatterns, rest: ItemPatterns) -> bool:
        comparison = reading.compare(key, own, rest)
        if comparison is None or comparison.p_value > _STILL_SURE:
            return False
        return comparison.worse(_STILL_PART * _LEAST_GAP)

    own, rest = _split(patterns, bit, left_out)
    if not still_weak(own, rest):
        return False
    for annotator in _suspects(counts, bit, left_out):
        without_own, without_rest = (
            some + change
            for some, change in zip(
                (own, rest), _split(_changes(counts[annotator]), bit, left_out), strict=True
            )
        )
        if without_rest.items_compared < LEAST_ITEMS <= own.items_compared:
            continue  # Who is everywhere cannot be left out.
        if not still_weak(without_own, without_rest):
            return False
    return True


def _patterns_by_slices(counts: SliceTallies) -> dict[int, ItemPatterns]:
    """Return how many items that lie in the same slices have each pattern."""
    answers: defaultdict[int, Counter[Pattern]] = defaultdict(Counter)
    for met in counts.values():
        for (slices, _, pattern), items in met.items():
            answers[slices][pattern] += items
    return {
        slices: ItemPatterns(
            {pattern: n // answers_in_pattern(pattern) for pattern, n in patterns.items()}
        )
        for slices, patterns in answers.items()
    }


def _changes(met: Mapping[tuple[Any, ...], int]) -> dict[int, ItemPatterns]:
    """Return by how many items each pattern becomes rarer or more frequent without an annotator."""
    changes: defaultdict[int, Counter[Pattern]] = defaultdict(Counter)
    for (slices, own, pattern), items in met.items():
        changes[slices][pattern] -= items
        changes[slices][pattern_without(pattern, own)] += items
    return {slices: ItemPatterns(patterns) for slices, patterns in changes.items()}


def _split(
    patterns: Mapping[int, ItemPatterns], bit: int, left_out: int
) -> tuple[ItemPatterns, ItemPatterns]:
    """Return the patterns in a slice, and those in none of it, outside of the slices left out."""
    parts = [ItemPatterns(), ItemPatterns()]
    for slices, some in patterns.items():
        if not slices & left_out:
            parts[not slices & bit] += some
    return parts[0], parts[1]


def _suspects(counts: SliceTallies, bit: int, left_out: int) -> list[int]:
    """Return the annotators who differ most often from the others in a slice."""
    differing: Counter[int] = Counter()
    for annotator, met in counts.items():
        for (slices, own, pattern), items in met.items():
            if slices & bit and not slices & left_out:
                alike = dict(pattern)[own]
                differing[annotator] += items * (answers_in_pattern(pattern) - alike)
    return [annotator for annotator, _ in differing.most_common(_MOST_LOOKED_AT)]


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
