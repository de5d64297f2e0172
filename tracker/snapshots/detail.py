"""One complete snapshot: its settings, state, tallies and flags."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from tracker.core import clock
from tracker.core.tallies import Answer
from tracker.flags.listing import list_flags
from tracker.projects.annotators import annotator_names
from tracker.projects.project import ProjectInfo
from tracker.snapshots.read import find_snapshot, snapshot_number
from tracker.snapshots.rows import read_parts, standing_in
from tracker.snapshots.settings import interval_of
from tracker.snapshots.snapshot import SnapshotRecord
from tracker.storage.schema import Change


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


def snapshot_page(connection: Connection, project: ProjectInfo, which: int | str) -> SnapshotPage:
    """Return the page of the given snapshot, see `snapshot_number`; raises NotFound."""
    record = find_snapshot(connection, project, which)
    parts = read_parts(connection, project.id, record.id, record.id).get(record.id, {})
    return SnapshotPage(
        record,
        project.answers == "several",
        _settings(record.settings, annotator_names(connection, project)),
        _change(connection, project, record.through_change),
        _flags(connection, project, dict(standing_in(parts))),
        snapshot_number(connection, project, "last"),
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
    return settings | {"where": dict(settings["where"]), "interval": interval_of(settings)}


def _change(connection: Connection, project: ProjectInfo, number: int) -> dict[str, Any]:
    row = connection.execute(
        select(Change.kind, Change.recorded_at).where(
            Change.project_id == project.id, Change.id == number
        )
    ).one()
    return {"change": number, "kind": row.kind, "recorded_at": clock.iso(row.recorded_at)}


def _flags(
    connection: Connection, project: ProjectInfo, standing: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the subjects of the flags at the time of the snapshot."""
    if not standing:
        return []
    return [
        {name: flag[name] for name in ("flag", "annotator", "with", "kind", "category")}
        | {"state": standing[flag["flag"]]}
        for flag in (one.values for one in list_flags(connection, project))
        if flag["flag"] in standing
    ]
