"""How far a project is: coverage of the wanted answers, pace, and when it will be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from sqlalchemy import Connection

from tracker.agreement.coefficients import study
from tracker.agreement.query import Query
from tracker.agreement.recent import recent_level
from tracker.agreement.run import assess
from tracker.audit.flag_list import count_flags
from tracker.audit.verdict import VerdictJson
from tracker.core import clock
from tracker.core.results import Hidden, Json, Record
from tracker.counts.annotator_patterns import select_answering_annotators
from tracker.counts.filter import select_answers
from tracker.counts.items import count_answers_per_item, count_recent_labels
from tracker.imports.undo import list_imports
from tracker.projects.annotators import (
    annotator_names,
    find_away,
    project_aliases,
)
from tracker.projects.items import count_project_items
from tracker.projects.kept import stored_with_answers
from tracker.projects.questions import QuestionInfo
from tracker.render.formats import Shown
from tracker.storage.current import LEFT, PAUSED

if TYPE_CHECKING:
    from tracker.projects.questions import QuestionInfo


_PACE_DAYS = 28


class StatusJson(TypedDict):
    """How far a question is."""

    project: str
    items: int
    items_unanswered: int
    answers: int
    annotators: int
    annotators_gone: list[str]
    annotators_paused: NotRequired[list[str]]
    wanted: int | None
    items_complete: int | None
    coverage: float | None
    answers_missing: int | None
    answers_per_item: dict[str, int]
    answers_per_day: float | None
    pace_from: str | None
    pace_to: str | None
    estimated_completion: str | None
    last_import: dict[str, Any] | None
    open_flags: int
    recent: dict[str, Any] | None
    archived: bool


class _StatusOfQuestion(StatusJson):
    """How far one of several questions is."""

    question: str


class StatusPage(StatusJson, VerdictJson):
    """How far a project of one question is; with verdict and goals if asked about alone."""

    goals: list[dict[str, Any]] | None
    assignments: list[dict[str, Any]] | None


class StatusByQuestion(VerdictJson):
    """How far each question of a project is; with verdict and goals if asked about alone."""

    project: str
    questions: list[_StatusOfQuestion]
    goals: list[dict[str, Any]] | None
    assignments: list[dict[str, Any]] | None


class Statuses(TypedDict):
    """How far each project is that is not archived."""

    projects: list[StatusPage | StatusByQuestion]


@dataclass(frozen=True)
class Pace(Record):
    """How many answers a day came, from when to when."""

    per_day: Annotated[float, Json("answers_per_day")]
    oldest: Annotated[int, Json("from", write=clock.iso)]
    newest: Annotated[int, Json("to", write=clock.iso)]
    now: Annotated[int, Hidden]

    def when_there(self, answers: int) -> int | None:
        """Return when so many more answers are there; None if work has stopped."""
        now = max(self.now, self.newest)
        if now - self.newest > _PACE_DAYS * clock.DAY:
            return None
        return round(now + answers / self.per_day * clock.DAY)


@dataclass(frozen=True, repr=False)
class Status(Shown):
    """The state of one question of a project.

    ``answers_per_item`` is ``{answers: items}``; ``pace`` that of those who are still there, over
    the four weeks before the newest answer; ``done_at`` the moment at which, at that pace, every
    item has the wanted answers. None if nobody has answered for as long as the pace was taken over:
    work that has stopped has no end. ``gone`` are the annotators who left, by name, ``paused``
    those who are paused. ``recent`` is the last change of the level of agreement, as JSON.
    """

    question: QuestionInfo
    annotators: int
    answers_per_item: Mapping[int, int]
    last_import: dict[str, Any] | None
    flags: int
    pace: Pace | None = None
    gone: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    recent: Mapping[str, Any] | None = None

    @property
    def project(self) -> str:
        """The project's name."""
        return self.question.project.name

    @property
    def per_day(self) -> float | None:
        """Answers a day at the pace of late; None where unknown."""
        return None if self.pace is None else self.pace.per_day

    @property
    def items(self) -> int:
        """Items, with an answer or without."""
        return sum(self.answers_per_item.values())

    @property
    def unanswered(self) -> int:
        """Items without an answer that counts."""
        return self.answers_per_item.get(0, 0)

    @property
    def answers(self) -> int:
        """Answers that count."""
        return sum(number * items for number, items in self.answers_per_item.items())

    @property
    def missing(self) -> int | None:
        """Answers still wanted; None where no number is wanted."""
        wanted = self.question.target_answers
        if wanted is None:
            return None
        return sum(
            max(wanted - number, 0) * items for number, items in self.answers_per_item.items()
        )

    @property
    def complete(self) -> int | None:
        """Items that have the wanted answers; None where no number is wanted."""
        wanted = self.question.target_answers
        if wanted is None:
            return None
        return sum(items for number, items in self.answers_per_item.items() if number >= wanted)

    @property
    def done_at(self) -> int | None:
        """When the last wanted answer comes, at the pace of late; None where unknown."""
        return self.when_there(self.missing) if self.missing else None

    def when_there(self, answers: int) -> int | None:
        """Return when so many more answers are there, at the pace of late; None where unknown."""
        return None if self.pace is None else self.pace.when_there(answers)

    def to_dict(self) -> StatusJson:
        """The status as JSON."""
        payload: StatusJson = {
            "project": self.project,
            "items": self.items,
            "items_unanswered": self.unanswered,
            "answers": self.answers,
            "annotators": self.annotators,
            "annotators_gone": list(self.gone),
            "wanted": self.question.target_answers,
            "items_complete": self.complete,
            "coverage": self.complete / self.items
            if self.complete is not None and self.items
            else None,
            "answers_missing": self.missing,
            "answers_per_item": {str(n): items for n, items in self.answers_per_item.items()},
            "answers_per_day": self.per_day,
            "pace_from": None if self.pace is None else clock.iso(self.pace.oldest),
            "pace_to": None if self.pace is None else clock.iso(self.pace.newest),
            "estimated_completion": None if self.done_at is None else clock.iso(self.done_at),
            "last_import": self.last_import,
            "open_flags": self.flags,
            "recent": None if self.recent is None else dict(self.recent),
            "archived": self.question.project.archived_at is not None,
        }
        if self.paused:
            payload["annotators_paused"] = list(self.paused)
        return payload


