"""A filter of answers in a person's words, before it is bound to a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import Connection, Row, or_, select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.kept import read_once
from tracker.core.results import Hidden, Json, OptionalTime, Record
from tracker.counts.selection import Selection
from tracker.projects.annotators import (
    find_annotators,
    find_flagged_annotators,
    list_annotators,
    select_decider,
)
from tracker.projects.items import check_item_values
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo
from tracker.storage.as_of import last_change_as_of
from tracker.storage.schema import Annotator, Note

_FURTHEST = clock.DAY * 14 // 24
"""How far a zone's days may begin before those of UTC."""
_FORMS = (
    "a time is 2026-03-01T14:30 (UTC unless it has an offset, such as +02:00), a date, or how long "
    "ago: 7d, 36h, '3 weeks ago'"
)


def _where_as_json(where: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    return {name: list(values) for name, values in where}


@dataclass(frozen=True)
class AnswerFilter(Record):
    """Which answers to count, in the caller's words; moments in microseconds.

    ``days`` are those moments that were given as days, by the names of their fields; they are the
    days' ends in UTC until a project says in which zone (`in_zone`). ``where`` holds pairs of an
    attribute's name and its accepted values. The question is where answers are chosen from; it
    leaves none of its own out.
    """

    annotators: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    exclude_flagged: Annotated[bool, Hidden] = False
    since: OptionalTime = None
    until: OptionalTime = None
    as_of: OptionalTime = None
    known_at: OptionalTime = None
    where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], Json(write=_where_as_json)] = ()
    guideline: Annotated[str | None, Json(rare=True)] = None
    question: Annotated[str | None, Hidden] = field(default=None, compare=False)
    days: Annotated[tuple[tuple[str, date], ...], Hidden] = field(default=(), compare=False)

    def in_zone(self, zone: str | None) -> AnswerFilter:
        """Return the filter with its days as those of a time zone.

        Raises InvalidOption for a day that has not begun there, of which nothing is known.
        """
        now = clock.now()
        moments: dict[str, Any] = {}
        for name, day in self.days:
            past = name in {"as_of", "known_at"}
            if past and clock.moment_of_datetime(day, end_of_day=False, zone=zone) > now:
                raise InvalidOption(
                    f"--{name.replace('_', '-')} {day} lies in the future", "nobody knows it yet"
                )
            moment = clock.moment_of_datetime(day, end_of_day=name != "since", zone=zone)
            moments[name] = min(moment, now) if past else moment
        return replace(self, **moments, days=()) if moments else self


EVERYTHING = AnswerFilter()


def make_answer_filter(
    *,
    annotators: str | Iterable[str] = (),
    exclude_annotators: str | Iterable[str] = (),
    exclude_flagged: bool = False,
    since: date | str | None = None,
    until: date | str | None = None,
    where: Mapping[str, str | Iterable[str]] | None = None,
    as_of: date | str | None = None,
    known_at: date | str | None = None,
    guideline: str | None = None,
    question: str | None = None,
) -> AnswerFilter:
    """Return the filter that the arguments of `Selecting` describe; raises InvalidOption."""
    now = clock.now()
    first = _moment("--since", since, now, end_of_day=False)
    last = _moment("--until", until, now, end_of_day=True)
    if first is not None and last is not None and first > last:
        raise InvalidOption(
            f"--since {clock.iso(first)} is later than --until {clock.iso(last)}",
            "no answer lies between them",
        )
    attributes = {name.strip(): _names(values) for name, values in (where or {}).items()}
    for name, values in attributes.items():
        if not values:
            raise InvalidOption(f"--where names no value of {name!r}")
    times = {"since": since, "until": until, "as_of": as_of, "known_at": known_at}
    days = ((name, _day(time)) for name, time in times.items())
    return AnswerFilter(
        annotators=_names(annotators),
        excluded=_names(exclude_annotators),
        exclude_flagged=exclude_flagged,
        since=first,
        until=last,
        as_of=_past_moment("--as-of", as_of, now),
        known_at=_past_moment("--known-at", known_at, now),
        where=tuple(sorted(attributes.items())),
        guideline=None if guideline is None else guideline.strip(),
        question=question,
        days=tuple((name, day) for name, day in days if day is not None),
    )


