"""What kinds of findings may look at: counts, and what several kinds compute from them once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from tracker.audit.statistics.mantel_haenszel import Usage, mantel_haenszel_usages
from tracker.audit.statistics.peer_agreement import (
    Alignment,
    majority_tables,
    peer_agreement_alignments,
)
from tracker.core.audit_tallies import (
    AnswerTimes,
    BesideModels,
    Blocks,
    FileTallies,
    GoldTallies,
    RepeatTallies,
    SharedItems,
    SkipTallies,
)
from tracker.core.errors import InvalidOption, Refused
from tracker.core.tallies import AnnotatorTallies, FloatArray, IntArray
from tracker.core.tally_columns import KeyedTallies, TallyColumns, tally_columns_of
from tracker.measures.paired_comparisons import Row

# -- How large an effect must be before it is called a finding, however sure the test is ----------


@dataclass(frozen=True)
class Threshold:
    """The least effect of a flag, which users can set to a number between two bounds."""

    name: str
    default: float
    least: float = 0.0
    most: float = 1.0


Floors: TypeAlias = Mapping[str, float]
"""Thresholds that differ from their defaults, by name."""


def audit_thresholds_from_file(path: Path, thresholds: Iterable[Threshold]) -> Floors:
    """Return the thresholds of a TOML file; raises Refused if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Refused(f"{path} cannot be read: {reason}") from None
    return read_audit_thresholds(text, path.name, thresholds)


def read_audit_thresholds(text: str, source: str, thresholds: Iterable[Threshold]) -> Floors:
    """Return the thresholds in a TOML file's table ``[audit]``; those not named keep their default.

    Raises:
        Refused: with the line, if the text is not TOML, or a threshold is unknown or outside its
            bounds.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # what is no TOML, too long or nested too deeply
        raise Refused(f"{source} is not TOML: {error}", "see: tracker audit --help") from None
    table = document.get("audit", {})
    if not isinstance(table, dict) or set(document) - {"audit"}:
        stray = next(iter(set(document) - {"audit"}), "audit")
        raise Refused(
            f"{source}{_line(text, stray)}: {stray!r} is not the table [audit]",
            "thresholds of an audit are keys of the table [audit]",
        )
    known = {threshold.name: threshold for threshold in thresholds}
    for key, value in table.items():
        where = f"{source}{_line(text, key)}"
        if key not in known:
            from difflib import get_close_matches

            close = get_close_matches(key, known, n=1)
            mend = f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(known)}"
            raise Refused(f"{where}: there is no threshold {key!r}", mend)
        least, most = known[key].least, known[key].most
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"{where}: {key} is {value!r}, not a number")
        if not least <= value <= most:
            raise Refused(f"{where}: {key} is {value}", f"give {least:g} to {most:g}")
    return {key: float(value) for key, value in table.items() if value != known[key].default}


def _line(text: str, key: str) -> str:
    """Return ``:3`` if the third line sets the key; nothing if none does."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.partition("=")[0].strip(" []\t") == key:
            return f":{number}"
    return ""


DEFAULT_ALPHA = 0.05
"""The false discovery rate: of what is flagged, at most this share is expected to be chance."""


@dataclass(frozen=True)
class Evidence:
    """What kinds may look at; a field that is None was not given.

    Attributes:
        floors: the least effects of a flag that differ from their defaults.
        points: on an ordered scale, each category's place or number.
        sequences: answers in the order given; a key is (answer before, own answer, pattern).
        linked: every two annotators who share any item; shape (pairs, 2).
        models: the people's items that models answered, too; these are in nothing else.
        only: the annotator whom most tests are about; the others' cost as much. None for all.
    """

    tallies: AnnotatorTallies
    several: bool = False
    alpha: float = DEFAULT_ALPHA
    floors: Floors = field(default_factory=dict)
    points: Mapping[int, float] | None = None
    gold: GoldTallies | None = None
    repeats: RepeatTallies | None = None
    sequences: KeyedTallies | None = None
    blocks: Blocks | None = None
    times: Mapping[int, AnswerTimes] | None = None
    skips: SkipTallies | None = None
    pairs: SharedItems | None = None
    linked: IntArray | None = None
    models: BesideModels | None = None
    files: FileTallies | None = None
    orders: Mapping[int, Sequence[Row]] | None = None
    only: int | None = None

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
        return mantel_haenszel_usages(self._tested_columns)

    @cached_property
    def alignments(self) -> dict[int, Alignment]:
        """Every annotator's agreement with the co-annotators of the same items."""
        return peer_agreement_alignments(self._tested_columns)

    @cached_property
    def _tested_columns(self) -> TallyColumns:
        shared, who = self.shared_columns, self.only
        if who is None:
            return shared
        return tally_columns_of(AnnotatorTallies({who: shared[who]} if who in shared else {}))

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
        return [n for n, v in given.items() if v is None or (isinstance(v, Mapping) and not len(v))]
