"""Models beside people: how often each agrees with them, and they with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from tracker.audit.query import AuditQuery, audit_kinds_named
from tracker.audit.run import (
    MOST_MODELS,
    audit_one,
    people_giving_model_answers,
    span_figure_rows,
)
from tracker.audit.statistics.peer_agreement import untied_majority
from tracker.core.results import Record
from tracker.core.tallies import Answer, Pattern, answers_in_pattern, pattern_without
from tracker.counts.filter import EVERYTHING, AnswerFilter
from tracker.measures.category_rates import CategoryRate, RateSums, rate_of_category
from tracker.measures.cohen import cohen_kappa
from tracker.measures.intervals import Coefficient
from tracker.projects.annotators import list_annotators
from tracker.projects.categories import category_names
from tracker.projects.kept import stored_with_answers
from tracker.projects.questions import QuestionInfo

CONFIDENCE = 0.95
_KINDS = (
    "constant_category",
    "category_bias",
    "low_agreement",
    "random_answers",
    "low_gold_accuracy",
    "severity_bias",
    "position_bias",
    "low_self_agreement",
)
"""What may stand out in a model's answers; how fast they came says nothing."""


@dataclass(frozen=True)
class ModelCategory(Record):
    """One category: a model with the people, and the people with each other on its items.

    Attributes:
        with_people: of all pairs of the model and a person of whom one gave the category, the
            share where both did; None if there is no such pair.
        people: the same share of all pairs of two people on the items that the model answered.
    """

    category: str
    with_people: float | None
    low: float | None
    high: float | None
    agreements: int
    potential_agreements: int
    people: float | None
    people_agreements: int
    people_potential: int


@dataclass(frozen=True)
class ModelAgreement:
    """One model and the people who answered the same items.

    Attributes:
        with_people: mean over these items of the share of people who gave the model's answer;
            None if there is no such item, or no such figure of the question.
        low: lower bound of its 95% interval over items.
        people: how often two people gave the same answer, on the items that two or more of them
            and the model answered; None if there is none.
        majority: Cohen's kappa with what most people gave, on the items on which one answer was
            given most; None if there is no such figure of the question.
        categories: the same for each category that it or a person gave; none of spans.
        findings: what stands out in its answers beside the people's, as JSON.
        left_out_of_people: names of those who give this model's answers, and say nothing of it.
    """

    model: str
    items: int
    with_people: float | None
    low: float | None
    high: float | None
    people: float | None
    majority: Coefficient | None
    categories: Sequence[ModelCategory] = ()
    findings: Sequence[Mapping[str, Any]] = ()
    left_out_of_people: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON."""
        kappa = self.majority
        return {
            "model": self.model,
            "items": self.items,
            "with_people": self.with_people,
            "low": self.low,
            "high": self.high,
            "people": self.people,
            "kappa_with_majority": None if kappa is None else kappa.value,
            "kappa_low": None if kappa is None else kappa.ci_low,
            "kappa_high": None if kappa is None else kappa.ci_high,
            "majority_items": 0 if kappa is None else kappa.items,
            "left_out_of_people": list(self.left_out_of_people),
            "findings": [dict(finding) for finding in self.findings],
            "categories": [category.to_dict() for category in self.categories],
        }


@stored_with_answers
def models_beside_people(
    connection: Connection,
    question: QuestionInfo,
    choice: AnswerFilter = EVERYTHING,
    *,
    only: Collection[str] | None = None,
    confidence: float = CONFIDENCE,
) -> list[ModelAgreement]:
    """Return the models that answered a question, by name, `MOST_MODELS` at most.

    If the choice names annotators, they are among these; ``only`` names models, whatever the choice
    does. Each is counted with the people alone, so that models do not judge each other, and
    without those who give its own answers. A bounded number of statements for each model.
    """
    known = list_annotators(connection, question.project)
    wanted = [
        annotator
        for annotator in known
        if annotator.name not in choice.excluded
        and (not choice.annotators or {annotator.name, *annotator.aliases} & set(choice.annotators))
    ]
    people = [annotator.name for annotator in wanted if annotator.kind == "human"]
    models = [annotator for annotator in wanted if annotator.kind == "model"][:MOST_MODELS]
    if only is not None:
        models = [
            annotator for annotator in known if annotator.kind == "model" and annotator.name in only
        ]
    if not people or not models:
        return []
    # People are chosen, unless others are named: the people's audit counts the same.
    alone = choice if not choice.annotators else replace(choice, annotators=tuple(sorted(people)))
    copying = people_giving_model_answers(
        connection, question, alone, [model.id for model in models]
    )
    named = {annotator.id: annotator.name for annotator in wanted}
    names = category_names(connection, question)
    agreements = []
    for model in models:
        out = sorted(named[number] for number in copying.get(model.id, ()))
        beside = [*(person for person in people if person not in out), model.name]
        together = replace(choice, annotators=tuple(sorted(beside)))
        if question.answers == "spans":
            row = span_figure_rows(connection, question, together).get(model.id)
            if row is not None:
                figures = row["items_shared"], row["agreement_with_peers"], None, None, None, None
                agreements.append(ModelAgreement(model.name, *figures, [], [], out))
            continue
        query = AuditQuery(kinds=audit_kinds_named(_KINDS), filter=together)
        evidence, findings = audit_one(connection, question, query, model.id)
        if model.id in evidence.columns:
            met, alignment = evidence.columns[model.id], evidence.alignments.get(model.id)
            low, high = (alignment and alignment.observed_interval) or (None, None)
            agreements.append(
                ModelAgreement(
                    model.name,
                    alignment.n if alignment else 0,
                    alignment.observed if alignment else None,
                    low,
                    high,
                    alignment.peers if alignment else None,
                    _kappa_with_majority(met, confidence),
                    _categories(met, names, confidence),
                    findings,
                    out,
                )
            )
    return agreements


def _kappa_with_majority(
    met: Mapping[tuple[Answer, Pattern], int], confidence: float
) -> Coefficient:
    most: Counter[tuple[Answer, Answer]] = Counter()
    for (own, pattern), items in met.items():
        given = untied_majority(own, pattern) if answers_in_pattern(pattern) > 1 else None
        if given is not None:
            most[given, own] += items
    return cohen_kappa(most, confidence)


def _categories(
    met: Mapping[tuple[Answer, Pattern], int], names: Mapping[int, str], confidence: float
) -> list[ModelCategory]:
    """Return the categories of a model's items from its answers and what they met."""
    own: defaultdict[int, RateSums] = defaultdict(RateSums)
    people: defaultdict[int, RateSums] = defaultdict(RateSums)
    compared = 0
    for (answer, pattern), items in met.items():
        others = pattern_without(pattern, answer)
        number = answers_in_pattern(others)
        compared += items if number else 0
        for category in {*answer}.union(*(given for given, _ in others)):
            holding = sum(count for given, count in others if category in given)
            both, single = (holding, number) if category in answer else (0, holding)
            own[category].add(both, single, items)
            people[category].add_answers(number, holding, items)
    return [
        _category(
            name,
            rate_of_category(category, own[category], compared, confidence),
            rate_of_category(category, people[category], compared, confidence),
        )
        for category, name in names.items()
        if own[category].potential
    ]


def _category(name: str, own: CategoryRate, people: CategoryRate) -> ModelCategory:
    return ModelCategory(
        name,
        own.rate,
        own.ci_low,
        own.ci_high,
        own.agreements,
        own.potential_agreements,
        people.rate,
        people.agreements,
        people.potential_agreements,
    )
