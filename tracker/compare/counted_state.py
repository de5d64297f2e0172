"""One of two states that are compared: its tallies, its figures, what an item changes of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tracker.agreement import Assessment
from tracker.agreement.coefficients import coefficients
from tracker.agreement.from_patterns import assess_patterns, measures_of_patterns
from tracker.agreement.metric import sample
from tracker.compare.states import State
from tracker.core.tallies import ItemPatterns, Pattern
from tracker.measures.category_rate_errors import rate_influences
from tracker.measures.coefficient import Coefficient
from tracker.measures.estimate import Estimate
from tracker.measures.sample import Sample
from tracker.snapshots.tallies import Tallied


@dataclass(frozen=True, eq=False)
class Side:
    """One state, counted."""

    state: State
    names: Mapping[int, str]
    people: Mapping[int, str]
    tallied: Tallied

    @property
    def patterns(self) -> ItemPatterns:
        """How many items have each pattern."""
        return self.tallied.patterns

    def read(self, patterns: ItemPatterns) -> Sample:
        """Item patterns, read as the state's are."""
        metric = self.state.query.metric
        annotators = len(self.tallied.annotators)
        return sample(self.state.project, self.names, patterns, annotators, metric)

    @cached_property
    def sample(self) -> Sample:
        """The patterns as the measures read them."""
        return self.read(self.patterns)

    @cached_property
    def kept(self) -> list[Pattern]:
        """The patterns in the order of the sample's."""
        return [pattern for pattern, items in self.patterns if items and pattern]

    @cached_property
    def measures(self) -> list[str]:
        """The names of the measures that follow from them."""
        return measures_of_patterns(self.state.project, self.names, self.state.query)

    @cached_property
    def estimates(self) -> dict[str, Estimate | Coefficient]:
        """Each measure's figure, with the influence of an item on it."""
        confidence = self.state.query.confidence
        return coefficients(self.measures, self.sample, None, confidence)

    @cached_property
    def assessment(self) -> Assessment:
        """The figures as they are told."""
        query = self.state.query
        annotators = len(self.tallied.annotators)
        return assess_patterns(
            self.state.project, self.names, self.patterns, annotators, self.measures, query
        )

    def influences(self, measure: str) -> dict[Pattern, float]:
        """What one item of each pattern changes about a measure; of those that enter it."""
        found = self.estimates[measure]
        if not isinstance(found, Estimate) or found.influence is None or found.counts is None:
            return {}
        influences = zip(self.kept, found.influence.tolist(), found.counts, strict=True)
        return {pattern: influence for pattern, influence, items in influences if items}

    def rate_influences(self, categories: Sequence[int]) -> dict[int, dict[Pattern, float]]:
        """Of each category what one item of each pattern changes about its agreement rate."""
        found, _ = rate_influences(self.sample, categories)
        return {
            category: {
                pattern: influence
                for pattern, influence in zip(self.kept, row.tolist(), strict=True)
                if not math.isnan(influence)
            }
            for category, row in zip(categories, found, strict=True)
        }
