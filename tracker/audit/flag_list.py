"""Recorded findings: a row each, and one with all that was seen and done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Annotated, Any, Final

from sqlalchemy import Connection, Row, Select, func, or_, select

from tracker.audit.flags import (
    Acted,
    Action,
    Appeal,
    FlagAct,
    FlagSubject,
    Names,
    flag_appeals,
    flag_changes,
    flag_states,
    is_of_flag,
    named_flag,
    read_flag_evidence,
    select_last_numbers,
)
from tracker.audit.sentences import definitions_sentence, finding_json_with_sentence
from tracker.core.errors import InvalidOption
from tracker.core.results import Hidden, Record, Spread, Time
from tracker.projects.annotators import find_annotator, settling_changes
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo, find_questions
from tracker.storage.schema import FLAG_STATES, STANDING, FlagChange, FlagRow, FlagSighting
from tracker.storage.schema.labels import of_question

ALL = "all"
"""What stands for every state."""


@dataclass(frozen=True)
class Flag(FlagSubject):
    """A recorded finding as it stands.

    Attributes:
        first_observed: the figure at the first sighting; ``last_observed`` at the last.
        action: the last thing that was done, by whom, when and why.
        evidence: the figures when it was last seen, with the sentence.
    """

    state: str
    state_by: str | None
    state_at: Time
    appeal: Appeal | None
    severity: str
    found_at: Time
    last_seen_at: Time
    times_seen: int
    informative: int
    first_observed: float | None
    last_observed: float | None
    action: str
    by: str | None
    changed_at: Time
    note: str | None
    why: str | None
    evidence: Annotated[Mapping[str, Any], Hidden]


@dataclass(frozen=True)
class Sighting(Record):
    """One audit that found it; ``selection`` says of which answers, None for all."""

    number: int
    seen_at: Time
    severity: str
    informative: int
    observed: float | None
    expected: float | None
    selection: Mapping[str, Any] | None


@dataclass(frozen=True)
class FlagPage(Record):
    """A recorded finding with its evidence, all that was done and seen, the first first."""

    project: str
    flag: Annotated[Flag, Spread]
    evidence: Mapping[str, Any]
    changes: tuple[FlagAct, ...]
    sightings: tuple[Sighting, ...]

    def view(self) -> Iterator[Any]:
        """Yield the page."""
        from tracker.audit.tables import flag_view

        yield from flag_view(self.to_dict())


@dataclass(frozen=True)
class FlagList(Record):
    """The recorded findings of a project, or some of them."""

    project: str
    flags: tuple[Flag, ...]
    any_recorded: Annotated[bool, Hidden]

    def view(self) -> Iterator[Any]:
        """Yield the table."""
        from tracker.audit.columns import FLAGS
        from tracker.render.blocks import listing_table

        yield listing_table(FLAGS, [flag.to_dict() for flag in self.flags])

    def hints(self) -> Iterator[str]:
        """Yield how to see one, or more."""
        project = quote(self.project)
        if self.flags:
            yield f"next: tracker flags show {self.flags[0].flag} -p {project}"
        elif self.any_recorded:
            yield f"no such flag; for all of them: tracker flags list {project} --state all"
        else:
            yield f"none recorded: tracker audit {project} --record"


@dataclass(frozen=True)
class FlagHistory(Record):
    """What was done about findings, in order."""

    project: str
    changes: tuple[FlagAct, ...]

    def view(self) -> Iterator[Any]:
        """Yield the table."""
        from tracker.audit.columns import FLAG_ACTS
        from tracker.render.blocks import listing_table

        yield listing_table(FLAG_ACTS, [change.to_dict() for change in self.changes])

    def hints(self) -> Iterator[str]:
        """Yield how to record findings, if there are none."""
        if not self.changes:
            yield f"none recorded: tracker audit {quote(self.project)} --record"


def list_flags(
    connection: Connection,
    project: ProjectInfo,
    *,
    states: Sequence[str] | None = None,
    annotator: str | None = None,
    kind: str | None = None,
    questions: Sequence[str] = (),
) -> list[Flag]:
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
        named = [question.id for question in find_questions(connection, project, questions)]
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
    flag = _recorded(row, names, flag_appeals(connection, project))
    return FlagPage(
        project.name,
        flag,
        flag.evidence,
        tuple(flag_changes(connection, project, number)),
        tuple(_sighting(seen, names) for seen in sightings),
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
    latest = select_last_numbers(FlagSighting, project, "latest")
    newest = select_last_numbers(FlagChange, project, "newest")
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
        .join(first, is_of_flag(first.c) & (first.c.number == 1))
        .join(last, is_of_flag(last.c) & (last.c.number == latest.c.number))
        .join(change, is_of_flag(change.c) & (change.c.number == newest.c.number))
        .where(FlagRow.project_id == project.id)
        .order_by(FlagRow.id)
    )
    return statement, settled.c.state


def _recorded(row: Row[Any], names: Names, appeals: Mapping[int, Appeal]) -> Flag:
    subject = FlagSubject(**names.of(row))
    evidence = read_flag_evidence(row.evidence, names.annotators)
    if subject.annotator is None:
        evidence["why"] = definitions_sentence(evidence, names.project)
    else:
        evidence = finding_json_with_sentence(evidence, subject.annotator, subject.with_)
    return Flag(
        **vars(subject),
        state=row.state,
        state_by=row.state_by,
        state_at=row.state_at,
        appeal=appeals.get(row.id),
        severity=row.severity,
        found_at=row.found_at,
        last_seen_at=row.seen_at,
        times_seen=row.times_seen,
        informative=row.informative,
        first_observed=_observed(json.loads(row.first_evidence)),
        last_observed=_observed(evidence),
        action=row.action,
        by=row.made_by,
        changed_at=row.made_at,
        note=row.note,
        why=evidence["why"],
        evidence=evidence,
    )


def _observed(evidence: Mapping[str, Any]) -> float | None:
    """Return the figure of an annotator, or of a slice of the items."""
    observed: float | None = evidence.get("observed", evidence.get("figure"))
    return observed


def _sighting(row: Row[Any], names: Names) -> Sighting:
    evidence = read_flag_evidence(row.evidence, names.annotators)
    return Sighting(
        number=row.number,
        seen_at=row.seen_at,
        severity=row.severity,
        informative=row.informative,
        observed=_observed(evidence),
        expected=evidence.get("expected", evidence.get("elsewhere")),
        selection=evidence["selection"],
    )


def _check(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidOption(
                f"--{option} {name!r} is none of {', '.join(known)}", near_names(name, known)
            )


# -- What people do about findings, and what came of it, in words ---------------------------------


_NEXT: Final[Mapping[str, str]] = {
    "acknowledge": "when it is dealt with: tracker flags resolve {flags}-p {project}",
    "dismiss": "it reopens if the evidence grows by half; see: tracker flags list {project} "
    "--state dismissed",
    "resolve": "it reopens if an audit finds it again: tracker audit {project} --record",
    "reopen": "what was done about it: tracker flags history {flags}-p {project}",
    "appeal": "to answer it: tracker flags uphold|reject {flags}-p {project}",
    "uphold": "it reopens if the evidence grows by half; what was done about it: "
    "tracker flags history {flags}-p {project}",
    "reject": "what was done about it: tracker flags history {flags}-p {project}",
}
_BECAME: Final[Mapping[str, str]] = {
    "appeal": "appealed, and stays {}",
    "uphold": "{}: the appeal is upheld",
    "reject": "{} as before: the appeal is rejected",
}
"""What an act makes of a flag in a state, if it is not just that state."""


@dataclass(frozen=True)
class ActedFlags(Record):
    """What became of findings that were acted on."""

    project: str
    action: Annotated[Action, Hidden]
    flags: tuple[Acted, ...]

    @property
    def changed(self) -> list[int]:
        """The numbers of those that were not in that state already."""
        return [flag.flag for flag in self.flags if flag.changed]

    def view(self) -> Iterator[str]:
        """Yield what each is now."""
        for flag in self.flags:
            if flag.changed:
                became = _BECAME.get(self.action, "{}").format(flag.state)
                yield f"flag {flag.flag} of {self.project} is {became} (by {flag.by})"

    def warnings(self) -> Iterator[str]:
        """Yield which were in that state already."""
        for flag in self.flags:
            if not flag.changed:
                yield f"flag {flag.flag} is already {flag.before}"

    def hints(self) -> Iterator[str]:
        """Yield what comes next."""
        if self.changed:
            flags = "".join(f"{number} " for number in self.changed)
            yield _NEXT[self.action].format(flags=flags, project=quote(self.project))
