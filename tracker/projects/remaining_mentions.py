"""Where a name may still stand that was erased: texts that people wrote, and other projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select

from tracker.storage.schema import (
    Annotator,
    Change,
    FlagChange,
    Import,
    Note,
    Project,
    Snapshot,
    Source,
)


@dataclass(frozen=True)
class Mention:
    """How many rows of a project hold a name, and what they are."""

    project: str
    what: str
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """The mention as JSON."""
        return {"project": self.project, "what": self.what, "rows": self.rows}


def mentions(connection: Connection, names: Sequence[str]) -> list[Mention]:
    """Where any of these names may still stand, in all projects, without regard to case.

    A short name is found in many a text that does not mean the person.
    """
    found = []
    for what, model, columns in (
        ("notes on findings", FlagChange, (FlagChange.note,)),
        ("notes", Note, (Note.text,)),
        ("changes in the log", Change, (Change.detail,)),
        ("names and notes of snapshots", Snapshot, (Snapshot.name, Snapshot.note)),
        ("names of imported files", Source, (Source.name,)),
    ):
        held = [column.icontains(name, autoescape=True) for column in columns for name in names]
        found += _counted(connection, what, model, or_(*held))
    found += _counted(connection, "annotators of that name", Annotator, Annotator.name.in_(names))
    by = FlagChange.made_by.in_(names)
    found += _counted(connection, "acts on findings by that name", FlagChange, by)
    return found


def _counted(connection: Connection, what: str, model: Any, which: Any) -> list[Mention]:
    statement = select(Project.name, func.count()).group_by(Project.name).where(which)
    if model is Source:
        statement = statement.join(Import, Import.project_id == Project.id)
        statement = statement.join(Source, Source.import_id == Import.id)
    else:
        statement = statement.join(model, model.project_id == Project.id)
    found = [Mention(row[0], what, row[1]) for row in connection.execute(statement)]
    return sorted(found, key=lambda one: one.project)
