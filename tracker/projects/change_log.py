"""The change log: every mutation of a project's ledger is one row of it, in order."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Select, func, insert, literal, select

from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.storage import seals
from tracker.storage.answer_keys import QuestionKey
from tracker.storage.database import CHANGED_BY
from tracker.storage.schema import (
    Change,
    FlagChange,
    FlagSighting,
    Project,
    Snapshot,
    Tombstone,
    Touched,
)


def lock_project(connection: Connection, project_id: int) -> None:
    """Wait for, then hold off, every other change to the project until the transaction ends.

    Raises NotFound if the project was deleted meanwhile.
    """
    ours = select(Project.id).where(Project.id == project_id).with_for_update()
    if connection.scalar(ours) is None:
        raise NotFound("the project has just been deleted", "see: tracker project list")
    seals.begin_seal(connection, project_id)


def record_change(
    connection: Connection, project_id: int, kind: str, detail: dict[str, Any]
) -> tuple[int, int]:
    """Add a row to the project's change log; returns its number and its moment.

    The moment never lies before the last change's, whatever the machine's clock says. The
    caller holds the project's lock, or has just made the project. The detail names who changed
    it, ``by``, if the database was told.
    """
    by = connection.info.get(CHANGED_BY)
    if by is not None:
        detail = {**detail, "by": by}
    last = connection.execute(
        select(Change.id, Change.recorded_at)
        .where(Change.project_id == project_id)
        .order_by(Change.id.desc())
        .limit(1)
    ).one_or_none()
    number, recorded_at = (
        (1, clock.now()) if last is None else (last.id + 1, max(clock.now(), last.recorded_at + 1))
    )
    if last is None:
        seals.begin_seal(connection, project_id, made=True)
    connection.execute(
        insert(Change).values(
            project_id=project_id,
            id=number,
            kind=kind,
            recorded_at=recorded_at,
            detail=json.dumps(detail, ensure_ascii=False, sort_keys=True),
        )
    )
    return number, recorded_at


# What tells that something was recorded, each with its project; none of these is ever less.
_RECORDED = (
    (func.max(Change.id), Change.project_id),
    (func.count(Snapshot.id), Snapshot.project_id),
    (func.count(Tombstone.project_id), Tombstone.project_id),
    (func.count(FlagSighting.number), FlagSighting.project_id),
    (func.count(FlagChange.number), FlagChange.project_id),
)


def project_revisions(connection: Connection, project_id: int | None = None) -> dict[str, str]:
    """Return the revision of each project by its name, or of the one only.

    It differs after every mutation, snapshot, recorded audit and act on a flag, whoever made it,
    and is never that of another project.
    """
    of_project = [
        select(part).where(project == Project.id).scalar_subquery() for part, project in _RECORDED
    ]
    statement = select(Project.name, Project.id, *of_project)
    if project_id is not None:
        statement = statement.where(Project.id == project_id)
    return {name: ".".join(map(str, told)) for name, *told in connection.execute(statement)}


_COLUMNS = ["project_id", "question_id", "change_id", "first_item", "last_item"]


def log_touched_items(
    connection: Connection, project_id: int, change_id: int, items: Select[int, int]
) -> None:
    """Record the items of a statement with the columns ``question_id`` and ``item_id``."""
    touched = items.distinct().subquery("touched_items")
    question, item = touched.c.question_id, touched.c.item_id
    # Of numbers in a row each is as far from its place: what is left is the same for all.
    island = (item - func.row_number().over(partition_by=question, order_by=item)).label("island")
    islands = select(question, item, island).subquery("islands")
    ranges = select(
        literal(project_id),
        islands.c.question_id,
        literal(change_id),
        func.min(islands.c.item_id),
        func.max(islands.c.item_id),
    ).group_by(islands.c.question_id, islands.c.island)
    connection.execute(insert(Touched).from_select(_COLUMNS, ranges))


def log_touched_range(
    connection: Connection, question: QuestionKey, change_id: int, first: int, last: int
) -> None:
    """Record all items from one to another by number, more than were touched perhaps."""
    row = dict(zip(_COLUMNS, (*question, change_id, first, last), strict=True))
    connection.execute(insert(Touched).values(row))


def last_change(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return the number of a project's last change, and its moment; (0, 0) if there is none."""
    row = connection.execute(
        select(Change.id, Change.recorded_at)
        .where(Change.project_id == project_id)
        .order_by(Change.id.desc())
        .limit(1)
    ).one_or_none()
    return (0, 0) if row is None else (row.id, row.recorded_at)
