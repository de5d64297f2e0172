"""Snapshots read back: all of a project's, or a given one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from shlex import quote
from typing import Any, cast, overload

from sqlalchemy import ColumnElement, Connection, Table, func, select

from tracker.agreement.coefficients import check_agreement_measures
from tracker.agreement.query import Metric
from tracker.agreement.result import Assessment, Counts
from tracker.core.errors import NotFound
from tracker.core.tallies import ItemPatterns
from tracker.measures.category_rates import CategoryRate
from tracker.measures.intervals import Coefficient
from tracker.projects.annotators import annotator_names, with_annotator_names
from tracker.projects.categories import every_category_name
from tracker.projects.lookup import near_names
from tracker.projects.question import QuestionInfo
from tracker.snapshots.rows import (
    MEASURE_COLUMNS,
    RATE_COLUMNS,
    item_patterns_in_snapshot,
    read_snapshot_parts,
    snapshot_pattern_texts,
)
from tracker.snapshots.snapshot import SnapshotRecord
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import Snapshot, SnapshotCategory, SnapshotMeasure, Tombstone

_snapshots = cast("Table", Snapshot.__table__)
_measures = cast("Table", SnapshotMeasure.__table__)
_categories = cast("Table", SnapshotCategory.__table__)
_LAST = re.compile(r"last(?:~([0-9]{1,9}))?")


def find_snapshot(
    connection: Connection, question: QuestionInfo, which: int | str
) -> SnapshotRecord:
    """Return the given snapshot with its item patterns; raises NotFound.

    See `snapshot_number` for the ways to say which.
    """
    number = snapshot_number(connection, question, which)
    (snapshot,) = snapshot_records(connection, question, number, number)
    parts = read_snapshot_parts(connection, question.key, number, number).get(number, {})
    patterns = item_patterns_in_snapshot(parts, snapshot_pattern_texts(connection, question.key))
    return replace(snapshot, assessment=replace(snapshot.assessment, patterns=patterns))


def snapshot_number(connection: Connection, question: QuestionInfo, which: int | str) -> int:
    """Return the number of a snapshot given by number or name, as ``last``, or as ``last~2``.

    ``last~2`` is the second before the last. Raises NotFound, with the near names, and for one
    that was thinned out.
    """
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    thinned = set(connection.scalars(gone))
    rows = connection.execute(
        select(_snapshots.c.id, _snapshots.c.name)
        .where(of_question(_snapshots, question.key))
        .order_by(_snapshots.c.id)
    ).all()
    wanted = str(which).strip()
    numbers = (row.id for row in rows if str(row.id) == wanted)
    number = next(numbers, None) or next((row.id for row in rows if row.name == wanted), None)
    if number in thinned:
        raise NotFound(
            f"snapshot {wanted} was thinned out: its figures are gone",
            f"see: tracker snapshots list {quote(question.project.name)}",
        )
    left = [row for row in rows if row.id not in thinned]
    last = _LAST.fullmatch(wanted)
    if number is None and last is not None and int(last[1] or 0) < len(left):
        return int(left[-1 - int(last[1] or 0)].id)
    if number is None:
        known = [str(name) for row in left for name in (row.name, row.id) if name]
        mend = (
            near_names(wanted, known)
            if left
            else f"take one: tracker snapshot {quote(question.project.name)}"
        )
        raise NotFound(
            f"{question.project.name!r} has no snapshot {wanted!r}",
            mend or f"see: tracker snapshots list {quote(question.project.name)}",
        )
    return int(number)


def last_snapshot_of_choice(
    connection: Connection,
    question: QuestionInfo,
    selection: Mapping[str, Any] | None,
    measures: Sequence[str] = (),
    until: int | None = None,
) -> SnapshotRecord | None:
    """Return the last snapshot of the same choice of answers: others would not be comparable.

    With all its measures, or those named. Snapshots of moments after ``until`` are left out.
    """
    found = reversed(snapshot_records(connection, question, measures=measures))
    wanted = _of_whom(selection)
    of_choice = (one for one in found if _of_whom(one.assessment.selection) == wanted)
    return next((one for one in of_choice if until is None or one.moment <= until), None)


def _of_whom(selection: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what was chosen but for the moment, which does not make figures incomparable."""
    return {
        key: value
        for key, value in (selection or {}).items()
        if value and key not in {"as_of", "known_at"}
    }


def check_snapshot_measures(question: QuestionInfo, measures: Sequence[str]) -> None:
    """Raise InvalidOption for a measure that no snapshot of the project can hold."""
    # With weights every name is one: some snapshot may have been taken so.
    check_agreement_measures(question, measures, Metric(weights="linear"), few=True)


