"""Annotator tallies laid out as columns: one row per annotator, own answer and pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import (
    AnnotatorTallies,
    Answer,
    FloatArray,
    IntArray,
    Pattern,
    answers_in_pattern,
    tally_columns_of,
)


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


def entries_of_tallies(tallies: AnnotatorTallies) -> Entries:
    """The columns of the items that others answered too; those with one answer are left out."""
    columns = tally_columns_of(tallies)
    shared = np.array(
        [answers_in_pattern(pattern) > 1 for pattern in columns.patterns], dtype=np.bool_
    )
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


@dataclass(frozen=True)
class Rows:
    """One row per annotator, own answer, pattern and category in the pattern; two answers or more.

    ``group`` is the row's annotator and category as an index into ``annotators`` and
    ``categories``; ``items`` how many items the row stands for; ``own`` 0 or 1.
    """

    annotators: IntArray
    categories: IntArray
    answers: IntArray
    group: IntArray
    own: IntArray
    held: IntArray
    size: IntArray
    items: IntArray


def rows_of_entries(entries: Entries) -> Rows:
    """Every category of every entry's pattern."""
    answers = entries.total(1.0).astype(np.int64)
    size = np.array([answers_in_pattern(pattern) for pattern in entries.patterns], dtype=np.int64)
    entry, place, flat = _spread(entries.patterns, entries.pattern)
    category_ids, category = np.unique(flat[:, 0], return_inverse=True)
    width = max(len(category_ids), 1)
    column = category[place]
    own_keys = _own_keys(entries.answers, category_ids, width)
    own = np.isin(entries.own[entry] * width + column, own_keys).astype(np.int64)
    distinct, group = np.unique(entries.owner[entry] * width + column, return_inverse=True)
    return Rows(
        annotators=entries.annotators[distinct // width],
        categories=category_ids[distinct % width],
        answers=answers[distinct // width],
        group=group,
        own=own,
        held=flat[place, 1],
        size=size[entries.pattern][entry],
        items=entries.items[entry],
    )


def _spread(patterns: Sequence[Pattern], code: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """One row per entry and category of its pattern.

    Returns the row's entry, its place in the third array, and that array: one row per pattern and
    category, with the category and how many annotators gave it; shape (rows, 2).
    """
    held = [list(_held(pattern)) for pattern in patterns]
    pairs = [pair for pattern in held for pair in pattern]
    flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    length = np.array([len(pattern) for pattern in held], dtype=np.int64)
    start = np.cumsum(length) - length
    repeats = length[code]
    entry = np.repeat(np.arange(len(code)), repeats)
    first = np.cumsum(repeats) - repeats
    place = np.arange(len(entry)) - first[entry] + start[code][entry]
    return entry, place, flat


def _held(pattern: Pattern) -> Iterator[tuple[int, int]]:
    """The categories of a pattern and how many annotators gave each."""
    held: Counter[int] = Counter()
    for answer, count in pattern:
        for category in answer:
            held[category] += count
    yield from held.items()


def _own_keys(answers: Sequence[Answer], category_ids: IntArray, width: int) -> IntArray:
    """``number of the answer * width + number of the category`` for each category it holds."""
    number = {category: index for index, category in enumerate(category_ids.tolist())}
    return np.array(
        [
            code * width + number[category]
            for code, own in enumerate(answers)
            for category in own
            if category in number
        ],
        dtype=np.int64,
    )
