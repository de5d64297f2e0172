"""Entries taken apart by category: one row per own answer, pattern and category in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracker.audit.statistics.entries import Entries
from tracker.core.tallies import Answer, Pattern, answers_in
from tracker.core.tally_columns import IntArray


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


def rows_of(entries: Entries) -> Rows:
    """Every category of every entry's pattern."""
    answers = entries.total(1.0).astype(np.int64)
    size = np.array([answers_in(pattern) for pattern in entries.patterns], dtype=np.int64)
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
