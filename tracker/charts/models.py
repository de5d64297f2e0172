"""How often each model agrees with people, beside how often people agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracker.charts.chart import FAINT, INK, MARK, MOST, WIDTH, Chart

if TYPE_CHECKING:
    import altair as alt

_ROW = 28


def draw_models(title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH) -> Chart:
    """Return a dot for each model with its interval, and a tick for the people on its items.

    Args:
        title: what it shows.
        rows: of `tracker.audit.models.ModelAgreement`, each with its ``question``.
        width: in pixels, without the labels.
    """
    drawn = [row for row in rows if row["with_people"] is not None][:MOST]
    drawing = _drawing(title, drawn, "model", "question", "gave the same answer", width)
    several = len({row["question"] for row in drawn}) > 1
    return Chart(title, _description(drawn, "question" if several else ""), drawing, rows)


def draw_model_categories(
    title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH
) -> Chart:
    """Return a dot for each category of each model, and a tick for the people.

    Args:
        title: what it shows.
        rows: of `tracker.audit.models.ModelCategory`, each with its ``model``, the first drawn.
        width: in pixels, without the labels.
    """
    drawn = rows[:MOST]
    drawing = _drawing(title, drawn, "category", "model", "the other chose it, too", width)
    told = _description(drawn[:5], "category")
    left_out = len(rows) - len(drawn)
    told += f" {left_out} categories of smaller gaps are not drawn." if left_out else ""
    return Chart(title, told, drawing, rows)


def _drawing(
    title: str, drawn: Sequence[Mapping[str, Any]], name: str, group: str, axis: str, width: int
) -> alt.TopLevelMixin:
    """Return a dot, its interval and the people's tick for each ``name``, by its ``group``."""
    import altair as alt

    groups = list(dict.fromkeys(row[group] for row in drawn))
    share = alt.Scale(domain=[0, 1])
    ticks = alt.Axis(format=".0%", tickCount=5)
    place = alt.Y(f"{name}:N", sort=None, title=None)
    base = alt.Chart(alt.InlineData(list(drawn))).encode(y=place)
    of_dot = alt.X("with_people:Q", scale=share, axis=ticks, title=axis)
    intervals = base.mark_rule(color=FAINT, strokeWidth=2).encode(
        x=alt.X("low:Q", scale=share, axis=ticks), x2="high:Q"
    )
    people = base.mark_tick(color=INK, thickness=3, size=18).encode(x=alt.X("people:Q"))
    dots = base.mark_point(filled=True, color=MARK, opacity=1, size=70).encode(x=of_dot)
    layers = alt.layer(intervals, people, dots).properties(width=width, height=alt.Step(_ROW))
    drawing: alt.TopLevelMixin = (
        layers.facet(row=alt.Row(f"{group}:N", title=None, sort=groups))
        .resolve_scale(y="independent")
        .properties(title=title)
        if len(groups) > 1
        else layers.properties(title=title)
    )
    return drawing


def _description(drawn: Sequence[Mapping[str, Any]], also: str) -> str:
    """Return each model with the people; ``also`` names what else tells the rows apart."""
    if not drawn:
        return "No model shares an item with a person."
    told = []
    for row in drawn:
        people = row["people"]
        beside = "" if people is None else f"; people with each other {people:.0%}"
        who = f"{row['model']}, {row[also]}," if also else row["model"]
        told.append(f"{who} with people {row['with_people']:.0%}{beside}.")
    return " ".join(told)
