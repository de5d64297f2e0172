"""Counted rows that a ledger keeps until something changes: found by readers, added after them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, select

from tracker.core import clock
from tracker.storage.schema import Change, KeptTally

TALLIES = "tracker_tallies"
"""What a connection that reads is told of: `NewTallies` to add to, None to keep nothing."""
MOST = 64 * 2**20
"""Bytes of a project; what is large and old is dropped."""
LARGEST = MOST // 2
"""Bytes of one that is kept."""

_kept, _changes = KeptTally.__table__, Change.__table__
_COUNTED_AFTER = and_(
    _changes.c.project_id == _kept.c.project_id,
    _changes.c.id == _kept.c.change_id,
    _changes.c.recorded_at == _kept.c.recorded_at,
)


class State(NamedTuple):
    """The last change of a project: its number and its moment, which no other has."""

    change_id: int
    recorded_at: int


class Tally(NamedTuple):
    """Rows as they were written, and the state in which they were counted."""

    state: State
    content: bytes


@dataclass(frozen=True)
class NewTallies:
    """What a reading transaction counted, to be kept when it has ended.

    Attributes:
        items: the highest number of an item of each project that was counted, by its id.
        states: likewise the state; of those of which counts are kept.
        counted: the tallies, by project and digest of the statement.
        results: likewise figures of them, which may hold names.
        counted_by: what counted: "database", the name of an engine, "kept" if nothing was
            counted, "touched" if items that changed were.
    """

    items: dict[int, int] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    counted: dict[tuple[int, str], Tally] = field(default_factory=dict)
    results: dict[tuple[int, str], Tally] = field(default_factory=dict)
    counted_by: set[str] = field(default_factory=set)


def kept_tally(connection: Connection, project_id: int, statement: str) -> Tally | None:
    """Return what is kept of a statement; None if nothing is, or not of a state of this ledger."""
    row = connection.execute(
        select(_kept.c.change_id, _kept.c.recorded_at, _kept.c.digest, _kept.c.content)
        .join(_changes, _COUNTED_AFTER)
        .where(_kept.c.project_id == project_id, _kept.c.statement == statement)
    ).one_or_none()
    if row is None or _digest(row.content) != row.digest:
        return None
    return Tally(State(row.change_id, row.recorded_at), row.content)


def kept_statements(
    connection: Connection, project_id: int, statements: Collection[str]
) -> set[str]:
    """Return of which of these statements something is kept."""
    ours = (_kept.c.project_id == project_id, _kept.c.statement.in_(statements))
    return {*connection.scalars(select(_kept.c.statement).where(*ours))}


def keep_results(connection: Connection, results: Mapping[tuple[int, str], Tally]) -> None:
    """Keep results of the present state; a name may have been erased since another."""
    projects = {project_id for project_id, _ in results}
    last = select(func.max(_changes.c.id)).where(_changes.c.project_id.in_(projects))
    now = {*connection.scalars(last.group_by(_changes.c.project_id))}
    keep_tallies(connection, {key: t for key, t in results.items() if t.state.change_id in now})


def keep_tallies(connection: Connection, tallies: Mapping[tuple[int, str], Tally]) -> None:
    """Keep tallies in the place of older ones, and no more than `MOST` of a project."""
    for project_id in {project_id for project_id, _ in tallies}:
        ours = {key[1]: tally for key, tally in tallies.items() if key[0] == project_id}
        stored = select(_kept.c.statement, _kept.c.change_id).join(_changes, _COUNTED_AFTER)
        for statement, change in connection.execute(stored.where(_kept.c.project_id == project_id)):
            if statement in ours and change > ours[statement].state.change_id:
                del ours[statement]
        same = _kept.c.project_id == project_id, _kept.c.statement.in_(ours)
        connection.execute(delete(_kept).where(*same))
        for statement, (state, content) in ours.items():
            row = {"project_id": project_id, "statement": statement, "kept_at": clock.now()}
            row |= {"content": content, "size": len(content), "digest": _digest(content)}
            connection.execute(insert(_kept), row | state._asdict())
        _drop_surplus(connection, project_id)


def _drop_surplus(connection: Connection, project_id: int) -> None:
    """Drop what is large for its age: small counts are soon asked for again, and cost no less."""
    ours = _kept.c.project_id == project_id
    newest = select(_kept.c.statement, _kept.c.size).where(ours).order_by(_kept.c.kept_at.desc())
    aged = enumerate(connection.execute(newest).all(), 1)
    rows = [row for _, row in sorted(aged, key=lambda pair: pair[0] * pair[1].size)]
    sums = accumulate(row.size for row in rows)
    surplus = [row.statement for row, size in zip(rows, sums, strict=True) if size > MOST]
    if surplus:
        connection.execute(delete(_kept).where(ours, _kept.c.statement.in_(surplus)))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
