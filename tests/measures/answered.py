"""Answers as they were given, item by item, and every tally of them by plain count."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from tracker.core.tallies import (
    AnnotatorTallies,
    Answer,
    ItemPatterns,
    JointPattern,
    Pattern,
    make_pattern,
)
from tracker.measures.cohen import Cells, cohen_kappas, kappa_cells
from tracker.measures.conger import conger_error, light_error, light_kappa
from tracker.measures.estimate import Estimate
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, sample_for_measures

__all__ = ["Answered", "Given", "Table", "cross_table"]

Given = Mapping[int, Answer]  # annotator -> answer, of one item
Table = dict[tuple[Answer, Answer], int]


@dataclass(frozen=True)
class Answered:
    """Answers to some items."""

    given: Sequence[Given]

    @cached_property
    def patterns(self) -> ItemPatterns:
        return ItemPatterns(Counter(make_pattern(one.values()) for one in self.given if one))

    @cached_property
    def joint(self) -> list[tuple[JointPattern, int]]:
        return list(Counter(tuple(sorted(one.items())) for one in self.given if one).items())

    @cached_property
    def marginals(self) -> dict[int, dict[Answer, int]]:
        found: dict[int, dict[Answer, int]] = defaultdict(Counter)
        for one in self.given:
            for who, answer in one.items():
                found[who][answer] += 1
        return dict(found)

    @cached_property
    def tallies(self) -> AnnotatorTallies:
        found: dict[int, dict[tuple[Answer, Pattern], int]] = defaultdict(Counter)
        for one in self.given:
            for who, answer in one.items():
                found[who][answer, make_pattern(one.values())] += 1
        return AnnotatorTallies(dict(found))

    @cached_property
    def tables(self) -> dict[tuple[int, int], Table]:
        """The cross-table of each two annotators who share an item."""
        found: dict[tuple[int, int], Table] = defaultdict(Counter)
        for one in self.given:
            for (first, answer), (second, other) in combinations(sorted(one.items()), 2):
                found[first, second][answer, other] += 1
        return dict(sorted(found.items()))

    def sample(self, **reading: Any) -> Sample:
        """The answers under a reading, as `sample_of` takes it."""
        marginals = self.marginals
        return sample_for_measures(self.patterns, len(marginals), marginals=marginals, **reading)

    def estimate(self, measure: str, **reading: Any) -> Estimate:
        """A figure with its error, that of Conger's and Light's kappa included."""
        sample = self.sample(**reading)
        if measure == "light_kappa":
            cells = self.cells(sample)
            found = light_kappa(sample, list(cohen_kappas(cells, weighting=sample.weighting)))
            return light_error(sample, found, cells, list(self.tables), self.joint)
        function = MEASURES[measure].function
        assert function is not None
        found = function(sample)
        return conger_error(sample, found, self.joint) if measure == "conger_kappa" else found

    def cells(self, sample: Sample) -> Cells:
        """The cross-tables of all pairs, their answers coded as in the sample."""
        return kappa_cells(list(self.tables.values()), sample.table.answers)


def cross_table(counts: Sequence[Sequence[int]]) -> Table:
    """Two annotators' answers from a table as papers print it, categories numbered from 0."""
    return {
        ((one,), (other,)): count
        for one, row in enumerate(counts)
        for other, count in enumerate(row)
        if count
    }
