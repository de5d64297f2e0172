"""Progress in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from tracker.core import clock
from tracker.render.cells import Text, bar, count, share, table
from tracker.status import Status


def pace_lines(found: Sequence[Status]) -> Iterator[Text]:
    """For each project over which days its pace was taken, and why it has no forecast."""
    for status in found:
        told = status.to_dict()
        if told["pace_from"] is None:
            continue
        line = f"{status.project.name}: pace of {told['pace_from'][:10]} to {told['pace_to'][:10]}"
        if status.missing and status.done_at is None:
            line += "; nobody has answered since, so there is no forecast"
        yield Text(f"{line}.", style="dim")


def one_status_view(found: Status) -> Iterator[RenderableType]:
    """One project's progress and pace."""
    yield status_view([found])
    yield from pace_lines([found])


def status_view(found: Sequence[Status]) -> RenderableType:
    """One row per project."""
    rows = []
    for status in found:
        told = status.to_dict()
        last = status.last_import
        rows.append(
            (
                status.project.name,
                count(status.items),
                count(status.unanswered),
                count(status.answers),
                count(status.annotators),
                f"{bar(told['coverage'], 8)} {share(told['coverage'])}"
                if told["coverage"] is not None
                else "-",
                count(status.missing),
                "-" if status.per_day is None else f"{status.per_day:,.1f}",
                "-" if status.done_at is None else clock.iso(status.done_at)[:10],
                count(status.flags),
                "-" if last is None else last["recorded_at"][:16].replace("T", " "),
            )
        )
    columns = (
        "project",
        "items",
        "unanswered",
        "answers",
        "annotators",
        "complete ",
        "missing",
        "a day",
        "done about",
        "flags",
        "last import",
    )
    return table(columns, rows)
