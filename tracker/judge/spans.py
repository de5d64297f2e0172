"""Models judged on spans: how much alike the spans of a document are, document by document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import Final, TypeAlias

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.counts_sql import select_span_documents
from tracker.counts.selection import Selection
from tracker.judge.result import JudgeMeasure, JudgeRates, PersonBeside
from tracker.judge.verdict import judge_measure
from tracker.measures.alternative_test import Advantages
from tracker.measures.estimate import Estimate, undefined_estimate
from tracker.measures.intervals import NO_OVERLAP, Parts

SPAN_MEASURE: Final = "span_f1_exact"
Spans: TypeAlias = Counter[tuple[int, int, int]]


def spans_alike(first: Spans, second: Spans) -> float:
    """Return the exact F1 of two sets of spans of a document; 1 if both are empty."""
    marked = first.total() + second.total()
    return 2 * (first & second).total() / marked if marked else 1.0


@dataclass
class SpanJudge:
    """What one model and the people marked in the documents that both answered.

    Attributes:
        model: of each document how much alike the model's spans are to a person's, on average.
        people: likewise two people's; None of a document that one person answered.
        nothing: likewise those of a judge that marks nothing, to a person's.
        nearer: of each person, the documents on which the model is nearer to the others, neither
            is, the person is.
        persons: of each person, how much alike the model's spans are to theirs, by document.
        right: spans of each category that the model and a person both marked.
        given: spans of the category that the model marked, once for each person.
        marked: that the people did.
        documents: of each how much alike the spans are of the model and a person, and of two.
    """

    model: list[float] = field(default_factory=list)
    people: list[float | None] = field(default_factory=list)
    nothing: list[float] = field(default_factory=list)
    nearer: defaultdict[int, list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0, 0])
    )
    persons: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    right: Counter[int] = field(default_factory=Counter)
    given: Counter[int] = field(default_factory=Counter)
    marked: Counter[int] = field(default_factory=Counter)
    documents: list[tuple[Mapping[int, float], Mapping[frozenset[int], float]]] = field(
        default_factory=list
    )

    def add(self, own: Spans, people: Mapping[int, Spans]) -> None:
        """Add a document that the model and some people answered."""
        near = {person: spans_alike(own, spans) for person, spans in people.items()}
        pairs = {
            frozenset(pair): spans_alike(people[pair[0]], people[pair[1]])
            for pair in combinations(people, 2)
        }
        self.documents.append((near, pairs))
        self.model.append(fmean(near.values()))
        self.people.append(fmean(pairs.values()) if pairs else None)
        self.nothing.append(fmean(float(not spans) for spans in people.values()))
        for person, spans in people.items():
            self.persons[person].append(near[person])
            self._count(own, spans)
            others = [other for other in people if other != person]
            if others:
                model = sum(near[other] for other in others)
                human = sum(pairs[frozenset((person, other))] for other in others)
                tie = abs(model - human) < 1e-9
                self.nearer[person][1 if tie else 0 if model > human else 2] += 1

    def _count(self, own: Spans, spans: Spans) -> None:
        for counts, marked in ((self.right, own & spans), (self.given, own), (self.marked, spans)):
            for (category, _, _), number in marked.items():
                counts[category] += number

    @property
    def advantages(self) -> Advantages:
        """The counts of the alternative annotator test."""
        return {person: (a, b, c) for person, (a, b, c) in sorted(self.nearer.items())}

    def measure(self, confidence: float) -> JudgeMeasure:
        """Return exact F1, the mean over documents that two people or more answered, if any."""
        several = [n for n, alike in enumerate(self.people) if alike is not None]
        chosen = several or range(len(self.model))
        model, nothing = (
            _mean([values[n] for n in chosen]) for values in (self.model, self.nothing)
        )
        people = _mean([self.people[n] or 0.0 for n in several])
        informative = sum(
            nothing < 1 or own < 1 for nothing, own in zip(self.nothing, self.model, strict=True)
        )
        return judge_measure(
            model, people, nothing,
            at_random=None, informative=informative, confidence=confidence,
            without=[self._without(person) for person in sorted(self.persons)],
            people=len(self.persons),
        )  # fmt: skip

    def _without(self, left: int) -> float | None:
        """Return the difference of the model's mean and the people's without one of these."""
        model, others = [], []
        for near, pairs in self.documents:
            rest = [alike for pair, alike in pairs.items() if left not in pair]
            if rest:
                model.append(fmean(alike for person, alike in near.items() if person != left))
                others.append(fmean(rest))
        return fmean(model) - fmean(others) if model else None

    def rates(self, names: Mapping[int, str]) -> dict[str, JudgeRates]:
        """Return the rates of each category, of spans: nothing counts those left unmarked."""
        return {
            name: JudgeRates(
                self.right[category] / self.marked[category] if self.marked[category] else None,
                None,
                self.right[category] / self.given[category] if self.given[category] else None,
                self.marked[category],
                self.given[category],
            )
            for category, name in names.items()
        }

    def beside(self, names: Mapping[int, str], confidence: float) -> list[PersonBeside]:
        """Return each person beside the model, those it agrees with least first."""
        rows = [
            PersonBeside(
                names[person], len(near), _mean(near).coefficient(confidence),
                undefined_estimate("cohen_kappa", "not_applicable", reading={}).coefficient(),
                None,
            )
            for person, near in self.persons.items()
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (row.agreement.value or 0.0, row.annotator))


def _mean(values: Sequence[float]) -> Estimate:
    """Return a mean over documents with the influence of each."""
    if not values:
        return undefined_estimate(SPAN_MEASURE, NO_OVERLAP, reading={})
    numbers = np.array(values)
    mean = float(numbers.mean())
    size = len(values)
    return Estimate(
        SPAN_MEASURE, mean, None, Parts(mean), (numbers - mean) / size,
        np.ones(size, dtype=np.int64), of_pairs=True, items=size, compared=size,
    )  # fmt: skip


def count_span_judges(
    connection: Connection, people: Selection, models: frozenset[int]
) -> dict[int, SpanJudge]:
    """Return what models and people marked in the same documents, read one after the other."""
    judges: dict[int, SpanJudge] = {}
    for document in select_span_documents(connection, people.with_models(models)):
        answers = {who: Counter(spans) for who, spans in document.answers.items()}
        humans = {who: spans for who, spans in answers.items() if who not in models}
        for who in models.intersection(answers):
            judge = judges.setdefault(who, SpanJudge())
            if humans:
                judge.add(answers[who], humans)
    return judges
