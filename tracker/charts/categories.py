"""The agreement on each category, weakest first, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracker.charts.chart import FAINT, INK, MARK, MOST, ROW, WIDTH, Chart
from tracker.projects.questions import are_many_numbers

if TYPE_CHECKING:
    from tracker.history.by_question import AgreementByQuestion


def categories_chart(found: AgreementByQuestion) -> Chart:
    """Return a dot for each category: if one annotator chose it, how often another did, too.

    The weakest are drawn, if there are many. A category without a figure has no dot; the rows have
    its reason.
    """
    return draw_categories(f"{found.project}: agreement on each category", category_rows(found))


def category_rows(found: AgreementByQuestion) -> list[dict[str, Any]]:
    """Return a row for each category of each question, as `draw_categories` takes them.

    Of `questions_of_numbers` there is none.
    """
    numbers = questions_of_numbers(found)
    return [
        {"question": one.question.name, **_row(category)}
        for one in found.questions
        if one.question.name not in numbers
        for category in one.assessment.to_dict()["categories"]
    ]


def questions_of_numbers(found: AgreementByQuestion) -> list[str]:
    """Return the names of the questions whose answers are many numbers."""
    return [
        one.question.name
        for one in found.questions
        if are_many_numbers(
            one.question.answers, one.question.scale, len(one.assessment.to_dict()["categories"])
        )
    ]


def draw_categories(title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH) -> Chart:
    """Return the chart of some rows, ``width`` pixels wide without its labels."""
    import altair as alt

    drawn = sorted((row for row in rows if row["rate"] is not None), key=lambda row: row["rate"])
    shown = drawn[:MOST]
    questions = list(dict.fromkeys(row["question"] for row in rows))
    several = len({row["question"] for row in shown}) > 1
    place = alt.Y("category:N", sort=None, title=None)
    base = alt.Chart(alt.InlineData(list(shown))).encode(y=place)
    share = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", tickCount=5)
    of_dot = alt.X("rate:Q", scale=share, axis=axis, title="another annotator chose it, too")
    intervals = base.mark_rule(color=FAINT, strokeWidth=2).encode(
        x=alt.X("ci_low:Q", scale=share, axis=axis), x2="ci_high:Q"
    )
    dots = base.mark_point(filled=True, color=MARK, opacity=1, size=70).encode(x=of_dot)
    numbers = base.mark_text(align="left", dx=8, dy=-8, color=INK, fontSize=10).encode(
        x=of_dot, text=alt.Text("rate:Q", format=".0%")
    )
    layers = alt.layer(intervals, dots, numbers)
    size = alt.Step(ROW)
    drawing: alt.TopLevelMixin = (
        layers.properties(width=width, height=size)
        .facet(row=alt.Row("question:N", title=None, sort=questions))
        .resolve_scale(y="independent")
        .properties(title=title)
        if several
        else layers.properties(width=width, height=size, title=title)
    )
    return Chart(title, _description(rows, drawn), drawing, rows)


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    names = ("category", "rate", "ci_low", "ci_high", "potential_agreements", "undefined")
    return {name: one[name] for name in names}


def _description(rows: Sequence[Mapping[str, Any]], drawn: Sequence[Mapping[str, Any]]) -> str:
    if not drawn:
        return "No category has a figure."
    weakest, strongest = drawn[0], drawn[-1]
    told = (
        f"Weakest: {weakest['category']}, {weakest['rate']:.0%}. "
        f"Strongest: {strongest['category']}, {strongest['rate']:.0%}."
    )
    left_out = len(drawn) - MOST
    told += f" {left_out} stronger categories are not drawn." if left_out > 0 else ""
    without = len(rows) - len(drawn)
    return told + (f" {without} have no figure." if without else "")
