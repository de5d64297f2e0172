"""A snapshot and a project's history, as values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict, overload

from sqlalchemy import ColumnElement, Connection, Table, func, select

from tracker.agreement.coefficients import check_agreement_measures
from tracker.agreement.query import Metric, Query
from tracker.agreement.result import Assessment, Counts, FiguresJson
from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.core.tallies import ItemPatterns
from tracker.counts.selection import Selection
from tracker.history.stored import (
    MEASURE_COLUMNS,
    RATE_COLUMNS,
    item_patterns_in_snapshot,
    read_snapshot_parts,
    snapshot_pattern_texts,
)
from tracker.measures.category_rates import CategoryRate
from tracker.measures.intervals import INTERVALS, Coefficient
from tracker.projects.annotators import annotator_names, with_annotator_names
from tracker.projects.categories import every_category_name
from tracker.projects.names import near_names
from tracker.projects.notes import NoteInfo
from tracker.projects.questions import QuestionInfo
from tracker.render.formats import Shown
from tracker.storage.schema import Snapshot, SnapshotCategory, SnapshotMeasure, Tombstone
from tracker.storage.schema.labels import of_question

if TYPE_CHECKING:
    import pandas as pd


# The first columns of flat rows; what else there is follows from the measures.
_COLUMNS = ("snapshot", "name", "taken_at", "as_of", "selection", "measure", "value")


class PointJson(FiguresJson):
    """Figures at a moment: those of a snapshot, or of a point of a curve, which has no number."""

    snapshot: int | None
    name: str | None
    note: str | None
    taken_at: str | None
    as_of: str
    through_change: NotRequired[int]
    version: NotRequired[str]
    digest: NotRequired[str]
    selection: dict[str, Any] | None
    scale: str
    own: dict[str, Any] | None


class CourseJson(TypedDict):
    """Recorded snapshots, oldest first, or the points of a curve."""

    project: str
    thinned: NotRequired[int]
    every: NotRequired[str]
    window: NotRequired[str]
    snapshots: list[PointJson]
    notes: list[NoteInfo]


@dataclass(frozen=True)
class SnapshotRecord:
    """One snapshot: when it was taken, of which state, and the figures then.

    Attributes:
        id: its number in the project.
        name: to find it by.
        note: why it was taken.
        taken_at: when, in microseconds.
        as_of: only labels given by then were counted; None for all.
        last_change_id: the last change of the ledger that it knows.
        version: of the program that computed it.
        settings: what was asked, as JSON; see `snapshots.settings`.
        digest: of what was counted, chained.
        seal: of everything stored, chained.
        assessment: the figures.
        own: those of what came since the snapshot before; None if that was not asked for or is
            not known.
    """

    id: int
    name: str | None
    note: str | None
    taken_at: int
    as_of: int | None
    last_change_id: int
    version: str
    settings: str
    digest: str
    seal: str
    assessment: Assessment
    own: Assessment | None = field(default=None, compare=False)

    @property
    def moment(self) -> int:
        """The moment whose labels the snapshot shows."""
        return self.taken_at if self.as_of is None else self.as_of

    def to_dict(self) -> Annotated[dict[str, Any], PointJson]:
        """Return one element of the contract's ``snapshots``."""
        selection = self.assessment.selection
        return {
            "snapshot": self.id,
            "name": self.name,
            "note": self.note,
            "taken_at": clock.iso(self.taken_at),
            "as_of": clock.iso(self.moment),
            "through_change": self.last_change_id,
            "version": self.version,
            "digest": self.digest,
            "selection": None if selection is None else dict(selection),
            "scale": self.assessment.scale,
            **self.assessment.figures(),
            "own": None if self.own is None else own_figures(self.own),
        }


def own_figures(own: Assessment) -> dict[str, Any]:
    """Return as JSON the figures of what came since the point before."""
    return {
        "items": own.counts.items,
        "answers": own.counts.answers,
        "measures": own.figures()["measures"],
    }