def _day(time: date | str | None) -> date | None:
    """Return the day that a time is given as; None if it is given otherwise."""
    if isinstance(time, str):
        try:
            return date.fromisoformat(time.strip())
        except ValueError:
            return None
    return None if isinstance(time, datetime) else time


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name or several as sorted names without duplicates."""
    several: Iterable[str] = (names,) if isinstance(names, str) else names
    return tuple(sorted({name.strip() for name in several}))


def begin_of(option: str, time: date | str, zone: str | None) -> int:
    """Return the moment from which something holds, a date being the begin of its day in a zone.

    Raises InvalidOption for a text that is no time.
    """
    return _moment(option, time, clock.now(), end_of_day=False, zone=zone) or 0


def end_of(option: str, time: date | str, zone: str | None) -> int:
    """Return the last moment of something that is to come, a date being the end of its day.

    Raises InvalidOption for a text that is no time, and for a moment that is over.
    """
    now = clock.now()
    moment = _moment(option, time, now, end_of_day=True, zone=zone) or 0
    if moment <= now:
        raise InvalidOption(f"{option} {time} is over", "name a day to come")
    return moment


def _past_moment(option: str, time: date | str | None, now: int) -> int | None:
    """Return a past moment, a date being the end of its day in UTC; raises InvalidOption.

    Today's date means now, because its end is not over; so does tomorrow's if it is today's in
    some zone, which `AnswerFilter.in_zone` checks.
    """
    moment = _moment(option, time, now, end_of_day=True)
    if moment is None or moment <= now:
        return moment
    if moment - now < clock.DAY + _FURTHEST and _day(time) is not None:
        return now
    raise InvalidOption(f"{option} {clock.iso(moment)} lies in the future", "nobody knows it yet")


def _moment(
    option: str, time: date | str | None, now: int, *, end_of_day: bool, zone: str | None = None
) -> int | None:
    if time is None:
        return None
    try:
        if isinstance(time, str):
            return clock.parse_human_time(time, now=now, end_of_day=end_of_day, zone=zone)
        return clock.moment_of_datetime(time, end_of_day=end_of_day, zone=zone)
    except ValueError as error:
        raise InvalidOption(f"{option}: {error}", _FORMS) from None


# -- A filter bound to a project: names become ids, and unknown names raise an error --------------


def select_answers(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> Selection:
    """Return the selection of all human annotators' answers, or of those that the filter chooses.

    Other annotators stay out of agreement unless the filter names them. Raises NotFound for an
    annotator, InvalidOption for an attribute or a value that the project does not have.
    """
    rows = _read_others(connection, question.project_id)
    references = frozenset(row.id for row in rows if row.kind == "reference")
    every = Selection(
        question,
        frozenset(row.id for row in rows),
        references,
        decider=next((row.decider for row in rows if row.decider in references), 0),
    )
    return _narrowed(connection, every, choice)


@read_once
def _read_others(connection: Connection, project_id: int) -> Sequence[Row[Any]]:
    """Return the annotators that are not human, each with the decider."""
    decider = select_decider(project_id).scalar_subquery().label("decider")
    ours = (Annotator.project_id == project_id, Annotator.kind != "human")
    return connection.execute(select(Annotator.id, Annotator.kind, decider).where(*ours)).all()


def select_labels(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter
) -> Selection:
    """Return the selection of all labels, of every kind of annotator, or of those chosen."""
    return _narrowed(connection, Selection(question), choice)


def _narrowed(connection: Connection, every: Selection, choice: AnswerFilter) -> Selection:
    """Return the selection narrowed by a filter; names and aliases are resolved."""
    if choice == EVERYTHING:
        return every
    project = every.question.project
    choice = within_guideline(connection, project, choice)
    check_item_values(connection, project, dict(choice.where))
    named = find_annotators(connection, project, [*choice.annotators, *choice.excluded])
    included, excluded = named[: len(choice.annotators)], named[len(choice.annotators) :]
    only = frozenset(annotator.id for annotator in included) if included else None
    if choice.exclude_flagged:
        flagged = find_flagged_annotators(connection, every.question)
        flagged = flagged if only is None else flagged & only
        everybody = list_annotators(connection, project)
        excluded += [annotator for annotator in everybody if annotator.id in flagged]
    out = frozenset(annotator.id for annotator in excluded)
    resolved = replace(
        choice,
        annotators=_names(annotator.name for annotator in included),
        excluded=_names(annotator.name for annotator in excluded),
    )
    limits = replace(resolved, exclude_flagged=False) != EVERYTHING
    return replace(
        every,
        left_out=every.left_out | out if only is None else frozenset(),
        references=every.references - out,
        decider=0 if every.decider in out else every.decider,
        only=None if only is None else only - out,
        since=choice.since,
        until=choice.until,
        where=choice.where,
        told=resolved.to_dict() if limits else None,
    )


def within_guideline(
    connection: Connection, project: ProjectInfo, choice: AnswerFilter
) -> AnswerFilter:
    """Return a filter with the project's days, limited to the time in which its guideline held.

    Raises NotFound for a guideline that the project does not have, InvalidOption if it held at
    no time that is asked for.
    """
    choice = choice.in_zone(project.timezone)
    if choice.guideline is None:
        return choice
    first, last = _guideline_period(connection, project, choice.guideline, choice.known_at)
    since = first if choice.since is None else max(first, choice.since)
    ends = [end for end in (last, choice.until) if end is not None]
    until = min(ends, default=None)
    if until is not None and since > until:
        to = "" if last is None else f" to {clock.iso(last)}"
        raise InvalidOption(
            f"the guideline {choice.guideline!r} held from {clock.iso(first)}{to}",
            "no answer lies between that and the times chosen",
        )
    return replace(choice, since=since, until=until)


def _guideline_period(
    connection: Connection, project: ProjectInfo, name: str, known_at: int | None = None
) -> tuple[int, int | None]:
    """Return the first and the last moment of a guideline; None if no other one followed.

    With ``known_at`` as the notes were known then. Raises NotFound for an unknown one.
    """
    which = [Note.project_id == project.id, Note.guideline.is_not(None)]
    if known_at is None:
        which.append(Note.removed_by.is_(None))
    else:
        through = last_change_as_of(connection, project.id, known_at)
        removed_later = or_(Note.removed_by.is_(None), Note.removed_by > through)
        which += [Note.change_id <= through, removed_later]
    statement = select(Note.guideline, Note.at).where(*which).order_by(Note.at, Note.id)
    starts = {row.guideline: row.at for row in connection.execute(statement)}
    if name not in starts:
        advice = f"tracker project note {quote(project.name)} TEXT --guideline {quote(name)}"
        advice = f"it has: {', '.join(starts)}" if starts else f"note one: {advice}"
        raise NotFound(
            f"{project.name!r} has no guideline {name!r}", near_names(name, starts) or advice
        )
    later = [at for at in starts.values() if at > starts[name]]
    return starts[name], min(later) - 1 if later else None
