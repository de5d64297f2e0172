"""A figure over time, with its interval and the project's notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tracker.charts.chart import FAINT, INK, MARK, WIDTH, Chart
from tracker.measures.registry import MEASURES
from tracker.monitoring import are_within_noise

if TYPE_CHECKING:
    from tracker.history.curve import Curve
    from tracker.history.snapshot import History

_ALPHA: Final = "krippendorff_alpha"
_HEIGHT = 220
_APART: Final[Mapping[str, Any]] = {"labelOverlap": "greedy", "labelSeparation": 8}


def history_chart(history: History | Curve, measure: str | None = None) -> Chart:
    """Return a line for a measure over time, its interval, and a mark for each note.

    If none is named it is alpha, or the first that the last snapshot has. Points without
    a figure are gaps in the line; the rows have their reason.
    """
    told = history.to_dict()
    notes = [{"at": one["at"], "text": one["text"]} for one in told["notes"]]
    measure = measure or _main(told)
    title = f"{told['project']}: {MEASURES[measure].title}"
    return draw_history(title, history_rows(told, measure), notes)


def _main(told: Mapping[str, Any]) -> str:
    points = told["snapshots"] or [{"measures": []}]
    known = [figure["measure"] for figure in points[-1]["measures"]]
    return known[0] if known and _ALPHA not in known else _ALPHA


def history_rows(told: Mapping[str, Any], measure: str) -> list[dict[str, Any]]:
    """Return a row for each point of a history's JSON, as `draw_history` takes them.

    The figure is that of what came since the point before, if it has that; ``so_far`` is that of
    all answers.
    """
    rows = []
    for one in told["snapshots"]:
        of_all = _figure(one, measure)
        own = _figure(one["own"], measure) if one.get("own") else None
        if of_all is not None:
            own = own or of_all
            row = {"as_of": one["as_of"], "snapshot": one["name"] or one["snapshot"]}
            row |= {name: own[name] for name in _FIGURE}
            rows.append(row | {"so_far": of_all["value"]})
    return rows


def _figure(one: Mapping[str, Any], measure: str) -> Mapping[str, Any] | None:
    return next((figure for figure in one["measures"] if figure["measure"] == measure), None)


def draw_history(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    notes: Sequence[Mapping[str, Any]],
    *,
    width: int = WIDTH,
) -> Chart:
    """Return the chart of some points, and of what happened, ``at`` a time with a short text."""
    import altair as alt

    by_time = _spans_days(rows)
    notes = notes if by_time else []
    when = (
        alt.X("as_of:T", title=None, axis=alt.Axis(tickCount=max(width // 80, 2), **_APART))
        if by_time
        else alt.X(
            "snapshot:N",
            title=None,
            sort=None,
            axis=alt.Axis(labelAngle=0, **_APART),
            scale=alt.Scale(type="point"),
        )
    )
    least = min((row["ci_low"] for row in rows if row["ci_low"] is not None), default=0.0)
    scale = alt.Scale(domain=[min(0.0, least), 1])
    base = alt.Chart(alt.InlineData(list(rows))).encode(x=when)
    value = alt.Y("value:Q", scale=scale, title=None)
    band = base.mark_area(color=MARK, opacity=0.15).encode(
        y=alt.Y("ci_low:Q", scale=scale, title=None), y2="ci_high:Q"
    )
    ink = FAINT if _are_steady(rows) else MARK
    line = base.mark_line(color=ink, point=alt.OverlayMarkDef(color=ink)).encode(y=value)
    so_far = base.mark_line(color=FAINT, strokeDash=[2, 2]).encode(
        y=alt.Y("so_far:Q", scale=scale, title=None)
    )
    noted = alt.Chart(alt.InlineData(list(notes))).encode(x=alt.X("at:T"))
    marks = noted.mark_rule(color=FAINT, strokeDash=[3, 3])
    texts = noted.mark_text(align="left", baseline="top", dx=4, color=INK, fontSize=10).encode(
        y=alt.value(0), text="text:N"
    )
    more = [so_far] if any(row.get("so_far") not in {None, row["value"]} for row in rows) else []
    layers = [band, *more, line, *([marks, texts] if notes else [])]
    drawing = alt.layer(*layers).properties(width=width, height=_HEIGHT, title=title)
    return Chart(title, _description(rows, notes), drawing, rows)


def _are_steady(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the points of several differ by no more than their errors."""
    known = [row for row in rows if row["value"] is not None]
    figures = [(row["value"], row.get("standard_error")) for row in known]
    return len(known) > 1 and are_within_noise(figures)


def _spans_days(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether points lie on several days, so that their times can be told apart."""
    return len({row["as_of"][:10] for row in rows}) > 1 or any(not row["snapshot"] for row in rows)


_FIGURE = ("value", "standard_error", "ci_low", "ci_high", "items", "undefined")


def _description(rows: Sequence[Mapping[str, Any]], notes: Sequence[Mapping[str, Any]]) -> str:
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return "There is no figure yet."
    first, last = known[0], known[-1]
    words = f"From {first['value']:.3f} on {first['as_of'][:10]} "
    words += f"to {last['value']:.3f} on {last['as_of'][:10]}, {len(known)} points."
    words += " They differ by no more than chance." if _are_steady(rows) else ""
    return words + (f" Notes: {len(notes)}." if notes else "")
