"""Taking a snapshot: count, compute its figures, store and chain everything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

from sqlalchemy import Connection, select

from tracker.agreement import Assessment, Query
from tracker.core.errors import InvalidOption
from tracker.core.version import VERSION
from tracker.projects.annotators import annotator_names, settling_changes, with_annotator_names
from tracker.projects.change_log import lock_project
from tracker.projects.lookup import check_entered_name, check_entered_text
from tracker.projects.question import QuestionInfo
from tracker.projects.settings import question_settings_then
from tracker.snapshots.count import Taking, count_snapshot
from tracker.snapshots.read import find_snapshot, snapshot_record_of
from tracker.snapshots.rows import (
    snapshot_figure_rows,
    snapshot_flag_rows,
    snapshot_pattern_texts,
    snapshot_tally_rows,
)
from tracker.snapshots.snapshot import SnapshotRecord
from tracker.snapshots.store import (
    frame_snapshot,
    last_snapshot_link,
    snapshot_moment,
    snapshot_pattern_numbers,
    store_snapshot,
)
from tracker.storage.answer_keys import of_question
from tracker.storage.as_of import as_it_was, last_stored_change, moment_as_of
from tracker.storage.schema import STANDING, FlagRow, Snapshot


@dataclass(frozen=True)
class Taken:
    """The result of a request for a snapshot.

    Attributes:
        snapshot: the one taken, or the last one where nothing had changed.
        fresh: whether it was taken now.
        read: the items whose labels were read; None for all.
        before: the number of the last one of the same settings and moment; None for none.
    """

    snapshot: SnapshotRecord
    fresh: bool
    read: int | None
    before: int | None


def take_snapshot(
    connection: Connection,
    question: QuestionInfo,
    query: Query | None = None,
    **how: Unpack[Taking],
) -> Taken:
    """Compute the question's figures and record them with the tallies they follow from.

    Only the items touched since the last snapshot of the same settings are read, where that
    takes less than to read all: the figures are exactly the same.

    Raises InvalidOption if a snapshot of that name exists or the query does not fit the
    question, and CheckFailed as `Taking` says.
    """
    query = query or Query()
    lock_project(connection, question.project_id)
    name, note = how.get("name"), how.get("note")
    note = check_entered_text(note, "note") if note is not None and note.strip() else None
    if name is not None:
        name = _free_name(connection, question, name)
    moment = moment_as_of(
        connection, question.project_id, query.filter.as_of, query.filter.known_at
    )
    if moment.through == 0:
        raise InvalidOption(
            f"{question.project.name!r} did not exist then", "name a later --known-at"
        )
    question = question_settings_then(connection, question, moment.through)
    texts = snapshot_pattern_texts(connection, question.key)
    with as_it_was(connection, question.project_id, moment):
        counted = count_snapshot(connection, question, query, how, texts)
        standing = _standing(connection, question)
    base = counted.base
    asked = how.get("if_changed", False)
    if asked and base is not None and counted.says_the_same and base.standing == standing:
        found = find_snapshot(connection, question, base.header.id)
        return Taken(found, False, counted.read, found.id)
    through = (
        last_stored_change(connection, question.project_id)
        if moment.through is None
        else moment.through
    )
    parts = snapshot_figure_rows(counted.assessment) | snapshot_flag_rows(standing)
    last = last_snapshot_link(connection, question)
    number = last.id + 1
    frame = None
    if counted.tallied is not None:
        frame, kept, changed = frame_snapshot(connection, question, number, counted.tallied, base)
        parts |= snapshot_tally_rows(
            kept, snapshot_pattern_numbers(connection, question, kept, texts), changed
        )
    header = {
        **question.key._asdict(),
        "id": number,
        "name": name,
        "note": note,
        "taken_at": snapshot_moment(connection, question, last),
        "as_of": query.filter.as_of,
        "last_change_id": through,
        "version": VERSION,
        "scale": counted.assessment.scale,
        "settings": counted.settings,
        "selection": _told(counted.assessment, annotator_names(connection, question.project)),
        "base_snapshot_id": frame,
        **counted.assessment.counts.to_dict(),
    }
    stored = store_snapshot(connection, header, parts, texts, last)
    before = None if base is None else base.header.id
    return Taken(snapshot_record_of(stored, counted.assessment), True, counted.read, before)


def _free_name(connection: Connection, question: QuestionInfo, name: str) -> str:
    name = check_entered_name(name, "snapshot")
    taken = select(Snapshot.id).where(of_question(Snapshot, question.key), Snapshot.name == name)
    if connection.scalar(taken) is not None:
        raise InvalidOption(
            f"{question.project.name!r} has a snapshot named {name!r}", "a record is never replaced"
        )
    return name


def _told(assessment: Assessment, names: Mapping[int, str]) -> str | None:
    """Return the choice of answers as JSON, annotators by number: names may change or be erased."""
    numbers = {name: number for number, name in names.items()}
    selection = with_annotator_names(assessment.selection, numbers)
    return None if selection is None else json.dumps(selection, ensure_ascii=False)


def _standing(connection: Connection, question: QuestionInfo) -> list[tuple[int, str]]:
    """Return the flags that stand, by number."""
    settled = settling_changes(question.project_id)
    rows = connection.execute(
        select(settled.c.flag_id, settled.c.state)
        .join(FlagRow, FlagRow.id == settled.c.flag_id)
        .where(of_question(FlagRow, question.key), settled.c.state.in_(STANDING))
        .order_by(settled.c.flag_id)
    )
    return [(row.flag_id, row.state) for row in rows]
