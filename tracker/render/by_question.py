"""The questions of a project in one table, the weakest first."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from tracker.by_question import AgreementByQuestion, QuestionAgreement
from tracker.projects.question import QuestionInfo
from tracker.render.cells import (
    Text,
    count_cell,
    count_noun,
    figure_cell,
    interval_cell,
    level_cell,
)
from tracker.render.filter import selection_view
from tracker.render.tables import table
from tracker.render.words import figure_title_words


def agreement_by_question_view(found: AgreementByQuestion) -> Iterator[RenderableType]:
    """Yield a row per question: its main figure, its weakest category, what changed."""
    first = found.questions[0]
    yield Text.assemble(
        (found.project, "bold"), f"  {count_noun(len(found.questions), 'question')}, weakest first"
    )
    yield from selection_view(first.assessment.selection)
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
    yield Text("Change: since the last snapshot of the same choice of answers.", style="dim")


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
