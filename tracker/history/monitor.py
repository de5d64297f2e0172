"""The course of a figure over periods that share no answers: slope, levels, alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import time
from typing import Any, Final

from sqlalchemy import Connection

from tracker import monitoring
from tracker.agreement.query import Query
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.core.errors import InvalidOption
from tracker.history.curve import Curve, rebuilt_curve
from tracker.measures.registry import MEASURES
from tracker.projects.notes import NoteInfo
from tracker.projects.questions import QuestionInfo

_DAYS: Final = {"day": 1, "week": 7}
_MONDAY: Final = 0

_SHARE: Final = (0.0, 1.0)
_COEFFICIENT: Final = (-1.0, 1.0)


@dataclass(frozen=True)
class Watched:
    """The results for the course of a figure.

    Attributes:
        measure: the figure's name.
        every: the period, "day" or "week".
        points: the periods that are over and have a figure with an error, oldest first.
        left_out: how many more are over, and have none.
        slope: how fast it rises or falls; None if that was not asked.
        changes: when its level changed; likewise, unless there are too few periods for alarms.
        watch: the alarms; None if none were asked for.
        notes: what happened in that time.
    """

    measure: str
    every: str
    points: tuple[monitoring.Point, ...]
    left_out: int
    slope: monitoring.Slope | None
    changes: monitoring.ChangePoints | None
    watch: monitoring.Watch | None
    notes: Sequence[NoteInfo]

    @property
    def period(self) -> int:
        """The length of a period, in microseconds."""
        return _DAYS[self.every] * DAY

    def note_of_change(self, change: monitoring.Change) -> NoteInfo | None:
        """Return the note nearest to a change of level, at most a period away."""
        return self._nearest(change.at, change.from_at - self.period)

    def note_of_alarm(self, alarm: monitoring.Alarm) -> NoteInfo | None:
        """Return the note nearest to the beginning of an alarm's change, at most a period away."""
        return self._nearest(alarm.since - self.period, alarm.since - self.period)

    def _nearest(self, first: int, last: int) -> NoteInfo | None:
        """Return the note nearest to a stretch of time."""
        away = {note: max(first - note.at, note.at - last, 0) for note in self.notes}
        near = [note for note in self.notes if away[note] <= self.period]
        return min(near, key=lambda note: away[note], default=None)

    def to_dict(self) -> dict[str, Any]:
        """The additions of ``tracker history --trend`` and ``--watch-for`` to its JSON."""
        of = {"measure": self.measure, "every": self.every}
        return {
            "periods": [
                {"at": clock.iso(point.at), "value": point.value, "standard_error": point.error}
                for point in self.points
            ],
            "trend": None if self.slope is None else of | self.slope.to_dict(),
            "changes": None if self.changes is None else of | self._changes(self.changes),
            "watch": None if self.watch is None else of | self._watch(self.watch),
        }

    def _changes(self, points: monitoring.ChangePoints) -> dict[str, Any]:
        changes = [
            change.to_dict() | _told(self.note_of_change(change)) for change in points.changes
        ]
        return points.to_dict() | {"changes": changes}

    def _watch(self, watch: monitoring.Watch) -> dict[str, Any]:
        alarms = [alarm.to_dict() | _told(self.note_of_alarm(alarm)) for alarm in watch.alarms]
        return watch.to_dict() | {"alarms": alarms}


def _told(note: NoteInfo | None) -> dict[str, Any]:
    return {"note": None if note is None else note.to_dict()}


def watched_history(
    connection: Connection,
    question: QuestionInfo,
    measure: str,
    every: str = "week",
    query: Query | None = None,
    *,
    trends: bool = True,
    watch_for: str | None = None,
) -> Watched:
    """Return the course of a measure from period to period, each with only its own answers.

    ``trends`` asks for the slope and the changes of level, ``watch_for`` a drop, a rise or a
    change for alarms. The question says of which answers, and from when to when. A period that
    is not over yet is left out: what is said of it would change until it is.

    Raises InvalidOption for a period that has no fixed length, and whatever else `rebuilt` and
    `cusum` refuse.
    """
    if every == "month":
        raise InvalidOption(
            "months differ in length, and a trend needs periods that do not",
            "use --every week or day",
        )
    query = replace(query or Query(), measures=(measure,))
    window = f"{_DAYS.get(every, 1)}d"
    curve = rebuilt_curve(connection, question, every, window, query)
    figures = list(_figures(curve, query))
    points = tuple(point for point in figures if point is not None)
    few = len(points) < monitoring.ENOUGH_FOR_ALARMS
    return Watched(
        measure,
        every,
        points,
        len(figures) - len(points),
        monitoring.slope(points) if trends else None,
        # In few periods a change of level is found where an alarm cannot be.
        monitoring.change_points(points) if trends or few else None,
        None
        if watch_for is None
        else monitoring.watch(
            points, watch_for, bounds=_SHARE if MEASURES[measure].share else _COEFFICIENT
        ),
        curve.notes,
    )


def _figures(curve: Curve, query: Query) -> Iterator[monitoring.Point | None]:
    """Yield the figure of each period that is over; None for one without a value or an error."""
    choice = query.filter
    limits = (choice.as_of, choice.known_at, choice.until)
    over = min([limit for limit in limits if limit is not None], default=None)
    for point in curve.points:
        complete = _is_whole(point.moment, curve.every, curve.zone)
        if not complete or (over is not None and point.moment > over):
            continue
        figure = point.assessment.measures[0]
        value, error = figure.value, figure.standard_error
        if value is None or error is None:
            yield None
        else:
            yield monitoring.Point(point.moment, value, error, figure.items)


def _is_whole(moment: int, every: str, zone: str | None) -> bool:
    """Return whether a moment is the last one of a period, in a time zone."""
    after = clock.local_time(moment + 1, zone)
    begins = after.time() == time.min
    return begins and (every == "day" or after.weekday() == _MONDAY)
