"""What is said of a model as a judge: figures beside people's own, tests, a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from tracker.core.results import Filled, Json, Record
from tracker.judge.soft_labels import GroupSide, SoftLabelDistances
from tracker.measures.accuracy import Calibration
from tracker.measures.alternative_test import AlternativeTest
from tracker.measures.intervals import Coefficient
from tracker.render.formats import Shown

Verdict = Literal["trusted", "not_trusted", "insufficient"]
VERDICTS: Final[Mapping[Verdict, str]] = {
    "trusted": "trusted",
    "not_trusted": "not trusted",
    "insufficient": "not enough answers to say",
}


def _figure(figure: Coefficient) -> dict[str, Any]:
    names = ("value", "ci_low", "ci_high", "items", "undefined")
    return {name: getattr(figure, name) for name in names}


Figure = Annotated[Coefficient, Json(write=_figure, kind=dict[str, Any])]
OptionalFigure = Annotated[Coefficient | None, Json(write=_figure, kind=dict[str, Any] | None)]


@dataclass(frozen=True)
class JudgeMeasure(Record):
    """One coefficient on the items of the model that two people or more answered.

    Attributes:
        measure: its name.
        model_with_humans: of the model and the people.
        humans_with_humans: of the people with each other, the ceiling.
        baseline: of a judge that always gives people's most frequent answer.
        random_baseline: what a judge would reach that drew answers at the model's own rates.
        difference: of the model's figure less the people's.
        ci_low: its lower bound.
        ci_high: the upper one.
        informative: items on which the model or a person gave anything but the most frequent
            answer; of spans, documents in which somebody marked any.
        people_error: the difference's standard error over people; None of fewer than three.
    """

    measure: str
    model_with_humans: Figure
    humans_with_humans: Figure
    baseline: Figure
    random_baseline: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    informative: int
    people_error: float | None

    @property
    def sampling(self) -> str:
        """What the bounds of the difference generalize to."""
        return "items" if self.people_error is None else "items and people"


@dataclass(frozen=True)
class BesideMajority(Record):
    """How often the model, and a person, gave what most of the other people did."""

    model: Figure
    humans: Figure


@dataclass(frozen=True)
class AgainstTruths(Record):
    """How often the model, and the people pooled, gave the truth: decisions, or references'."""

    items: int
    model: Figure
    humans: Figure


@dataclass(frozen=True)
class PersonBeside(Record):
    """The model and one person on the items that both answered.

    Attributes:
        annotator: the person's name.
        items: how many.
        agreement: the share on which both gave the same answer.
        kappa: Cohen's kappa of the two.
        others: the mean share of the other people who gave the person's answer, on those of the
            items that others answered, too.
    """

    annotator: str
    items: int
    agreement: Figure
    kappa: Figure
    others: float | None


@dataclass(frozen=True)
class JudgeRates(Record):
    """How the model recognizes one category; each None if there is nothing to divide by.

    Attributes:
        true_positive_rate: of the items that have the category, the share to which it gives it.
        true_negative_rate: of the others, the share to which it does not.
        precision: of the items to which it gives the category, the share that has it.
        items: that have it.
        given: to which the model gives it.
    """

    true_positive_rate: float | None
    true_negative_rate: float | None
    precision: float | None
    items: int
    given: int


@dataclass(frozen=True)
class ConfusedExample(Record):
    """An item that people and the model see differently, and what the model said about it."""

    item: str
    text: str | None
    votes: Mapping[str, int]
    rationale: str | None


@dataclass(frozen=True)
class Confused(Record):
    """Items of one label to which the model gave another, with some of them."""

    truth: str
    given: str
    items: int
    examples: Annotated[Sequence[ConfusedExample], Filled] = ()


@dataclass(frozen=True)
class JudgeBias(Record):
    """What the model does otherwise than people, on all items or on those of a slice.

    Attributes:
        kind: "category" if it gives one more or less often than people, "severity" if its numbers
            are higher or lower, "slice" if it agrees with them less there than elsewhere,
            "preference" if it gives a category more often there than elsewhere, or scores
            otherwise, beside people, "self_preference" if these are its own outputs.
        category: its name; None of agreement and of numbers.
        slice: attribute and value; None of all items.
        items: of the slice, or all.
        observed: the model's share of the category, or its agreement less people's own.
        expected: people's share on the same items, or the same elsewhere.
        p_value: if it was no different from people.
        q_value: corrected for all that were looked at.
        why: in a sentence.
    """

    kind: str
    category: str | None
    slice: str | None
    items: int
    observed: float
    expected: float
    p_value: float
    q_value: float
    why: str


