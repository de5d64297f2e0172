"""Slices of the items in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.render.cells import Text, count_cell, figure_cell
from tracker.render.messages.findings import percent_text
from tracker.render.tables import table

_MOST_ROWS: Final = 60


def slices_view(project: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield a row per slice, and how to see one of them by itself."""
    weak = sum(row["weak"] for row in rows)
    yield Text.assemble(
        (project, "bold"),
        f"  {count_cell(weak)} of {count_cell(len(rows))} slices of the items are surely worse "
        "than the rest",
    )
    if not rows:
        yield Text("Keep attributes of the items to search them: tracker import FILE --keep COLUMN")
        return
    yield table(
        ("attribute ", "value ", "items", "alpha", "elsewhere", "explains", "q", ""),
        [
            (
                row["attribute"],
                row["value"],
                count_cell(row["items"]),
                figure_cell(row["figure"]),
                figure_cell(row["elsewhere"]),
                percent_text(max(row["explained"], 0.0)),
                f"{row['q_value']:.2g}",
                Text("worse", style="bold red") if row["weak"] else "",
            )
            for row in rows[:_MOST_ROWS]
        ],
    )
    yield Text("explains: the share of all disagreement that the slice adds", style="dim")
