"""Answers as they were given, item by item, and every tally of them by plain count."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from tracker.core import tallies
from tracker.measures.cohen import Cells, cohen_kappas, kappa_cells
from tracker.measures.conger import conger_error, light_error, light_kappa
from tracker.measures.estimate import Estimate
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, sample_for_measures

Given = Mapping[int, tallies.Answer]  # annotator -> answer, of one item
Table = dict[tuple[tallies.Answer, tallies.Answer], int]


@dataclass(frozen=True)
class Answered:
    """Answers to some items."""

    given: Sequence[Given]

    @cached_property
    def patterns(self) -> tallies.ItemPatterns:
        return tallies.ItemPatterns(
            Counter(tallies.make_pattern(item.values()) for item in self.given if item)
        )

    @cached_property
    def joint(self) -> list[tuple[tallies.JointPattern, int]]:
        return list(Counter(tuple(sorted(item.items())) for item in self.given if item).items())

    @cached_property
    def marginals(self) -> dict[int, dict[tallies.Answer, int]]:
        counts: dict[int, dict[tallies.Answer, int]] = defaultdict(Counter)
        for item in self.given:
            for annotator, answer in item.items():
                counts[annotator][answer] += 1
        return dict(counts)

    @cached_property
    def tallies(self) -> tallies.AnnotatorTallies:
        counts: dict[int, dict[tuple[tallies.Answer, tallies.Pattern], int]] = defaultdict(Counter)
        for item in self.given:
            for annotator, answer in item.items():
                counts[annotator][answer, tallies.make_pattern(item.values())] += 1
        return tallies.AnnotatorTallies(dict(counts))

    @cached_property
    def tables(self) -> dict[tuple[int, int], Table]:
        """The cross-table of each two annotators who share an item."""
        tables: dict[tuple[int, int], Table] = defaultdict(Counter)
        for item in self.given:
            for (first, answer), (second, other) in combinations(sorted(item.items()), 2):
                tables[first, second][answer, other] += 1
        return dict(sorted(tables.items()))

    def sample(self, **reading: Any) -> Sample:
        """The answers under a reading, as `sample_of` takes it."""
        marginals = self.marginals
        return sample_for_measures(self.patterns, len(marginals), marginals=marginals, **reading)

    def estimate(self, measure: str, **reading: Any) -> Estimate:
        """A figure with its error, that of Conger's and Light's kappa included."""
        sample = self.sample(**reading)
        if measure == "light_kappa":
            cells = self.cells(sample)
            estimate = light_kappa(sample, list(cohen_kappas(cells, weighting=sample.weighting)))
            return light_error(sample, estimate, cells, list(self.tables), self.joint)
        estimate = estimate_of(measure, sample)
        is_conger = measure == "conger_kappa"
        return conger_error(sample, estimate, self.joint) if is_conger else estimate

    def cells(self, sample: Sample) -> Cells:
        """The cross-tables of all pairs, their answers coded as in the sample."""
        return kappa_cells(list(self.tables.values()), sample.table.answers)


def estimate_of(measure: str, sample: Sample) -> Estimate:
    """A measure of a sample, by the function that the registry names."""
    function = MEASURES[measure].function
    assert function is not None
    return function(sample)


def cross_table(counts: Sequence[Sequence[int]]) -> Table:
    """Two annotators' answers from a table as papers print it, categories numbered from 0."""
    return {
        ((row,), (column,)): count
        for row, counts_of_row in enumerate(counts)
        for column, count in enumerate(counts_of_row)
        if count
    }
