"""The snapshots of a project, each with the figures of what came since the one before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select

from tracker.agreement.result import Assessment
from tracker.agreement.run import assess_patterns
from tracker.audit.flag_list import list_flags
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.history.snapshot import (
    History,
    LazyRecords,
    SnapshotRecord,
    alike_snapshot_settings,
    check_snapshot_measures,
    count_thinned_snapshots,
    find_snapshot,
    is_usual_snapshot,
    query_of_snapshot,
    snapshot_interval_method,
    snapshot_number,
    snapshot_records,
)
from tracker.history.stored import (
    flags_in_snapshot,
    read_snapshot_parts,
    read_snapshot_pattern,
    snapshot_pattern_texts,
)
from tracker.measures.intervals import INTERVALS
from tracker.measures.registry import MEASURES
from tracker.projects.annotators import annotator_names
from tracker.projects.notes import NoteInfo, list_notes
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import Change, Snapshot, SnapshotMeasure, SnapshotPattern, Tombstone
from tracker.storage.schema.labels import of_question

_snapshots, _patterns = (
    Snapshot.__table__,
    SnapshotPattern.__table__,
)


def snapshot_history(
    connection: Connection, question: QuestionInfo, measures: Sequence[str] = ()
) -> History:
    """Return every snapshot of a project, without its tallies, with all measures or the given ones.

    Raises InvalidOption for a measure that does not exist or does not fit the project.
    """
    check_snapshot_measures(question, measures)
    records = snapshot_records(connection, question, measures=measures)
    return History(
        question.project.name,
        with_own_figures(connection, question, records),
        tuple(list_notes(connection, question.project)),
        count_thinned_snapshots(connection, question),
    )


def with_own_figures(
    connection: Connection,
    question: QuestionInfo,
    records: Sequence[SnapshotRecord],
    first: int = 1,
    last: int | None = None,
    *,
    only: Sequence[str] = (),
) -> Sequence[SnapshotRecord]:
    """Return snapshots with the figures of what came since the one before, made when looked at.

    The one before is that of the same settings whose moment is the last before. Spans have no
    tallies, and so no such figures.

    Args:
        connection: to the ledger.
        question: whose snapshots they are.
        records: the snapshots, as they are read.
        first: the number of the first of them.
        last: that of the last; None if none came after.
        only: the measures of what came since; for none all that the snapshot has.
    """
    if question.answers == "spans":
        return records
    since = _patterns_since(connection, question, first, last)
    texts = snapshot_pattern_texts(connection, question.key)
    known: dict[int, Pattern] = {}

    def with_own(place: int) -> SnapshotRecord:
        record = records[place]
        counts = {}
        for number, items in since.get(record.id, ()):
            if number not in known:
                known[number] = read_snapshot_pattern(texts[number])
            counts[known[number]] = items
        patterns = ItemPatterns(dict(sorted(counts.items())))
        return replace(record, own=_own_assessment(question, record, patterns, only))

    return LazyRecords(range(len(records)), with_own)


def _patterns_since(
    connection: Connection, question: QuestionInfo, first: int, last: int | None
) -> dict[int, list[tuple[int, int]]]:
    """Return of each snapshot how many items more than before have a pattern, by its number.

    These are the items that were answered, or answered further, as they are now. Items that came to
    a pattern as others left it cannot be told from those that stayed: of answers that come one by
    one, that are mostly the ones that wait for more.
    """
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    order = (func.coalesce(_snapshots.c.as_of, _snapshots.c.taken_at), _snapshots.c.id)
    curve: ColumnElement[Any] = _snapshots.c.settings
    for name in INTERVALS:  # they change no value: see `alike_snapshot_settings`
        curve = func.replace(curve, f'"interval":{json.dumps(name)},', "")
    snapshots = (
        select(
            _snapshots.c.id,
            func.lag(_snapshots.c.id).over(partition_by=curve, order_by=order).label("before"),
        )
        .where(of_question(_snapshots, question.key), _snapshots.c.id.not_in(gone))
        .subquery("snapshots")
    )
    now, before = _patterns.alias("now"), _patterns.alias("before")
    of_before = and_(
        of_question(before, question.key),
        before.c.snapshot_id == snapshots.c.before,
        before.c.pattern_id == now.c.pattern_id,
    )
    more = now.c["items"] - func.coalesce(before.c["items"], 0)
    of_now = and_(of_question(now, question.key), now.c.snapshot_id == snapshots.c.id)
    statement = (
        select(snapshots.c.id, now.c.pattern_id, more)
        .select_from(snapshots.join(now, of_now).outerjoin(before, of_before))
        .where(snapshots.c.id >= first, more > 0)
    )
    if last is not None:
        statement = statement.where(snapshots.c.id <= last)
    since: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for snapshot, pattern, items in connection.execute(statement):
        since[snapshot].append((pattern, items))
    return since


def _own_assessment(
    question: QuestionInfo, record: SnapshotRecord, patterns: ItemPatterns, only: Sequence[str]
) -> Assessment | None:
    """Return the figures of a snapshot's measures; None if they are read as they no longer can."""
    assessment = record.assessment
    names = {rate.category: assessment.categories[rate.category] for rate in assessment.rates}
    known = [
        measure.measure
        for measure in assessment.measures
        if MEASURES[measure.measure].needs == "patterns"
    ]
    measures = [name for name in known if not only or name in only]
    then = replace(question, scale=assessment.scale)
    query = query_of_snapshot(record.settings)
    try:
        people = assessment.counts.annotators
        return assess_patterns(then, names, patterns, people, measures, query, rated=False)
    except InvalidOption:
        return None


