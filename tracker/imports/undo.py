"""Imports: listed, shown, undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from sqlalchemy import Connection, and_, exists, or_, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Hidden, Json, OptionalTime, Record, Spread, Time
from tracker.imports.item_facts import undo_item_facts
from tracker.imports.reading_record import ReadingRecord
from tracker.imports.withdrawal import end_withdrawals
from tracker.projects.projects import check_labels_here, find_project, lock_project, record_change
from tracker.projects.questions import UNDO, leave_questions, questions_used, reset_empty_project
from tracker.projects.supersede import restore_superseded_labels, supersede_labels
from tracker.projects.touched import log_touched_items
from tracker.storage import backends, seals
from tracker.storage.current import apply_kind_facts
from tracker.storage.schema import Change, Import, Label, PastLabel, Project, Source, Sync

if TYPE_CHECKING:
    from tracker.render.tables import Table

_labels = Label.__table__
_past = PastLabel.__table__
_COPIED = ("project", "project_id", "recorded_at", "undone_at")


@dataclass(frozen=True)
class ImportedRows(Record):
    """How many rows an import had, and what became of them."""

    rows: int
    inserted: int
    changed: int
    unchanged: int
    older: int
    rejected: int


@dataclass(frozen=True)
class ImportSource(Record):
    """A file of an import."""

    name: str
    sha256: str


@dataclass(frozen=True)
class ImportInfo(Record):
    """One import as it was recorded; ``read`` is None if it says not how files were read."""

    id: Annotated[int, Json("import")]
    project: str
    project_id: Annotated[int, Hidden]
    change: Annotated[int, Hidden]
    recorded_at: Time
    sources: tuple[ImportSource, ...]
    counts: Annotated[ImportedRows, Spread]
    read: dict[str, Any] | None
    left_out: dict[str, int] | None
    undone_at: OptionalTime

    def view(self) -> Iterator[Table]:
        """Yield how the files were read, and which these are."""
        from tracker.imports.preview import reading_rows
        from tracker.render.cells import count_cell, minute_cell
        from tracker.render.tables import table

        payload = self.to_dict()
        rows = [
            ("import", str(self.id)),
            ("project", self.project),
            ("recorded", minute_cell(payload["recorded_at"])),
            *((name, count_cell(number)) for name, number in vars(self.counts).items()),
            ("undone", minute_cell(payload["undone_at"])),
            *reading_rows(payload),
        ]
        yield table((" ", " "), rows)
        yield table(("file", "sha256 "), [(source.name, source.sha256) for source in self.sources])


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
    of_undo = and_(undone.c.project_id == Import.project_id, undone.c.id == Import.undone_by)
    moments = Change.recorded_at, undone.c.recorded_at.label("undone_at")
    statement = (
        select(Import.__table__, Project.name.label("project"), *moments)
        .join(Project, Project.id == Import.project_id)
        .join(Change, and_(Change.project_id == Import.project_id, Change.id == Import.change_id))
        .outerjoin(undone, of_undo)
        .where(Import.id > after)
        .order_by(Import.id)
        .limit(limit)
    )
    if project_id is not None:
        statement = statement.where(Import.project_id == project_id)
    if number is not None:
        statement = statement.where(Import.id == number)
    listed = statement.with_only_columns(Import.id).subquery("listed")
    sources: dict[int, list[ImportSource]] = {}
    for row in connection.execute(
        select(Source.import_id, Source.name, Source.digest)
        .join(listed, listed.c.id == Source.import_id)
        .order_by(Source.number)
    ):
        sources.setdefault(row.import_id, []).append(ImportSource(row.name, row.digest))
    return [
        ImportInfo(
            id=row.id,
            change=row.change_id,
            sources=tuple(sources.get(row.id, ())),
            counts=ImportedRows(*(getattr(row, field.name) for field in fields(ImportedRows))),
            **{name: getattr(row, name) for name in _COPIED},
            **ReadingRecord.stored(row.reading),
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
    project = find_project(connection, undone.project)
    check_labels_here(project)
    if undone.undone_at is not None:
        raise InvalidOption(f"import {number} was undone on {clock.iso(undone.undone_at)}")
    used = questions_used(connection, project, undone.change)
    change, _ = record_change(connection, project_id, UNDO, {"import": number} | used.to_log())
    leave_questions(connection, used, undone.change, change)
    past, labels = ((rows.c.project_id == project_id) for rows in (_past, _labels))
    connection.execute(
        update(_past)
        .where(past, _past.c.change_id == undone.change, _past.c.taken_back_by.is_(None))
        .values(taken_back_by=change)
    )
    of_import = and_(labels, _labels.c.change_id == undone.change)
    supersede_labels(connection, of_import, taken_back_by=change)
    taken_back = and_(past, _past.c.taken_back_by == change)
    of_sync = exists().where(Sync.project_id == project_id, Sync.change_id == undone.change)
    if connection.scalar(select(of_sync)):
        given_back = end_withdrawals(connection, project_id, undone.change, change)
        taken_back = or_(taken_back, and_(past, given_back))
    items = select(_past.c.question_id, _past.c.item_id).where(taken_back)
    log_touched_items(connection, project_id, change, items)
    restore_superseded_labels(connection, project_id, taken_back)
    backend, tables = backends.backend_of(connection), (_labels, _past)
    backend.rows_added(connection, project_id, undone.counts.rows, tables)
    connection.execute(update(Import).where(Import.id == number).values(undone_by=change))
    reset_empty_project(connection, project)
    undo_item_facts(connection, project_id, undone.change)
    seals.seal_changed_items(connection, project_id, "attributes")
    apply_kind_facts(connection, project_id, undone.change)
    return find_import(connection, number)
