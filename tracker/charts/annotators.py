"""How often each annotator gives each category, beside the others on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracker.charts.chart import ALARM, FAINT, INK, MARK, Chart
from tracker.render.messages.findings import is_accusation

if TYPE_CHECKING:
    from tracker.audit.result import Audit

_MOST = 24  # annotators
_CATEGORIES = 8
_ACROSS, _WIDTH, _ROW = 4, 120, 16


def annotators_chart(project: str, audit: Audit) -> Chart:
    """Return a small chart for each annotator, with a dot for their share of each category.

    A line leads to the share of the others on the same items. Annotators with a finding come
    first, and their dots are of another color. Of many annotators and categories the first ones,
    and the most frequent ones, are drawn.
    """
    title = f"{project}: each annotator's share of the categories"
    return draw_annotators(title, audit.to_dict()["annotators"])


def draw_annotators(
    title: str, annotators: Sequence[Mapping[str, Any]], *, across: int = _ACROSS
) -> Chart:
    """Return the chart of some annotators of an audit's JSON, so many beside each other."""
    import altair as alt

    told = sorted(
        annotators, key=lambda one: (not _flagged(one), -one["answers"], one["annotator"])
    )
    categories = _frequent(told)
    rows = [_row(one, name) for one in told for name in one["category_shares"]]
    names = [one["annotator"] for one in told[:_MOST]]
    wanted = set(names)
    drawn = [row for row in rows if row["annotator"] in wanted and row["category"] in categories]
    share = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", values=[0, 0.5, 1])
    base = alt.Chart(alt.InlineData(list(drawn))).encode(
        y=alt.Y("category:N", sort=categories, title=None)
    )
    of_dot = alt.X("share:Q", scale=share, axis=axis, title=None)
    lines = base.mark_rule(color=FAINT).encode(x=of_dot, x2="peers:Q")
    others = base.mark_tick(color=INK, thickness=2, size=10).encode(x=alt.X("peers:Q"))
    dots = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=of_dot,
        color=alt.condition("datum.flagged", alt.value(ALARM), alt.value(MARK)),
    )
    drawing = (
        alt.layer(lines, others, dots)
        .properties(width=_WIDTH, height=alt.Step(_ROW))
        .facet(alt.Facet("annotator:N", sort=names, title=None), columns=across)
        .properties(
            title=alt.Title(title, subtitle="dot: the annotator; tick: the others, same items")
        )
    )
    return Chart(title, _description(told, len(names)), drawing, rows)


def _flagged(one: Mapping[str, Any]) -> bool:
    return any(map(is_accusation, one["flags"]))


def _row(one: Mapping[str, Any], category: str) -> dict[str, Any]:
    return {
        "annotator": one["annotator"],
        "category": category,
        "share": one["category_shares"][category],
        "peers": one["peer_shares"].get(category),
        "flagged": _flagged(one),
    }


def _frequent(told: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the most frequent categories, at most `_CATEGORIES`."""
    answers: dict[str, float] = {}
    for one in told:
        for name, share in one["category_shares"].items():
            answers[name] = answers.get(name, 0.0) + share * one["answers"]
    return sorted(answers, key=lambda name: (-answers[name], name))[:_CATEGORIES]


def _description(told: Sequence[Mapping[str, Any]], drawn: int) -> str:
    if not told:
        return "There are no annotators."
    flagged = [one["annotator"] for one in told if _flagged(one)]
    words = f"With findings: {', '.join(flagged)}." if flagged else "There is no finding."
    return words + (f" {len(told) - drawn} annotators are not drawn." if len(told) > drawn else "")