# -- A page of the history: the last snapshots completely, of the others the curve's figures ------


_snapshot_rows = Snapshot.__table__
_measures = SnapshotMeasure.__table__

MEASURES_SHOWN = ("krippendorff_alpha", "percent_agreement")
"""The measures that people see where they name none."""
_OF_SPANS = ("unitizing_alpha", "span_f1_exact")
_MOST_DRAWN = 60
"""The last snapshots of a curve, which are drawn if they have figures of their own."""


@dataclass(frozen=True)
class Overview:
    """The data shown of a project's snapshots, however many there are.

    Attributes:
        project: its name.
        total: how many snapshots there are, those not shown included.
        thinned: of how many more only the row is left.
        measures: those shown.
        shown: the last snapshots, oldest first.
        drawn: the last snapshots of the curve and others between them, likewise.
        numbers: the snapshots on the curve, which are all of the same settings, oldest first.
        moments: of these.
        values: their figures, by measure; None if undefined or not there.
        apart: how many snapshots have other settings.
        notes: what happened in between.
        zone: the project's time zone; None for UTC.
    """

    project: str
    total: int
    thinned: int
    measures: Sequence[str]
    shown: Sequence[SnapshotRecord]
    drawn: Sequence[SnapshotRecord]
    numbers: Sequence[int]
    moments: Sequence[int]
    values: Mapping[str, Sequence[float | None]]
    apart: int
    notes: Sequence[NoteInfo]
    zone: str | None

    @property
    def own(self) -> list[Assessment | None]:
        """The figures of what came since the snapshot before, of the curve's last snapshots."""
        own = {record.id: record.own for record in self.drawn}
        return [own[number] for number in self.numbers[-_MOST_DRAWN:]]


def snapshots_overview(
    connection: Connection,
    question: QuestionInfo,
    named: Sequence[str] = (),
    last: int | None = None,
) -> Overview:
    """Return the overview with the given or default measures, and the ``last`` snapshots or all.

    Raises InvalidOption for a measure that does not exist or does not fit the project.
    """
    usual = _OF_SPANS if question.answers == "spans" else MEASURES_SHOWN
    measures = tuple(named) or usual
    check_snapshot_measures(question, measures)
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    ours = (of_question(_snapshot_rows, question.key)) & _snapshot_rows.c.id.not_in(gone)
    kinds = connection.execute(
        select(
            _snapshot_rows.c.settings,
            func.count().label("number"),
            func.max(_snapshot_rows.c.id).label("last"),
            (func.count() - func.count(_snapshot_rows.c.selection)).label("whole"),
        )
        .where(ours)
        .group_by(_snapshot_rows.c.settings)
    ).all()
    total = sum(kind.number for kind in kinds)
    settings = alike_snapshot_settings(max(_curves(kinds), key=_standing).settings) if kinds else []
    on_curve, moments, values = _curve(
        connection, ours & _snapshot_rows.c.settings.in_(settings), measures
    )
    numbers = select(_snapshot_rows.c.id).where(ours).order_by(_snapshot_rows.c.id.desc())
    first = 1
    if last is not None and last < total:
        first = connection.scalar(numbers.offset(last - 1).limit(1)) or 1
    earliest = min([first, *on_curve[-_MOST_DRAWN:]])
    records = snapshot_records(connection, question, earliest)
    drawn = with_own_figures(connection, question, records, earliest, only=measures)
    return Overview(
        question.project.name,
        total,
        count_thinned_snapshots(connection, question),
        measures,
        drawn[-last:] if last else drawn,
        drawn,
        on_curve,
        moments,
        values,
        total - len(moments),
        list_notes(connection, question.project),
        question.project.timezone,
    )


@dataclass(frozen=True)
class _Kind:
    """Snapshots whose settings differ only in their intervals: how many, the last, of everybody."""

    settings: str
    number: int
    last: int
    whole: int


def _curves(kinds: Sequence[Any]) -> list[_Kind]:
    """Return the snapshots by settings, joined if only their intervals differ."""
    kinds_by_key: dict[str, _Kind] = {}
    for kind in kinds:
        key = alike_snapshot_settings(kind.settings)[0]
        group = kinds_by_key.get(key, _Kind(kind.settings, 0, 0, 0))
        kinds_by_key[key] = _Kind(
            group.settings,
            group.number + kind.number,
            max(group.last, kind.last),
            group.whole + kind.whole,
        )
    return list(kinds_by_key.values())


