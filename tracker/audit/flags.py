"""What people do about recorded findings, each act one more row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import count
from operator import add
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, Subquery, and_, func, insert, select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Hidden, Json, OptionalTime, Record, Time
from tracker.projects.annotators import annotator_names, settling_changes, with_annotator_names
from tracker.projects.categories import every_category_name
from tracker.projects.names import check_entered_text
from tracker.projects.projects import ProjectInfo, lock_project
from tracker.projects.questions import QuestionInfo, list_questions
from tracker.storage.schema import (
    FLAG_STATES,
    NONE_APPLIES,
    STANDING,
    FlagChange,
    FlagRow,
    FlagSighting,
)

if TYPE_CHECKING:
    from tracker.audit.kind import Finding, ProjectFinding
    from tracker.audit.query import AuditQuery
    from tracker.audit.result import Audit


Action: TypeAlias = Literal[
    "acknowledge", "dismiss", "resolve", "reopen", "appeal", "uphold", "reject"
]


class _Act(NamedTuple):
    """What an act is called afterwards, the state that it makes, and those in which it is one.

    An appeal makes none, nor does its rejection.
    """

    called: str
    state: str | None
    sensible: tuple[str, ...]


_ACTS: dict[Action, _Act] = {
    "acknowledge": _Act("acknowledged", "acknowledged", ("open",)),
    "dismiss": _Act("dismissed", "dismissed", ("open", "acknowledged", "resolved")),
    "resolve": _Act("resolved", "resolved", ("open", "acknowledged")),
    "reopen": _Act("reopened", "open", ("acknowledged", "dismissed", "resolved")),
    "appeal": _Act("appealed", None, FLAG_STATES),
    "uphold": _Act("upheld", "dismissed", FLAG_STATES),
    "reject": _Act("rejected", None, FLAG_STATES),
}


@dataclass(frozen=True)
class Acted(Record):
    """What became of one flag; not ``changed`` where it was in that state already.

    ``by`` and ``at`` are of the act, or of what made it needless; ``before`` is how it stood.
    """

    flag: int
    state: str
    changed: bool
    by: str | None
    at: Time
    before: Annotated[FlagState, Hidden]


def act_on_flags(
    connection: Connection,
    project: ProjectInfo,
    flags: Sequence[int],
    action: Action,
    *,
    by: str,
    note: str | None = None,
) -> list[Acted]:
    """Acknowledge, dismiss, resolve or reopen flags, appeal against them or answer, all or none.

    Nothing is recorded of one that is in that state already. Raises NotFound for an unknown
    number, InvalidOption for an act that makes no sense in a flag's state, for an appeal
    without a note, and for the outcome of an appeal that nobody made.
    """
    by = check_entered_text(by, "name in --by")
    note = None if note is None else check_entered_text(note, "note")
    if action == "appeal" and note is None:
        raise InvalidOption("an appeal needs a note", "say why the finding is wrong: --note TEXT")
    # Whoever comes second waits here, and then sees what the first did.
    lock_project(connection, project.id)
    states = flag_states(connection, project)
    chosen = [named_flag(project, states, number) for number in dict.fromkeys(flags)]
    moment = next_flag_moment(states.values())
    outcomes = [_outcome(state, action, by, moment) for state in chosen]
    rows = [
        {
            "project_id": project.id,
            "flag_id": outcome.flag,
            "number": outcome.before.changes + 1,
            "state": outcome.state,
            "action": _ACTS[action].called,
            "made_at": moment,
            "made_by": by,
            "note": note,
            "informative": outcome.before.informative,
        }
        for outcome in outcomes
        if outcome.changed
    ]
    if rows:
        connection.execute(insert(FlagChange), rows)
    return outcomes


def _outcome(state: FlagState, action: Action, by: str, moment: int) -> Acted:
    act = _ACTS[action]
    answers = action in {"uphold", "reject"}
    if answers:
        _check_appealed(state, act)
    if state.appeal.outcome == act.called if answers and state.appeal else state.state == act.state:
        return Acted(state.id, state.state, False, state.made_by, state.made_at, state)
    if state.state not in act.sensible:
        raise InvalidOption(
            f"flag {state.id} is {state}; only {' or '.join(act.sensible)} ones can be {act.called}"
        )
    return Acted(state.id, act.state or state.state, True, by, moment, state)


def _check_appealed(state: FlagState, act: _Act) -> None:
    """Raise InvalidOption for a flag without an appeal that can be answered so."""
    if state.appeal is None:
        raise InvalidOption(
            f"nobody appealed against flag {state.id}", "an annotator does: tracker flags appeal"
        )
    if state.appeal.outcome == "upheld" != act.called:
        raise InvalidOption(
            f"flag {state.id} is {state}", f"first: tracker flags reopen {state.id}"
        )


class Names:
    """What the numbers in a flag's key mean."""

    def __init__(self, connection: Connection, project: ProjectInfo) -> None:
        self.project = project.name
        self.annotators = annotator_names(connection, project)
        questions = list_questions(connection, project)
        self.questions = {question.id: question.name for question in questions}
        self.categories = {
            question.id: every_category_name(connection, question) for question in questions
        }

    def of(self, row: Row[Any]) -> dict[str, Any]:
        """The flag's number, and what it is about, as the fields of `FlagSubject`."""
        pair = row.other_id != row.annotator_id
        several = len(self.questions) > 1
        return {
            "flag": row.id,
            "question": self.questions[row.question_id] if several else None,
            "annotator": self.annotators.get(row.annotator_id),
            "with_": self.annotators[row.other_id] if pair else None,
            "kind": row.kind,
            "category": self.categories[row.question_id].get(row.category_id),
            "subject": row.subject,
        }


