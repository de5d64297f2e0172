"""What a comparison says: each figure's difference, and what made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracker.compare.decomposition import Part
from tracker.compare.item_changes import KINDS
from tracker.compare.periods import PERIOD_KINDS, PeriodItems
from tracker.compare.states import State
from tracker.core.shown import Shown, as_json
from tracker.measures.significance import Comparison
from tracker.projects.notes import NoteInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Because:
    """What made a difference.

    Attributes:
        measure: of which figure.
        shares: the share of each kind of change, or of difference between two periods; they
            add up to the difference. None if there are none.
        annotators: each annotator's part; they add up to the difference, too.
        answers: the part of each answer given.
        undefined: why there are no shares.
    """

    measure: str
    shares: Mapping[str, float] | None
    annotators: Mapping[str, Part] = field(default_factory=dict)
    answers: Mapping[str, Part] = field(default_factory=dict)
    undefined: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The contract's ``because``."""
        return {
            "measure": self.measure,
            **dict.fromkeys(KINDS),
            **(_every_kind(self.shares) or {}),
            "annotators": [
                {"annotator": name} | part.to_dict() for name, part in self.annotators.items()
            ],
            "categories": [
                {"category": name} | part.to_dict() for name, part in self.answers.items()
            ],
            "undefined": self.undefined,
        }


def _every_kind(shares: Mapping[str, float] | None) -> dict[str, float] | None:
    """The share of every kind, 0 for one that did not happen."""
    if shares is None:
        return None
    kinds = PERIOD_KINDS if shares.keys() & set(PERIOD_KINDS) else KINDS
    return {kind: shares.get(kind, 0.0) for kind in kinds}


@dataclass(frozen=True)
class Compared:
    """A figure of both states: the second less the first, and each kind of change's share."""

    name: str
    before: float | None
    after: float | None
    comparison: Comparison
    shares: Mapping[str, float] | None = None

    def to_dict(self, key: str) -> dict[str, Any]:
        """One element of ``measures``, or of ``categories``; ``key`` says of which."""
        told = as_json(self.comparison)
        found: dict[str, Any] = {key: self.name, "a": self.before, "b": self.after} | {
            name: told[name]
            for name in (
                "difference",
                "standard_error",
                "ci_low",
                "ci_high",
                "confidence",
                "p_value",
                "test",
                "why",
                "undefined",
            )
        }
        if key == "measure":
            found["because"] = _every_kind(self.shares)
        return found


@dataclass(frozen=True, repr=False)
class StateComparison(Shown):
    """Two states beside each other.

    Attributes:
        a: the first.
        b: the second.
        shared: items with answers in both; None across projects, whose items are not matched.
        changes: how many changes of each kind there were; None across projects, and for two
            periods that do not overlap, between which no answer changed.
        measures: every measure that follows from item patterns.
        categories: the rate of every category.
        because: what made the difference of the measure that leads.
        notes: what happened between.
        periods: which items the two periods have; None unless they do not overlap.
    """

    a: State
    b: State
    shared: int | None
    changes: Mapping[str, int] | None
    measures: tuple[Compared, ...]
    categories: tuple[Compared, ...]
    because: Because | None
    notes: tuple[NoteInfo, ...] = ()
    periods: PeriodItems | None = None

    @property
    def project(self) -> str:
        """The project of the first state."""
        return self.a.project.name

    @property
    def is_unchanged(self) -> bool:
        """Whether both states hold the same answers."""
        return self.changes is not None and not any(self.changes.values())

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON of ``tracker compare``."""
        return {
            "project": self.a.project.name,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "shared_items": self.shared,
            "changes": None if self.changes is None else dict(self.changes),
            "periods": None if self.periods is None else self.periods.to_dict(),
            "measures": [one.to_dict("measure") for one in self.measures],
            "categories": [one.to_dict("category") for one in self.categories],
            "because": None if self.because is None else self.because.to_dict(),
            "notes": [note.to_dict() for note in self.notes],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per measure, then one per category."""
        import pandas as pd

        told = self.to_dict()
        rows = [
            {key: value for key, value in row.items() if key != "because"}
            for row in (*told["measures"], *told["categories"])
        ]
        return pd.DataFrame(rows)
