"""What a comparison of two states says: each figure's difference, and what made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracker.compare.decomposition import Part
from tracker.compare.families import FamilyChange
from tracker.compare.item_steps import ItemCounts
from tracker.compare.states import State
from tracker.core.shown import Shown, as_json
from tracker.measures.difference_tests import Comparison
from tracker.measures.intervals import Coefficient
from tracker.projects.notes import NoteInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Because:
    """What made a difference.

    Attributes:
        measure: of which figure.
        shares: the share of each kind of change, or of items; they add up to the difference.
            None if there are none.
        annotators: each annotator's part; they add up to the difference, too.
        answers: the part of each answer given.
        undefined: why there are no shares.
    """

    measure: str
    shares: Mapping[str, float] | None
    annotators: Mapping[str, Part] = field(default_factory=dict)
    answers: Mapping[str, Part] = field(default_factory=dict)
    undefined: str | None = None


@dataclass(frozen=True)
class Compared:
    """A figure of both states: the second less the first, and each kind of change's share."""

    name: str
    first: Coefficient
    second: Coefficient
    comparison: Comparison
    shares: Mapping[str, float] | None = None

    @property
    def before(self) -> float | None:
        """The first state's value."""
        return self.first.value

    @property
    def after(self) -> float | None:
        """The second state's value."""
        return self.second.value


@dataclass(frozen=True, repr=False)
class StateComparison(Shown):
    """Two states beside each other.

    Attributes:
        a: the first.
        b: the second.
        items: how many items have answers in one or both; of two projects by their names.
        changes: how many changes of each kind there were; None unless one state became the
            other: two periods that do not overlap, other annotators, other projects.
        measures: every measure that both have.
        categories: the rate of every category that both have.
        by_item: the agreement of the single items, paired if both have the same.
        by_annotator: the annotators' mean agreement with the others, which has no test.
        because: what made the difference of the measure that leads.
        notes: what happened between.
        families: the models of which other versions answer.
    """

    a: State
    b: State
    items: ItemCounts
    changes: Mapping[str, int] | None
    measures: tuple[Compared, ...]
    categories: tuple[Compared, ...]
    by_item: Comparison
    by_annotator: Comparison
    because: Because | None
    notes: tuple[NoteInfo, ...] = ()
    families: tuple[FamilyChange, ...] = ()

    @property
    def project(self) -> str:
        """The project of the first state."""
        return self.a.question.project.name

    @property
    def is_unchanged(self) -> bool:
        """Whether both states hold the same answers."""
        return self.changes is not None and not any(self.changes.values())

    @property
    def is_of_one_project(self) -> bool:
        """Whether both states are of the same project."""
        return self.a.question.project_id == self.b.question.project_id

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return as_json(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row per measure, then one per category."""
        made = self.to_dict()
        return [
            {key: value for key, value in row.items() if key != "because"}
            for row in (*made["measures"], *made["categories"])
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())


class AgainstOther(StateComparison):
    """The same, read the other way: ``b`` is what was asked about, ``a`` what it is held against.

    A difference is still ``b`` less ``a``; the JSON has the answers asked about first.
    """

    @property
    def project(self) -> str:
        """The project that was asked about."""
        return self.b.question.project.name
