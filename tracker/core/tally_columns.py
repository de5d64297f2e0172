"""Tallies of annotators as columns: one row per annotator and what was counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import (
    AnnotatorTallies,
    Answer,
    FloatArray,
    IntArray,
    ItemPatterns,
    Pattern,
    answers_in_pattern,
)

_FEW: Final = 1 << 16


class _OwnedRows(Mapping[int, Mapping[Any, int]]):
    """Rows of annotators, as a mapping that makes an annotator's counts when they are asked for."""

    annotators: IntArray
    owner: IntArray
    number: IntArray

    def total(self, values: NDArray[Any] | float) -> FloatArray:
        """Return the sum over each annotator's items of a value per row; shape (annotators,)."""
        weights = (self.number * values).astype(np.float64)
        return np.bincount(self.owner, weights, len(self.annotators)).astype(np.float64)

    def rows_of(self, place: int) -> slice:
        """Return the rows of one annotator, by the place in ``annotators``."""
        first, after = np.searchsorted(self.owner, [place, place + 1]).tolist()
        return slice(first, after)

    def __iter__(self) -> Iterator[int]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self.annotators)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {annotator: place for place, annotator in enumerate(self.annotators.tolist())}


@dataclass(frozen=True, eq=False)
class KeyedTallies(_OwnedRows):
    """On how many items each annotator met each key: one row per annotator and key.

    There are few keys: what depends on nothing else is computed once for each.

    Attributes:
        annotators: the ids, ascending; ``owner`` is a place in it.
        every_key: the distinct keys; ``key`` is a place in it.
        owner: shape (rows,), ascending; the following have the same shape.
        key: which key.
        number: how many items the row stands for.
        began: the first moment of their answers; None if it was not counted.
    """

    annotators: IntArray
    every_key: Sequence[Any]
    owner: IntArray
    key: IntArray
    number: IntArray
    began: IntArray | None = None

    def __getitem__(self, annotator: int) -> dict[Any, int]:
        own_rows = self.rows_of(self._place[annotator])
        keys = (self.every_key[key] for key in self.key[own_rows].tolist())
        return dict(zip(keys, self.number[own_rows].tolist(), strict=True))


def keyed_columns(
    annotator: IntArray,
    keys: Sequence[Any],
    key: IntArray,
    number: IntArray,
    began: IntArray | None = None,
) -> KeyedTallies:
    """Return rows of an annotator's id, the place of a key, items and moments as tallies.

    An annotator's rows stay in their order. If some ``keys`` are equal, their rows are added up.
    """
    annotators, owner = distinct_numbers(annotator)
    places: dict[Any, int] = {}
    place = [places.setdefault(key, len(places)) for key in keys]
    if len(places) < len(keys):
        key = np.array(place, dtype=np.int64)[key]
        cells, row = np.unique(owner * len(places) + key, return_inverse=True)
        number = np.bincount(row, number, len(cells)).astype(np.int64)
        owner, key = np.divmod(cells, len(places))
        if began is not None:
            every, began = began, np.full(len(cells), np.iinfo(np.int64).max)
            np.minimum.at(began, row, every)
    order = np.argsort(owner, kind="stable")
    began = None if began is None else began[order]
    return KeyedTallies(annotators, [*places], owner[order], key[order], number[order], began)


