"""What is plainly wrong with a project, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from tracker.render.cells import Text
from tracker.render.messages.verdict import nothing
from tracker.verdict import MOST


def verdict_view(
    concerns: Sequence[Mapping[str, Any]], annotators: int | None = None
) -> Iterator[RenderableType]:
    """Yield a line a concern with the command that shows more, or that nothing stands out.

    The latter only if it is known how many ``annotators`` were looked at.
    """
    if not concerns and annotators is not None and annotators > 1:
        yield Text(nothing(annotators), style="green")
    for concern in concerns[:MOST]:
        yield Text.assemble((concern["why"], "yellow"), (f"  {concern['command']}", "dim"))
    if len(concerns) > MOST:
        yield Text(f"{len(concerns) - MOST:,} more are in the report and the audit.", style="dim")
