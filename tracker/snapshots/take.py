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
from tracker.projects.project import ProjectInfo
from tracker.projects.settings import project_settings_then
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
from tracker.storage.as_of import as_it_was, last_stored_change, moment_as_of
from tracker.storage.schema import STANDING, Snapshot


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
    project: ProjectInfo,
    query: Query | None = None,
    **how: Unpack[Taking],
) -> Taken:
    """Compute the project's figures and record them with the tallies they follow from.

    Only the items touched since the last snapshot of the same settings are read, where that
    takes less than to read all: the figures are exactly the same.

    Raises InvalidOption if a snapshot of that name exists or the question does not fit the
    project, and CheckFailed as `Taking` says.
    """
    query = query or Query()
    lock_project(connection, project.id)
    name, note = how.get("name"), how.get("note")
    note = check_entered_text(note, "note") if note is not None and note.strip() else None
    if name is not None:
        name = _free_name(connection, project, name)
    moment = moment_as_of(connection, project.id, query.filter.as_of, query.filter.known_at)
    if moment.through == 0:
        raise InvalidOption(f"{project.name!r} did not exist then", "name a later --known-at")
    project = project_settings_then(connection, project, moment.through)
    texts = snapshot_pattern_texts(connection, project.id)
    with as_it_was(connection, project.id, moment):
        counted = count_snapshot(connection, project, query, how, texts)
        standing = _standing(connection, project)
    base = counted.base
    asked = how.get("if_changed", False)
    if asked and base is not None and counted.says_the_same and base.standing == standing:
        found = find_snapshot(connection, project, base.header.id)
        return Taken(found, False, counted.read, found.id)
    through = (
        last_stored_change(connection, project.id) if moment.through is None else moment.through
    )
    parts = snapshot_figure_rows(counted.assessment) | snapshot_flag_rows(standing)
    last = last_snapshot_link(connection, project)
    number = last.id + 1
    frame = None
    if counted.tallied is not None:
        frame, kept, changed = frame_snapshot(connection, project, number, counted.tallied, base)
        parts |= snapshot_tally_rows(
            kept, snapshot_pattern_numbers(connection, project, kept, texts), changed
        )
    header = {
        "project_id": project.id,
        "id": number,
        "name": name,
        "note": note,
        "taken_at": snapshot_moment(connection, project, last),
        "as_of": query.filter.as_of,
        "through_change": through,
        "version": VERSION,
        "scale": counted.assessment.scale,
        "settings": counted.settings,
        "selection": _told(counted.assessment, annotator_names(connection, project)),
        "frame_id": frame,
        **counted.assessment.counts.to_dict(),
    }
    stored = store_snapshot(connection, header, parts, texts, last)
    before = None if base is None else base.header.id
    return Taken(snapshot_record_of(stored, counted.assessment), True, counted.read, before)


def _free_name(connection: Connection, project: ProjectInfo, name: str) -> str:
    name = check_entered_name(name, "snapshot")
    taken = select(Snapshot.id).where(Snapshot.project_id == project.id, Snapshot.name == name)
    if connection.scalar(taken) is not None:
        raise InvalidOption(
            f"{project.name!r} has a snapshot named {name!r}", "a record is never replaced"
        )
    return name


def _told(assessment: Assessment, names: Mapping[int, str]) -> str | None:
    """Return the choice of answers as JSON, annotators by number: names may change or be erased."""
    numbers = {name: number for number, name in names.items()}
    selection = with_annotator_names(assessment.selection, numbers)
    return None if selection is None else json.dumps(selection, ensure_ascii=False)


def _standing(connection: Connection, project: ProjectInfo) -> list[tuple[int, str]]:
    """Return the flags that stand, by number."""
    settled = settling_changes(project.id)
    rows = connection.execute(
        select(settled.c.flag_id, settled.c.state)
        .where(settled.c.state.in_(STANDING))
        .order_by(settled.c.flag_id)
    )
    return [(row.flag_id, row.state) for row in rows]
