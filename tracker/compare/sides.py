"""One state, counted: its tallies and figures, and what an item changes about each figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from sqlalchemy import Connection

from tracker.agreement.coefficients import Study, study
from tracker.agreement.run import measures_of_patterns
from tracker.audit.evidence import Evidence
from tracker.compare.families import ModelVersion, answering_versions
from tracker.compare.people import Without, figures_without_people
from tracker.compare.states import State
from tracker.core.tallies import AnnotatorTallies, Pattern
from tracker.measures.category_rates import CategoryRate, category_rate_influences, category_rates
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import Coefficient
from tracker.projects.annotators import annotator_names
from tracker.snapshots.tallies import count_snapshot_tallies


class Rate(NamedTuple):
    """A category's agreement rate, and what one item of each pattern changes about it."""

    figure: Coefficient
    influences: Mapping[Pattern, float]


@dataclass(frozen=True, eq=False)
class Side:
    """One state, counted.

    Attributes:
        state: the state.
        study: its item patterns, and the figures that follow.
        people: the annotators' names by id.
        tallies: the annotators' answers by item pattern; None if patterns are too many.
        figures: each measure with its error.
        models: the versions of models that answer, whether or not models count.
        without: each measure and category's rate without each annotator.
    """

    state: State
    study: Study
    people: Mapping[int, str]
    tallies: AnnotatorTallies | None
    figures: Sequence[Coefficient]
    models: frozenset[ModelVersion]
    without: Without

    @cached_property
    def kept(self) -> list[Pattern]:
        """The patterns in the order of the sample's."""
        return [pattern for pattern, items in self.study.patterns if items and pattern]

    @cached_property
    def agreements(self) -> dict[Pattern, float]:
        """The share of agreeing pairs of each pattern of two answers or more."""
        sample = self.study.sample
        rows = zip(self.kept, sample.agreement.tolist(), sample.table.sizes, strict=True)
        return {pattern: agreement for pattern, agreement, size in rows if size > 1}

    @property
    def compared(self) -> list[int]:
        """How many items have each of these patterns."""
        return [self.study.patterns.counts[pattern] for pattern in self.agreements]

    def influences(self, measure: str) -> dict[Pattern, float] | None:
        """What one item of each pattern that enters a measure changes about it, if known."""
        found = self.study.estimates[measure]
        if not isinstance(found, Estimate) or found.influence is None or found.counts is None:
            return None
        rows = zip(self.kept, found.influence.tolist(), found.counts, strict=True)
        return {pattern: influence for pattern, influence, items in rows if items}

    @cached_property
    def rates(self) -> dict[str, Rate]:
        """The agreement rate of each category, by name."""
        names, query = self.study.names, self.study.query
        patterns = self.study.patterns
        rates = category_rates(patterns, list(names), query.confidence, query.interval)
        found, _ = category_rate_influences(self.study.sample, [rate.category for rate in rates])
        return {
            names[rate.category]: Rate(
                self._figure(rate),
                {
                    pattern: influence
                    for pattern, influence in zip(self.kept, row.tolist(), strict=True)
                    if not math.isnan(influence)
                },
            )
            for rate, row in zip(rates, found, strict=True)
        }

    def _figure(self, rate: CategoryRate) -> Coefficient:
        return Coefficient(
            "category_rate",
            rate.rate,
            rate.undefined,
            standard_error=rate.standard_error,
            items=self.study.patterns.items_compared,
        )

    @cached_property
    def peers(self) -> dict[str, float]:
        """Each annotator's share of agreeing pairs, by name; none for who shares no item."""
        if self.tallies is None:
            return {}
        alignments = Evidence(self.tallies).alignments
        return {self.people[who]: one.observed for who, one in alignments.items()}


def count_compared_side(
    connection: Connection, state: State, models: Mapping[int, ModelVersion]
) -> Side:
    """Count a state, inside `as_it_was`; ``models`` are those that have a family."""
    tallied = count_snapshot_tallies(connection, state.selection)
    counted = state.selection, tallied.annotators, tallied.patterns
    own = study(connection, state.question, state.query, counted)
    if not state.every_measure:
        measures = measures_of_patterns(state.question, own.names, state.query)
        own = replace(own, query=replace(state.query, measures=tuple(measures)))
    people = annotator_names(connection, state.question.project)
    answering = answering_versions(connection, state.selection, models)
    without = figures_without_people(own, tallied.tallies, people)
    return Side(state, own, people, tallied.tallies, own.figures(), answering, without)
