"""The questions of a project in one table, the weakest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import RenderableType

from tracker.history.by_question import AgreementByQuestion, HistoryByQuestion, QuestionAgreement
from tracker.history.curve import Point
from tracker.history.snapshot import SnapshotRecord
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.projects.questions import QuestionInfo
from tracker.render.agreement import _undefined_line, unfit_questions_view
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    interval_cell,
    level_cell,
    minute_cell,
)
from tracker.render.filter import selections_view
from tracker.render.history import answers_of_snapshot
from tracker.render.nouns import count_noun
from tracker.render.plot import day_cell
from tracker.render.tables import table
from tracker.render.words import figure_reading_words, figure_title_words


def agreement_by_question_view(found: AgreementByQuestion) -> Iterator[RenderableType]:
    """Yield a row per question: its main figure, its weakest category, what changed."""
    first = found.questions[0]
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_noun(len(found.questions) + len(found.unfit), 'question')}, weakest first",
    )
    yield from selections_view(
        {one.question.name: one.assessment.selection for one in found.questions}
    )
    columns = (
        "question",
        "kind ",
        "items",
        "measure ",
        "value",
        f"{level_cell(first.main.confidence)} interval",
        "weakest category",
        "rate",
        "change",
        "findings",
    )
    yield table(columns, [_row(one) for one in found.questions])
    for one in found.questions:
        if one.main.value is None:
            yield _undefined_line(one.question.name, figure_reading_words(one.main))
    yield from unfit_questions_view(found.unfit)
    yield Text("Change: since the last snapshot of the same choice of answers.", style="dim")


def history_by_question_view(
    found: HistoryByQuestion, measures: Sequence[str], last: int | None
) -> Iterator[RenderableType]:
    """Yield a row per moment with the main figure of each question, the ``last`` rows or all."""
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_noun(len(found.questions) + len(found.unfit), 'question')}",
    )
    figures: dict[tuple[str, int], dict[str, Coefficient]] = {}
    chosen: dict[tuple[str, int], str] = {}
    for name, history in found.questions.items():
        for point in history:
            assessment = point.own if isinstance(point, Point) else point.assessment
            known = {one.measure: one for one in assessment.measures}
            main = known.get(measures[0]) if measures else assessment.main
            row = figures.setdefault(_when(point), {})
            if isinstance(point, SnapshotRecord) and (answers := answers_of_snapshot(point)):
                chosen[_when(point)] = answers
            if main is not None:
                row[name] = main
    shown = sorted(figures)[-last:] if last else sorted(figures)
    titles = [_title(name, figures.values()) for name in found.questions]
    selected = ["only answers "] if any(when in chosen for when in shown) else []
    rows = [
        (
            when[0],
            str(when[1] or "-"),
            *(
                figure_cell(figures[when][name].value) if name in figures[when] else ""
                for name in found.questions
            ),
            *(chosen.get(when, "") for _ in selected),
        )
        for when in shown
    ]
    yield table(("as of ", "snapshot", *titles, *selected), rows)
    yield from unfit_questions_view(found.unfit)


def _when(point: SnapshotRecord | Point) -> tuple[str, int]:
    """Return what questions have in common: a snapshot's minute and number, or a period's day."""
    if isinstance(point, SnapshotRecord):
        return minute_cell(point.moment), point.id
    return day_cell(point.moment), 0


def _title(name: str, figures: Iterable[Mapping[str, Coefficient]]) -> str:
    """Return a question's name with the measure that its column shows."""
    known = (MEASURES[row[name].measure].title for row in figures if name in row)
    measure = next(known, None)
    return name if measure is None else f"{name}: {measure}"


def question_kind_text(question: QuestionInfo) -> str:
    """Return how a question is answered: its scale, or that an answer has several labels."""
    return question.scale if question.answers == "one" else question.answers


def _row(one: QuestionAgreement) -> tuple[str, ...]:
    lowest = one.assessment.summary.lowest
    main = one.main
    return (
        one.question.name,
        question_kind_text(one.question),
        count_cell(one.assessment.counts.items_compared),
        figure_title_words(main),
        figure_cell(main.value),
        interval_cell(main.ci_low, main.ci_high),
        "-" if lowest is None else one.assessment.categories[lowest.category],
        figure_cell(None if lowest is None else lowest.rate),
        "-" if one.change is None else f"{one.change:+.3f}",
        count_cell(one.findings),
    )
