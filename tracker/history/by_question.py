"""Agreement question by question: the main figure of each, its change, its open findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.agreement.result import Assessment, AssessmentJson
from tracker.agreement.run import assess
from tracker.audit.flag_list import count_flags
from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.core.results import ByQuestion, UnfitQuestion, ask_each_question, json_by_question
from tracker.history.curve import Curve
from tracker.history.overview import SnapshotPage, snapshot_page
from tracker.history.snapshot import (
    CourseJson,
    History,
    PointJson,
    SnapshotRecord,
    last_snapshot_of_choice,
)
from tracker.history.take import Taken
from tracker.measures.intervals import Coefficient
from tracker.projects.questions import QuestionInfo
from tracker.render.formats import Shown

if TYPE_CHECKING:
    import pandas as pd


class _AgreementOfQuestion(AssessmentJson):
    """The figures of one question beside those of others."""

    question: str
    main: str
    since_snapshot: dict[str, Any] | None
    open_findings: int


class AgreementsJson(TypedDict):
    """The figures of each question, the weakest first, and the questions that do not fit."""

    project: str
    questions: list[_AgreementOfQuestion | UnfitQuestion]


class _SnapshotOfQuestion(PointJson):
    """What a snapshot has of one of several questions."""

    question: str


class SnapshotsJson(TypedDict):
    """What a snapshot has of each question."""

    snapshot: int
    questions: list[_SnapshotOfQuestion]


class _CourseOfQuestion(CourseJson):
    """The history of one of several questions."""

    question: str


class CoursesJson(TypedDict):
    """The history of each question, and the questions that do not fit."""

    project: str
    questions: list[_CourseOfQuestion | UnfitQuestion]


@dataclass(frozen=True)
class QuestionAgreement:
    """The figures of one question beside those of others.

    Attributes:
        question: the question.
        assessment: its figures.
        main: the one that stands for them: the first asked for by name, else alpha if there is one.
        last: the last snapshot of the same choice of answers, of no later moment than they.
        findings: the number of open or acknowledged flags.
    """

    question: QuestionInfo
    assessment: Assessment
    main: Coefficient
    last: SnapshotRecord | None
    findings: int

    @property
    def change(self) -> float | None:
        """By how much the main figure differs from that of the last snapshot; None if unknown."""
        then = () if self.last is None else self.last.assessment.measures
        before = next((figure.value for figure in then if _is_alike(figure, self.main)), None)
        return None if before is None or self.main.value is None else self.main.value - before

    def to_dict(self) -> dict[str, Any]:
        """Return the page of the question as JSON, and what the table has beside it."""
        return {
            "question": self.question.name,
            **self.assessment.to_dict(),
            "main": self.main.measure,
            "since_snapshot": None
            if self.last is None
            else {
                "snapshot": self.last.id,
                "as_of": clock.iso(self.last.moment),
                "difference": self.change,
            },
            "open_findings": self.findings,
        }

    def row(self) -> dict[str, Any]:
        """Return the question as one row of plain values."""
        lowest = self.assessment.summary.lowest
        return {
            "question": self.question.name,
            "answers": self.question.asks,
            "scale": self.assessment.scale,
            "items": self.assessment.counts.items_compared,
            "measure": self.main.measure,
            "value": self.main.value,
            "ci_low": self.main.ci_low,
            "ci_high": self.main.ci_high,
            "undefined": self.main.undefined,
            "weakest_category": None
            if lowest is None
            else self.assessment.categories[lowest.category],
            "rate": None if lowest is None else lowest.rate,
            "change": self.change,
            "open_findings": self.findings,
        }


def _is_alike(first: Coefficient, second: Coefficient) -> bool:
    """Return whether two figures are of one measure, computed in one way."""
    return first.measure == second.measure and all(
        first.details.get(key) == second.details.get(key)
        for key in ("weights", "scale", "distance")
    )


@dataclass(frozen=True, repr=False)
class AgreementByQuestion(Shown):
    """The questions of a project, the one with the lowest main figure first, and the unfit."""

    project: str
    questions: tuple[QuestionAgreement, ...]
    unfit: tuple[UnfitQuestion, ...] = ()

    def to_dict(self) -> Annotated[dict[str, Any], AgreementsJson]:
        """Return the questions as JSON."""
        questions = [question.to_dict() for question in self.questions]
        questions += [question.to_dict() for question in self.unfit]
        return {"project": self.project, "questions": questions}

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row per question."""
        return [question.row() for question in self.questions] + [
            question.to_dict() for question in self.unfit
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per question."""
        import pandas as pd

        return pd.DataFrame(self.rows())


def agreement_by_question(
    connection: Connection, questions: Sequence[QuestionInfo], query: Query
) -> AgreementByQuestion:
    """Return the figures of each question of a project, the weakest first.

    The number of statements is that of `assess` and a few more for each question; it does not
    depend on the answers. Questions without a main figure come last, and behind them those that
    the query does not fit. Raises InvalidOption if it fits none.
    """
    choice = query.filter
    until = choice.known_at if choice.as_of is None else choice.as_of

    def ask(question: QuestionInfo) -> QuestionAgreement:
        assessment = assess(connection, question, query, recent=True)
        main = assessment.measures[0] if query.measures else assessment.main
        last = last_snapshot_of_choice(
            connection, question, assessment.selection, [main.measure], until
        )
        findings = count_flags(connection, question.project, question)
        return QuestionAgreement(question, assessment, main, last, findings)

    agreements, unfit = ask_each_question(questions, ask)
    ranked = sorted(
        agreements.values(),
        key=lambda agreement: (agreement.main.value is None, agreement.main.value),
    )
    return AgreementByQuestion(questions[0].project.name, tuple(ranked), unfit)


# -- Snapshots of projects that ask several questions: one number, a record of each question ------


@dataclass(frozen=True)
class TakenByQuestion:
    """The result of a request for a snapshot, by the question's name, in order of making."""

    questions: Mapping[str, Taken]

    @property
    def first(self) -> Taken:
        """That of the first question; number, time and freshness are those of all."""
        return next(iter(self.questions.values()))

    @property
    def id(self) -> int:
        """The number of the snapshot."""
        return self.first.snapshot.id

    @property
    def fresh(self) -> bool:
        """Whether it was taken now."""
        return self.first.fresh

    @property
    def before(self) -> int | None:
        """The number of the last one of the same settings and moment, of any question."""
        return max(
            (question.before for question in self.questions.values() if question.before),
            default=None,
        )

    def to_dict(self) -> Annotated[dict[str, Any], PointJson | SnapshotsJson]:
        """Return the JSON of ``tracker snapshot``."""
        records = {name: taken.snapshot.to_dict() for name, taken in self.questions.items()}
        return json_by_question({"snapshot": self.id}, records)

    def brief(self) -> Iterator[str]:
        """Yield the number alone, for a script."""
        yield str(self.id)

    def view(self) -> Iterator[str]:
        """Yield the first figure of each question, with its name if there are several."""
        figures = "nothing has changed since"
        if self.fresh and len(self.questions) == 1:
            figures = _figure_words(self.first.snapshot)
        elif self.fresh:
            records = self.questions.items()
            figures = ", ".join(
                f"{name} {_figure_words(taken.snapshot)}" for name, taken in records
            )
        yield f"snapshot {self.id}: {figures}"


_FIRST: Final = "krippendorff_alpha"
_SHORT: Final = {_FIRST: "alpha"}


def _figure_words(record: SnapshotRecord) -> str:
    """Return the first figure that people look for, or why there is none."""
    from tracker.measures.words import undefined_in_words
    from tracker.render.cells import figure_cell

    measures = record.assessment.measures
    known = next((measure for measure in measures if measure.measure == _FIRST), measures[0])
    name = _SHORT.get(known.measure, known.measure.replace("_", " "))
    if known.value is None:
        return f"{name} undefined: {undefined_in_words(known.undefined)}"
    return f"{name} {figure_cell(known.value)}"


@dataclass(frozen=True)
class SnapshotPages:
    """Everything about one snapshot, by the question's name, in order of making."""

    questions: Mapping[str, SnapshotPage]

    @property
    def first(self) -> SnapshotPage:
        """That of the first question."""
        return next(iter(self.questions.values()))

    def to_dict(self) -> Annotated[dict[str, Any], PointJson | SnapshotsJson]:
        """Return the JSON of ``tracker snapshots show``."""
        pages = {name: page.to_dict() for name, page in self.questions.items()}
        return json_by_question({"snapshot": self.first.record.id}, pages)


def snapshot_pages(
    connection: Connection, questions: Sequence[QuestionInfo], which: int | str
) -> SnapshotPages:
    """Return the pages of the given snapshot, of the questions that were asked then.

    Raises NotFound if there is none of any.
    """
    pages: dict[str, SnapshotPage] = {}
    missing: NotFound | None = None
    for question in questions:
        try:
            pages[question.name] = snapshot_page(connection, question, which)
        except NotFound as error:
            missing = missing or error
    if missing is not None and not pages:
        raise missing
    return SnapshotPages(pages)


class HistoryByQuestion(ByQuestion[History | Curve]):
    """The snapshots of a project, or its curve, for each of its questions by name."""

    def to_dict(self) -> Annotated[dict[str, Any], CoursesJson]:
        """Return the questions as JSON."""
        return super().to_dict()

    def rows(self) -> list[dict[str, Any]]:
        """Return flat rows: one per question, snapshot and measure, then the unfit questions."""
        histories = self.questions.items()
        rows = [{"question": name, **row} for name, history in histories for row in history.rows()]
        return rows + [question.to_dict() for question in self.unfit]

    def columns(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the names of all columns of such rows, also of none."""
        first = next(iter(self.questions.values()))
        return list(dict.fromkeys(["question", *first.columns(rows)]))

    def to_frame(self) -> pd.DataFrame:
        """Return `rows` as a frame."""
        import pandas as pd

        rows = self.rows()
        return pd.DataFrame(rows, columns=self.columns(rows))
