"""What was counted to answer a question about a project's agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.coefficients import (
    Pairs,
    are_few,
    check_agreement_measures,
    coefficients,
    coefficients_with_errors,
    count_coefficient_pairs,
)
from tracker.agreement.metric import check_metric, sample_under_metric
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures import MEASURES
from tracker.measures.coefficient import Coefficient
from tracker.measures.estimate import Estimate
from tracker.measures.sample import Sample
from tracker.projects.categories import category_names
from tracker.projects.question import QuestionInfo
from tracker.queries import Selection


@dataclass(frozen=True, eq=False)
class Study:
    """The tallies that answer a question about answers to whole items, counted when needed.

    Attributes:
        connection: one that sees one state.
        project: the project.
        question: what was asked.
        selection: the answers that are counted.
        names: the categories in order, by id.
        annotators: ids of those with an answer that counts.
        patterns: the item patterns.
    """

    connection: Connection
    question: QuestionInfo
    query: Query
    selection: Selection
    names: Mapping[int, str]
    annotators: Sequence[int]
    patterns: ItemPatterns = field(repr=False)

    @cached_property
    def wanted(self) -> list[str]:
        """The names of the measures."""
        few = are_few(self.patterns.answers)
        return check_agreement_measures(
            self.question, self.query.measures, self.query.metric, few=few
        )

    def needs(self, *kinds: str) -> bool:
        """Whether one of the measures needs one of these tallies."""
        return any(MEASURES[name].needs in kinds for name in self.wanted)

    @cached_property
    def sample(self) -> Sample:
        """The item patterns as they are read."""
        return self.read(self.patterns, len(self.annotators))

    def read(self, patterns: ItemPatterns, annotators: int) -> Sample:
        """Other patterns of the project, read in the same way."""
        return sample_under_metric(
            self.question, self.names, patterns, annotators, self.query.metric
        )

    @cached_property
    def marginals(self) -> Mapping[int, Mapping[Answer, int]]:
        """On how many items each annotator gave each answer."""
        return queries.count_annotator_marginals(self.connection, self.selection)

    @cached_property
    def full_sample(self) -> Sample:
        """The sample with each annotator's own answers, where a measure needs them."""
        if not self.needs("marginals"):
            return self.sample
        return replace(self.sample, marginals=self.marginals)

    @cached_property
    def pairs(self) -> Pairs | None:
        """The pair tallies, where a measure needs them."""
        two = self.needs("pair") and len(self.annotators) == 2
        if not two and not self.needs("pairs"):
            return None
        return count_coefficient_pairs(self.connection, self.selection, self.sample)

    @cached_property
    def estimates(self) -> dict[str, Estimate | Coefficient]:
        """Each measure's value with the influence of the items."""
        asked = self.query
        return coefficients(
            self.wanted, self.full_sample, self.pairs, asked.confidence, asked.interval
        )

    def figures(self) -> list[Coefficient]:
        """Each measure's figure, its error linearised over items.

        Conger's and Light's cost a further count: they are there where the measure was asked
        for by name, or the answers are few.
        """
        by_name = {name for name in self.query.measures if name in self.estimates}
        few = are_few(self.patterns.answers)
        exact = set(self.estimates) if few else by_name
        return coefficients_with_errors(
            self.connection,
            self.selection,
            self.full_sample,
            self.pairs,
            self.estimates,
            exact,
            self.query.confidence,
            self.query.interval,
        )


def refuse_study_of_spans(question: QuestionInfo) -> None:
    """Raise InvalidOption for a project of spans."""
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.project.name!r} is a project of spans",
            "this needs answers to whole items",
        )


def study(
    connection: Connection,
    question: QuestionInfo,
    query: Query,
    counted: tuple[Selection, Sequence[int], ItemPatterns] | None = None,
) -> Study:
    """Count the item patterns that a question is about.

    ``counted`` are the answers chosen, their annotators and the patterns where these are known.

    Raises InvalidOption for a measure, a reading or a choice that does not fit the project.
    """
    refuse_study_of_spans(question)
    names = category_names(connection, question)
    check_metric(question, names, query.metric)
    check_agreement_measures(question, query.measures, query.metric, few=True)
    if counted is None:
        selection = queries.select_answers(connection, question, query.filter)
        annotators = queries.select_answering_annotators(connection, selection)
        counted = selection, annotators, queries.count_item_patterns(connection, selection)
    selection, known, patterns = counted
    return Study(connection, question, query, selection, names, known, patterns)
