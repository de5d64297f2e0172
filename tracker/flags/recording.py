"""What an audit found, recorded: new flags, flags seen again, flags not found any more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert

from tracker.flags.actions import FlagState, Key, flag_states, next_flag_moment
from tracker.projects.annotators import annotator_names, with_annotator_names
from tracker.projects.change_log import lock_project
from tracker.projects.question import QuestionInfo
from tracker.storage.schema import NONE_APPLIES, STANDING, FlagChange, FlagRow, FlagSighting

if TYPE_CHECKING:
    from tracker.audit.kind import Flag
    from tracker.audit.project_finding import ProjectFinding
    from tracker.audit.query import AuditQuery
    from tracker.audit.result import Audit


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
        names = ("question_id", "annotator_id", "other_id", "kind", "category_id", "subject")
        row = {"project_id": self.project_id, "id": number, "found_at": self.moment}
        self.flags.append(row | dict(zip(names, key, strict=True)))

    def sighting(
        self, flag: int, number: int, finding: Flag | ProjectFinding, evidence: str
    ) -> None:
        row = {"project_id": self.project_id, "flag_id": flag, "number": number}
        told = {"severity": finding.severity, "informative": finding.informative}
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
    known = {state.key: state for state in states.values() if state.key.question == question.id}
    rows = _Rows(question.project_id, next_flag_moment(states.values()))
    findings = _findings(question, found)
    numbered = Numbered(found, annotator_names(connection, question.project))
    numbers = count(max(states, default=0) + 1)
    reopened = closed = 0
    for key, finding in findings.items():
        state = known.get(key)
        number = next(numbers) if state is None else state.id
        if state is None:
            rows.flag(number, key)
            rows.change(number, 1, ("open", "found", None), finding.informative)
        elif (why := _why_again(state, finding.informative)) is not None:
            reopened += 1
            made = ("open", "reopened", why)
            rows.change(number, state.changes + 1, made, finding.informative)
        seen = 0 if state is None else state.sightings
        rows.sighting(number, seen + 1, finding, numbered.evidence(finding))
    for state in known.values():
        if closes and state.state in STANDING and state.key not in findings:
            closed += 1
            made = ("resolved", "no longer found", "no longer found")
            rows.change(state.id, state.changes + 1, made, state.informative)
    rows.store(connection)
    return Recorded(len(rows.flags), len(findings) - len(rows.flags), reopened, closed)


def settled_audits(
    connection: Connection, questions: Sequence[QuestionInfo], query: AuditQuery | None = None
) -> list[Audit]:
    """Return the audits of questions of one project, with the findings that people settled."""
    from tracker.audit.run import audit_questions

    return with_settled(connection, questions, audit_questions(connection, questions, query))


def with_settled(
    connection: Connection, questions: Sequence[QuestionInfo], audits: Sequence[Audit]
) -> list[Audit]:
    """Return the audits of questions with the findings that people settled; two statements."""
    states = {one.key: one for one in flag_states(connection, questions[0].project).values()}
    settled = []
    for question, audit in zip(questions, audits, strict=True):
        numbers = {
            finding.key: states[key].id
            for key, finding in _findings(question, audit).items()
            if key in states and _is_settled(states[key], finding.informative)
        }
        settled.append(replace(audit, settled=numbers))
    return settled


def _is_settled(state: FlagState, informative: int) -> bool:
    """Return whether a person settled a finding, and recording it would not open it again.

    One that a person resolved is settled until an audit is recorded that finds it.
    """
    if state.state == "resolved":
        return state.action == "resolved"
    return state.state == "dismissed" and _why_again(state, informative) is None


def _findings(question: QuestionInfo, audit: Audit) -> Mapping[Key, Flag | ProjectFinding]:
    """Return the findings by what they are about; one about a pair, told of both, once."""
    findings: dict[Key, Flag | ProjectFinding] = {}
    for _, flag in audit.flagged():
        other = flag.annotator if flag.other is None else flag.other
        first, second = sorted((flag.annotator, other))
        category = NONE_APPLIES if flag.category is None else flag.category
        findings[Key(question.id, first, second, flag.kind, category)] = flag
    for finding in audit.project_findings():
        category = NONE_APPLIES if finding.category is None else finding.category
        key = Key(question.id, None, None, finding.kind, category, finding.subject)
        findings[key] = finding
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
        self.annotators = {annotator.id: annotator for annotator in found.annotators}

    def evidence(self, finding: Flag | ProjectFinding) -> str:
        """Return one finding, of a pair as it is reported of the annotator with the lower id."""
        from tracker.audit.project_finding import ProjectFinding

        if isinstance(finding, ProjectFinding):
            ids = {number: number for number in self.found.names}
            told = finding.values(ids, self.found.categories)
            values = {"kind": finding.kind, "state": finding.state, **told, "with": None}
        else:
            pair = {finding.annotator, finding.other} - {None}
            first = min(self.annotators.keys() & pair)  # a model is none of those audited
            values = self.found.finding_values(self.annotators[first], finding)
            if finding.other is not None:
                (values["with"],) = pair - {first}
        values["selection"] = self.selection
        return json.dumps(values, ensure_ascii=False, allow_nan=False)


def read_flag_evidence(text: str, names: Mapping[int, str]) -> dict[str, Any]:
    """Return what `Numbered.evidence` wrote, with the names that annotators have now.

    Older rows hold a sentence as ``why``.
    """
    named = _MARKED.sub(lambda mark: json.dumps(names[int(mark[1])])[1:-1], text)
    values: dict[str, Any] = json.loads(named)
    if isinstance(values["with"], int):
        values["with"] = names[values["with"]]
    for side in {"more", "less"} & values.keys():
        values[side] = sorted(names[one] for one in values[side])
    if "groups" in values:
        values["groups"] = [sorted(names[one] for one in group) for group in values["groups"]]
    return values | {"selection": with_annotator_names(values["selection"], names)}