@dataclass(frozen=True)
class FlagSubject(Record):
    """What a recorded finding is about; its question if the project asks several."""

    flag: int
    question: Annotated[str | None, Json(rare=True)]
    annotator: str | None
    with_: str | None
    kind: str
    category: str | None
    subject: str | None


@dataclass(frozen=True)
class FlagAct(FlagSubject):
    """One thing that was done about a recorded finding; ``by`` nobody if an audit did it."""

    number: int
    at: Time
    action: str
    state: str
    by: str | None
    note: str | None
    informative: int


def is_of_flag(rows: Any) -> ColumnElement[bool]:
    """Return whether a row of changes or sightings is about the flag of the statement."""
    return and_(rows.project_id == FlagRow.project_id, rows.flag_id == FlagRow.id)


def flag_changes(
    connection: Connection, project: ProjectInfo, number: int | None = None
) -> list[FlagAct]:
    """What was done about a flag, or about all of a project's, in order; raises NotFound."""
    statement = (
        select(FlagRow.__table__, FlagChange.__table__)
        .join(FlagChange, is_of_flag(FlagChange))
        .where(FlagRow.project_id == project.id)
        .order_by(FlagChange.made_at, FlagChange.flag_id, FlagChange.number)
    )
    if number is not None:
        named_flag(project, flag_states(connection, project), number)
        statement = statement.where(FlagRow.id == number)
    names = Names(connection, project)
    return [
        FlagAct(
            **names.of(row), number=row.number, at=row.made_at, action=row.action, state=row.state,
            by=row.made_by, note=row.note, informative=row.informative,
        )
        for row in connection.execute(statement)
    ]  # fmt: skip


@dataclass(frozen=True)
class Appeal(Record):
    """An annotator's objection to a flag, and what became of it.

    Attributes:
        outcome: upheld, rejected, or what else was done: dismissed, resolved; None while it waits.
    """

    by: str
    at: Time
    note: str
    outcome: str | None = None
    answered_by: str | None = None
    answered_at: OptionalTime = None
    answer: str | None = None


_ANSWERS = ("upheld", "rejected", "dismissed", "resolved")
_OF_APPEALS = ("appealed", "reopened", *_ANSWERS)


