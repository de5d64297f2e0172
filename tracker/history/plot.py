"""Curves as lines of signs in the terminal, with marks for what happened."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from rich.console import Console, ConsoleOptions

from tracker.core import clock
from tracker.monitoring import are_within_noise
from tracker.projects.notes import NoteInfo
from tracker.render.cells import Text, figure_cell, sparkline

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

    A curve of ``steady`` figures, which differ by no more than their errors, is drawn flat.
    It fits the terminal: of more points than there is room for, the last of as many stretches
    are drawn. Numbers beside a curve are of all its points.
    """

    moments: Sequence[int]
    curves: Mapping[str, Sequence[float | None]]
    notes: Sequence[NoteInfo]
    zone: str | None = None
    steady: Set[str] = frozenset()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines, for a console of some width."""
        known = {
            title: [value for value in values if value is not None]
            for title, values in self.curves.items()
        }
        payload = {
            title: _told(values, steady=title in self.steady)
            for title, values in known.items()
            if len(values) > 1
        }
        if not payload:
            return
        left = max(map(len, payload)) + 2
        room = options.max_width - left - max(map(len, payload.values())) - 2
        columns = min(len(self.moments), _MOST_POINTS, max(room, _FEWEST_POINTS))
        for title, words in payload.items():
            values = _last_of_stretches(self.curves[title], columns)
            drawn = sparkline(values, flat=title in self.steady)
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


def _told(values: Sequence[float], *, steady: bool) -> str:
    course = f"{figure_cell(values[0])} → {figure_cell(values[-1])}"
    if steady:
        return f"{course}, within noise"
    return f"{course} (from {figure_cell(min(values))} to {figure_cell(max(values))})"


def _last_of_stretches(values: Sequence[float | None], columns: int) -> list[float | None]:
    """Return as many stretches of the values as there are columns, by the last value of each."""
    total = len(values)
    return [values[-(-(column + 1) * total // columns) - 1] for column in range(columns)]


# -- Whether a curve is drawn flat ----------------------------------------------------------------


Figure: TypeAlias = tuple[float | None, float | None]
"""A value and its standard error."""


def are_steady(figures: Sequence[Figure]) -> bool:
    """Return whether the figures of a curve differ by no more than their errors let one expect."""
    return are_within_noise([(value, error) for value, error in figures if value is not None])
