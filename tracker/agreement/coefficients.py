"""Coefficients computed from what was counted, in the order asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import tee
from typing import Final

from sqlalchemy import Connection

from tracker.agreement.query import Metric, Query, check_metric, sample_under_metric
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns
from tracker.counts.annotator_patterns import (
    count_annotator_marginals,
    count_joint_patterns,
    select_answering_annotators,
)
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_item_patterns, count_pair_cells
from tracker.measures.citations import KAPPAS, SHORT_NAMES
from tracker.measures.cohen import Cells, CohenKappas, cohen_kappas
from tracker.measures.conger import conger_error, light_error, light_kappa
from tracker.measures.estimate import Estimate, undefined_estimate
from tracker.measures.intervals import ASYMMETRIC, NOT_APPLICABLE, Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample
from tracker.projects.categories import category_names
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionInfo
from tracker.projects.settings import ANSWERS

FEW_ANSWERS: Final = 100_000
"""Up to so many answers, figures that need more than item patterns cost next to nothing and are
always given; above, when they are asked for by name."""

COSTLY: Final = frozenset({"marginals", "pairs"})
"""What such figures need: to know who answered what, all answers are sorted once more."""


def are_few(answers: int) -> bool:
    """Whether every figure of so many answers is given, asked for or not."""
    return answers <= FEW_ANSWERS


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pair tallies: who, first id < second id, and their cross-tables."""

    annotators: list[tuple[int, int]]
    cells: Cells

    def kappas(
        self, of: Sample, confidence: float = 0.95, interval: str = ASYMMETRIC
    ) -> CohenKappas:
        return cohen_kappas(self.cells, confidence, of.weighting, interval)


def check_agreement_measures(
    question: QuestionInfo, names: Sequence[str], metric: Metric, *, few: bool
) -> list[str]:
    """The measures of these names; for none, all that the project has.

    ``few`` answers let the costly ones be among all.

    Raises InvalidOption for one that does not exist or does not fit the project.
    """
    fitting = [
        name
        for name, measure in MEASURES.items()
        if question.answers in measure.answers
        and name != ("gwet_ac1" if metric.weighted else "gwet_ac2")
    ]
    for name in names:
        if name not in MEASURES:
            raise unknown_measure(name, fitting)
        if name == "gwet_ac2" and not metric.weighted:
            raise InvalidOption(
                "gwet_ac2 needs weights; without them it is gwet_ac1",
                "add --weights linear, quadratic or ordinal",
            )
        if question.answers not in MEASURES[name].answers:
            raise InvalidOption(
                f"{name} does not fit {question.description} of {ANSWERS[question.answers]}",
                f"these do: {', '.join(fitting)}",
            )
    if names:
        named = ("gwet_ac2" if metric.weighted and n == "gwet_ac1" else n for n in names)
        return list(dict.fromkeys(named))
    return [name for name in fitting if few or MEASURES[name].needs not in COSTLY]


def unknown_measure(name: str, fitting: Sequence[str]) -> InvalidOption:
    """Return that there is no measure of a name, with those that fit and are near."""
    if name.strip().lower() == "kappa":
        return InvalidOption(
            "'kappa' may be one of several",
            f"{KAPPAS[0]} of two annotators; of any number {', '.join(KAPPAS[1:])}",
        )
    return InvalidOption(
        f"there is no measure {name!r}",
        near_names(name, [*fitting, *SHORT_NAMES]) or f"one of: {', '.join(MEASURES)}",
    )


def count_coefficient_pairs(connection: Connection, selection: Selection, of: Sample) -> Pairs:
    return Pairs(*count_pair_cells(connection, selection, of.table.answers))


def coefficients(
    wanted: Sequence[str],
    of: Sample,
    pairs: Pairs | None,
    confidence: float,
    interval: str = ASYMMETRIC,
) -> dict[str, Estimate | Coefficient]:
    """Each measure's figure from the tallies; those of pairs without ``pairs`` are undefined."""
    return {name: _figure(name, of, pairs, confidence, interval) for name in wanted}


def _figure(
    name: str, of: Sample, pairs: Pairs | None, confidence: float, interval: str
) -> Estimate | Coefficient:
    function = MEASURES[name].function
    if function is not None:
        return function(of)
    if name == "cohen_kappa":
        if of.why_not in {"too_few_items", "too_few_annotators"}:
            return undefined_estimate(name, of.why_not, reading=of.reading)
        if of.annotators != 2 or pairs is None:
            return undefined_estimate(name, NOT_APPLICABLE, reading=of.reading)
        kappas = pairs.kappas(of, confidence, interval)
        return kappas[0] if kappas else undefined_estimate(name, "no_overlap", reading=of.reading)
    # Of the pairs' kappas only the values count here, and t bounds cost least.
    return light_kappa(of, [*pairs.kappas(of, interval="t")] if pairs is not None else [])


def finish_coefficients(
    figures: Mapping[str, Estimate | Coefficient], confidence: float, interval: str = ASYMMETRIC
) -> list[Coefficient]:
    return [
        figure.coefficient(confidence, interval)
        if isinstance(figure, Estimate)
        else replace(figure, confidence=confidence)
        for figure in figures.values()
    ]


# -- What was counted to answer a question about a project's agreement ----------------------------


@dataclass(frozen=True, eq=False)
class Study:
    """The tallies that answer a question about answers to whole items, counted when needed.

    Attributes:
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
        few = are_few(self.patterns.answers)
        return check_agreement_measures(
            self.question, self.query.measures, self.query.metric, few=few
        )

    def needs(self, *kinds: str) -> bool:
        return any(MEASURES[name].needs in kinds for name in self.wanted)

    @cached_property
    def sample(self) -> Sample:
        return self.read(self.patterns, len(self.annotators))

    def read(self, patterns: ItemPatterns, annotators: int) -> Sample:
        return sample_under_metric(
            self.question, self.names, patterns, annotators, self.query.metric
        )

    @cached_property
    def marginals(self) -> Mapping[int, Mapping[Answer, int]]:
        return count_annotator_marginals(self.connection, self.selection)

    @cached_property
    def full_sample(self) -> Sample:
        """The sample with each annotator's own answers, where a measure needs them."""
        if not self.needs("marginals"):
            return self.sample
        return replace(self.sample, marginals=self.marginals)

    @cached_property
    def pairs(self) -> Pairs | None:
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
        few = are_few(self.patterns.answers)
        finished = dict(self.estimates)
        exact = self.estimates if few else set(self.query.measures).intersection(self.estimates)
        conger, light = (
            self.estimates[name] if name in exact else None
            for name in ("conger_kappa", "light_kappa")
        )
        count = partial(count_joint_patterns, self.connection, self.selection)
        joint = tee(count()) if few else (count(), count())  # of few answers read once
        if isinstance(conger, Estimate) and conger.value is not None:
            finished["conger_kappa"] = conger_error(self.full_sample, conger, joint[0])
        if isinstance(light, Estimate) and light.value is not None and self.pairs is not None:
            cells, annotators = self.pairs.cells, self.pairs.annotators
            finished["light_kappa"] = light_error(
                self.full_sample, light, cells, annotators, joint[1]
            )
        return finish_coefficients(finished, self.query.confidence, self.query.interval)


def refuse_study_of_spans(question: QuestionInfo) -> None:
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
        selection = select_answers(connection, question, query.filter)
        annotators = select_answering_annotators(connection, selection)
        counted = selection, annotators, count_item_patterns(connection, selection)
    selection, known, patterns = counted
    return Study(connection, question, query, selection, names, known, patterns)
