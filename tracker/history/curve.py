"""The curve from the labels' own times: the figures at the end of each period."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess_patterns, measures_of_patterns
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.counts.choosing import Selecting
from tracker.counts.filter import (
    EVERYTHING,
    AnswerFilter,
    select_answers,
    within_guideline,
)
from tracker.counts.selection import Selection
from tracker.counts.timeline import count_patterns_by_moment, count_timeline
from tracker.counts.valid_periods import Window
from tracker.history.snapshot import CourseJson, FiguresOverTime, own_figures
from tracker.projects.categories import category_names
from tracker.projects.kept import stored_with_answers
from tracker.projects.notes import NoteInfo, list_notes
from tracker.projects.questions import QuestionInfo

PERIODS = ("day", "week", "month")
_WINDOW = re.compile(r"([0-9]{1,6}) ?(d|days?|w|weeks?)|last-([0-9]{1,9})-items", re.IGNORECASE)


@dataclass(frozen=True)
class Point:
    """The figures at the end of a period, a moment in microseconds.

    ``own`` are those of the period's own items, whose last answers came in it.
    """

    moment: int
    assessment: Assessment
    own: Assessment

    def to_dict(self) -> dict[str, Any]:
        """Return one element of the contract's ``snapshots``, which was never recorded."""
        selection = self.assessment.selection
        return {
            "snapshot": None,
            "name": None,
            "note": None,
            "taken_at": None,
            "as_of": clock.iso(self.moment),
            "selection": None if selection is None else dict(selection),
            "scale": self.assessment.scale,
            **self.assessment.figures(),
            "own": own_figures(self.own),
        }


@dataclass(frozen=True)
class Curve(FiguresOverTime):
    """A point for each period, oldest first; ``every`` and ``window`` in words.

    ``notes`` says what happened in that time; days are of the time ``zone``, None for UTC.
    """

    project: str
    every: str
    window: str
    points: tuple[Point, ...]
    notes: Sequence[NoteInfo] = ()
    zone: str | None = None

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def to_dict(self) -> Annotated[dict[str, Any], CourseJson]:
        """Return the contract's JSON of ``tracker history --every``."""
        return {
            "project": self.project,
            "every": self.every,
            "window": self.window,
            "snapshots": [point.to_dict() for point in self.points],
            "notes": [note.to_dict() for note in self.notes],
        }


class Asked(Selecting, total=False):
    """The keyword arguments of a curve: a window, measures, and a choice of answers."""

    interval: str | None
    window: str
    measures: Sequence[str]


def parse_curve_window(text: str) -> Window:
    """Return the window that ``all``, ``7d``, ``4 weeks`` or ``last-500-items`` means.

    Raises InvalidOption.
    """
    words = " ".join(text.split())
    if words == "all":
        return Window()
    match = _WINDOW.fullmatch(words)
    number = int(match[1] or match[3]) if match else 0
    if match is None or number < 1:
        raise InvalidOption(
            f"--window {text!r} is not a window", "all, whole days such as 7d, or last-500-items"
        )
    if match[3]:
        return Window(items=number)
    return Window(days=number * (7 if match[2].lower().startswith("w") else 1))


def check_recorded_curve(window: str, choice: AnswerFilter, interval: str | None = None) -> None:
    """Raise InvalidOption for a choice, a window or intervals, which records cannot take."""
    if interval is not None:
        raise InvalidOption(
            "recorded snapshots have the intervals that they were taken with",
            "for others rebuild the curve from the labels: add --every week",
        )
    if choice != EVERYTHING or window != "all":
        raise InvalidOption(
            "recorded snapshots keep the selection of answers that they were taken with",
            "to choose now, rebuild the curve from the labels: add --every week",
        )


