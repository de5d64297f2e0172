"""Tallies counted from an earlier snapshot: only the items touched since are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select

from tracker.core import clock
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, sum_tallies
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_annotator_tallies
from tracker.history.snapshot import alike_snapshot_settings
from tracker.history.stored import (
    Parts,
    Tallied,
    annotator_tallies_in_snapshot,
    answers_in_snapshot,
    flags_in_snapshot,
    item_patterns_in_snapshot,
    number_snapshot_patterns,
    patterns_in_snapshot_tallies,
    read_snapshot_parts,
    snapshot_answers_by_annotator,
    snapshot_digest,
    snapshot_parts_digest,
    snapshot_pattern_texts,
    snapshot_seal,
    store_snapshot_parts,
)
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo
from tracker.storage.as_of import count_before_and_now, stored_erasure_since
from tracker.storage.schema import Change, Snapshot, SnapshotAnnotator, Tombstone
from tracker.storage.schema.labels import QuestionKey, of_question

_snapshots = Snapshot.__table__
_annotators = SnapshotAnnotator.__table__


@dataclass(frozen=True)
class Previous:
    """The last snapshot with the same settings, from which a new one may be counted.

    Attributes:
        header: its row.
        patterns: its item patterns.
        answers: how many answers of each annotator it counted, none with 0.
        standing: the flags that stood, by number.
        links: how many snapshots from its base snapshot on tell of annotators; 0 without one.
    """

    header: Any
    patterns: ItemPatterns
    answers: dict[int, int]
    standing: list[tuple[int, str]]
    links: int


def find_previous_snapshot(
    connection: Connection,
    question: QuestionInfo,
    settings: str,
    as_of: int | None,
    texts: Mapping[int, str],
) -> Previous | None:
    """Return the previous snapshot with these settings; None without one whose digest is right.

    Intervals may be made in another way: what is counted is the same.

    ``as_of`` is the moment that is meant, None for all labels, and the same as then;
    ``texts`` are the project's patterns as JSON, by number.
    """
    gone = select(Tombstone.snapshot_id).where(of_question(Tombstone, question.key))
    ours = of_question(_snapshots, question.key)
    rows = connection.execute(
        select(_snapshots)
        .where(
            ours,
            _snapshots.c.settings.in_(alike_snapshot_settings(settings)),
            _snapshots.c.as_of.is_(None) if as_of is None else _snapshots.c.as_of == as_of,
            _snapshots.c.id.not_in(gone),
        )
        .order_by(_snapshots.c.id.desc())
        .limit(1)
    ).all()
    if not rows:
        return None
    header = rows[0]
    before = select(_snapshots.c.digest).where(ours, _snapshots.c.id < header.id)
    last = connection.scalar(before.order_by(_snapshots.c.id.desc()).limit(1)) or ""
    parts = read_snapshot_parts(connection, question.key, header.id, header.id).get(header.id, {})
    if stored_erasure_since(connection, question.project_id, header.last_change_id) is not None:
        return None
    try:
        fits = snapshot_digest(last, header._asdict(), parts, texts) == header.digest
    except KeyError:  # a pattern is gone
        fits = False
    if not fits:
        return None
    answers, links = _answers(connection, question, header, parts)
    counted = len(answers), sum(answers.values())
    if question.answers != "spans" and counted != (header.annotators, header.answers):
        return None  # one of the snapshots that it adds up from was tampered with
    return Previous(
        header, item_patterns_in_snapshot(parts, texts), answers, flags_in_snapshot(parts), links
    )


def _answers(
    connection: Connection, question: QuestionInfo, header: Any, parts: Parts
) -> tuple[dict[int, int], int]:
    """Return each annotator's number of answers, by the latest row since the base snapshot."""
    if header.base_snapshot_id is None or header.base_snapshot_id == header.id:
        numbers = answers_in_snapshot(parts)
        return {who: answers for who, answers in numbers.items() if answers}, 1
    conditions = (
        of_question(_annotators, question.key),
        _annotators.c.snapshot_id.in_(_links(question, header)),
    )
    last = (
        select(_annotators.c.annotator_id, func.max(_annotators.c.snapshot_id).label("told_by"))
        .where(*conditions)
        .group_by(_annotators.c.annotator_id)
        .subquery("last")
    )
    rows = connection.execute(
        select(_annotators.c.annotator_id, _annotators.c.answers)
        .where(of_question(_annotators, question.key), _annotators.c.answers > 0)
        .where(_annotators.c.snapshot_id == last.c.told_by)
        .where(_annotators.c.annotator_id == last.c.annotator_id)
    ).all()
    links = connection.scalar(
        select(func.count(_annotators.c.snapshot_id.distinct())).where(*conditions)
    )
    return {row.annotator_id: row.answers for row in rows}, links or 0


def _links(question: QuestionInfo, header: Any) -> Any:
    """Return the numbers of the snapshots that add up to a snapshot, its base snapshot first."""
    return select(_snapshots.c.id).where(
        of_question(_snapshots, question.key),
        _snapshots.c.base_snapshot_id == header.base_snapshot_id,
        _snapshots.c.id.between(header.base_snapshot_id, header.id),
    )


