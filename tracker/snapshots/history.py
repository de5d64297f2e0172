"""The snapshots of a project, each with the figures of what came since the one before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Table, and_, func, select

from tracker.agreement.result import Assessment
from tracker.agreement.run import assess_patterns
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns, Pattern
from tracker.measures.intervals import INTERVALS
from tracker.measures.registry import MEASURES
from tracker.projects.notes import list_notes
from tracker.projects.question import QuestionInfo
from tracker.snapshots.read import (
    LazyRecords,
    check_snapshot_measures,
    count_thinned_snapshots,
    snapshot_records,
)
from tracker.snapshots.rows import read_snapshot_pattern, snapshot_pattern_texts
from tracker.snapshots.snapshot import History, SnapshotRecord, query_of_snapshot
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import Snapshot, SnapshotPattern, Tombstone

_snapshots, _patterns = (
    cast("Table", Snapshot.__table__),
    cast("Table", SnapshotPattern.__table__),
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
    found = record.assessment
    names = {rate.category: found.categories[rate.category] for rate in found.rates}
    known = [one.measure for one in found.measures if MEASURES[one.measure].needs == "patterns"]
    measures = [one for one in known if not only or one in only]
    then = replace(question, scale=found.scale)
    query = query_of_snapshot(record.settings)
    try:
        people = found.counts.annotators
        return assess_patterns(then, names, patterns, people, measures, query, rated=False)
    except InvalidOption:
        return None