def _standing(kind: _Kind) -> tuple[bool, bool, bool, int]:
    """Return the rank of settings for the curve: two points, defaults, everybody, latest."""
    return kind.number > 1, is_usual_snapshot(kind.settings), kind.whole > 0, kind.last


def _curve(
    connection: Connection, chosen: Any, measures: Sequence[str]
) -> tuple[list[int], list[int], dict[str, list[float | None]]]:
    """Return the numbers and moments of snapshots in their order, and their figures by measure."""
    moment = func.coalesce(_snapshot_rows.c.as_of, _snapshot_rows.c.taken_at)
    rows = connection.execute(
        select(_snapshot_rows.c.id, moment).where(chosen).order_by(moment, _snapshot_rows.c.id)
    ).all()
    known: dict[tuple[int, str], float | None] = {
        (number, measure): value
        for number, measure, value in connection.execute(
            select(_measures.c.snapshot_id, _measures.c.measure, _measures.c.value)
            .join(
                _snapshot_rows,
                (_snapshot_rows.c.project_id == _measures.c.project_id)
                & (_snapshot_rows.c.question_id == _measures.c.question_id)
                & (_snapshot_rows.c.id == _measures.c.snapshot_id),
            )
            .where(chosen, _measures.c.measure.in_(measures))
        ).all()
    }
    values = {measure: [known.get((number, measure)) for number, _ in rows] for measure in measures}
    return [number for number, _ in rows], [at for _, at in rows], values


@dataclass(frozen=True)
class SnapshotPage:
    """Everything about one snapshot.

    Attributes:
        record: its figures and patterns.
        several: whether an answer may hold several categories.
        settings: what was asked, as JSON, by the names that annotators have now.
        change: the last change of the ledger that it knows: its number, kind and moment.
        flags: those that stood, in the state they had.
        last: the number of the project's last snapshot.
    """

    record: SnapshotRecord
    several: bool
    settings: Mapping[str, Any]
    change: Mapping[str, Any]
    flags: Sequence[Mapping[str, Any]]
    last: int

    def to_dict(self) -> dict[str, Any]:
        """Return the snapshot as in ``tracker history``, and all else of it."""
        return self.record.to_dict() | {
            "settings": dict(self.settings),
            "change": dict(self.change),
            "seal": self.record.seal,
            "patterns": list(self._patterns()),
            "flags": [dict(flag) for flag in self.flags],
        }

    def _patterns(self) -> Iterator[dict[str, Any]]:
        """Yield how many items have each pattern, as the number of annotators per answer."""
        for pattern, items in self.record.assessment.patterns:
            answers = {self._answer(answer): annotators for answer, annotators in pattern}
            yield {"pattern": answers, "items": items}

    def _answer(self, answer: Answer) -> str:
        """Return an answer's category, or a JSON list of categories if there may be several."""
        names = [self.record.assessment.categories[category] for category in answer]
        return json.dumps(names, ensure_ascii=False) if self.several else names[0]


def snapshot_page(connection: Connection, question: QuestionInfo, which: int | str) -> SnapshotPage:
    """Return the page of the given snapshot, see `snapshot_number`; raises NotFound."""
    record = find_snapshot(connection, question, which)
    (record,) = with_own_figures(connection, question, [record], record.id, record.id)
    parts = read_snapshot_parts(connection, question.key, record.id, record.id).get(record.id, {})
    return SnapshotPage(
        record,
        question.answers == "several",
        _settings(record.settings, annotator_names(connection, question.project)),
        _change(connection, question, record.last_change_id),
        _flags(connection, question, dict(flags_in_snapshot(parts))),
        snapshot_number(connection, question, "last"),
    )


def _settings(text: str, names: Mapping[int, str]) -> dict[str, Any]:
    """Return settings with names for numbers and times for moments."""
    settings: dict[str, Any] = json.loads(text)
    for who in ("only", "left_out"):
        if settings[who] is not None:
            settings[who] = sorted(names[number] for number in settings[who])
    for moment in ("since", "until"):
        if settings[moment] is not None:
            settings[moment] = clock.iso(settings[moment])
    return settings | {
        "where": dict(settings["where"]),
        "interval": snapshot_interval_method(settings),
    }


def _change(connection: Connection, question: QuestionInfo, number: int) -> dict[str, Any]:
    row = connection.execute(
        select(Change.kind, Change.recorded_at).where(
            Change.project_id == question.project_id, Change.id == number
        )
    ).one()
    return {"change": number, "kind": row.kind, "recorded_at": clock.iso(row.recorded_at)}


def _flags(
    connection: Connection, question: QuestionInfo, standing: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the subjects of the flags at the time of the snapshot."""
    if not standing:
        return []
    return [
        {name: flag[name] for name in ("flag", "annotator", "with", "kind", "category", "subject")}
        | {"state": standing[flag["flag"]]}
        for flag in (record.to_dict() for record in list_flags(connection, question.project))
        if flag["flag"] in standing
    ]
