"""Findings that audits recorded: stored, seen again, listed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, insert, select, update

from tracker import clock
from tracker.catalogue.annotators import annotator_names
from tracker.catalogue.categories import category_names
from tracker.catalogue.changes import lock_project
from tracker.catalogue.projects import ProjectInfo
from tracker.schema import NONE_APPLIES, FlagRow

if TYPE_CHECKING:
    from tracker.auditing import Audit

__all__ = ["count_flags", "open_flags", "record_flags"]


def record_flags(connection: Connection, project: ProjectInfo, found: Audit) -> tuple[int, int]:
    """Store the findings that stand up; returns how many are new and how many were seen again."""
    lock_project(connection, project.id)
    key = (FlagRow.annotator_id, FlagRow.kind, FlagRow.category_id)
    rows = connection.execute(
        select(FlagRow.id, *key).where(FlagRow.project_id == project.id)
    ).all()
    known = {(row.annotator_id, row.kind, row.category_id): row.id for row in rows}
    number = max(known.values(), default=0)
    moment = clock.now()
    new = []
    for annotator, flag in found.flagged():
        category = NONE_APPLIES if flag.category is None else flag.category
        figures = flag.to_dict(annotator.name, found.category_name(flag))
        evidence = json.dumps(figures | {"selection": found.selection})
        told = {"severity": flag.severity, "last_seen_at": moment, "evidence": evidence}
        seen = known.get((annotator.id, flag.kind, category))
        if seen is None:
            number += 1
            new.append(
                told
                | {
                    "project_id": project.id,
                    "id": number,
                    "annotator_id": annotator.id,
                    "kind": flag.kind,
                    "category_id": category,
                    "found_at": moment,
                }
            )
        else:
            connection.execute(
                update(FlagRow)
                .where(FlagRow.project_id == project.id, FlagRow.id == seen)
                .values(told)
            )
    if new:
        connection.execute(insert(FlagRow), new)
    return len(new), len(found.flagged()) - len(new)


def open_flags(connection: Connection, project: ProjectInfo) -> list[dict[str, Any]]:
    """The recorded findings of a project as JSON, the first found first."""
    names = annotator_names(connection, project)
    categories = category_names(connection, project)
    rows = connection.execute(
        select(FlagRow.__table__).where(FlagRow.project_id == project.id).order_by(FlagRow.id)
    )
    return [
        {
            "flag": row.id,
            "annotator": names[row.annotator_id],
            "kind": row.kind,
            "category": categories.get(row.category_id),
            "severity": row.severity,
            "found_at": clock.iso(row.found_at),
            "last_seen_at": clock.iso(row.last_seen_at),
            "why": json.loads(row.evidence)["why"],
        }
        for row in rows
    ]


def count_flags(connection: Connection, project: ProjectInfo) -> int:
    """How many findings of a project are recorded."""
    statement = select(func.count()).where(FlagRow.project_id == project.id)
    return connection.scalar(statement) or 0
