"""A snapshot's rows put into the record, its digest and seal begun with the last one's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection, Table, func, insert, select

from tracker import clock
from tracker.catalogue.projects import ProjectInfo
from tracker.history.digest import digest_of, digest_of_parts, seal_of
from tracker.history.incremental import Base, whole_tallies
from tracker.history.parts import Parts, number_patterns, store_parts
from tracker.history.tallied import Tallied
from tracker.schema import Change, Snapshot

__all__ = ["framed", "moment_taken", "next_number", "numbers", "store"]

_snapshots = cast("Table", Snapshot.__table__)
_LINKS = 30  # snapshots from one frame to the next


def framed(
    connection: Connection, project: ProjectInfo, number: int, tallied: Tallied, base: Base | None
) -> tuple[int | None, Tallied, set[int]]:
    """The frame of a snapshot, its tallies as they are stored, and whose answers to store.

    A difference is stored as one, until there are so many that a whole one is due.
    """
    if tallied.tallies is None:
        return None, tallied, set(tallied.answers)
    if tallied.read is None or base is None or base.header.frame_id is None:
        return number, tallied, set(tallied.answers)
    if base.links < _LINKS:
        before, now = base.answers, tallied.answers
        changed = {who for who in before.keys() | now.keys() if before.get(who) != now.get(who)}
        return base.header.frame_id, tallied, changed
    whole = whole_tallies(connection, project, base.header)
    if whole is None:
        return None, replace(tallied, tallies=None), set(tallied.answers)
    return number, replace(tallied, tallies=whole + tallied.tallies), set(tallied.answers)


def numbers(
    connection: Connection, project: ProjectInfo, tallied: Tallied, texts: dict[int, str]
) -> dict[Any, int]:
    """The numbers of all patterns of some tallies; new ones join ``texts``."""
    met = {} if tallied.tallies is None else tallied.tallies.counts
    patterns = {pattern for counts in met.values() for _, pattern in counts}
    patterns |= tallied.patterns.counts.keys()
    return number_patterns(connection, project.id, texts, patterns)


def next_number(connection: Connection, project: ProjectInfo) -> int:
    """The number of the project's next snapshot; none is given twice."""
    highest = select(func.max(Snapshot.id)).where(Snapshot.project_id == project.id)
    return (connection.scalar(highest) or 0) + 1


def moment_taken(connection: Connection, project: ProjectInfo) -> int:
    """When the snapshot is taken: after the last change and the snapshot before it.

    Whatever the machine's clock says, which may have run backwards.
    """
    changed = select(func.max(Change.recorded_at)).where(Change.project_id == project.id)
    taken = select(func.max(Snapshot.taken_at)).where(Snapshot.project_id == project.id)
    earliest = max(connection.scalar(changed) or 0, (connection.scalar(taken) or 0) + 1)
    return max(clock.now(), earliest)


def store(
    connection: Connection,
    project: ProjectInfo,
    header: Mapping[str, Any],
    parts: Parts,
    texts: Mapping[int, str],
) -> dict[str, Any]:
    """Store a snapshot with its digest and seal, which begin with those of the one before it.

    Returns its row.
    """
    last = connection.execute(
        select(_snapshots.c.digest, _snapshots.c.seal)
        .where(_snapshots.c.project_id == project.id)
        .order_by(_snapshots.c.id.desc())
        .limit(1)
    ).one_or_none()
    digest, seal = ("", "") if last is None else (last.digest, last.seal)
    row = dict(header)
    row["digest"] = digest_of(digest, row, parts, texts)
    row["seal"] = seal_of(seal, row, digest_of_parts(parts))
    connection.execute(insert(_snapshots).values(row))
    store_parts(connection, project.id, row["id"], parts)
    return row
