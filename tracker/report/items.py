"""One item in the terminal: all that was ever said of it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from tracker.catalogue.items import ItemRecord
from tracker.report.cells import table

__all__ = ["item_view"]


def item_view(record: ItemRecord) -> Iterator[RenderableType]:
    """The item, its text and attributes, then a row per label, past ones dimmed."""
    yield Text(record.name, style="bold")
    if record.text:
        yield Text(record.text)
    for name, value in record.attributes.items():
        yield Text(f"{name}: {value}", style="dim")
    rows = []
    for label in record.labels:
        style = "" if label["state"] == "stands" else "dim"
        span = "" if label["start"] is None else f" [{label['start']}, {label['end']})"
        answer = f"{label['category'] or '(' + label['answer'] + ')'}{span}"
        cells = (
            label["annotator"],
            str(label["pass"]),
            answer,
            (label["labeled_at"] or "-")[:19],
            str(label["import"] or "-"),
            label["state"],
        )
        rows.append([Text(cell, style=style) for cell in cells])
    yield table(("annotator", "pass", "answer ", "labelled at ", "import", "state "), rows)
