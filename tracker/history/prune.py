"""Snapshots thinned out: their figures and tallies go, their row and a tombstone stay.

The chain of digests runs over the rows, and stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import Connection, delete, insert, select

from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record
from tracker.history.snapshot import alike_snapshot_settings
from tracker.history.stored import PARTS, snapshot_parts_digest, snapshots_with_parts
from tracker.projects.names import near_names
from tracker.projects.projects import lock_project, record_change
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import Snapshot, SnapshotAnnotator, Tombstone
from tracker.storage.schema.labels import of_question

_snapshots = Snapshot.__table__
_annotators = SnapshotAnnotator.__table__
_PERIODS = {"hourly": "%Y%m%d%H", "daily": "%Y%m%d", "weekly": "%G%V", "monthly": "%Y%m"}
_PERIODS["yearly"] = "%Y"
_RULE = re.compile(r"([a-z]+):([0-9]{1,6})")


@dataclass(frozen=True)
class Keep:
    """A rule: of each of the last ``number`` periods with a snapshot, the newest is kept.

    The period ``last`` is a snapshot by itself.
    """

    period: str
    number: int

    def __str__(self) -> str:
        return f"{self.period}:{self.number}"


@dataclass(frozen=True)
class Fate(Record):
    """The outcome for a snapshot; ``kept_by`` is the first rule that keeps it, or None."""

    id: Annotated[int, Json("snapshot")]
    name: str | None
    moment: Annotated[int, Json("as_of", write=clock.iso)]
    kept_by: str | None


@dataclass(frozen=True)
class Pruned(Record):
    """What became of snapshots by rules, or with ``dry_run`` what would, the oldest first."""

    project: str
    keep: str
    dry_run: bool
    kept: int
    thinned: int
    snapshots: tuple[Fate, ...]

    def hints(self) -> Iterator[str]:
        """Yield what to do next."""
        project = quote(self.project)
        if not self.thinned:
            yield "no snapshot is thinned out by these rules"
        elif self.dry_run:
            words = f"tracker snapshots prune {project} --keep {self.keep}"
            yield f"nothing was changed; to do it: {words}"
        else:
            yield f"next: tracker snapshots verify {project} --chain-only"


def pruned(project: str, keep: str, fates: Sequence[Fate], *, dry_run: bool) -> Pruned:
    """Return the outcomes with their numbers."""
    thinned = sum(fate.kept_by is None for fate in fates)
    return Pruned(project, keep, dry_run, len(fates) - thinned, thinned, tuple(fates))


def parse_prune_keep(text: str) -> tuple[Keep, ...]:
    """Return the rules of ``daily:30,weekly:52``; raises InvalidOption."""
    known = ["last", *_PERIODS]
    rules = []
    for part in (part.strip() for part in text.split(",")):
        rule = _RULE.fullmatch(part)
        if rule is None or rule[1] not in known:
            raise InvalidOption(
                f"--keep: {part!r} is not a rule",
                near_names(part.partition(":")[0], known)
                or f"such as daily:30,weekly:52; periods are {', '.join(known)}",
            )
        rules.append(Keep(rule[1], int(rule[2])))
    return tuple(rules)


def plan_prune(
    connection: Connection, questions: Sequence[QuestionInfo], keep: Sequence[Keep]
) -> list[Fate]:
    """Return the outcome for each snapshot, oldest first; what a question keeps, all keep.

    Rules hold for each kind of settings by itself. A snapshot with a name is kept, being meant
    to be found, and so is the last of its settings.
    """
    fates: dict[int, Fate] = {}
    for question in questions:
        for fate in _plan(connection, question, keep):
            if fate.id not in fates or fates[fate.id].kept_by is None:
                fates[fate.id] = fate
    return [fates[number] for number in sorted(fates)]


def _plan(connection: Connection, question: QuestionInfo, keep: Sequence[Keep]) -> list[Fate]:
    """Return the outcome for each snapshot of a question."""
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    rows = connection.execute(
        select(_snapshots).where(
            of_question(_snapshots, question.key), _snapshots.c.id.not_in(gone)
        )
    ).all()
    rows = sorted(rows, key=lambda row: (_moment(row), row.id), reverse=True)
    kept: dict[int, str] = {}
    zone = question.project.timezone
    kinds = {row.id: alike_snapshot_settings(row.settings)[0] for row in rows}
    for kind in set(kinds.values()):
        for number, why in _kept([row for row in rows if kinds[row.id] == kind], keep, zone):
            kept.setdefault(number, why)
    return [Fate(row.id, row.name, _moment(row), kept.get(row.id)) for row in rows]


def _kept(rows: Sequence[Any], keep: Sequence[Keep], zone: str | None) -> Iterator[tuple[int, str]]:
    """Yield the snapshots that rules keep, among those with the same settings, newest first."""
    yield rows[0].id, "the last"
    for row in rows:
        if row.name is not None:
            yield row.id, "its name"
    for rule in keep:
        seen: set[str] = set()
        for row in rows:
            period = (
                str(row.id) if rule.period == "last" else _period(rule.period, _moment(row), zone)
            )
            if period not in seen and len(seen) < rule.number:
                seen.add(period)
                yield row.id, str(rule)


def _moment(row: Any) -> int:
    return int(row.taken_at if row.as_of is None else row.as_of)


def _period(name: str, moment: int, zone: str | None) -> str:
    return clock.local_time(moment, zone).strftime(_PERIODS[name])


def prune_snapshots(
    connection: Connection, questions: Sequence[QuestionInfo], keep: Sequence[Keep]
) -> list[Fate]:
    """Thin out the snapshots that no rule keeps; returns the outcome for each."""
    project_id = questions[0].project_id
    lock_project(connection, project_id)
    fates = plan_prune(connection, questions, keep)
    thinned = [fate.id for fate in fates if fate.kept_by is None]
    if thinned:
        detail = {"keep": [str(rule) for rule in keep], "thinned": thinned}
        _, moment = record_change(connection, project_id, "prune", detail)
        for question in questions:
            _thin_out(connection, question, thinned, moment)
    return fates


def _thin_out(
    connection: Connection, question: QuestionInfo, thinned: Sequence[int], moment: int
) -> None:
    """Leave a tombstone of each of a question's snapshots that are thinned out."""
    key = question.key._asdict() | {"thinned_at": moment}
    there = select(_snapshots.c.id).where(
        of_question(_snapshots, question.key), _snapshots.c.id.in_(thinned)
    )
    thinned = sorted(connection.scalars(there))
    if not thinned:
        return
    rows = [
        key | {"snapshot_id": number, "parts": snapshot_parts_digest(parts)}
        for number, parts in snapshots_with_parts(connection, question.key, thinned)
    ]
    connection.execute(insert(Tombstone), rows)
    for table in PARTS:
        unwanted = delete(table).where(
            of_question(table, question.key), table.c.snapshot_id.in_(thinned)
        )
        if table is _annotators:
            # What later snapshots add up from stays, as long as there is such a one.
            unwanted = unwanted.where(table.c.snapshot_id.not_in(_added_up(question, thinned)))
        connection.execute(unwanted)


def _added_up(question: QuestionInfo, thinned: Sequence[int]) -> Any:
    """Return the snapshots whose annotator tallies a later one that is kept depends on."""
    later = _snapshots.alias("later")
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    return (
        select(_snapshots.c.id)
        .join(
            later,
            (later.c.project_id == _snapshots.c.project_id)
            & (later.c.question_id == _snapshots.c.question_id)
            & (later.c.base_snapshot_id == _snapshots.c.base_snapshot_id)
            & (later.c.id > _snapshots.c.id),
        )
        .where(
            of_question(_snapshots, question.key),
            _snapshots.c.id.in_(thinned),
            later.c.id.not_in(gone),
        )
    )
