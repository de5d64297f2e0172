"""Where each recorded finding stands, read in one statement by those who add to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote
from typing import TypeAlias

from sqlalchemy import Connection, func, select

from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.projects.flag_states import settling_changes
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import FlagChange, FlagRow, FlagSighting

Key: TypeAlias = tuple[int, int, str, int]
"""What a finding is about: annotator, other annotator, kind, category; as they are stored."""


@dataclass(frozen=True)
class FlagState:
    """One flag as it stands.

    ``action``, ``made_at``, ``made_by`` and ``informative_then`` are of the change that made
    its state; ``changes`` and ``sightings`` the numbers of the last ones, ``changed_at`` and
    ``seen_at`` their moments, ``informative`` the evidence when it was last seen.
    """

    id: int
    key: Key
    state: str
    action: str
    made_at: int
    made_by: str | None
    informative_then: int
    changes: int
    changed_at: int
    sightings: int
    seen_at: int
    informative: int

    def __str__(self) -> str:
        """The state, who made it and when: "dismissed (by ann, 2026-11-21)"."""
        who = f"by {self.made_by}" if self.made_by is not None else self.action
        return f"{self.state} ({who}, {clock.iso(self.made_at)[:10]})"


def flag_states(connection: Connection, project: ProjectInfo) -> dict[int, FlagState]:
    """Every flag of a project, by its number."""
    settled = settling_changes(project.id)
    changes = (
        select(
            FlagChange.flag_id,
            func.max(FlagChange.number).label("number"),
            func.max(FlagChange.made_at).label("moment"),
        )
        .where(FlagChange.project_id == project.id)
        .group_by(FlagChange.flag_id)
        .subquery("changes_made")
    )
    sightings = (
        select(FlagSighting.flag_id, func.max(FlagSighting.number).label("number"))
        .where(FlagSighting.project_id == project.id)
        .group_by(FlagSighting.flag_id)
        .subquery("times_seen")
    )
    last_seen = (FlagSighting.flag_id == sightings.c.flag_id) & (
        FlagSighting.number == sightings.c.number
    )
    statement = (
        select(
            FlagRow.id,
            FlagRow.annotator_id,
            FlagRow.other_id,
            FlagRow.kind,
            FlagRow.category_id,
            settled.c.state,
            settled.c.action,
            settled.c.made_at,
            settled.c.made_by,
            settled.c.informative.label("informative_then"),
            changes.c.number.label("changes"),
            changes.c.moment.label("changed_at"),
            sightings.c.number.label("sightings"),
            FlagSighting.seen_at,
            FlagSighting.informative,
        )
        .join(settled, settled.c.flag_id == FlagRow.id)
        .join(changes, changes.c.flag_id == FlagRow.id)
        .join(sightings, sightings.c.flag_id == FlagRow.id)
        .join(FlagSighting, last_seen & (FlagSighting.project_id == FlagRow.project_id))
        .where(FlagRow.project_id == project.id)
        .order_by(FlagRow.id)
    )
    return {
        number: FlagState(number, (annotator, other, kind, category), *rest)
        for number, annotator, other, kind, category, *rest in connection.execute(statement)
    }


def named_flag(project: ProjectInfo, states: dict[int, FlagState], number: int) -> FlagState:
    """The flag of that number; raises NotFound, saying which there are."""
    if number in states:
        return states[number]
    there = (
        f"there are {min(states)} to {max(states)}; see: tracker flags list {quote(project.name)}"
        if states
        else f"none is recorded: tracker audit {quote(project.name)} --record"
    )
    raise NotFound(f"there is no flag {number} in {project.name!r}", there)


def next_moment(states: Iterable[FlagState]) -> int:
    """The moment of what is recorded now: after all that was, whatever the machine's clock says."""
    return max([clock.now(), *(1 + max(state.changed_at, state.seen_at) for state in states)])
