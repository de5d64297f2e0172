"""What was recorded last, for who watches: nothing is counted from labels."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, select

from tracker.storage.schema import (
    STANDING,
    Change,
    FlagChange,
    FlagRow,
    Import,
    Project,
    Question,
    Snapshot,
    SnapshotMeasure,
)
from tracker.storage.schema.labels import same_answer_key


class LastSnapshot(NamedTuple):
    """The last snapshot of all answers to a question; the measure's figures may be None."""

    project: str
    question: str
    taken_at: int
    items: int
    answers: int
    value: float | None
    ci_low: float | None
    ci_high: float | None


class OpenFindings(NamedTuple):
    """How many findings of a kind need attention."""

    project: str
    question: str
    kind: str
    number: int


class LastImport(NamedTuple):
    """When something was last imported that was not undone, in microseconds since 1970."""

    project: str
    recorded_at: int


def last_snapshots(connection: Connection, measure: str) -> list[LastSnapshot]:
    """Return the last snapshot of each question of projects that are not archived."""
    newest = (
        select(Snapshot.project_id, Snapshot.question_id, func.max(Snapshot.id).label("id"))
        .where(Snapshot.selection.is_(None))
        .group_by(Snapshot.project_id, Snapshot.question_id)
        .subquery("newest")
    )
    key = ("project_id", "question_id")
    figures = and_(
        same_answer_key(key, SnapshotMeasure.__table__, newest),
        SnapshotMeasure.snapshot_id == newest.c.id,
        SnapshotMeasure.measure == measure,
    )
    statement = (
        select(
            Project.name, Question.name, Snapshot.taken_at, Snapshot.items, Snapshot.answers,
            SnapshotMeasure.value, SnapshotMeasure.ci_low, SnapshotMeasure.ci_high,
        )
        .select_from(newest)
        .join(Snapshot, same_answer_key((*key, "id"), Snapshot.__table__, newest))
        .join(Project, Project.id == newest.c.project_id)
        .join(Question, _question(newest.c))
        .outerjoin(SnapshotMeasure, figures)
        .where(Project.archived_at.is_(None))
        .order_by(Project.name, Question.name)
    )  # fmt: skip
    return [LastSnapshot(*row) for row in connection.execute(statement)]


def open_findings(connection: Connection) -> list[OpenFindings]:
    """Return how many findings are open or acknowledged, by project, question and kind."""
    last = (
        select(
            FlagChange.project_id, FlagChange.flag_id, func.max(FlagChange.number).label("number")
        )
        .group_by(FlagChange.project_id, FlagChange.flag_id)
        .subquery("last")
    )
    of_last = same_answer_key(("project_id", "flag_id", "number"), FlagChange.__table__, last)
    of_flag = and_(FlagRow.project_id == last.c.project_id, FlagRow.id == last.c.flag_id)
    names = (Project.name, Question.name, FlagRow.kind)
    statement = (
        select(*names, func.count())
        .select_from(last)
        .join(FlagChange, of_last)
        .join(FlagRow, of_flag)
        .join(Project, Project.id == FlagRow.project_id)
        .join(Question, _question(FlagRow))
        .where(FlagChange.state.in_(STANDING), Project.archived_at.is_(None))
        .group_by(*names)
        .order_by(*names)
    )
    return [OpenFindings(*row) for row in connection.execute(statement)]


def last_imports(connection: Connection) -> list[LastImport]:
    """Return when each project that is not archived last got an import that still counts."""
    statement = (
        select(Project.name, func.max(Change.recorded_at))
        .join(Import, Import.project_id == Project.id)
        .join(Change, and_(Change.project_id == Import.project_id, Change.id == Import.change_id))
        .where(Import.undone_by.is_(None), Project.archived_at.is_(None))
        .group_by(Project.name)
        .order_by(Project.name)
    )
    return [LastImport(*row) for row in connection.execute(statement)]


def _question(of: Any) -> Any:
    return and_(Question.project_id == of.project_id, Question.id == of.question_id)
