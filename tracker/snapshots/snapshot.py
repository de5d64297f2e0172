"""A snapshot and a project's history, as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracker.agreement import Assessment
from tracker.core import clock
from tracker.core.shown import Shown
from tracker.projects.notes import NoteInfo

if TYPE_CHECKING:
    import pandas as pd


ROW_COLUMNS = ("snapshot", "name", "taken_at", "as_of", "selection", "measure", "value")
"""The first columns of `measure_rows`; what else there is follows from the measures."""


@dataclass(frozen=True)
class SnapshotRecord:
    """One snapshot: when it was taken, of which state, and the figures then.

    Attributes:
        id: its number in the project.
        name: to find it by.
        note: why it was taken.
        taken_at: when, in microseconds.
        as_of: only labels given by then were counted; None for all.
        through_change: the last change of the ledger that it knows.
        version: of the program that computed it.
        settings: what was asked, as JSON; see `snapshots.settings`.
        digest: of what was counted, chained.
        seal: of everything stored, chained.
        assessment: the figures.
    """

    id: int
    name: str | None
    note: str | None
    taken_at: int
    as_of: int | None
    through_change: int
    version: str
    settings: str
    digest: str
    seal: str
    assessment: Assessment

    @property
    def moment(self) -> int:
        """The moment whose labels the snapshot shows."""
        return self.taken_at if self.as_of is None else self.as_of

    def to_dict(self) -> dict[str, Any]:
        """Return one element of the contract's ``snapshots``."""
        selection = self.assessment.selection
        return {
            "snapshot": self.id,
            "name": self.name,
            "note": self.note,
            "taken_at": clock.iso(self.taken_at),
            "as_of": clock.iso(self.moment),
            "through_change": self.through_change,
            "version": self.version,
            "digest": self.digest,
            "selection": None if selection is None else dict(selection),
            "scale": self.assessment.scale,
            **self.assessment.figures(),
        }


@dataclass(frozen=True, repr=False)
class History(Shown):
    """The snapshots of a project, oldest first, without those that were thinned out.

    ``thinned`` is how many those are; ``notes`` says what happened in between.
    """

    project: str
    snapshots: Sequence[SnapshotRecord]
    notes: Sequence[NoteInfo] = ()
    thinned: int = 0

    def __iter__(self) -> Iterator[SnapshotRecord]:
        return iter(self.snapshots)

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's JSON of ``tracker history``."""
        return {
            "project": self.project,
            "thinned": self.thinned,
            "snapshots": [snapshot.to_dict() for snapshot in self.snapshots],
            "notes": [note.to_dict() for note in self.notes],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per snapshot and measure, each value a number or a text."""
        return measure_rows(self.to_dict()["snapshots"])

    def columns(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the names of all columns of such rows, also of none."""
        return columns_of(rows)

    def to_frame(self) -> pd.DataFrame:
        """Return `rows` as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=None if self.snapshots else list(ROW_COLUMNS))


def columns_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the columns of rows of figures, also of none."""
    return list(dict.fromkeys([*ROW_COLUMNS, *(name for row in rows for name in row)]))


def measure_rows(snapshots: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the JSON of snapshots as one flat row per measure."""
    return [
        {name: one[name] for name in ("snapshot", "name", "taken_at", "as_of")}
        | {"selection": one["selection"] and json.dumps(one["selection"], ensure_ascii=False)}
        | {name: value for name, value in measure.items() if name != "readings"}
        for one in snapshots
        for measure in one["measures"]
    ]
