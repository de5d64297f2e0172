"""Snapshots: a project's figures and tallies as they were, recorded and never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, func, insert, select

from tracker import clock
from tracker.assess import Assessment, Counts, Question, assess
from tracker.catalogue.categories import category_names
from tracker.catalogue.changes import lock_project
from tracker.catalogue.names import check_name, near
from tracker.catalogue.projects import ProjectInfo
from tracker.counting import EVERYTHING, Choice
from tracker.errors import InvalidOption, NotFound
from tracker.measures.coefficient import Coefficient
from tracker.measures.rates import CategoryRate
from tracker.schema import (
    Change,
    Snapshot,
    SnapshotCategory,
    SnapshotMeasure,
    SnapshotPattern,
)
from tracker.tally import ItemPatterns, Pattern

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["History", "SnapshotRecord", "find_snapshot", "history", "take_snapshot"]

_MEASURE_COLUMNS = (
    "value",
    "undefined",
    "observed",
    "expected",
    "standard_error",
    "ci_low",
    "ci_high",
    "confidence",
    "items",
    "method",
)
_RATE_COLUMNS = (
    "labels",
    "agreements",
    "potential_agreements",
    "rate",
    "undefined",
    "standard_error",
    "ci_low",
    "ci_high",
    "specific_agreement",
)


@dataclass(frozen=True)
class SnapshotRecord:
    """One snapshot: when it was taken, and the figures then."""

    id: int
    name: str | None
    note: str | None
    taken_at: int
    through_change: int
    version: str
    assessment: Assessment

    def to_dict(self) -> dict[str, Any]:
        """One element of the contract's ``snapshots``."""
        selection = self.assessment.selection
        return {
            "snapshot": self.id,
            "name": self.name,
            "note": self.note,
            "taken_at": clock.iso(self.taken_at),
            "as_of": clock.iso(self.taken_at),
            "through_change": self.through_change,
            "version": self.version,
            "selection": None if selection is None else dict(selection),
            **self.assessment.figures(),
        }


@dataclass(frozen=True)
class History:
    """All snapshots of a project, oldest first."""

    project: str
    snapshots: tuple[SnapshotRecord, ...]

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON of ``tracker history``."""
        return {
            "project": self.project,
            "snapshots": [snapshot.to_dict() for snapshot in self.snapshots],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per snapshot and measure."""
        import pandas as pd

        return pd.DataFrame(
            {"snapshot": told["snapshot"], "name": told["name"], "taken_at": told["taken_at"]}
            | measure
            for told in self.to_dict()["snapshots"]
            for measure in told["measures"]
        )


def take_snapshot(
    connection: Connection,
    project: ProjectInfo,
    *,
    name: str | None = None,
    note: str | None = None,
    choice: Choice = EVERYTHING,
) -> SnapshotRecord:
    """Compute the project's figures and record them with their tallies, and what was chosen.

    Raises InvalidOption where a snapshot of that name exists.
    """
    lock_project(connection, project.id)
    if name is not None:
        name = _free_name(connection, project, name)
    assessment = assess(connection, project, Question(choice=choice))
    selection = assessment.selection
    taken_at, through = _moment(connection, project)
    highest = select(func.max(Snapshot.id)).where(Snapshot.project_id == project.id)
    number = (connection.scalar(highest) or 0) + 1
    connection.execute(
        insert(Snapshot).values(
            project_id=project.id,
            id=number,
            name=name,
            note=note,
            taken_at=taken_at,
            through_change=through,
            version=version("tracker"),
            scale=assessment.scale,
            selection=None if selection is None else json.dumps(selection, ensure_ascii=False),
            **assessment.counts.to_dict(),
        )
    )
    _store_figures(connection, {"project_id": project.id, "snapshot_id": number}, assessment)
    return find_snapshot(connection, project, number)


def _free_name(connection: Connection, project: ProjectInfo, name: str) -> str:
    name = check_name(name, "snapshot")
    taken = select(Snapshot.id).where(Snapshot.project_id == project.id, Snapshot.name == name)
    if connection.scalar(taken) is not None:
        raise InvalidOption(
            f"{project.name!r} has a snapshot named {name!r}", "a record is never replaced"
        )
    return name


def _moment(connection: Connection, project: ProjectInfo) -> tuple[int, int]:
    """When the snapshot is taken, and the last change that it covers.

    Never before the change it covers nor before the snapshot before it, whatever the clock.
    """
    last = connection.execute(
        select(Change.id, Change.recorded_at)
        .where(Change.project_id == project.id)
        .order_by(Change.id.desc())
        .limit(1)
    ).one()
    latest = select(func.max(Snapshot.taken_at)).where(Snapshot.project_id == project.id)
    before = connection.scalar(latest) or 0
    return max(clock.now(), last.recorded_at, before + 1), last.id


