"""Annotator tallies laid out as columns: one row per annotator, own answer and pattern."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.tally import AnnotatorTallies, Answer, Pattern, answers_in

__all__ = ["Entries", "FloatArray", "IntArray", "entries_of", "numbered"]

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Entries:
    """The answers to items that others answered too, by annotator, own answer and pattern.

    Attributes:
        annotators: the ids, those with no shared item too; ``owner`` is a place in it.
        answers: the distinct own answers; ``own`` is a place in it.
        patterns: the distinct patterns of two answers or more; ``pattern`` is a place in it.
        owner: shape (rows,), as are the following.
        own: which answer.
        pattern: which pattern.
        items: how many items the row stands for.
    """

    annotators: IntArray
    answers: tuple[Answer, ...]
    patterns: tuple[Pattern, ...]
    owner: IntArray
    own: IntArray
    pattern: IntArray
    items: IntArray

    def total(self, values: NDArray[Any] | float) -> FloatArray:
        """Sum over each annotator's items of a value per row; shape (annotators,)."""
        weights = (self.items * values).astype(np.float64)
        return np.bincount(self.owner, weights, len(self.annotators)).astype(np.float64)

    @cached_property
    def met(self) -> tuple[list[tuple[Answer, Pattern]], IntArray]:
        """Each own answer with each pattern that it met, whoever gave it; and which one a row is.

        There are few of them: what depends on nothing else is computed once for each.
        """
        width = len(self.answers)
        key, place = np.unique(self.pattern * width + self.own, return_inverse=True)
        return [(self.answers[n % width], self.patterns[n // width]) for n in key.tolist()], place

    def rows_of(self, place: int) -> slice:
        """The rows of one annotator, by the place in ``annotators``."""
        first, after = np.searchsorted(self.owner, [place, place + 1]).tolist()
        return slice(first, after)


def entries_of(tallies: AnnotatorTallies) -> Entries:
    """Every pattern and every own answer is numbered once; items with one answer are left out."""
    annotators = np.array([*tallies.counts], dtype=np.int64)
    keys = [key for counts in tallies.counts.values() for key in counts]
    items = np.array([i for c in tallies.counts.values() for i in c.values()], dtype=np.int64)
    lengths = [len(counts) for counts in tallies.counts.values()]
    owner = np.repeat(np.arange(len(annotators)), lengths)
    owns: dict[Answer, int] = {}
    own = np.array([owns.setdefault(own, len(owns)) for own, _ in keys], dtype=np.int64)
    patterns, code = numbered(pattern for _, pattern in keys)
    shared = np.array([answers_in(pattern) > 1 for pattern in patterns], dtype=np.bool_)
    kept = shared[code] if len(code) else np.zeros(0, dtype=np.bool_)
    renumbered = np.cumsum(shared) - 1
    return Entries(
        annotators=annotators,
        answers=tuple(owns),
        patterns=tuple(p for p, more in zip(patterns, shared.tolist(), strict=True) if more),
        owner=owner[kept],
        own=own[kept],
        pattern=renumbered[code[kept]] if kept.any() else code[kept],
        items=items[kept],
    )


def numbered(listed: Iterable[Pattern]) -> tuple[list[Pattern], IntArray]:
    """The distinct patterns, and the place among them of each listed one.

    A nested tuple computes its hash anew each time, so that is done once an object, not a row.
    """
    listed = list(listed)
    patterns: dict[Pattern, int] = {}
    objects = {id(pattern): pattern for pattern in listed}
    number = {key: patterns.setdefault(pattern, len(patterns)) for key, pattern in objects.items()}
    return [*patterns], np.array([number[id(pattern)] for pattern in listed], dtype=np.int64)