class FiguresOverTime:
    """Snapshots, recorded or not, as flat rows: one per snapshot and measure."""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that holds ``snapshots``."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows, each value a number or a text."""
        return [
            {name: snapshot[name] for name in _COLUMNS[:4]}
            | {
                "selection": snapshot["selection"]
                and json.dumps(snapshot["selection"], ensure_ascii=False)
            }
            | {name: value for name, value in measure.items() if name != "readings"}
            for snapshot in self.to_dict()["snapshots"]
            for measure in snapshot["measures"]
        ]

    def columns(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the names of all columns of such rows, also of none."""
        return list(dict.fromkeys([*_COLUMNS, *(name for row in rows for name in row)]))

    def to_frame(self) -> pd.DataFrame:
        """Return `rows` as a frame."""
        import pandas as pd

        rows = self.rows()
        return pd.DataFrame(rows, columns=self.columns(rows))


@dataclass(frozen=True, repr=False)
class History(FiguresOverTime, Shown):
    """The snapshots of a project, oldest first, without those that were thinned out.

    ``thinned`` is how many those are; ``notes`` says what happened in between.
    """

    project: str
    snapshots: Sequence[SnapshotRecord]
    notes: Sequence[NoteInfo] = ()
    thinned: int = 0

    def __iter__(self) -> Iterator[SnapshotRecord]:
        return iter(self.snapshots)

    def to_dict(self) -> Annotated[dict[str, Any], CourseJson]:
        """Return the contract's JSON of ``tracker history``."""
        return {
            "project": self.project,
            "thinned": self.thinned,
            "snapshots": [snapshot.to_dict() for snapshot in self.snapshots],
            "notes": [note.to_dict() for note in self.notes],
        }


def snapshot_settings_text(query: Query, selection: Selection) -> str:
    """Return the settings as canonical JSON: equal for equal queries of the same answers.

    The moment is not among them: snapshots of several moments are points of one curve.
    """
    metric = query.metric
    return _canonical(
        {
            "scale": metric.scale,
            "weights": metric.weights,
            "distance": metric.distance,
            "confidence": query.confidence,
            "interval": query.interval,
            "left_out": sorted(selection.left_out),
            "only": None if selection.only is None else sorted(selection.only),
            "since": selection.since,
            "until": selection.until,
            "where": selection.where,
        }
    )


def _canonical(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def alike_snapshot_settings(settings: str) -> list[str]:
    """Return the settings that give the same values, whatever the method of their intervals.

    Those of one curve; the first text is the same for all of them.
    """
    values = json.loads(settings)
    values.pop("interval", None)  # as snapshots had none when there was but one way
    return [_canonical(values), *(_canonical(values | {"interval": name}) for name in INTERVALS)]


def query_of_snapshot(settings: str) -> Query:
    """Return the query of recorded settings; their selection says which answers are counted."""
    values = json.loads(settings)
    return Query(
        confidence=values["confidence"],
        metric=Metric(values["weights"], values["scale"], values["distance"]),
        interval=snapshot_interval_method(values),
    )


def snapshot_interval_method(settings: Mapping[str, Any]) -> str:
    """Return how the intervals of a snapshot of these settings are made."""
    name: str = settings.get("interval", "t")
    return name


def selection_of_snapshot(question: QuestionInfo, settings: str) -> Selection:
    """Return the answers that settings are about."""
    payload = json.loads(settings)
    return Selection(
        question,
        left_out=frozenset(payload["left_out"]),
        only=None if payload["only"] is None else frozenset(payload["only"]),
        since=payload["since"],
        until=payload["until"],
        where=tuple((name, tuple(values)) for name, values in payload["where"]),
    )


def is_usual_snapshot(settings: str) -> bool:
    """Return whether nothing was asked but the figures.

    As they are read by themselves, of everybody.
    """
    values = json.loads(settings)
    chosen = (values["only"], values["since"], values["until"]) != (None, None, None) or values[
        "where"
    ]
    return not chosen and replace(query_of_snapshot(settings), interval=Query.interval) == Query()


def is_snapshot_by_attributes(settings: str) -> bool:
    """Return whether items were chosen by their attributes, of which no past state is kept."""
    return bool(json.loads(settings)["where"])


def snapshot_touches_items_alone(settings: str) -> bool:
    """Return whether an item's part in the figures changes only with the answers to it.

    Times that limit what counts and attributes of items change by themselves; those are known
    only as they are now.
    """
    values: Mapping[str, Any] = json.loads(settings)
    return not values["where"] and values["since"] is None and values["until"] is None


# -- Snapshots read back: all of a project's, or a given one --------------------------------------


_snapshots = Snapshot.__table__
_measures = SnapshotMeasure.__table__
_categories = SnapshotCategory.__table__
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
    records = reversed(snapshot_records(connection, question, measures=measures))
    wanted = _of_whom(selection)
    of_choice = (record for record in records if _of_whom(record.assessment.selection) == wanted)
    return next((record for record in of_choice if until is None or record.moment <= until), None)


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
        figures = [_coefficient(*cells) for cells in figures_of.get(row.id, ())]
        assessment = _assessment(question, row, figures, rates.get(row.id, ()), names)
        selection = with_annotator_names(row.selection and json.loads(row.selection), people)
        assessment = replace(assessment, selection=selection)
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
    stored = (
        column.name for column in fields(SnapshotRecord) if column.name not in {"assessment", "own"}
    )
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
