"""Every annotator against the reference annotator's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.agreement.counts_sql import (
    any_confidence,
    confidences_against_gold,
    confidences_against_majority,
)
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.results import ByQuestion, Record, Spread, ask_each_question
from tracker.core.tallies import Answer
from tracker.counts.annotator_patterns import count_gold_confusions
from tracker.counts.filter import select_answers, select_labels
from tracker.measures.accuracy import (
    Calibration,
    GoldAgreement,
    accuracy_from_confusion,
    calibration,
)
from tracker.projects.annotators import annotator_names, list_annotators
from tracker.projects.categories import category_names
from tracker.projects.questions import QuestionInfo

_ACCURACY = ("true", "given", "right", "precision", "recall", "f1")
NONE = "(none)"
"""What an answer without a category is called in a confusion table."""


@dataclass(frozen=True)
class AgainstTruth:
    """All annotators pooled, and each by name, the least accurate first."""

    project: str
    pooled: GoldAgreement
    annotators: tuple[tuple[str, GoldAgreement], ...]
    categories: Mapping[int, str]

    def to_dict(self) -> dict[str, Any]:
        return {
            "project": self.project,
            "pooled": self.detail(self.pooled),
            "annotators": [
                {"annotator": name} | self.detail(figures) for name, figures in self.annotators
            ],
        }

    def detail(self, gold_agreement: GoldAgreement) -> dict[str, Any]:
        """One set of figures with its categories and its confusion table."""
        return gold_agreement.to_dict() | {
            "ci_low": gold_agreement.ci_low,
            "ci_high": gold_agreement.ci_high,
            "categories": [
                {"category": self.categories[accuracy.category]}
                | {name: getattr(accuracy, name) for name in _ACCURACY}
                for accuracy in gold_agreement.categories
            ],
            "confusion": [
                {"truth": self.name(truth), "answer": self.name(answer), "answers": number}
                for (truth, answer), number in sorted(gold_agreement.confusion.items())
            ],
        }

    def name(self, answer: Answer) -> str:
        """An answer's categories by name, joined with ``|`` where it is a set."""
        return "|".join(self.categories[category] for category in answer) or NONE


def agreement_against_gold(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> AgainstTruth:
    """Accuracy, precision and recall, confusion and kappa of each annotator, and pooled.

    Raises InvalidOption for a project of spans or without a reference annotator.
    """
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.project.name!r} is a project of spans",
            "compare with the reference: --annotator REFERENCE --annotator NAME --by pair",
        )
    asked = query or Query()
    selection = select_answers(connection, question, asked.filter)
    if not selection.references:
        raise InvalidOption(
            f"{question.project.name!r} has no reference annotator to compare with",
            f"import truths in a column gold, or: tracker annotator kind NAME reference "
            f"-p {question.project.name}",
        )
    tables, items = count_gold_confusions(connection, selection)
    names = annotator_names(connection, question.project)
    categories = category_names(connection, question)
    pooled = sum(map(Counter, tables.values()), Counter[tuple[Answer, Answer]]())
    annotators = [
        (
            names[annotator],
            accuracy_from_confusion(table, sum(table.values()), list(categories), asked.confidence),
        )
        for annotator, table in tables.items()
    ]
    # By the upper bound: one wrong answer of one says less than thirty of a hundred.
    annotators.sort(key=lambda row: (1.0 if (high := row[1].ci_high) is None else high, row[0]))
    return AgainstTruth(
        question.project.name,
        accuracy_from_confusion(pooled, items, list(categories)),
        tuple(annotators),
        categories,
    )


# -- How far annotators' confidence can be believed: against gold, or the majority of the others --


GOLD, MAJORITY = "gold", "majority"


@dataclass(frozen=True)
class AnnotatorCalibration(Record):
    annotator: str
    kind: str
    calibration: Annotated[Calibration, Spread]


@dataclass(frozen=True)
class Calibrations(Record):
    """All answers with a confidence pooled, and each annotator's, the worst calibrated first.

    ``against`` says what right answers are: those of ``gold``, or of the ``majority`` of others.
    """

    project: str
    against: str
    selection: Mapping[str, Any] | None
    pooled: Calibration
    annotators: Sequence[AnnotatorCalibration]


def confidence_calibration(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> Calibrations:
    """Return the calibration of each annotator, human or model, and pooled.

    If the project has a reference annotator an answer is right if it is the truth; else if it
    is what most of the other human annotators said. A confidence is of the whole answer: one of
    several categories is right if its categories are exactly those.

    Raises InvalidOption for a question of spans, and if no answer has a confidence.
    """
    if question.answers == "spans":
        raise InvalidOption(
            "spans have no calibration: an answer may be right in part", "leave out --calibration"
        )
    choice = (query or Query()).filter
    selection = select_labels(connection, question, choice)
    if not any_confidence(connection, selection):
        raise InvalidOption("no answer has a confidence", "import a column of them: confidence")
    voters = select_answers(connection, question, replace(choice, annotators=()))
    against = GOLD if voters.references else MAJORITY
    if against == GOLD:
        examined = replace(selection, references=voters.references, decider=voters.decider)
        tallies = confidences_against_gold(connection, examined)
    else:
        tallies = confidences_against_majority(connection, selection, voters)
    annotators = [
        AnnotatorCalibration(annotator.name, annotator.kind, calibration(tallies[annotator.id]))
        for annotator in list_annotators(connection, question.project)
        if annotator.id in tallies
    ]
    annotators.sort(
        key=lambda row: (-(row.calibration.expected_calibration_error or 0.0), row.annotator)
    )
    pooled = calibration([tally for number in sorted(tallies) for tally in tallies[number]])
    return Calibrations(question.project.name, against, selection.told, pooled, annotators)


def calibration_by_question(
    connection: Connection, questions: Sequence[QuestionInfo], query: Query | None = None
) -> ByQuestion[Calibrations]:
    """Return the calibration of each question, the worst calibrated first, without answers last.

    Raises InvalidOption if no question has answers with a confidence.
    """
    pages, unfit = ask_each_question(
        questions, lambda question: confidence_calibration(connection, question, query)
    )
    errors = {name: page.pooled.expected_calibration_error for name, page in pages.items()}
    ranked = sorted(
        pages, key=lambda name: -1.0 if (e := errors[name]) is None else e, reverse=True
    )
    return ByQuestion(questions[0].project.name, {name: pages[name] for name in ranked}, unfit)
