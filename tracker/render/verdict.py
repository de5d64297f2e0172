"""What is plainly wrong with a project, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from tracker.audit.verdict import MOST
from tracker.render.cells import Text


def verdict_view(
    concerns: Sequence[Mapping[str, Any]], nothing: str = ""
) -> Iterator[RenderableType]:
    """Yield a line a concern with the command that shows more; without any, ``nothing``."""
    if not concerns and nothing:
        yield Text(nothing, style="green")
    for concern in concerns[:MOST]:
        yield Text.assemble((concern["why"], "yellow"), (f"  {concern['command']}", "dim"))
    if len(concerns) > MOST:
        yield Text(f"{len(concerns) - MOST:,} more are in the report and the audit.", style="dim")
