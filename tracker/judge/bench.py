"""Which models are judged, and what is known of them and of people before answers are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from sqlalchemy import Connection

from tracker.agreement.gold import NONE
from tracker.agreement.query import AS_DECLARED, Metric, check_metric, read_under_metric
from tracker.core.tallies import Answer
from tracker.counts.choosing import Choosing
from tracker.counts.filter import EVERYTHING, AnswerFilter, make_answer_filter, select_answers
from tracker.counts.selection import Selection
from tracker.judge.asking import EPSILON, EPSILONS, EXPERTISE, MARGIN, TUNING, USED_FOR
from tracker.judge.panel_sql import without_tuning
from tracker.judge.result import Judge, JudgeMeasure
from tracker.judge.verdict import LEAST_ITEMS, judge_verdict
from tracker.measures.intervals import check_confidence
from tracker.measures.isolated_rater import ALPHA, Read
from tracker.projects.annotators import (
    AnnotatorInfo,
    annotator_attributes,
    find_models,
    list_annotators,
)
from tracker.projects.categories import category_names
from tracker.projects.items import count_items_with_attribute, count_project_items
from tracker.projects.questions import QuestionInfo, are_many_numbers


@dataclass(frozen=True)
class JudgeQuery:
    """What is asked about models as judges; see `tracker.judge.asking.JudgeOptions`."""

    models: Sequence[str] = ()
    measure: str = ALPHA
    margin: float = MARGIN
    epsilon: float | None = None
    group: str | None = None
    confidence: float = 0.95
    metric: Metric = AS_DECLARED
    filter: AnswerFilter = EVERYTHING


def judge_query(
    *,
    models: Sequence[str] = (),
    measure: str = ALPHA,
    margin: float = MARGIN,
    epsilon: float | None = None,
    group: str | None = None,
    confidence: float = 0.95,
    weights: str | None = None,
    scale: str | None = None,
    distance: str | None = None,
    questions: Sequence[str] = (),
    **choosing: Unpack[Choosing],
) -> JudgeQuery:
    """Return the query that the arguments of `JudgeAsked` make; raises InvalidOption."""
    check_confidence(confidence)
    metric = Metric(weights, scale, distance)
    choice = make_answer_filter(**choosing)
    return JudgeQuery(models, measure, margin, epsilon, group, confidence, metric, choice)


@dataclass(frozen=True)
class Bench:
    """What is counted of a question once for all its judges.

    Attributes:
        question: which.
        query: what is asked.
        people: the selection of people's answers.
        models: the judges, by id.
        known: every annotator, by id.
        attributes: of annotators, likewise.
        names: the categories by id, in order.
        tuning_items: items left out because prompts were tuned on them.
        items: of the project.
    """

    question: QuestionInfo
    query: JudgeQuery
    people: Selection
    models: Mapping[int, AnnotatorInfo]
    known: Mapping[int, AnnotatorInfo]
    attributes: Mapping[int, Mapping[str, str]]
    names: Mapping[int, str]
    tuning_items: int
    items: int

    @property
    def has_many_numbers(self) -> bool:
        """Whether answers are so many numbers that two are seldom the same."""
        question = self.question
        return are_many_numbers(question.answers, question.scale, len(self.names))

    def epsilons(self, people: Iterable[int]) -> dict[int, float]:
        """Return epsilon of each person: the one asked for, or by what is known of them."""
        given = self.query.epsilon
        return {
            person: EPSILONS.get(self.attributes.get(person, {}).get(EXPERTISE, ""), EPSILON)
            if given is None
            else given
            for person in people
        }

    def read(self, annotators: int) -> Read:
        """Return the reading of so many annotators' answers."""
        read = read_under_metric(self.question, self.names, self.query.metric)
        return partial(read, annotators=annotators)

    def judge(
        self, model: AnnotatorInfo, rows: Sequence[JudgeMeasure], measure: str, **more: Any
    ) -> Judge:
        """Return a judge with the verdict on one of its measures."""
        main = next(row for row in rows if row.measure == measure)
        query, humans = self.query, more["humans"]
        verdict = judge_verdict(main, query.margin, query.confidence, humans=humans)
        # A project seldom grows by more items than it has left, or than a verdict needs.
        most = max(self.items - main.model_with_humans.items, LEAST_ITEMS)
        if (verdict.more or 0) > most:
            verdict = verdict._replace(more=None)
        test = more["alternative_test"]
        if (test.items_needed or 0) > max(self.items, LEAST_ITEMS):
            more["alternative_test"] = replace(test, items_needed=None)
        return Judge(
            question=self.question.name,
            model=model.name,
            attributes=self.attributes.get(model.id, {}),
            tuning_items=self.tuning_items,
            **verdict._asdict(),
            sampling=main.sampling,
            measure=measure,
            margin=self.query.margin,
            measures=rows,
            **more,
        )

    def word(self, answer: Answer) -> str:
        """Return an answer's categories by name."""
        return "|".join(self.names[category] for category in answer if category > 0) or NONE


def judge_bench(connection: Connection, question: QuestionInfo, query: JudgeQuery) -> Bench:
    """Return the judges of a question, and whom they are compared with.

    Raises InvalidOption for a model that is none, for a measure or a reading that does not fit,
    and NotFound for a name that nobody has.
    """
    known = list_annotators(connection, question.project)
    models = {annotator.id: annotator for annotator in known if annotator.kind == "model"}
    if query.models:
        named = find_models(connection, question.project, query.models)
        models = {model.id: model for model in named}
    names = category_names(connection, question)
    check_metric(question, names, query.metric)
    people = select_answers(connection, question, query.filter)
    people = people.without(frozenset(a.id for a in known if a.kind == "model"))
    return Bench(
        question,
        query,
        without_tuning(people),
        models,
        {annotator.id: annotator for annotator in known},
        annotator_attributes(connection, question.project),
        names,
        count_items_with_attribute(connection, question.project, USED_FOR, TUNING),
        count_project_items(connection, question.project),
    )