def flag_appeals(connection: Connection, project: ProjectInfo) -> dict[int, Appeal]:
    """Return the appeal of each flag that has one, by the flag's number.

    A flag that the program opened again, on new evidence, has none any more once it was answered;
    if a person opens it again, the appeal waits again.
    """
    statement = (
        select(FlagChange.__table__)
        .where(FlagChange.project_id == project.id, FlagChange.action.in_(_OF_APPEALS))
        .order_by(FlagChange.flag_id, FlagChange.number)
    )
    appeals: dict[int, Appeal] = {}
    for row in connection.execute(statement):
        appeal = appeals.get(row.flag_id)
        if row.action == "appealed":
            appeals[row.flag_id] = Appeal(row.made_by, row.made_at, row.note)
        elif appeal is None:
            continue
        elif row.action == "reopened":
            if row.made_by is not None:
                appeals[row.flag_id] = Appeal(appeal.by, appeal.at, appeal.note)
            elif appeal.outcome is not None:
                del appeals[row.flag_id]
        elif appeal.outcome is None or row.action in _ANSWERS[:2]:
            answer = (row.action, row.made_by, row.made_at, row.note)
            appeals[row.flag_id] = Appeal(appeal.by, appeal.at, appeal.note, *answer)
    return appeals


class Key(NamedTuple):
    """What a finding is about, as stored: of a pair the lower id first; of nobody no annotator."""

    question: int
    annotator: int | None
    other: int | None
    kind: str
    category: int
    subject: str | None = None


_KEY = ("question_id", "annotator_id", "other_id", "kind", "category_id", "subject")
"""The columns of `FlagRow` that hold a key, in its order."""


@dataclass(frozen=True)
class FlagState:
    """One flag as it stands.

    ``action``, ``made_at``, ``made_by`` and ``informative_then`` are of the change that made
    its state; ``changes`` and ``sightings`` the numbers of the last ones, ``changed_at`` and
    ``seen_at`` their moments, ``informative`` the evidence when it was last seen; ``appeal`` is
    the last one.
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
    appeal: Appeal | None

    def __str__(self) -> str:
        """The state, who made it and when: "dismissed (by ann, 2026-11-21)"."""
        who = f"by {self.made_by}" if self.made_by is not None else self.action
        sentence = f"{self.state} ({who}, {clock.iso(self.made_at)[:10]})"
        if self.appeal is not None and self.appeal.outcome in {"upheld", "rejected"}:
            sentence += f", its appeal {self.appeal.outcome} by {self.appeal.answered_by}"
        return sentence


def flag_states(connection: Connection, project: ProjectInfo) -> dict[int, FlagState]:
    """Every flag of a project, by its number."""
    settled = settling_changes(project.id)
    moment = func.max(FlagChange.made_at).label("moment")
    changes = select_last_numbers(FlagChange, project, "changes_made", moment)
    sightings = select_last_numbers(FlagSighting, project, "times_seen")
    last_seen = is_of_flag(FlagSighting) & (FlagSighting.number == sightings.c.number)
    statement = (
        select(
            FlagRow.id,
            *(getattr(FlagRow, name) for name in _KEY),
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
        .join(FlagSighting, last_seen)
        .where(FlagRow.project_id == project.id)
        .order_by(FlagRow.id)
    )
    appeals = flag_appeals(connection, project)
    about = len(Key._fields)
    return {
        number: FlagState(number, Key(*rest[:about]), *(*rest[about:], appeals.get(number)))
        for number, *rest in connection.execute(statement)
    }


def select_last_numbers(
    table: type[FlagChange | FlagSighting], project: ProjectInfo, name: str, *others: Any
) -> Subquery:
    """Return the number of the last row of each flag, and what else is asked of its rows."""
    last = func.max(table.number).label("number")
    mine = select(table.flag_id, last, *others).where(table.project_id == project.id)
    return mine.group_by(table.flag_id).subquery(name)


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


def next_flag_moment(states: Iterable[FlagState]) -> int:
    """The moment of what is recorded now: after all that was, whatever the machine's clock says."""
    return max([clock.now(), *(1 + max(state.changed_at, state.seen_at) for state in states)])


# -- What an audit found, recorded: new flags, flags seen again, flags not found any more ---------


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
        return Recorded(*map(add, astuple(self), astuple(other)))


