"""Figures over time in the terminal: their curves, then a row for each snapshot or period."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType

from tracker.agreement import Assessment
from tracker.core import clock
from tracker.measures import MEASURES
from tracker.projects.notes import NoteInfo
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    minute_cell,
    sparkline,
)
from tracker.render.filter import selection_in_words, selection_view
from tracker.render.nouns import count_noun
from tracker.render.tables import table
from tracker.snapshots import History, SnapshotRecord
from tracker.snapshots.curve import Curve
from tracker.snapshots.listing import Overview

Row: TypeAlias = tuple[str, ...]

_LAST, _MEASURES = 12, 4  # of a history in a notebook

_SHORT = {"krippendorff_alpha": "alpha", "percent_agreement": "raw agreement"}
_SHORTER = _SHORT | {"percent_agreement": "raw"}


def snapshot_csv_rows(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON of a history as flat rows, one per snapshot, for CSV."""
    return [
        {key: one[key] for key in ("snapshot", "name", "note", "taken_at", "as_of")}
        | {"selection": one["selection"] and json.dumps(one["selection"], ensure_ascii=False)}
        | one["counts"]
        | {measure["measure"]: measure["value"] for measure in one["measures"]}
        | {f"rate of {row['category']}": row["rate"] for row in one["categories"]}
        for one in told["snapshots"]
    ]


def recorded_history_view(found: History) -> Iterator[RenderableType]:
    """Yield the last snapshots of a history, oldest first."""
    total, shown = len(found.snapshots), found.snapshots[-_LAST:]
    earlier = f", the last {len(shown)}" if total > len(shown) else ""
    yield Text(f"{found.project}  {count_noun(total, 'snapshot')}{earlier}")
    if shown:
        measures = [one.measure for one in shown[-1].assessment.measures][:_MEASURES]
        yield table(
            ("snapshot", "as of ", "name ", *history_figure_titles(measures)),
            [_snapshot(one, measures, False) for one in shown],
        )


def snapshots_title(found: Overview) -> Text:
    """Return the project's name, and how many snapshots it has."""
    thinned = f", {found.thinned:,} more thinned out" if found.thinned else ""
    return Text.assemble(
        (found.project, "bold"), f"  {count_noun(found.total, 'snapshot')}{thinned}"
    )


def history_view(found: Overview) -> Iterator[RenderableType]:
    """Yield recorded snapshots: the parts of the page, in order."""
    yield snapshots_title(found)
    yield _plot(found.moments, found.values, found.notes, found.zone)
    if found.apart and len(found.moments) > 1:
        yield Text(
            f"Not on the curve: {count_noun(found.apart, 'snapshot')} "
            f"with other settings or answers.",
            style="dim",
        )
    if not found.shown:
        return
    chosen = any(answers_of_snapshot(one) for one in found.shown)
    titles = ("snapshot", "as of ", "name ", *history_figure_titles(found.measures))
    rows = [(one.moment, _snapshot(one, found.measures, chosen)) for one in found.shown]
    hidden = len(found.shown) < found.total
    yield table(
        (*titles, "only answers ") if chosen else titles,
        _with_notes(
            rows,
            found.notes,
            hidden,
            lambda note: ("", minute_cell(note.at), history_note_text(note)),
        ),
    )


def curve_view(found: Curve, measures: Sequence[str], last: int | None) -> Iterator[RenderableType]:
    """Yield a rebuilt curve: the parts of the page, in order; ``last`` rows, or all."""
    points, zone = found.points, found.zone
    window = "" if found.window == "all" else f", of the last {found.window} each"
    window = window.replace("last last-", "last ").replace("-items", " items")
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_noun(len(points), found.every)} from the labels{window}",
    )
    if not points:
        return
    yield from selection_view(points[-1].assessment.selection)
    values = {m: [history_measure_value(point.assessment, m) for point in points] for m in measures}
    yield _plot([point.moment for point in points], values, found.notes, zone)
    shown = points[-last:] if last else points
    hidden = len(shown) < len(points)
    noted = any(note.at > shown[0].moment or not hidden for note in found.notes)
    rows = [
        (
            one.moment,
            (
                day_cell(one.moment, zone),
                *_blank(noted),
                *history_figure_cells(one.assessment, measures),
            ),
        )
        for one in shown
    ]
    titles = (f"{found.every} to ", *(["note "] if noted else []), *history_figure_titles(measures))
    yield table(
        titles,
        _with_notes(
            rows,
            found.notes,
            hidden,
            lambda note: (day_cell(note.at, zone), history_note_text(note)),
        ),
    )


def _blank(wanted: bool) -> tuple[str, ...]:
    return ("",) if wanted else ()


def _plot(
    moments: Sequence[int],
    values: Mapping[str, Sequence[float | None]],
    notes: Sequence[NoteInfo],
    zone: str | None = None,
) -> Plot:
    titles = {measure: _SHORT.get(measure, MEASURES[measure].title) for measure in values}
    return Plot(moments, {titles[measure]: curve for measure, curve in values.items()}, notes, zone)