@dataclass(frozen=True, eq=False)
class TallyColumns(_OwnedRows):
    """The counts of `AnnotatorTallies`, one row per annotator, own answer and pattern.

    Attributes:
        annotators: the ids; ``owner`` is a place in it.
        answers: the distinct own answers; ``own`` is a place in it.
        patterns: the distinct patterns; ``pattern`` is a place in it.
        owner: shape (rows,), ascending; the following have the same shape.
        own: which answer.
        pattern: which pattern.
        number: how many items the row stands for.
    """

    annotators: IntArray
    answers: tuple[Answer, ...]
    patterns: tuple[Pattern, ...]
    owner: IntArray
    own: IntArray
    pattern: IntArray
    number: IntArray

    @cached_property
    def shared(self) -> TallyColumns:
        """The rows of items that others answered too, and their patterns; annotators stay."""
        wide = np.array(
            [answers_in_pattern(pattern) > 1 for pattern in self.patterns], dtype=np.bool_
        )
        kept = wide[self.pattern]
        return TallyColumns(
            self.annotators,
            self.answers,
            tuple(compress(self.patterns, wide.tolist())),
            self.owner[kept],
            self.own[kept],
            (np.cumsum(wide) - 1)[self.pattern[kept]],
            self.number[kept],
        )

    def merged(self, annotators: Sequence[int]) -> TallyColumns:
        """Return the same with the rows of several owners as one annotator's, by the owner."""
        ids, place = np.unique(np.array(annotators, dtype=np.int64), return_inverse=True)
        shape = (len(ids), len(self.answers), len(self.patterns))
        keys = np.ravel_multi_index((place[self.owner], self.own, self.pattern), shape)
        kept, row = np.unique(keys, return_inverse=True)
        owner, own, pattern = np.unravel_index(kept, shape)
        number = np.bincount(row, self.number, len(kept)).astype(np.int64)
        return TallyColumns(ids, self.answers, self.patterns, owner, own, pattern, number)

    @cached_property
    def item_patterns(self) -> ItemPatterns:
        """How many items have each pattern."""
        sizes = [answers_in_pattern(pattern) for pattern in self.patterns]
        answers = np.bincount(self.pattern, self.number, len(sizes)).astype(np.int64).tolist()
        counts = zip(self.patterns, answers, sizes, strict=True)
        return ItemPatterns({pattern: number // size for pattern, number, size in counts})

    @cached_property
    def met(self) -> tuple[list[tuple[Answer, Pattern]], IntArray]:
        """Each own answer with each pattern that it met, whoever gave it; and which one a row is.

        There are few of them: what depends on nothing else is computed once for each.
        """
        width = len(self.answers)
        key, place = distinct_numbers(self.pattern * width + self.own)
        return [(self.answers[n % width], self.patterns[n // width]) for n in key.tolist()], place

    @cached_property
    def distinct_answers(self) -> tuple[Answer, ...]:
        """The answers in any pattern, ascending."""
        return tuple(sorted({answer for pattern in self.patterns for answer, _ in pattern}))

    def __getitem__(self, annotator: int) -> dict[tuple[Answer, Pattern], int]:
        own_rows = self.rows_of(self._place[annotator])
        rows = (column[own_rows].tolist() for column in (self.own, self.pattern, self.number))
        return {
            (self.answers[own], self.patterns[pattern]): number
            for own, pattern, number in zip(*rows, strict=True)
        }


def distinct_numbers(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct numbers, ascending, and the place of each value among them.

    Numbers from 0 to few are looked up, which takes a tenth of sorting them.
    """
    most = int(values.max(initial=0))
    if most > max(len(values), _FEW) or values.min(initial=0) < 0:
        return np.unique(values, return_inverse=True)
    there = np.zeros(most + 1, dtype=np.bool_)
    there[values] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


def tally_columns_of(tallies: AnnotatorTallies) -> TallyColumns:
    """Return the tallies as columns; every pattern and every own answer is numbered once."""
    if isinstance(tallies.counts, TallyColumns):
        return tallies.counts
    counts = tallies.counts
    if isinstance(counts, KeyedTallies):
        keys = [counts.every_key[n] for n in counts.key.tolist()]
        annotators, owner, number = counts.annotators, counts.owner, counts.number
    else:
        keys = [key for met in counts.values() for key in met]
        annotators = np.array([*counts], dtype=np.int64)
        owner = np.repeat(np.arange(len(annotators)), [len(met) for met in counts.values()])
        number = np.array([items for met in counts.values() for items in met.values()], np.int64)
    owns: dict[Answer, int] = {}
    own = np.array([owns.setdefault(own, len(owns)) for own, _ in keys], dtype=np.int64)
    patterns, pattern = _numbered(pattern for _, pattern in keys)
    return TallyColumns(annotators, tuple(owns), tuple(patterns), owner, own, pattern, number)


def _numbered(listed: Iterable[Pattern]) -> tuple[list[Pattern], IntArray]:
    """Return the distinct patterns, and the place among them of each listed one.

    A nested tuple computes its hash anew each time, so that is done once an object, not a row.
    """
    listed = list(listed)
    patterns: dict[Pattern, int] = {}
    objects = {id(pattern): pattern for pattern in listed}
    number = {key: patterns.setdefault(pattern, len(patterns)) for key, pattern in objects.items()}
    return [*patterns], np.array([number[id(pattern)] for pattern in listed], dtype=np.int64)
