"""Snapshots in the terminal: a small curve, then a row each."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from tracker import clock
from tracker.history import History, SnapshotRecord
from tracker.report.cells import count, figure, sparkline, table
from tracker.report.selection import selection_words

__all__ = ["history_view"]

_CURVES = (("krippendorff_alpha", "alpha"), ("percent_agreement", "raw agreement"))


def history_view(found: History) -> Iterator[RenderableType]:
    """The parts of the page, in order."""
    yield Text.assemble((found.project, "bold"), f"  {count(len(found.snapshots))} snapshots")
    # A curve is of figures of the same answers: those of a selection are not among them.
    chosen = any(snapshot.assessment.selection is not None for snapshot in found.snapshots)
    alike = [one for one in found.snapshots if one.assessment.selection is None]
    for measure, title in _CURVES:
        values = [_value(snapshot, measure) for snapshot in alike]
        known = [value for value in values if value is not None]
        if len(known) > 1:
            yield Text(
                f"{title:<15}{sparkline(values)}  "
                f"{figure(known[0])} → {figure(known[-1])} "
                f"(from {figure(min(known))} to {figure(max(known))})"
            )
    if found.snapshots:
        yield table(
            (
                "snapshot",
                "taken ",
                "name ",
                "items",
                "answers",
                "annotators",
                "alpha",
                "raw",
                "weakest ",
                "rate",
                *(["only answers "] if chosen else []),
            ),
            [
                _row(snapshot) + ((_selection(snapshot),) if chosen else ())
                for snapshot in found.snapshots
            ],
        )


def _value(snapshot: SnapshotRecord, measure: str) -> float | None:
    values = {c.measure: c.value for c in snapshot.assessment.measures}
    return values.get(measure)


def _selection(snapshot: SnapshotRecord) -> str:
    selection = snapshot.assessment.selection
    return "" if selection is None else selection_words(selection)


def _row(snapshot: SnapshotRecord) -> tuple[str, ...]:
    counts = snapshot.assessment.counts
    lowest = snapshot.assessment.summary.lowest
    return (
        str(snapshot.id),
        clock.iso(snapshot.taken_at)[:16].replace("T", " "),
        snapshot.name or "",
        count(counts.items),
        count(counts.answers),
        count(counts.annotators),
        figure(_value(snapshot, "krippendorff_alpha")),
        figure(_value(snapshot, "percent_agreement")),
        "" if lowest is None else snapshot.assessment.categories[lowest.category],
        figure(None if lowest is None else lowest.rate),
    )
