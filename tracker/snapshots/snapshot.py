"""A snapshot and a project's history, as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tracker.agreement.query import Metric, Query
from tracker.agreement.result import Assessment
from tracker.core import clock
from tracker.core.shown import Shown
from tracker.counts.selection import Selection
from tracker.measures.intervals import INTERVALS
from tracker.projects.notes import NoteInfo
from tracker.projects.question import QuestionInfo

if TYPE_CHECKING:
    import pandas as pd


# The first columns of flat rows; what else there is follows from the measures.
_COLUMNS = ("snapshot", "name", "taken_at", "as_of", "selection", "measure", "value")


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

    def to_dict(self) -> dict[str, Any]:
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
            {name: one[name] for name in _COLUMNS[:4]}
            | {"selection": one["selection"] and json.dumps(one["selection"], ensure_ascii=False)}
            | {name: value for name, value in measure.items() if name != "readings"}
            for one in self.to_dict()["snapshots"]
            for measure in one["measures"]
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

    def to_dict(self) -> dict[str, Any]:
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
    told = json.loads(settings)
    return Selection(
        question,
        left_out=frozenset(told["left_out"]),
        only=None if told["only"] is None else frozenset(told["only"]),
        since=told["since"],
        until=told["until"],
        where=tuple((name, tuple(values)) for name, values in told["where"]),
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
