"""The agreement of each two annotators, those alike beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tracker.charts.chart import MOST, ROW, Chart

if TYPE_CHECKING:
    from tracker.ledger.agreement import Pairs


_NUMBERED, _ROOMY = 14, 32  # annotators whose cells have room for a number; pixels of a cell
_LIGHT, _DARK = "#fefefe", "#101214"  # of numbers on cells, whose colors are those of any page


class _Drawn(NamedTuple):
    """The figure of a pair that is drawn: its title, in words, its least value, what is dark."""

    title: str
    words: str
    least: float
    dark: str


_DRAWN: Final[Mapping[str, _Drawn]] = {
    "cohen_kappa": _Drawn("Cohen's kappa", "kappa", -1, "{0} > 0.8 || {0} < -0.9"),
    "span_f1_exact": _Drawn("Exact F1", "exact F1", 0, "{0} > 0.9 || {0} < 0.05"),
}


def pairs_chart(project: str, pairs: Pairs, weights: str | None = None) -> Chart:
    """Return a cell for each two annotators: Cohen's kappa, of spans exact F1; none if undefined.

    Annotators are in the order of a hierarchical clustering (average linkage), so that groups
    show as blocks. Of many annotators those with the most shared items are drawn. ``weights``
    are those of the pairs' kappa.
    """
    title = f"{project}: agreement of each two annotators"
    return draw_pairs(
        f"{title} ({weights} weights)" if weights else title, pair_rows(pairs.to_dict())
    )


def pair_rows(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each pair of their JSON, as `draw_pairs` takes them."""
    return [_row(one) for one in told["pairs"]]


def draw_pairs(title: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Return the chart of some pairs; of few annotators each cell has its number."""
    import altair as alt

    figure = _figure(rows)
    about = _DRAWN[figure]
    names = _drawn_names(rows)
    order = _clustered(rows, names, figure)
    wanted = set(order)
    both = [
        {**row, "annotator": one, "other": other}
        for row in rows
        for one, other in ((row["annotator"], row["other"]), (row["other"], row["annotator"]))
        if {one, other} <= wanted and row[figure] is not None
    ]
    side = (_ROOMY if len(order) <= _NUMBERED else ROW) * max(len(order), 4)
    cells = (
        alt.Chart(alt.InlineData(list(both)))
        .mark_rect(stroke="white")
        .encode(
            x=alt.X("annotator:N", sort=order, title=None, axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("other:N", sort=order, title=None),
            color=alt.Color(
                f"{figure}:Q",
                title=about.title,
                scale=alt.Scale(scheme="blueorange", domain=[about.least, 1], reverse=True),
            ),
        )
    )
    layers = [cells]
    if len(order) <= _NUMBERED:
        far = about.dark.format(f"datum.{figure}")
        layers.append(
            alt.Chart(alt.InlineData(list(both)))
            .mark_text(fontSize=10)
            .encode(
                x=alt.X("annotator:N", sort=order),
                y=alt.Y("other:N", sort=order),
                text=alt.Text(f"{figure}:Q", format=".2f"),
                color=alt.condition(far, alt.value(_LIGHT), alt.value(_DARK)),
            )
        )
    drawing = alt.layer(*layers).properties(width=side, height=side, title=title)
    return Chart(title, _description(rows, len(names), figure), drawing, rows)


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    annotator, other = one["annotators"]
    who = {"annotator": annotator, "other": other}
    if "span_f1_exact" in one:
        exact = one["span_f1_exact"]
        told = {"span_f1_exact": exact["value"], "undefined": exact["undefined"]}
        return {**who, "items": one["items"], **told}
    names = ("items", "observed", "cohen_kappa", "undefined")
    return {**who, **{name: one[name] for name in names}}


def _figure(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the figure that the rows have; of no rows kappa."""
    return next((name for name in _DRAWN for row in rows[:1] if name in row), "cohen_kappa")


def _drawn_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the annotators with the most shared items, at most `MOST`."""
    shared: dict[str, int] = {}
    for row in rows:
        for name in (row["annotator"], row["other"]):
            shared[name] = shared.get(name, 0) + row["items"]
    return sorted(shared, key=lambda name: (-shared[name], name))[:MOST]


def _clustered(rows: Sequence[Mapping[str, Any]], names: Sequence[str], figure: str) -> list[str]:
    """Return annotators so that those who agree are neighbours; an undefined figure counts as 0."""
    if len(names) < 3:
        return list(names)
    import numpy as np
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    number = {name: place for place, name in enumerate(names)}
    apart = np.ones((len(names), len(names)))
    np.fill_diagonal(apart, 0.0)
    for row in rows:
        one, other = number.get(row["annotator"]), number.get(row["other"])
        if one is not None and other is not None and row[figure] is not None:
            apart[one, other] = apart[other, one] = 1 - row[figure]
    tree = linkage(squareform(apart), "average", optimal_ordering=True)
    return [names[place] for place in leaves_list(tree).tolist()]


def _description(rows: Sequence[Mapping[str, Any]], drawn: int, figure: str) -> str:
    words = _DRAWN[figure].words
    known = [row for row in rows if row[figure] is not None]
    if not known:
        return f"No two annotators have {'an' if words[0] in 'aeiou' else 'a'} {words}."
    low, high = (of(known, key=lambda row: row[figure]) for of in (min, max))
    ends = [("Lowest: ", low), ("Highest: ", high)] if len(known) > 1 else [("", low)]
    told = " ".join(
        f"{word}{row['annotator']} and {row['other']}, {row[figure]:.2f}." for word, row in ends
    )
    without = len(rows) - len(known)
    told += f" {without} pairs have no {words}." if without else ""
    everyone = len({row[end] for row in rows for end in ("annotator", "other")})
    return told + (f" {everyone - drawn} annotators are not drawn." if everyone > drawn else "")
