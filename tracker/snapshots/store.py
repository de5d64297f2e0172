"""A snapshot's rows added to the record, its digest and seal chained to the last one's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, func, insert, select

from tracker.core import clock
from tracker.projects.project import ProjectInfo
from tracker.projects.question import QuestionInfo
from tracker.snapshots.digests import snapshot_digest, snapshot_parts_digest, snapshot_seal
from tracker.snapshots.incremental import Previous, whole_snapshot_tallies
from tracker.snapshots.rows import Parts, number_snapshot_patterns, store_snapshot_parts
from tracker.snapshots.tallies import Tallied
from tracker.storage.answer_keys import QuestionKey, of_question
from tracker.storage.schema import Change, Snapshot

_snapshots = cast("Table", Snapshot.__table__)
_LINKS = 30  # snapshots from one base snapshot to the next


class Link(NamedTuple):
    """The parts of a snapshot that the next one needs."""

    digest: str
    seal: str


def find_base_snapshot(
    connection: Connection,
    question: QuestionInfo,
    number: int,
    tallied: Tallied,
    previous: Previous | None,
) -> tuple[int | None, Tallied, set[int]]:
    """Return the base snapshot of one, its tallies as they are stored, and whose answers to store.

    A difference is stored as one, until there are so many that a whole one is due.
    """
    if tallied.tallies is None:
        return None, tallied, set(tallied.answers)
    if tallied.read is None or previous is None or previous.header.base_snapshot_id is None:
        return number, tallied, set(tallied.answers)
    if previous.links < _LINKS:
        before, now = previous.answers, tallied.answers
        changed = {who for who in before.keys() | now.keys() if before.get(who) != now.get(who)}
        return previous.header.base_snapshot_id, tallied, changed
    whole = whole_snapshot_tallies(connection, question, previous.header)
    if whole is None:
        return None, replace(tallied, tallies=None), set(tallied.answers)
    return number, replace(tallied, tallies=whole + tallied.tallies), set(tallied.answers)


def snapshot_pattern_numbers(
    connection: Connection, question: QuestionInfo, tallied: Tallied, texts: dict[int, str]
) -> dict[Any, int]:
    """Return the numbers of all patterns of some tallies; new ones join ``texts``."""
    met = {} if tallied.tallies is None else tallied.tallies.counts
    patterns = {pattern for counts in met.values() for _, pattern in counts}
    patterns |= tallied.patterns.counts.keys()
    return number_snapshot_patterns(connection, question.key, texts, patterns)


def last_snapshot_link(connection: Connection, question: QuestionInfo) -> Link:
    """Return the end of the question's chain; before the first snapshot, nothing."""
    columns = (_snapshots.c.digest, _snapshots.c.seal)
    ours = select(*columns).where(of_question(_snapshots, question.key))
    last = connection.execute(ours.order_by(_snapshots.c.id.desc()).limit(1)).one_or_none()
    return Link("", "") if last is None else Link(*last)


def next_snapshot(connection: Connection, project: ProjectInfo) -> tuple[int, int]:
    """Return the number of the next snapshot and its moment, after the last change and snapshot.

    Whatever the machine's clock says, which may have run backwards.
    """
    ours = select(func.max(_snapshots.c.id), func.max(_snapshots.c.taken_at)).where(
        _snapshots.c.project_id == project.id
    )
    last, taken_at = connection.execute(ours).one()
    changed = select(func.max(Change.recorded_at)).where(Change.project_id == project.id)
    moment = max(clock.now(), connection.scalar(changed) or 0, (taken_at or 0) + 1)
    return (last or 0) + 1, moment


def store_snapshot(
    connection: Connection,
    header: Mapping[str, Any],
    parts: Parts,
    texts: Mapping[int, str],
    last: Link,
) -> dict[str, Any]:
    """Store a snapshot with its digest and seal, chained to those of the one before.

    Returns its row.
    """
    row = dict(header)
    row["digest"] = snapshot_digest(last.digest, row, parts, texts)
    row["seal"] = snapshot_seal(last.seal, row, snapshot_parts_digest(parts))
    connection.execute(insert(_snapshots).values(row))
    key = QuestionKey(row["project_id"], row["question_id"])
    store_snapshot_parts(connection, key, row["id"], parts)
    return row
