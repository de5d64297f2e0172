"""What kinds of findings may look at: counts, and what several kinds compute from them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tracker.audit.statistics.majority import majority_tables
from tracker.audit.statistics.mantel_haenszel import Usage, mantel_haenszel_usages
from tracker.audit.statistics.peer_agreement import Alignment, peer_agreement_alignments
from tracker.audit.thresholds import Floors, Threshold
from tracker.core.audit_tallies import (
    AnswerTimes,
    BesideModels,
    Blocks,
    FileTallies,
    GoldTallies,
    RepeatTallies,
    Sequences,
    SharedItems,
    SkipTallies,
)
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies, FloatArray, IntArray
from tracker.core.tally_columns import TallyColumns, tally_columns_of

DEFAULT_ALPHA = 0.05
"""The false discovery rate: of what is flagged, at most this share is expected to be chance."""


@dataclass(frozen=True)
class Evidence:
    """What kinds may look at; a field that is None was not given.

    Attributes:
        tallies: annotator x own answer x pattern.
        several: whether an answer may hold any number of categories.
        alpha: the false discovery rate to hold.
        floors: the least effects of a flag that differ from their defaults.
        points: on an ordered scale, each category's place or number.
        gold: answers to items that have a truth.
        repeats: answers given again.
        sequences: answers in the order given.
        blocks: answers by time.
        times: how long answers took.
        skips: answers left out, or empty.
        pairs: the shared items of every two annotators.
        linked: every two annotators who share any item; shape (pairs, 2).
        models: the people's items that models answered, too; these are in nothing else.
        files: the tallies of each annotator's answers of each imported file.
    """

    tallies: AnnotatorTallies
    several: bool = False
    alpha: float = DEFAULT_ALPHA
    floors: Floors = field(default_factory=dict)
    points: Mapping[int, float] | None = None
    gold: GoldTallies | None = None
    repeats: RepeatTallies | None = None
    sequences: Sequences | None = None
    blocks: Mapping[int, Blocks] | None = None
    times: Mapping[int, AnswerTimes] | None = None
    skips: SkipTallies | None = None
    pairs: SharedItems | None = None
    linked: IntArray | None = None
    models: BesideModels | None = None
    files: FileTallies | None = None

    def __post_init__(self) -> None:
        """Raise InvalidOption if alpha is not between 0 and 1."""
        if not 0.0 < self.alpha < 1.0:
            raise InvalidOption(
                f"alpha is {self.alpha}.", "Give a number between 0 and 1, such as 0.05."
            )

    def floor(self, threshold: Threshold) -> float:
        """Return a threshold of this audit."""
        return self.floors.get(threshold.name, threshold.default)

    @cached_property
    def columns(self) -> TallyColumns:
        """The tallies as columns."""
        return tally_columns_of(self.tallies)

    @cached_property
    def shared_columns(self) -> TallyColumns:
        """Those of the items that others answered too."""
        return self.columns.shared

    @cached_property
    def usages(self) -> list[Usage]:
        """Every annotator's use of every category, counted once for all kinds."""
        return mantel_haenszel_usages(self.shared_columns)

    @cached_property
    def alignments(self) -> dict[int, Alignment]:
        """Every annotator's agreement with the co-annotators of the same items."""
        return peer_agreement_alignments(self.shared_columns)

    @cached_property
    def majorities(self) -> FloatArray:
        """Items by what the others mostly gave and by the own answer; (annotators, q, q)."""
        return majority_tables(self.shared_columns)

    @property
    def model_ids(self) -> frozenset[int]:
        """The models that people are held beside."""
        return frozenset(model for _, model in self.models.pairs) if self.models else frozenset()

    @property
    def shared(self) -> bool | None:
        """Whether any item has two answers; None if not."""
        return bool(len(self.shared_columns.number)) or None

    @property
    def yardstick(self) -> bool | None:
        """Whether there is anything to hold a category's use against; None if not."""
        return self.shared or bool(self.gold) or None

    def lacks(self, needs: Iterable[str]) -> list[str]:
        """Which of the named fields were not given, or hold nothing."""
        given = {need: getattr(self, need) for need in needs}
        return [need for need, value in given.items() if value is None or value == {}]
