"""What several pages show of a project, kept until the project changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import UnfitQuestion
from tracker.web.request import Asked, Place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tracker.audit.result import AuditByQuestion
    from tracker.history.by_question import AgreementByQuestion
    from tracker.history.plot import Figure
    from tracker.history.snapshot import History
    from tracker.history.status import Status
    from tracker.ledger import Ledger
    from tracker.projects.identities import Duplicate

_EVIDENCE = 5
"""Items that show a finding."""
_MOST_DRAWN = 60
"""Snapshots in a small drawing, the last ones."""


def agreement_of(asked: Asked, place: Place) -> AgreementByQuestion:
    return asked.figure(
        place.project,
        "agreement",
        place.key,
        compute=lambda it: it.agreement_by_question(place.project, **place.selecting),
    )


def audit_of(asked: Asked, place: Place) -> AuditByQuestion:
    """Return the findings on each question's annotators, with items that show them."""
    return asked.figure(
        place.project,
        "audit",
        place.key,
        compute=lambda it: it.audit_by_question(
            place.project, evidence=_EVIDENCE, **place.selecting
        ),
    )


def flagged_of(asked: Asked, place: Place, question: str) -> list[str]:
    audits = audit_of(asked, place).audits
    return next((audit.flagged_names for audit in audits if audit.question == question), [])


def questions_of_numbers(asked: Asked, place: Place) -> frozenset[str]:
    """Return the names of the questions whose answers are many numbers."""
    return asked.figure(
        place.project,
        "numbers",
        compute=lambda it: frozenset(
            question.question.name
            for question in it.projects.settings(place.project).questions
            if question.many_numbers
        ),
    )


def questions_with_scale(asked: Asked, place: Place, *scales: str) -> frozenset[str]:
    return asked.figure(
        place.project,
        "scales",
        scales,
        compute=lambda ledger: frozenset(
            question.name
            for question in ledger.questions.list(place.project)
            if question.scale in scales
        ),
    )


def progress_of(asked: Asked, place: Place) -> list[Status]:
    return asked.figure(
        place.project,
        "status",
        place.key,
        compute=lambda it: it.status_by_question(place.project, **place.then),
    )


def has_recorded_findings(asked: Asked, place: Place) -> bool:
    """Return whether an audit ever recorded a finding, whatever became of it."""
    return asked.figure(
        place.project, "recorded", compute=lambda it: it.flags.list(place.project).any_recorded
    )


def duplicates_of(asked: Asked, place: Place) -> Sequence[Duplicate]:
    return asked.figure(
        place.project, "duplicates", compute=lambda it: it.annotators.duplicates(place.project)
    )


class Judged(NamedTuple):
    """Models as judges, as JSON: each of each question, every two, and the questions without."""

    judges: Sequence[Mapping[str, Any]]
    compared: Sequence[Mapping[str, Any]]
    unfit: Sequence[UnfitQuestion]


def judges_of(asked: Asked, place: Place) -> Judged:
    """Return each model beside the people, versions of a family in their order."""

    def judged(ledger: Ledger) -> Judged:
        from tracker.judge.plot import in_order

        names = [question.name for question in ledger.questions.list(place.project)]
        found, unfit = [], []
        for name in names:
            try:
                found.append(ledger.judges.judge(place.project, questions=[name], **place.then))
            except NotFound:  # no models, or people answered other items
                continue
            except InvalidOption as error:
                unfit.append(UnfitQuestion(name, error.message))
        return Judged(
            in_order(judge.to_dict() for judges in found for judge in judges.judges),
            [row.to_dict() for judges in found for row in judges.compared],
            unfit,
        )

    return asked.figure(place.project, "judges", place.key, compute=judged)


def readiness_of(asked: Asked, place: Place, question: str, annotator: str) -> str | None:
    """Return whether a newcomer is ready, in a sentence; None if that cannot be asked."""

    def sentence(ledger: Ledger) -> str | None:
        try:
            ready = ledger.annotators.ready(place.project, annotator, question=question)
        except InvalidOption:  # spans, numbers
            return None
        return ready.sentence if ready.answers else None

    return asked.figure(place.project, "ready", question, annotator, compute=sentence)


def trend_of(asked: Asked, place: Place, question: str, measure: str) -> Sequence[Figure]:
    """Return a figure's values with their errors in the last snapshots, oldest first.

    They are those of what came since the snapshot before; if a measure has none, those of all
    answers, without errors.
    """

    def trend(ledger: Ledger) -> list[Figure]:
        history = ledger.history_by_question(
            place.project, questions=[question], measures=[measure]
        ).questions[question]
        snapshots = cast("History", history).snapshots[-_MOST_DRAWN:]
        own = [figure for point in snapshots if point.own for figure in point.own.measures]
        if len(own) == len(snapshots) and any(figure.value is not None for figure in own[1:]):
            return [(figure.value, figure.standard_error) for figure in own]
        return [(figure.value, None) for point in snapshots for figure in point.assessment.measures]

    return asked.figure(place.project, "trend", question, measure, compute=trend)
