"""Annotator tallies laid out as columns: one row per own answer, pattern and category in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.tally import AnnotatorTallies, Answer, Pattern, answers_in

__all__ = ["FloatArray", "IntArray", "Rows", "rows_of"]

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]


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


def rows_of(tallies: AnnotatorTallies) -> Rows:
    """Every pattern and every own answer is taken apart once, then looked up by number."""
    annotators = np.array([*tallies.counts], dtype=np.int64)
    keys = [key for counts in tallies.counts.values() for key in counts]
    items = np.array([i for c in tallies.counts.values() for i in c.values()], dtype=np.int64)
    owner = np.repeat(
        np.arange(len(annotators)), [len(counts) for counts in tallies.counts.values()]
    )
    owns: dict[Answer, int] = {}
    own_code = np.array([owns.setdefault(own, len(owns)) for own, _ in keys], dtype=np.int64)
    patterns, code = _numbered([pattern for _, pattern in keys])

    size = np.array([answers_in(pattern) for pattern in patterns], dtype=np.int64)
    shared = size[code] > 1 if len(code) else np.zeros(0, dtype=np.bool_)
    owner, own_code, code, items = owner[shared], own_code[shared], code[shared], items[shared]
    answers = np.bincount(owner, items, len(annotators)).astype(np.int64)

    entry, place, flat = _spread(patterns, code)
    category_ids, category = np.unique(flat[:, 0], return_inverse=True)
    width = max(len(category_ids), 1)
    column = category[place]
    own_keys = _own_keys(owns, category_ids, width)
    own = np.isin(own_code[entry] * width + column, own_keys).astype(np.int64)
    distinct, group = np.unique(owner[entry] * width + column, return_inverse=True)
    return Rows(
        annotators=annotators[distinct // width],
        categories=category_ids[distinct % width],
        answers=answers[distinct // width],
        group=group,
        own=own,
        held=flat[place, 1],
        size=size[code][entry],
        items=items[entry],
    )


def _numbered(listed: list[Pattern]) -> tuple[dict[Pattern, int], IntArray]:
    """A number for each distinct pattern, and the number of each listed one.

    A nested tuple computes its hash anew each time, so that is done once an object, not a row.
    """
    patterns: dict[Pattern, int] = {}
    objects = {id(pattern): pattern for pattern in listed}
    number = {key: patterns.setdefault(pattern, len(patterns)) for key, pattern in objects.items()}
    return patterns, np.array([number[id(pattern)] for pattern in listed], dtype=np.int64)


def _spread(patterns: dict[Pattern, int], code: IntArray) -> tuple[IntArray, IntArray, IntArray]:
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


def _own_keys(owns: dict[Answer, int], category_ids: IntArray, width: int) -> IntArray:
    """``number of the answer * width + number of the category`` for each category it holds."""
    number = {category: index for index, category in enumerate(category_ids.tolist())}
    return np.array(
        [
            code * width + number[category]
            for own, code in owns.items()
            for category in own
            if category in number
        ],
        dtype=np.int64,
    )
