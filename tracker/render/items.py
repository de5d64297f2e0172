"""Items in the terminal: their votes; and of one item all that was ever said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from tracker.projects.items import ItemRecord
from tracker.render.cells import Text, figure, table


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


def item_rows(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Items as flat rows, for CSV: a column of votes per category."""
    names = sorted({name for item in items for name in item["votes"]})
    return [
        {"item": item["item"]}
        | {f"votes for {name}": item["votes"].get(name, 0) for name in names}
        | {key: item[key] for key in ("vote_score", "entropy", "gold")}
        for item in items
    ]


def most_disputed(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items, the most disputed first."""
    return sorted(items, key=lambda item: -(item["entropy"] or 0))


def show_items(items: Sequence[dict[str, Any]]) -> RenderableType:
    """The items, the most disputed first."""
    ordered = most_disputed(items)
    rows = [
        (
            item["item"],
            ", ".join(f"{name} {votes}" for name, votes in item["votes"].items()),
            figure(item["vote_score"]),
            figure(item["entropy"]),
            item["gold"] or "-",
        )
        for item in ordered
    ]
    return table(("item", "votes ", "vote score", "entropy (bits)", "gold "), rows)
