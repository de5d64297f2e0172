"""Agreement within and between groups of annotators, in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from tracker.agreement import AnnotatorGroups
from tracker.measures.coefficient import Coefficient
from tracker.render.cells import Text, count_cell, figure_cell, interval_cell
from tracker.render.filter import selection_view
from tracker.render.tables import table
from tracker.render.words import figure_reading_words, undefined_in_words


def annotator_group_csv_rows(found: AnnotatorGroups) -> list[dict[str, Any]]:
    """Return groups, then pairs of groups, as flat rows; a group has no ``second``."""
    rows: list[tuple[str | None, str | None, int | None, Coefficient]] = [
        (one.value, None, one.annotators, one.alpha) for one in found.groups
    ]
    rows += [(one.first, one.second, None, one.reliability) for one in found.pairs]
    return [
        {"first": first, "second": second, "annotators": number, **figure.to_dict()}
        for first, second, number, figure in rows
    ]


def annotator_groups_view(found: AnnotatorGroups) -> Iterator[RenderableType]:
    """Yield the groups with alpha within each, then the agreement between every two."""
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_cell(len(found.groups))} groups of annotators by {found.attribute}",
    )
    yield from selection_view(found.selection)
    yield table(
        (found.attribute, "annotators", "items", "alpha within", "interval", "reading "),
        [
            (
                _name(one.value),
                count_cell(one.annotators),
                count_cell(one.items),
                *_figure(one.alpha),
                figure_reading_words(one.alpha),
            )
            for one in found.groups
        ],
    )
    if found.pairs:
        yield table(
            (found.attribute, "and", "items", "agreement between", "interval", " "),
            [
                (
                    _name(one.first),
                    _name(one.second),
                    count_cell(one.reliability.items),
                    *_figure(one.reliability),
                    undefined_in_words(one.reliability.undefined)
                    if one.reliability.undefined
                    else "",
                )
                for one in found.pairs
            ],
            names=2,
        )
        yield Text(
            "Between groups: cross-replication reliability, over pairs of one answer of each.",
            style="dim",
        )


def _name(value: str | None) -> str | Text:
    return Text("without", style="dim") if value is None else value


def _figure(one: Coefficient) -> tuple[str, str]:
    return figure_cell(one.value), interval_cell(one.ci_low, one.ci_high)
