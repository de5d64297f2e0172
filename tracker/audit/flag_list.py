"""Recorded findings: a row each, and one with all that was seen and done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, func, or_, select

from tracker.audit.flags import (
    Appeal,
    Names,
    flag_appeals,
    flag_changes,
    flag_states,
    named_flag,
    read_flag_evidence,
)
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.core.results import as_json
from tracker.projects.annotators import find_annotator, settling_changes
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo, find_questions
from tracker.storage.schema import FLAG_STATES, STANDING, FlagChange, FlagRow, FlagSighting
from tracker.storage.schema.labels import of_question

ALL = "all"
"""What stands for every state."""


@dataclass(frozen=True)
class RecordedFlag:
    """One recorded finding as it stands.

    Attributes:
        project: the name of its project.
        values: number, what it is about, state and last change, as JSON.
        evidence: the figures when it was last seen; an older row's hold their sentence.
    """

    project: str
    values: Mapping[str, Any]
    evidence: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the row of ``tracker flags list``."""
        return as_json(self)


@dataclass(frozen=True)
class FlagPage:
    """One recorded finding with its ``changes`` and ``sightings``, the first first."""

    flag: RecordedFlag
    changes: Sequence[Mapping[str, Any]]
    sightings: Sequence[Mapping[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker flags show``, but for the project."""
        return as_json(self)


def list_flags(
    connection: Connection,
    project: ProjectInfo,
    *,
    states: Sequence[str] | None = None,
    annotator: str | None = None,
    kind: str | None = None,
    questions: Sequence[str] = (),
) -> list[RecordedFlag]:
    """Return the flags in these states, of an annotator (alone or in a pair), of a kind.

    None, or ``all`` among the states, leaves none out; no name of a question none of these.

    Raises InvalidOption for a state or kind that is none, NotFound for an unknown annotator or
    question.
    """
    states = (ALL,) if states is None else states
    _check("state", states, (*FLAG_STATES, ALL))
    if kind is not None:
        from tracker.audit.definitions import OF_NOBODY
        from tracker.audit.kinds import KINDS

        _check("kind", (kind,), (*KINDS, *OF_NOBODY))
    statement, state = _rows(project)
    if ALL not in states:
        statement = statement.where(state.in_(states))
    if annotator is not None:
        number = find_annotator(connection, project, annotator).id
        mine = or_(FlagRow.annotator_id == number, FlagRow.other_id == number)
        statement = statement.where(mine)
    if kind is not None:
        statement = statement.where(FlagRow.kind == kind)
    if questions:
        named = [one.id for one in find_questions(connection, project, questions)]
        statement = statement.where(FlagRow.question_id.in_(named))
    names = Names(connection, project)
    appeals = flag_appeals(connection, project)
    return [_recorded(row, names, appeals) for row in connection.execute(statement)]


def show_flag(connection: Connection, project: ProjectInfo, number: int) -> FlagPage:
    """Return one flag with all changes and sightings; raises NotFound."""
    named_flag(project, flag_states(connection, project), number)
    statement, _ = _rows(project)
    row = connection.execute(statement.where(FlagRow.id == number)).one()
    sightings = connection.execute(
        select(FlagSighting.__table__)
        .where(FlagSighting.project_id == project.id, FlagSighting.flag_id == number)
        .order_by(FlagSighting.number)
    )
    names = Names(connection, project)
    return FlagPage(
        _recorded(row, names, flag_appeals(connection, project)),
        flag_changes(connection, project, number),
        [_sighting(seen, names) for seen in sightings],
    )


def count_flags(
    connection: Connection, project: ProjectInfo, question: QuestionInfo | None = None
) -> int:
    """Return how many flags of a project, or of one question, are open or acknowledged."""
    settled = settling_changes(project.id)
    statement = select(func.count()).where(settled.c.state.in_(STANDING))
    if question is not None:
        statement = statement.select_from(settled).join(
            FlagRow, of_question(FlagRow, question.key) & (FlagRow.id == settled.c.flag_id)
        )
    return connection.scalar(statement) or 0


def _rows(project: ProjectInfo) -> tuple[Select[Any], Any]:
    """The statement of every flag with its state, last change, first and last sighting."""
    settled = settling_changes(project.id)
    sighting, act = FlagSighting.__table__, FlagChange.__table__
    first, last, change = sighting.alias(), sighting.alias(), act.alias()
    latest = _last(FlagSighting, project, "latest")
    newest = _last(FlagChange, project, "newest")
    statement = (
        select(
            FlagRow.__table__,
            settled.c.state,
            settled.c.made_by.label("state_by"),
            settled.c.made_at.label("state_at"),
            first.c.evidence.label("first_evidence"),
            last.c.evidence,
            last.c.severity,
            last.c.informative,
            last.c.seen_at,
            last.c.number.label("times_seen"),
            change.c.action,
            change.c.made_at,
            change.c.made_by,
            change.c.note,
        )
        .join(settled, settled.c.flag_id == FlagRow.id)
        .join(latest, latest.c.flag_id == FlagRow.id)
        .join(newest, newest.c.flag_id == FlagRow.id)
        .join(first, _of(first.c) & (first.c.number == 1))
        .join(last, _of(last.c) & (last.c.number == latest.c.number))
        .join(change, _of(change.c) & (change.c.number == newest.c.number))
        .where(FlagRow.project_id == project.id)
        .order_by(FlagRow.id)
    )
    return statement, settled.c.state


def _last(table: Any, project: ProjectInfo, name: str) -> Any:
    """The number of the last row of each flag."""
    return (
        select(table.flag_id, func.max(table.number).label("number"))
        .where(table.project_id == project.id)
        .group_by(table.flag_id)
        .subquery(name)
    )


def _of(table: Any) -> Any:
    return (table.project_id == FlagRow.project_id) & (table.flag_id == FlagRow.id)


def _recorded(row: Row[Any], names: Names, appeals: Mapping[int, Appeal]) -> RecordedFlag:
    evidence = read_flag_evidence(row.evidence, names.annotators)
    values = {
        **names.told(row),
        "state": row.state,
        "state_by": row.state_by,
        "state_at": clock.iso(row.state_at),
        "appeal": appeals[row.id].to_dict() if row.id in appeals else None,
        "severity": row.severity,
        "found_at": clock.iso(row.found_at),
        "last_seen_at": clock.iso(row.seen_at),
        "times_seen": row.times_seen,
        "informative": row.informative,
        "first_observed": _observed(json.loads(row.first_evidence)),
        "last_observed": _observed(evidence),
        "action": row.action,
        "by": row.made_by,
        "changed_at": clock.iso(row.made_at),
        "note": row.note,
    }
    return RecordedFlag(names.project, values, evidence)


def _observed(evidence: Mapping[str, Any]) -> float | None:
    """Return the figure of an annotator, or of a slice of the items."""
    observed: float | None = evidence.get("observed", evidence.get("figure"))
    return observed


def _sighting(row: Row[Any], names: Names) -> dict[str, Any]:
    evidence = read_flag_evidence(row.evidence, names.annotators)
    return {
        "number": row.number,
        "seen_at": clock.iso(row.seen_at),
        "severity": row.severity,
        "informative": row.informative,
        "observed": _observed(evidence),
        "expected": evidence.get("expected", evidence.get("elsewhere")),
        "selection": evidence["selection"],
    }


def _check(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidOption(
                f"--{what} {name!r} is none of {', '.join(known)}", near_names(name, known)
            )