@dataclass(frozen=True)
class Judge(Record):
    """One model as a judge of one question.

    Attributes:
        question: its name.
        model: its name.
        attributes: what is known of the model, such as its version.
        humans: people who answered items that it did.
        items: that it and people answered; two or more of them if there are such.
        tuning_items: marked as used for tuning, which count nowhere.
        verdict: on the lower bound of the difference to people, against the margin.
        why: the verdict in a sentence.
        sampling: what the verdict holds for: other "items", or other "items and people".
        measure: on which it rests.
        margin: by how much the model may be below the people.
        bar: people's figure less the margin; None if it is undefined.
        more: items until the verdict could be sure, were the figures to stay; None if it is, or
            if the project has no more items or they would not do.
        measures: each coefficient.
        majority: of the others; None of spans.
        gold: None without truths of items that it answered.
        alternative_test: whether it may stand in for each person.
        truth: what ``rates`` and ``confusion`` compare with.
        rates: by category, in their order.
        confusion: of items with a label to which the model gave another, the most frequent first.
        people: each, those it agrees with least first.
        biases: what it surely does otherwise than people, the most certain first.
        distances: how far its answers are from the shares of people who gave each; None of spans.
        distances_of_people: likewise each person's, from the others.
        sides: how often it says what each group of people says, if groups were asked for.
        calibration: its confidence against how often it is right; None without confidences.
        copied_by: people whose answers are so like the model's that they say nothing of it.
        reservations: what to bear in mind.
    """

    question: str
    model: str
    attributes: Annotated[Mapping[str, str], Filled]
    humans: int
    items: int
    tuning_items: int
    verdict: Verdict
    why: str
    sampling: str
    measure: str
    margin: float
    bar: float | None
    more: int | None
    measures: Sequence[JudgeMeasure]
    alternative_test: AlternativeTest
    truth: str
    rates: Mapping[str, JudgeRates]
    people: Sequence[PersonBeside]
    majority: BesideMajority | None = None
    gold: AgainstTruths | None = None
    confusion: Sequence[Confused] = ()
    biases: Sequence[JudgeBias] = ()
    distances: SoftLabelDistances | None = None
    distances_of_people: SoftLabelDistances | None = None
    sides: Annotated[Sequence[GroupSide], Filled] = ()
    calibration: Calibration | None = None
    copied_by: Annotated[Sequence[str], Filled] = ()
    reservations: Sequence[str] = ()

    @property
    def main(self) -> JudgeMeasure:
        """The coefficient of the verdict."""
        return next(row for row in self.measures if row.measure == self.measure)


@dataclass(frozen=True)
class JudgeChange(Record):
    """What made the difference between the figures of two models, each on its own items.

    Attributes:
        total: the second one's figure less the first one's.
        judge: on the items that both answered: what the models do otherwise.
        ceiling: how much more people agree on the second one's items.
        items: the rest: items that suit the models otherwise.
    """

    total: float
    judge: float
    ceiling: float
    items: float


@dataclass(frozen=True)
class ModelsCompared(Record):
    """Two models, such as versions of one, on the items that both and people answered.

    Attributes:
        question: its name.
        models: the two, the earlier version first.
        measure: the coefficient of the verdict.
        items: how many.
        first: the first one's figure with people.
        second: the second one's.
        difference: the second less the first.
        ci_low: lower bound.
        ci_high: the upper one.
        p_value: of no difference; None if there is none on any item.
        q_value: corrected for all pairs of models of the question (Holm 1979).
        winner: the better one, if that is sure; None if not.
        change: what made the difference of the two on all items of each.
    """

    question: str
    models: tuple[str, str]
    measure: str
    items: int
    first: float | None
    second: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    q_value: float | None
    winner: str | None
    change: JudgeChange | None


@dataclass(frozen=True, repr=False)
class Judges(Shown):
    """The models of a project, each as a judge of each question it answered."""

    project: str
    judges: Sequence[Judge]
    compared: Sequence[ModelsCompared]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON: of one model and one question its page, else all of them."""
        if len(self.judges) == 1:
            return {"project": self.project, **self.judges[0].to_dict()}
        return {
            "project": self.project,
            "judges": [judge.to_dict() for judge in self.judges],
            "compared": [row.to_dict() for row in self.compared],
        }