@dataclass
class _Rows:
    """What is to be stored, table by table, all of one moment."""

    project_id: int
    moment: int
    flags: list[dict[str, Any]] = field(default_factory=list)
    sightings: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)

    def flag(self, number: int, key: Key) -> None:
        row = {"project_id": self.project_id, "id": number, "found_at": self.moment}
        self.flags.append(row | dict(zip(_KEY, key, strict=True)))

    def sighting(
        self, flag: int, number: int, finding: Finding | ProjectFinding, evidence: str
    ) -> None:
        row = {"project_id": self.project_id, "flag_id": flag, "number": number}
        payload = {"severity": finding.severity, "informative": finding.informative}
        self.sightings.append(row | payload | {"seen_at": self.moment, "evidence": evidence})

    def change(
        self, flag: int, number: int, transition: tuple[str, str, str | None], seen: int
    ) -> None:
        row = {"project_id": self.project_id, "flag_id": flag, "number": number}
        fields = dict(zip(("state", "action", "note"), transition, strict=True))
        of = {"made_at": self.moment, "made_by": None, "informative": seen}
        self.changes.append(row | fields | of)

    def store(self, connection: Connection) -> None:
        for table, rows in (
            (FlagRow, self.flags),
            (FlagSighting, self.sightings),
            (FlagChange, self.changes),
        ):
            if rows:
                connection.execute(insert(table), rows)


def record_flags(
    connection: Connection, question: QuestionInfo, audit: Audit, *, closes: bool
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
    findings = _findings(question, audit)
    numbered = Numbered(audit, annotator_names(connection, question.project))
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
            transition = ("open", "reopened", why)
            rows.change(number, state.changes + 1, transition, finding.informative)
        seen = 0 if state is None else state.sightings
        rows.sighting(number, seen + 1, finding, numbered.evidence(finding))
    for state in known.values():
        if closes and state.state in STANDING and state.key not in findings:
            closed += 1
            transition = ("resolved", "no longer found", "no longer found")
            rows.change(state.id, state.changes + 1, transition, state.informative)
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
    states = {state.key: state for state in flag_states(connection, questions[0].project).values()}
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


def _findings(question: QuestionInfo, audit: Audit) -> Mapping[Key, Finding | ProjectFinding]:
    """Return the findings by what they are about; one about a pair, told of both, once."""
    findings: dict[Key, Finding | ProjectFinding] = {}
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


class Numbered:
    """An audit's findings, with annotators by number.

    ``names`` are all of the project, aliases too.
    """

    def __init__(self, audit: Audit, names: Mapping[int, str]) -> None:
        self.found = audit
        self.numbers = {name: number for number, name in names.items()}
        self.selection = with_annotator_names(audit.selection, self.numbers)
        self.annotators = {annotator.id: annotator for annotator in audit.annotators}

    def evidence(self, finding: Finding | ProjectFinding) -> str:
        """Return one finding, of a pair as it is reported of the annotator with the lower id."""
        from tracker.audit.kind import ProjectFinding

        if isinstance(finding, ProjectFinding):
            ids = {number: number for number in self.found.names}
            details = finding.values(ids, self.found.categories)
            values = {"kind": finding.kind, "state": finding.state, **details, "with": None}
        else:
            pair = {finding.annotator, finding.other} - {None}
            first = min(self.annotators.keys() & pair)  # a model is none of those audited
            values = self.found.finding_values(self.annotators[first], finding)
            if finding.other is not None:
                (values["with"],) = pair - {first}
        values["selection"] = self.selection
        return json.dumps(values, ensure_ascii=False, allow_nan=False)


def read_flag_evidence(text: str, names: Mapping[int, str]) -> dict[str, Any]:
    """Return what `Numbered.evidence` wrote, with the names that annotators have now."""
    values: dict[str, Any] = json.loads(text)
    if isinstance(values["with"], int):
        values["with"] = names[values["with"]]
    for side in {"more", "less"} & values.keys():
        values[side] = sorted(names[annotator] for annotator in values[side])
    if "groups" in values:
        values["groups"] = [
            sorted(names[annotator] for annotator in group) for group in values["groups"]
        ]
    return values | {"selection": with_annotator_names(values["selection"], names)}