def question_pace(
    connection: Connection, question: QuestionInfo, as_of: int | None = None
) -> Pace | None:
    """Return the pace of those who are still there; None if answers of less than a day tell of it.

    Those who are paused are not there. ``as_of`` is the moment that it was asked for, None for now.
    """
    selection = select_answers(connection, question)
    away = find_away(connection, question.project)
    there = selection.without(frozenset(away))
    recent = count_recent_labels(connection, there, _PACE_DAYS)
    if recent is None:
        return None
    number, oldest, newest = recent
    if newest - oldest < clock.DAY:
        return None
    now = clock.now() if as_of is None else as_of
    return Pace(number / ((newest - oldest) / clock.DAY), oldest, newest, now)


def project_status(
    connection: Connection, question: QuestionInfo, as_of: int | None = None
) -> Status:
    """Count how far a question is; ``as_of`` is the moment that it was asked for, None for now."""
    selection = select_answers(connection, question)
    imports = [i for i in list_imports(connection, question.project_id) if i.undone_at is None]
    away = find_away(connection, question.project)
    answered = count_answers_per_item(connection, selection)
    unanswered = count_project_items(connection, question.project) - sum(answered.values())
    names = annotator_names(connection, question.project) if away else {}
    aliases = project_aliases(connection, question.project_id) if away else {}

    def named(word: str) -> tuple[str, ...]:
        people = (person for person, said in away.items() if said == word)
        return tuple(sorted(names[person] for person in people if person not in aliases))

    return Status(
        question=question,
        gone=named(LEFT),
        paused=named(PAUSED),
        annotators=len(select_answering_annotators(connection, selection)),
        answers_per_item=({0: unanswered} if unanswered > 0 else {}) | answered,
        last_import=imports[-1].to_dict() if imports else None,
        flags=count_flags(connection, question.project, question),
        pace=question_pace(connection, question, as_of),
        recent=None if question.answers == "spans" else _recent(connection, question),
    )


@stored_with_answers
def _recent(connection: Connection, question: QuestionInfo) -> dict[str, Any] | None:
    query = Query(("krippendorff_alpha",))
    # Intervals cost a listing the start of scipy: they are made if there is something to say.
    if recent_level(study(connection, question, query)) is None:
        return None
    return assess(connection, question, query, recent=True).recent_dict


def status_as_json(
    statuses: Sequence[Status],
    verdict: VerdictJson | None = None,
    goals: list[dict[str, Any]] | None = None,
    assignments: list[dict[str, Any]] | None = None,
) -> StatusPage | StatusByQuestion:
    """Return the status of a project: of its one question, or of each of several.

    ``goals`` are those of the questions that have one, as JSON; None if nobody asked for them.
    ``assignments`` are how many each annotator has in each state, likewise.
    """
    about: VerdictJson = verdict or {}
    if len(statuses) == 1:
        return {**statuses[0].to_dict(), **about, "goals": goals, "assignments": assignments}
    questions: list[_StatusOfQuestion] = [
        {"question": status.question.name, **status.to_dict()} for status in statuses
    ]
    return {
        "project": statuses[0].project,
        **about,
        "questions": questions,
        "goals": goals,
        "assignments": assignments,
    }