def _with_notes(
    rows: Sequence[tuple[int, Row]], notes: Iterable[NoteInfo], hidden: bool, told: Any
) -> Iterator[Row]:
    """Yield the rows, and between them the notes; none older than hidden rows."""
    first, width = rows[0][0], len(rows[0][1])
    left = [note for note in notes if not hidden or note.at > first]
    for moment, row in rows:
        while left and left[0].at <= moment:
            yield _widened(told(left.pop(0)), width)
        yield row
    for note in left:
        yield _widened(told(note), width)


def _widened(row: Row, width: int) -> Row:
    return (*row, *[""] * (width - len(row)))


def history_measure_value(found: Assessment, measure: str) -> float | None:
    """Return a measure's value; None where there is none."""
    return next((one.value for one in found.measures if one.measure == measure), None)


def history_figure_titles(measures: Sequence[str]) -> Row:
    """Return the titles of `history_figure_cells`."""
    named = [_SHORTER.get(measure, MEASURES[measure].title) for measure in measures]
    return ("items", "answers", "annotators", *named, "weakest ", "rate")


def history_figure_cells(found: Assessment, measures: Sequence[str]) -> Row:
    """Return the figures of a row: counts, measures, the weakest category."""
    lowest = found.summary.lowest
    return (
        count_cell(found.counts.items),
        count_cell(found.counts.answers),
        count_cell(found.counts.annotators),
        *(figure_cell(history_measure_value(found, measure)) for measure in measures),
        "" if lowest is None else found.categories[lowest.category],
        figure_cell(None if lowest is None else lowest.rate),
    )


def answers_of_snapshot(one: SnapshotRecord) -> str:
    """Return which answers a snapshot is of, but for the moment, which is told beside it."""
    selection = one.assessment.selection
    if selection is None:
        return ""
    return selection_in_words({**selection, "as_of": None, "known_at": None})


def _snapshot(one: SnapshotRecord, measures: Sequence[str], chosen: bool) -> Row:
    cells = history_figure_cells(one.assessment, measures)
    words = [answers_of_snapshot(one)] if chosen else []
    return (str(one.id), minute_cell(one.moment), one.name or "", *cells, *words)


MARK = "▲"
_MOST_POINTS, _FEWEST_POINTS = 120, 20
_MOST_NOTES = 10


def day_cell(moment: int, zone: str | None = None) -> str:
    """Return the date of a moment in a time zone; None is UTC."""
    return str(clock.day_of_moment(moment, zone))


def history_note_text(note: NoteInfo) -> str:
    """Return a note on one line, with its mark."""
    return f"{MARK} {' '.join(note.text.split())}"


@dataclass(frozen=True)
class Plot:
    """Curves by their titles over moments in their order, and the notes of the time.

    It fits the terminal: of more points than there is room for, the last of as many stretches
    are drawn. Numbers beside a curve are of all its points.
    """

    moments: Sequence[int]
    curves: Mapping[str, Sequence[float | None]]
    notes: Sequence[NoteInfo]
    zone: str | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines, for a console of some width."""
        known = {
            title: [value for value in values if value is not None]
            for title, values in self.curves.items()
        }
        told = {title: _told(values) for title, values in known.items() if len(values) > 1}
        if not told:
            return
        left = max(map(len, told)) + 2
        room = options.max_width - left - max(map(len, told.values())) - 2
        columns = min(len(self.moments), _MOST_POINTS, max(room, _FEWEST_POINTS))
        for title, words in told.items():
            drawn = sparkline(_last_of_stretches(self.curves[title], columns))
            yield Text(f"{title:<{left}}{drawn}  {words}")
        if self.notes:
            yield Text(" " * left + self._marks(columns))
            yield from self._legend(left)

    def _marks(self, columns: int) -> str:
        """Return marks under the first point that each note lies before; or behind the last."""
        total = len(self.moments)
        marks = [" "] * (columns + 1)
        for note in self.notes:
            place = bisect_left(self.moments, note.at)
            marks[columns if place == total else place * columns // total] = MARK
        return "".join(marks).rstrip()

    def _legend(self, left: int) -> Iterator[Text]:
        hidden = len(self.notes) - _MOST_NOTES
        if hidden > 0:
            yield Text(f"{'':<{left}}{hidden:,} notes before these:", style="dim")
        for note in self.notes[-_MOST_NOTES:]:
            yield Text(
                f"{'':<{left}}{day_cell(note.at, self.zone)} {history_note_text(note)}", style="dim"
            )


def _told(values: Sequence[float]) -> str:
    return (
        f"{figure_cell(values[0])} → {figure_cell(values[-1])} "
        f"(from {figure_cell(min(values))} to {figure_cell(max(values))})"
    )


def _last_of_stretches(values: Sequence[float | None], columns: int) -> list[float | None]:
    """Return as many stretches of the values as there are columns, by the last value of each."""
    total = len(values)
    return [values[-(-(column + 1) * total // columns) - 1] for column in range(columns)]