def whole_snapshot_tallies(
    connection: Connection, question: QuestionInfo, header: Any
) -> AnnotatorTallies | None:
    """Return the annotators' tallies of a snapshot, its differences added up; None if not kept."""
    if header.base_snapshot_id is None:
        return None
    texts = snapshot_pattern_texts(connection, question.key)
    links = set(connection.scalars(_links(question, header)))
    stored = read_snapshot_parts(connection, question.key, header.base_snapshot_id, header.id)
    return sum_tallies(
        annotator_tallies_in_snapshot(stored.get(number, {}), texts) for number in links
    )


# -- what was touched --------------------------------------------------------------------------


def count_incremental_tallies(
    connection: Connection,
    question: QuestionInfo,
    selection: Selection,
    previous: Previous,
    touched: list[range],
) -> Tallied:
    """Return the present tallies: the old ones, with the touched items counted anew.

    The annotators' tallies are the difference to the previous snapshot's.
    """
    items = [item for some in touched for item in some]
    if not items:
        kept = None if previous.header.base_snapshot_id is None else AnnotatorTallies()
        return Tallied(previous.patterns, previous.answers, kept, 0)
    through = previous.header.last_change_id
    old, new = count_before_and_now(
        connection, question.project_id, through, items,
        lambda: count_annotator_tallies(connection, selection),
    )  # fmt: skip
    difference = new - old
    answers = Counter(previous.answers)
    answers.update(snapshot_answers_by_annotator(difference))
    patterns = previous.patterns + patterns_in_snapshot_tallies(difference)
    return Tallied(
        ItemPatterns(dict(sorted(patterns.counts.items()))),
        {who: number for who, number in answers.items() if number},
        None if previous.header.base_snapshot_id is None else difference,
        len(items),
    )


# -- A snapshot's rows added to the record, its digest and seal chained to the last one's ---------


_LINKS = 30  # snapshots from one base snapshot to the next


class Link(NamedTuple):
    """The parts of a snapshot that the next one needs."""

    digest: str
    seal: str


def find_base_snapshot(
    connection: Connection,
    question: QuestionInfo,
    number: int,
    tallied: Tallied,
    previous: Previous | None,
) -> tuple[int | None, Tallied, set[int]]:
    """Return the base snapshot of one, its tallies as they are stored, and whose answers to store.

    A difference is stored as one, until there are so many that a whole one is due.
    """
    if tallied.tallies is None:
        return None, tallied, set(tallied.answers)
    if tallied.read is None or previous is None or previous.header.base_snapshot_id is None:
        return number, tallied, set(tallied.answers)
    if previous.links < _LINKS:
        before, now = previous.answers, tallied.answers
        changed = {who for who in before.keys() | now.keys() if before.get(who) != now.get(who)}
        return previous.header.base_snapshot_id, tallied, changed
    tallies = whole_snapshot_tallies(connection, question, previous.header)
    if tallies is None:
        return None, replace(tallied, tallies=None), set(tallied.answers)
    return number, replace(tallied, tallies=tallies + tallied.tallies), set(tallied.answers)


def snapshot_pattern_numbers(
    connection: Connection, question: QuestionInfo, tallied: Tallied, texts: dict[int, str]
) -> dict[Any, int]:
    """Return the numbers of all patterns of some tallies; new ones join ``texts``."""
    met = {} if tallied.tallies is None else tallied.tallies.counts
    patterns = {pattern for counts in met.values() for _, pattern in counts}
    patterns |= tallied.patterns.counts.keys()
    return number_snapshot_patterns(connection, question.key, texts, patterns)


def last_snapshot_link(connection: Connection, question: QuestionInfo) -> Link:
    """Return the end of the question's chain; before the first snapshot, nothing."""
    columns = (_snapshots.c.digest, _snapshots.c.seal)
    ours = select(*columns).where(of_question(_snapshots, question.key))
    last = connection.execute(ours.order_by(_snapshots.c.id.desc()).limit(1)).one_or_none()
    return Link("", "") if last is None else Link(*last)


def next_snapshot(connection: Connection, project: ProjectInfo) -> tuple[int, int]:
    """Return the number of the next snapshot and its moment, after the last change and snapshot.

    Whatever the machine's clock says, which may have run backwards.
    """
    ours = select(func.max(_snapshots.c.id), func.max(_snapshots.c.taken_at)).where(
        _snapshots.c.project_id == project.id
    )
    last, taken_at = connection.execute(ours).one()
    changed = select(func.max(Change.recorded_at)).where(Change.project_id == project.id)
    moment = max(clock.now(), connection.scalar(changed) or 0, (taken_at or 0) + 1)
    return (last or 0) + 1, moment


def store_snapshot(
    connection: Connection,
    header: Mapping[str, Any],
    parts: Parts,
    texts: Mapping[int, str],
    last: Link,
) -> dict[str, Any]:
    """Store a snapshot with its digest and seal, chained to those of the one before.

    Returns its row.
    """
    row = dict(header)
    row["digest"] = snapshot_digest(last.digest, row, parts, texts)
    row["seal"] = snapshot_seal(last.seal, row, snapshot_parts_digest(parts))
    connection.execute(insert(_snapshots).values(row))
    key = QuestionKey(row["project_id"], row["question_id"])
    store_snapshot_parts(connection, key, row["id"], parts)
    return row