def rebuilt_curve(
    connection: Connection,
    question: QuestionInfo,
    every: str,
    window: str = "all",
    query: Query | None = None,
) -> Curve:
    """Return the curve with a point at the end of each day, week (to Sunday) or month.

    The labels are read once, however many points there are: a point has the figures that
    ``agreement`` has as of then. Only the measures that follow from item patterns are there.
    The question's ``since`` and ``until`` say from when to when the curve goes; they leave no
    answer out.

    Raises InvalidOption for another period or window, or a question that does not fit.
    """
    query = query or Query()
    if every not in PERIODS:
        raise InvalidOption(f"--every {every!r} is not a period", f"one of: {', '.join(PERIODS)}")
    if question.answers == "spans":
        raise InvalidOption(
            f"the curve of {question.description} of spans, cannot be rebuilt",
            f"record it: tracker snapshot {quote(question.project.name)}",
        )
    query = replace(query, filter=within_guideline(connection, question.project, query.filter))
    zone, now = question.project.timezone, clock.now()
    points = tuple(
        Point(min(clock.end_of_day_number(day, zone), now), assessment, of_period)
        for day, assessment, of_period in _states(connection, question, every, window, query)
    )
    notes = _between(list_notes(connection, question.project), query.filter)
    return Curve(question.project.name, every, window, points, notes, zone)


@stored_with_answers
def _states(
    connection: Connection, question: QuestionInfo, every: str, window: str, query: Query
) -> list[tuple[int, Assessment, Assessment]]:
    """Return the last day of each period, the figures then, and those of its own items."""
    names = category_names(connection, question)
    zone = question.project.timezone
    measures = measures_of_patterns(question, names, query)
    spanned = parse_curve_window(window)
    choice = replace(query.filter, since=None, until=None, guideline=None)
    selection = select_answers(connection, question, choice)
    timeline = count_timeline(connection, selection, spanned)
    ends = _ends(timeline.first, timeline.last, every, query, zone)
    own = _own_patterns(connection, selection, ends, query)
    states: list[tuple[int, Assessment, Assessment]] = []
    for day, state in zip(ends, timeline.at(ends), strict=True):
        if state is None:
            _, assessment, _ = states[-1]
        else:
            _, patterns, annotators = state
            assessment = assess_patterns(question, names, patterns, annotators, measures, query)
            assessment = replace(assessment, selection=selection.told)
        people = assessment.counts.annotators
        patterns = own.get(day, ItemPatterns())
        of_period = assess_patterns(question, names, patterns, people, measures, query)
        states.append((day, assessment, of_period))
    return states


def _own_patterns(
    connection: Connection, selection: Selection, ends: Sequence[int], query: Query
) -> dict[int, ItemPatterns]:
    """Return the patterns of the items whose last answers came in each period, by its last day."""
    zone, since = selection.question.project.timezone, query.filter.since
    own: dict[int, ItemPatterns] = {}
    for moment, patterns in count_patterns_by_moment(connection, selection).items():
        place = bisect_left(ends, moment // clock.DAY)
        if place < len(ends) and (since is None or clock.moment_of_local(moment, zone) >= since):
            own[ends[place]] = own.get(ends[place], ItemPatterns()) + patterns
    return own


def _between(notes: Sequence[NoteInfo], choice: AnswerFilter) -> tuple[NoteInfo, ...]:
    """Return the notes of the time that was asked for."""
    since, until = choice.since, choice.until
    return tuple(
        note
        for note in notes
        if (since is None or note.at >= since) and (until is None or note.at <= until)
    )


def _ends(
    first: int | None, last: int | None, every: str, query: Query, zone: str | None
) -> Sequence[int]:
    """Return the last days of the periods, from the first answer to the last or as given."""
    if first is None or last is None:
        return []
    since, until = query.filter.since, query.filter.until
    if since is not None:
        first = max(first, clock.day_number(since, zone))
    latest = None if until is None else clock.day_number(until, zone)
    if latest is not None:
        last = min(last, latest)
    ends = []
    day = first
    while day <= last:
        end = _end(day, every)
        ends.append(end if latest is None else min(end, latest))
        day = end + 1
    return ends


def _end(day: int, every: str) -> int:
    """Return the last day of the period that a day is in."""
    if every == "day":
        return day
    that = clock.date_of_number(day)
    if every == "week":
        return day + 6 - that.weekday()
    begin_of_next = date(that.year + that.month // 12, that.month % 12 + 1, 1)
    return (begin_of_next - that).days + day - 1
