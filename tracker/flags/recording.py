"""What an audit found, recorded: new flags, flags seen again, flags not found any more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert

from tracker.flags.actions import FlagState, Key, flag_states, next_flag_moment
from tracker.projects.annotators import annotator_names, with_annotator_names
from tracker.projects.change_log import lock_project
from tracker.projects.question import QuestionInfo
from tracker.storage.schema import NONE_APPLIES, STANDING, FlagChange, FlagRow, FlagSighting

if TYPE_CHECKING:
    from tracker.audit import Audit, AuditedAnnotator
    from tracker.audit.kind import Flag


GROWTH = (3, 2)
"""The evidence for a finding that was considered harmless, to that when it was, at which it is
opened again."""


@dataclass(frozen=True)
class Recorded:
    """What became of an audit's findings: new ones, and those seen ``again``.

    ``reopened`` are among the latter; ``closed`` are those that were not found any more.
    """

    new: int
    again: int
    reopened: int
    closed: int

    def __add__(self, other: Recorded) -> Recorded:
        return Recorded(
            self.new + other.new,
            self.again + other.again,
            self.reopened + other.reopened,
            self.closed + other.closed,
        )


@dataclass
class _Rows:
    """What is to be stored, table by table, all of one moment."""

    project_id: int
    moment: int
    flags: list[dict[str, Any]] = field(default_factory=list)
    sightings: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)

    def flag(self, number: int, key: Key) -> None:
        names = ("question_id", "annotator_id", "other_id", "kind", "category_id")
        row = {"project_id": self.project_id, "id": number, "found_at": self.moment}
        self.flags.append(row | dict(zip(names, key, strict=True)))

    def sighting(self, flag: int, number: int, found: Flag, evidence: str) -> None:
        row = {"project_id": self.project_id, "flag_id": flag, "number": number}
        told = {"severity": found.severity, "informative": found.informative}
        self.sightings.append(row | told | {"seen_at": self.moment, "evidence": evidence})

    def change(self, flag: int, number: int, made: tuple[str, str, str | None], seen: int) -> None:
        row = {"project_id": self.project_id, "flag_id": flag, "number": number}
        told = dict(zip(("state", "action", "note"), made, strict=True))
        of = {"made_at": self.moment, "made_by": None, "informative": seen}
        self.changes.append(row | told | of)

    def store(self, connection: Connection) -> None:
        for table, rows in (
            (FlagRow, self.flags),
            (FlagSighting, self.sightings),
            (FlagChange, self.changes),
        ):
            if rows:
                connection.execute(insert(table), rows)


def record_flags(
    connection: Connection, question: QuestionInfo, found: Audit, *, closes: bool
) -> Recorded:
    """Record the findings that stand up.

    A resolved flag that is found is open again; a dismissed one, and one that was resolved after an
    appeal, only where the evidence grew by `GROWTH`. What is not found is resolved where the audit
    ``closes``: where it looked at all answers for all kinds of findings.
    """
    lock_project(connection, question.project_id)
    states = flag_states(connection, question.project)
    known = {state.key: state for state in states.values() if state.key[0] == question.id}
    rows = _Rows(question.project_id, next_flag_moment(states.values()))
    findings = _findings(question, found)
    numbered = Numbered(found, annotator_names(connection, question.project))
    numbers = count(max(states, default=0) + 1)
    reopened = closed = 0
    for key, (annotator, flag) in findings.items():
        state = known.get(key)
        number = next(numbers) if state is None else state.id
        if state is None:
            rows.flag(number, key)
            rows.change(number, 1, ("open", "found", None), flag.informative)
        elif (why := _why_again(state, flag.informative)) is not None:
            reopened += 1
            made = ("open", "reopened", why)
            rows.change(number, state.changes + 1, made, flag.informative)
        seen = 0 if state is None else state.sightings
        rows.sighting(number, seen + 1, flag, numbered.evidence(annotator, flag))
    for state in known.values():
        if closes and state.state in STANDING and state.key not in findings:
            closed += 1
            made = ("resolved", "no longer found", "no longer found")
            rows.change(state.id, state.changes + 1, made, state.informative)
    rows.store(connection)
    return Recorded(len(rows.flags), len(findings) - len(rows.flags), reopened, closed)


def _findings(question: QuestionInfo, found: Audit) -> Mapping[Key, tuple[AuditedAnnotator, Flag]]:
    """The findings by what they are about; one about a pair, told of both, is the lower id's."""
    findings: dict[Key, tuple[AuditedAnnotator, Flag]] = {}
    for annotator, flag in found.flagged():
        other = flag.annotator if flag.other is None else flag.other
        first, second = sorted((flag.annotator, other))
        category = NONE_APPLIES if flag.category is None else flag.category
        key = (question.id, first, second, flag.kind, category)
        if key not in findings or annotator.id == first:
            findings[key] = (annotator, flag)
    return findings


def _why_again(state: FlagState, informative: int) -> str | None:
    """Why a flag that is found is opened again; None where it is open or stays dismissed."""
    # Whoever resolves a finding that its annotator objects to has weighed this very evidence.
    answered = state.appeal is not None and state.appeal.outcome == state.action == "resolved"
    if state.state == "resolved" and not answered:
        return "found again"
    more, than = GROWTH
    before = state.informative_then
    grew = informative > before and than * informative >= more * before
    if (state.state == "dismissed" or answered) and grew:
        return f"evidence grew from {before:,} to {informative:,} items"
    return None


# Older rows hold their sentence, with annotators by number between two NULs.
_MARKED = re.compile(r"\\u0000(\d+)\\u0000")


class Numbered:
    """An audit's findings, with annotators by number.

    ``names`` are all of the project, aliases too.
    """

    def __init__(self, found: Audit, names: Mapping[int, str]) -> None:
        self.found = found
        self.numbers = {name: number for number, name in names.items()}
        self.selection = with_annotator_names(found.selection, self.numbers)

    def evidence(self, annotator: AuditedAnnotator, flag: Flag) -> str:
        """Return one finding, as it is reported of one annotator."""
        values = self.found.finding_values(annotator, flag) | {"selection": self.selection}
        if flag.other is not None:
            values["with"] = flag.annotator if annotator.id == flag.other else flag.other
        return json.dumps(values, ensure_ascii=False, allow_nan=False)


def read_flag_evidence(text: str, names: Mapping[int, str]) -> dict[str, Any]:
    """Return what `Numbered.evidence` wrote, with the names that annotators have now.

    Older rows hold a sentence as ``why``.
    """
    named = _MARKED.sub(lambda mark: json.dumps(names[int(mark[1])])[1:-1], text)
    values: dict[str, Any] = json.loads(named)
    if isinstance(values["with"], int):
        values["with"] = names[values["with"]]
    return values | {"selection": with_annotator_names(values["selection"], names)}