def count_thinned_snapshots(connection: Connection, question: QuestionInfo) -> int:
    """Return the number of snapshots of a project of which only the row is left."""
    gone = select(func.count()).select_from(Tombstone).where(of_question(Tombstone, question.key))
    return connection.scalar(gone) or 0


class LazyRecords(Sequence[SnapshotRecord]):
    """Snapshots created on access: of a curve of ten thousand, few are shown."""

    def __init__(self, rows: Sequence[Any], make: Callable[[Any], SnapshotRecord]) -> None:
        self._rows = rows
        self._make = cache(make)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> SnapshotRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[SnapshotRecord]: ...
    def __getitem__(self, place: int | slice) -> SnapshotRecord | Sequence[SnapshotRecord]:
        if isinstance(place, slice):
            return LazyRecords(self._rows[place], self._make)
        return self._make(self._rows[place])


def snapshot_records(
    connection: Connection,
    question: QuestionInfo,
    first: int = 1,
    last: int | None = None,
    measures: Sequence[str] = (),
) -> Sequence[SnapshotRecord]:
    """Return the snapshots of a project that were not thinned out, in a range of numbers.

    With all their measures, or those named.
    """

    def of_project(table: Table, snapshot: Any) -> ColumnElement[bool]:
        ours: ColumnElement[bool] = (of_question(table, question.key)) & (snapshot >= first)
        if last is not None:
            ours &= snapshot <= last
        return ours & table.c.measure.in_(measures) if measures and table is _measures else ours

    figures_of = _by_snapshot(connection, _measures, MEASURE_COLUMNS, "measure", of_project)
    rates = _by_snapshot(connection, _categories, RATE_COLUMNS, "category_id", of_project)
    names = every_category_name(connection, question)
    people = annotator_names(connection, question.project)
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    rows = connection.execute(
        select(_snapshots)
        .where(of_project(_snapshots, _snapshots.c.id), _snapshots.c.id.not_in(gone))
        .order_by(_snapshots.c.id)
    ).all()

    def make(row: Any) -> SnapshotRecord:
        figures = [_coefficient(*one) for one in figures_of.get(row.id, ())]
        assessment = _assessment(question, row, figures, rates.get(row.id, ()), names)
        told = with_annotator_names(row.selection and json.loads(row.selection), people)
        assessment = replace(assessment, selection=told)
        return snapshot_record_of(row._mapping, assessment)

    return LazyRecords(rows, make)


def _by_snapshot(
    connection: Connection, table: Table, columns: Sequence[str], key: str, of: Any
) -> dict[int, list[Any]]:
    """Return the rows of a table in order, by snapshot; each row begins with the key."""
    chosen = [table.c.snapshot_id, table.c[key], *(table.c[name] for name in columns)]
    if "details" in table.c:
        chosen.append(table.c.details)
    rows_of: dict[int, list[Any]] = {}
    for snapshot, *row in connection.execute(
        select(*chosen)
        .where(of(table, table.c.snapshot_id))
        .order_by(table.c.snapshot_id, table.c.position)
    ):
        rows_of.setdefault(snapshot, []).append(row)
    return rows_of


def _coefficient(measure: str, *values: Any) -> Coefficient:
    *values_, details = values
    named = dict(zip(MEASURE_COLUMNS, values_, strict=True))
    return Coefficient(measure, **named, details=json.loads(details))


def snapshot_record_of(row: Mapping[str, Any], assessment: Assessment) -> SnapshotRecord:
    """Return a snapshot from its row and its figures."""
    stored = (one.name for one in fields(SnapshotRecord) if one.name not in {"assessment", "own"})
    return SnapshotRecord(**{name: row[name] for name in stored}, assessment=assessment)


def _assessment(
    question: QuestionInfo,
    row: Any,
    measures: Sequence[Coefficient],
    rates: Sequence[Any],
    names: Mapping[int, str],
) -> Assessment:
    confidence: float = json.loads(row.settings)["confidence"]
    return Assessment(
        project=question.project.name,
        scale=row.scale,
        counts=Counts(row.items, row.items_compared, row.annotators, row.answers, row.labels),
        measures=tuple(measures),
        rates=tuple(
            CategoryRate(
                category=category,
                confidence=confidence,
                **dict(zip(RATE_COLUMNS, values, strict=True)),
            )
            for category, *values in rates
        ),
        categories=names,
        gold=None,
        patterns=ItemPatterns(),
    )
