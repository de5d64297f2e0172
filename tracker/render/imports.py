"""An import before it is made: how its files are read, and their first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tracker.render.cells import Text, minute_cell
from tracker.render.messages.imports import layout_lines
from tracker.render.tables import table

if TYPE_CHECKING:
    from rich.console import RenderableType

_ALWAYS: Final = ("item", "annotator", "category")
_SHOWN: Final = ("item", "annotator", "kind", "question", "category", "start", "end", "pass",
                 "labeled_at", "seconds", "confidence", "comment")  # fmt: skip
_USUAL: Final = {"kind": "human", "pass": 1}
_LONGEST: Final = 60  # characters of a comment


def preview_view(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield how each file is read and the first rows, from an import as JSON."""
    for one in told.get("columns", ()):
        yield Text("\n".join([f"{one['source']}:", *(f"  {line}" for line in layout_lines(one))]))
    rows = told["preview"]
    if rows:
        shown = [name for name in _SHOWN if _is_shown(name, rows, told)]
        yield table(
            [f"{name} " for name in shown], [[_cell(name, row[name]) for name in shown]
                                             for row in rows]
        )  # fmt: skip


def _is_shown(name: str, rows: Sequence[Mapping[str, Any]], told: Mapping[str, Any]) -> bool:
    if name == "question":
        return bool(told.get("questions"))
    return name in _ALWAYS or any(row[name] not in {None, _USUAL.get(name)} for row in rows)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "(none)" if name == "category" else ""
    if name == "labeled_at":
        return minute_cell(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
