"""Assignments as they stand: open, late, done or taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.core import clock
from tracker.core.errors import Refused
from tracker.core.results import Json, OptionalTime, Record, Time
from tracker.projects.annotators import annotator_names, find_annotators
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.work.assignments_sql import (
    Choice,
    count_states,
    select_assignments,
    withdraw_assignments,
)
from tracker.work.choosing import DONE, LATE, OPEN, STATES, WITHDRAWN

_COUNTED = (OPEN, LATE, DONE)


@dataclass(frozen=True)
class AssignmentInfo(Record):
    """An item that somebody is to answer, or was; ``order`` is its place in their list."""

    item: str
    annotator: str
    state: str
    why: str
    order: int
    assigned_at: Time
    until: OptionalTime
    round: Annotated[str | None, Json(rare=True)]


@dataclass(frozen=True)
class Progress(Record):
    """How many of somebody's assignments are in each state; ``next_until`` when the next end."""

    annotator: str
    open: int
    late: int
    done: int
    withdrawn: int
    next_until: OptionalTime


def list_assignments(
    connection: Connection,
    project: ProjectInfo,
    annotators: Sequence[str] = (),
    states: Sequence[str] = (),
    batch: int | None = None,
) -> list[AssignmentInfo]:
    """Return the assignments of a project, or of some of its people, by annotator and order.

    Raises NotFound for somebody unknown.
    """
    choice = _choice(connection, project, annotators, states, batch)
    rows = select_assignments(connection, project.id, choice, clock.now())
    return _with_names(connection, project, rows)


def withdraw(
    connection: Connection, project: ProjectInfo, annotators: Sequence[str], states: Sequence[str]
) -> list[AssignmentInfo]:
    """Take back what is in some states, of all or of some people, and return it.

    Raises NotFound for somebody unknown, Refused if there is nothing to take back.
    """
    lock_project(connection, project.id)
    choice = _choice(connection, project, annotators, states)
    rows = withdraw_chosen(connection, project, choice)
    if not rows:
        raise Refused(
            f"nothing of {project.name!r} is {' or '.join(states)}",
            f"see: tracker assignments list {quote(project.name)}",
        )
    return _with_names(connection, project, rows, WITHDRAWN)


def withdraw_chosen(connection: Connection, project: ProjectInfo, choice: Choice) -> list[Any]:
    """Take back what is chosen, and return it; the caller holds the project's lock."""
    now = clock.now()
    rows = [*select_assignments(connection, project.id, choice, now)]
    if rows:
        detail = {"assignments": len(rows)}
        change, _ = record_change(connection, project.id, "withdraw assignments", detail)
        withdraw_assignments(connection, project.id, choice, change, now)
    return rows


def _choice(
    connection: Connection,
    project: ProjectInfo,
    annotators: Sequence[str],
    states: Sequence[str],
    batch: int | None = None,
) -> Choice:
    people = find_annotators(connection, project, annotators) if annotators else None
    ids = None if people is None else {person.id for person in people}
    return Choice(ids, states or None, batch)


def _with_names(
    connection: Connection, project: ProjectInfo, rows: Iterable[Any], state: str | None = None
) -> list[AssignmentInfo]:
    names = annotator_names(connection, project)
    assignments = [
        AssignmentInfo(
            row.item, names[row.annotator], state or row.state, row.why, row.place,
            row.assigned_at, row.until, row.round,
        )
        for row in rows
    ]  # fmt: skip
    return sorted(assignments, key=lambda assignment: assignment.annotator)


def progress_of_people(
    connection: Connection, project: ProjectInfo, annotators: Sequence[str] = ()
) -> list[Progress]:
    """Return how far each person is, or each of some, who was ever assigned an item, by name.

    Raises NotFound for somebody unknown.
    """
    choice = _choice(connection, project, annotators, ())
    names = annotator_names(connection, project)
    numbers: dict[str, dict[str, int]] = {}
    ends: dict[str, int] = {}
    for row in count_states(connection, project.id, clock.now(), choice):
        name = names[row.annotator]
        numbers.setdefault(name, dict.fromkeys(STATES, 0))[row.state] += row.number
        if row.state == OPEN and row.until is not None:
            ends[name] = min(row.until, ends.get(name, row.until))
    return [
        Progress(name, of[OPEN], of[LATE], of[DONE], of[WITHDRAWN], ends.get(name))
        for name, of in sorted(numbers.items())
    ]


def progress_lines(progress: Sequence[Progress]) -> Iterator[str]:
    """Yield how far all are together; nothing if nothing is assigned."""
    if progress:
        open_, late, done = (sum(getattr(row, state) for row in progress) for state in _COUNTED)
        behind = [row.annotator for row in progress if row.late]
        of = f", of {', '.join(behind[:3])}{' and others' if behind[3:] else ''}" if behind else ""
        yield f"Assigned: {done:,} done, {open_:,} open, {late:,} late{of}"
