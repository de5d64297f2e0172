"""Imports: listed, shown, undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    or_,
    select,
    update,
)

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.imports.item_facts import undo_item_facts
from tracker.imports.reading_record import ReadingRecord
from tracker.imports.withdrawal import end_withdrawals, is_sync, retire_answers
from tracker.projects.projects import find_project, lock_project, log_touched_items, record_change
from tracker.projects.questions import UNDO, leave_questions, questions_used, reset_empty_project
from tracker.projects.supersede import restore_superseded_labels, supersede_labels
from tracker.storage import seals
from tracker.storage.current import apply_kind_facts
from tracker.storage.schema import Change, Import, Label, PastLabel, Project, Source

_labels = Label.__table__
_past = PastLabel.__table__


_ROWS = ("rows", "inserted", "changed", "unchanged", "older", "rejected")


@dataclass(frozen=True)
class ImportInfo:
    """One import as it was recorded; ``record`` is None if it says not how files were read."""

    id: int
    project: str
    project_id: int
    change: int
    recorded_at: int
    sources: tuple[dict[str, str], ...]
    counts: dict[str, int]
    undone_at: int | None
    record: ReadingRecord | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the import as JSON."""
        return {
            "import": self.id,
            "project": self.project,
            "recorded_at": clock.iso(self.recorded_at),
            "sources": list(self.sources),
            **self.counts,
            **(self.record.to_dict() if self.record else {"read": None, "left_out": None}),
            "undone_at": None if self.undone_at is None else clock.iso(self.undone_at),
        }


def list_imports(
    connection: Connection,
    project_id: int | None = None,
    number: int | None = None,
    *,
    after: int = 0,
    limit: int | None = None,
) -> list[ImportInfo]:
    """Return imports, oldest first: of all projects, of one, or the one with that number.

    Only those of numbers above ``after``, and of these the first ``limit``.
    """
    undone = Change.__table__.alias("undone")
    statement = (
        select(
            Import.__table__,
            Project.name.label("project"),
            Change.recorded_at,
            undone.c.recorded_at.label("undone_at"),
        )
        .join(Project, Project.id == Import.project_id)
        .join(Change, and_(Change.project_id == Import.project_id, Change.id == Import.change_id))
        .outerjoin(
            undone,
            and_(undone.c.project_id == Import.project_id, undone.c.id == Import.undone_by),
        )
        .where(Import.id > after)
        .order_by(Import.id)
        .limit(limit)
    )
    if project_id is not None:
        statement = statement.where(Import.project_id == project_id)
    if number is not None:
        statement = statement.where(Import.id == number)
    listed = statement.with_only_columns(Import.id).subquery("listed")
    sources: dict[int, list[dict[str, str]]] = {}
    for row in connection.execute(
        select(Source.import_id, Source.name, Source.digest)
        .join(listed, listed.c.id == Source.import_id)
        .order_by(Source.number)
    ):
        sources.setdefault(row.import_id, []).append({"name": row.name, "sha256": row.digest})
    return [
        ImportInfo(
            row.id,
            row.project,
            row.project_id,
            row.change_id,
            row.recorded_at,
            tuple(sources.get(row.id, ())),
            {
                name: getattr(row, name)
                for name in ("rows", "inserted", "changed", "unchanged", "older", "rejected")
            },
            row.undone_at,
            ReadingRecord.of_text(row.reading),
        )
        for row in connection.execute(statement)
    ]


def find_import(connection: Connection, number: int) -> ImportInfo:
    """Return the import with that number; raises NotFound."""
    imports = list_imports(connection, number=number)
    if not imports:
        raise NotFound(f"there is no import {number}", "see: tracker imports list")
    return imports[0]


def undo_import(connection: Connection, number: int) -> ImportInfo:
    """Undo an import, as if it had never been; what it superseded stands again.

    Raises NotFound for an unknown import, InvalidOption for one that was undone before.
    """
    project_id = find_import(connection, number).project_id
    lock_project(connection, project_id)
    undone = find_import(connection, number)
    if undone.undone_at is not None:
        raise InvalidOption(f"import {number} was undone on {clock.iso(undone.undone_at)}")
    project = find_project(connection, undone.project)
    used = questions_used(connection, project, undone.change)
    detail = {"import": number} | used.to_log()
    change, _ = record_change(connection, project_id, UNDO, detail)
    leave_questions(connection, used, undone.change, change)
    own_labels = and_(_labels.c.project_id == project_id, _labels.c.change_id == undone.change)
    connection.execute(
        update(_past)
        .where(
            _past.c.project_id == project_id,
            _past.c.change_id == undone.change,
            _past.c.taken_back_by.is_(None),
        )
        .values(taken_back_by=change)
    )
    supersede_labels(connection, own_labels, taken_back_by=change)
    taken = and_(_past.c.project_id == project_id, _past.c.taken_back_by == change)
    if is_sync(connection, project_id, undone.change):
        given_back = end_withdrawals(connection, project_id, undone.change, change)
        retire_answers(connection, project_id, given_back)
        taken = or_(taken, and_(_past.c.project_id == project_id, given_back))
    log_touched_items(
        connection, project_id, change, select(_past.c.question_id, _past.c.item_id).where(taken)
    )
    restore_superseded_labels(connection, project_id, taken)
    connection.execute(update(Import).where(Import.id == number).values(undone_by=change))
    reset_empty_project(connection, project)
    undo_item_facts(connection, project_id, undone.change)
    seals.seal_changed_attributes(connection, project_id)
    apply_kind_facts(connection, project_id, undone.change)
    return find_import(connection, number)
