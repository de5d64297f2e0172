"""Agreement by an attribute of the items, in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from tracker.agreement import Assessment, GroupedAgreement
from tracker.measures import MEASURES
from tracker.render.cells import Text, count, figure, interval, table
from tracker.render.filter import selection_line


def group_rows(found: GroupedAgreement) -> list[dict[str, Any]]:
    """Groups as flat rows, for CSV: a column of each count and each measure."""
    rows = []
    for value, group in found.groups:
        lowest = group.summary.lowest
        rows.append(
            {"value": value}
            | group.counts.to_dict()
            | {
                "lowest_category": None if lowest is None else group.categories[lowest.category],
                "lowest_rate": None if lowest is None else lowest.rate,
            }
            | {coefficient.measure: coefficient.value for coefficient in group.measures}
        )
    return rows


def groups_view(found: GroupedAgreement) -> Iterator[RenderableType]:
    """The parts of the page, in order; the group with the weakest category first."""
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count(len(found.groups))} groups of items by {found.attribute}",
    )
    yield from selection_line(found.selection)
    # Percent agreement apart; and no column for a measure that no group has a figure of.
    measures = [
        name
        for name in MEASURES
        if name != "percent_agreement"
        and any(
            c.measure == name and c.value is not None for _, g in found.groups for c in g.measures
        )
    ]
    ordered = sorted(found.groups, key=lambda group: _lowest_rate(group[1]))
    yield table(
        (
            found.attribute,
            "items",
            "answers",
            "weakest ",
            "rate",
            *(MEASURES[name].title for name in measures),
        ),
        [
            (
                Text("without", style="dim") if value is None else value,
                count(group.counts.items),
                count(group.counts.answers),
                _weakest(group),
                figure(group.summary.lowest.rate if group.summary.lowest else None),
                *(_with_interval(group, name) for name in measures),
            )
            for value, group in ordered
        ],
    )


def _lowest_rate(group: Assessment) -> float:
    lowest = group.summary.lowest
    return 2.0 if lowest is None or lowest.rate is None else lowest.rate


def _weakest(group: Assessment) -> str:
    lowest = group.summary.lowest
    return "-" if lowest is None else group.categories[lowest.category]


def _with_interval(group: Assessment, measure: str) -> str:
    """The figure above its interval: side by side few measures would fit on a screen."""
    one = group.measure(measure)
    if one.ci_low is None:
        return figure(one.value)
    return f"{figure(one.value)}\n{interval(one.ci_low, one.ci_high)}"
