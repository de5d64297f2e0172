"""Annotator tallies laid out as columns: one row per annotator, own answer and pattern."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import AnnotatorTallies, Answer, Pattern, answers_in
from tracker.core.tally_columns import FloatArray, IntArray, columns_of


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
    """The columns of the items that others answered too; those with one answer are left out."""
    columns = columns_of(tallies)
    shared = np.array([answers_in(pattern) > 1 for pattern in columns.patterns], dtype=np.bool_)
    kept = shared[columns.pattern]
    return Entries(
        annotators=columns.annotators,
        answers=columns.answers,
        patterns=tuple(
            p for p, more in zip(columns.patterns, shared.tolist(), strict=True) if more
        ),
        owner=columns.owner[kept],
        own=columns.own[kept],
        pattern=(np.cumsum(shared) - 1)[columns.pattern[kept]],
        items=columns.number[kept],
    )
