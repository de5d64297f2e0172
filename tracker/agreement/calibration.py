"""How far annotators' confidence can be believed: against gold, or the majority of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.query import Query
from tracker.core.each_question import ByQuestion, ask_each_question
from tracker.core.errors import InvalidOption
from tracker.measures.calibration import Calibration, calibration
from tracker.projects.annotators import list_annotators
from tracker.projects.question import QuestionInfo

GOLD, MAJORITY = "gold", "majority"


class AnnotatorCalibration(NamedTuple):
    """One annotator's calibration."""

    annotator: str
    kind: str
    calibration: Calibration

    def to_dict(self) -> dict[str, Any]:
        """Return the annotator as JSON."""
        return {"annotator": self.annotator, "kind": self.kind, **self.calibration.to_dict()}


@dataclass(frozen=True)
class Calibrations:
    """All answers with a confidence pooled, and each annotator's, the worst calibrated first.

    ``against`` says what right answers are: those of ``gold``, or of the ``majority`` of others.
    """

    project: str
    against: str
    selection: Mapping[str, Any] | None
    pooled: Calibration
    annotators: Sequence[AnnotatorCalibration]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker agreement --calibration``."""
        return {
            "project": self.project,
            "against": self.against,
            "selection": None if self.selection is None else dict(self.selection),
            "pooled": self.pooled.to_dict(),
            "annotators": [one.to_dict() for one in self.annotators],
        }


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
    selection = queries.select_labels(connection, question, choice)
    if not queries.any_confidence(connection, selection):
        raise InvalidOption("no answer has a confidence", "import a column of them: confidence")
    voters = queries.select_answers(connection, question, replace(choice, annotators=()))
    against = GOLD if voters.references else MAJORITY
    if against == GOLD:
        examined = replace(selection, references=voters.references)
        tallies = queries.confidences_against_gold(connection, examined)
    else:
        tallies = queries.confidences_against_majority(connection, selection, voters)
    annotators = [
        AnnotatorCalibration(one.name, one.kind, calibration(tallies[one.id]))
        for one in list_annotators(connection, question.project)
        if one.id in tallies
    ]
    annotators.sort(
        key=lambda one: (-(one.calibration.expected_calibration_error or 0.0), one.annotator)
    )
    pooled = calibration([one for number in sorted(tallies) for one in tallies[number]])
    return Calibrations(question.project.name, against, selection.told, pooled, annotators)


def calibration_by_question(
    connection: Connection, questions: Sequence[QuestionInfo], query: Query | None = None
) -> ByQuestion[Calibrations]:
    """Return the calibration of each question, the worst calibrated first, without answers last.

    Raises InvalidOption if no question has answers with a confidence.
    """
    made, unfit = ask_each_question(
        questions, lambda one: confidence_calibration(connection, one, query)
    )
    errors = {name: one.pooled.expected_calibration_error for name, one in made.items()}
    ranked = sorted(made, key=lambda name: -1.0 if (e := errors[name]) is None else e, reverse=True)
    return ByQuestion(questions[0].project.name, {name: made[name] for name in ranked}, unfit)
