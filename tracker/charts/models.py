"""How often each model agrees with people, beside how often people agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracker.charts.chart import FAINT, INK, MARK, MOST, WIDTH, Chart

_ROW = 28


def draw_models(title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH) -> Chart:
    """Return a dot for each model with its interval, and a tick for the people on its items.

    Args:
        title: what it shows.
        rows: of `tracker.audit.models.ModelAgreement`, each with its ``question``.
        width: in pixels, without the labels.
    """
    import altair as alt

    drawn = [row for row in rows if row["with_people"] is not None][:MOST]
    questions = list(dict.fromkeys(row["question"] for row in drawn))
    several = len(questions) > 1
    share = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", tickCount=5)
    base = alt.Chart(alt.InlineData(list(drawn))).encode(y=alt.Y("model:N", sort=None, title=None))
    of_dot = alt.X("with_people:Q", scale=share, axis=axis, title="gave the same answer")
    intervals = base.mark_rule(color=FAINT, strokeWidth=2).encode(
        x=alt.X("low:Q", scale=share, axis=axis), x2="high:Q"
    )
    people = base.mark_tick(color=INK, thickness=3, size=18).encode(x=alt.X("people:Q"))
    dots = base.mark_point(filled=True, color=MARK, opacity=1, size=70).encode(x=of_dot)
    layers = alt.layer(intervals, people, dots).properties(width=width, height=alt.Step(_ROW))
    drawing: alt.TopLevelMixin = (
        layers.facet(row=alt.Row("question:N", title=None, sort=questions))
        .resolve_scale(y="independent")
        .properties(title=title)
        if several
        else layers.properties(title=title)
    )
    return Chart(title, _description(drawn), drawing, rows)


def _description(drawn: Sequence[Mapping[str, Any]]) -> str:
    if not drawn:
        return "No model shares an item with a person."
    told = []
    for row in drawn:
        people = row["people"]
        beside = "" if people is None else f"; people with each other {people:.0%}"
        told.append(f"{row['model']} with people {row['with_people']:.0%}{beside}.")
    return " ".join(told)