def _store_figures(connection: Connection, key: Mapping[str, int], assessment: Assessment) -> None:
    measures = [
        {**key, "position": n, "measure": coefficient.measure}
        | {column: getattr(coefficient, column) for column in _MEASURE_COLUMNS}
        | {"details": json.dumps(dict(coefficient.details))}
        for n, coefficient in enumerate(assessment.measures)
    ]
    rates = [
        {**key, "position": n, "category_id": rate.category}
        | {column: getattr(rate, column) for column in _RATE_COLUMNS}
        for n, rate in enumerate(assessment.rates)
    ]
    patterns = [
        {**key, "pattern": _pattern_text(pattern), "items": items}
        for pattern, items in sorted(assessment.patterns.counts.items())
    ]
    for table, rows in (
        (SnapshotMeasure, measures),
        (SnapshotCategory, rates),
        (SnapshotPattern, patterns),
    ):
        if rows:
            connection.execute(insert(table), rows)


def _pattern_text(pattern: Pattern) -> str:
    return json.dumps(pattern, separators=(",", ":"))


def _read_pattern(text: str) -> Pattern:
    return tuple((tuple(answer), count) for answer, count in json.loads(text))


def find_snapshot(connection: Connection, project: ProjectInfo, which: int | str) -> SnapshotRecord:
    """The snapshot of that number or name, its tallies with it; raises NotFound."""
    rows = connection.execute(
        select(Snapshot.id, Snapshot.name)
        .where(Snapshot.project_id == project.id)
        .order_by(Snapshot.id)
    ).all()
    number = next((row.id for row in rows if str(which) in {str(row.id), row.name}), None)
    if number is None:
        known = [str(name) for row in rows for name in row if name]
        raise NotFound(
            f"{project.name!r} has no snapshot {which!r}",
            near(str(which), known) or f"see: tracker history {project.name}",
        )
    (snapshot,) = _read(connection, project, number)
    return _with_patterns(snapshot, _patterns(connection, project, number))


def history(connection: Connection, project: ProjectInfo) -> History:
    """Every snapshot of a project, without its tallies."""
    return History(project.name, tuple(_read(connection, project)))


def _read(
    connection: Connection, project: ProjectInfo, number: int | None = None
) -> list[SnapshotRecord]:
    """All snapshots of a project, oldest first, or the one of that number."""

    def chosen(of: Any, snapshot: Any) -> ColumnElement[bool]:
        of_project: ColumnElement[bool] = of.project_id == project.id
        return of_project if number is None else of_project & (snapshot == number)

    measures: dict[int, list[Coefficient]] = {}
    for row in connection.execute(
        select(SnapshotMeasure.__table__)
        .where(chosen(SnapshotMeasure, SnapshotMeasure.snapshot_id))
        .order_by(SnapshotMeasure.snapshot_id, SnapshotMeasure.position)
    ):
        values = {column: getattr(row, column) for column in _MEASURE_COLUMNS}
        measures.setdefault(row.snapshot_id, []).append(
            Coefficient(row.measure, **values, details=json.loads(row.details))
        )
    rates: dict[int, list[Any]] = {}
    for row in connection.execute(
        select(SnapshotCategory.__table__)
        .where(chosen(SnapshotCategory, SnapshotCategory.snapshot_id))
        .order_by(SnapshotCategory.snapshot_id, SnapshotCategory.position)
    ):
        rates.setdefault(row.snapshot_id, []).append(row)
    names = category_names(connection, project)
    return [
        SnapshotRecord(
            id=row.id,
            name=row.name,
            note=row.note,
            taken_at=row.taken_at,
            through_change=row.through_change,
            version=row.version,
            assessment=_stored_assessment(
                project, row, measures.get(row.id, []), rates.get(row.id, []), names
            ),
        )
        for row in connection.execute(
            select(Snapshot.__table__).where(chosen(Snapshot, Snapshot.id)).order_by(Snapshot.id)
        )
    ]


def _stored_assessment(
    project: ProjectInfo,
    row: Any,
    measures: Sequence[Coefficient],
    rates: Sequence[Any],
    names: Mapping[int, str],
) -> Assessment:
    confidence = measures[0].confidence if measures else 0.95
    return Assessment(
        project=project.name,
        scale=row.scale,
        counts=Counts(row.items, row.items_compared, row.annotators, row.answers, row.labels),
        measures=tuple(measures),
        rates=tuple(
            CategoryRate(
                category=rate.category_id,
                confidence=confidence,
                **{column: getattr(rate, column) for column in _RATE_COLUMNS},
            )
            for rate in rates
        ),
        categories=names,
        gold=None,
        patterns=ItemPatterns(),
        selection=None if row.selection is None else json.loads(row.selection),
    )


def _patterns(connection: Connection, project: ProjectInfo, number: int) -> ItemPatterns:
    rows = connection.execute(
        select(SnapshotPattern.pattern, SnapshotPattern.items).where(
            SnapshotPattern.project_id == project.id, SnapshotPattern.snapshot_id == number
        )
    )
    return ItemPatterns({_read_pattern(row.pattern): row.items for row in rows})


def _with_patterns(snapshot: SnapshotRecord, patterns: ItemPatterns) -> SnapshotRecord:
    return replace(snapshot, assessment=replace(snapshot.assessment, patterns=patterns))
