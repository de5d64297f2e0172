"""The items that two annotators share, by all that determines the chance of a shared answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from tracker.core.audit_tallies import PairPatterns
from tracker.core.minority import is_minority
from tracker.core.tallies import Pattern, answers_in
from tracker.core.tally_columns import IntArray

DIFFERENT, SAME, MINORITY = 0, 1, 2
"""What two gave: not the same; the same; the same, as few of the others did."""


@dataclass(frozen=True)
class SharedItems:
    """Every two annotators' shared items, by all that determines the chance of a shared answer.

    Attributes:
        pairs: ``(first id, second id)``, first < second; those with enough shared items.
        answers: how many annotators answered such an item, shape (kinds,), as are the next three.
        alike: how many ordered pairs of them gave the same answer.
        minority: the same, of answers that are a minority's.
        given: what the two gave: `DIFFERENT`, `SAME` or `MINORITY`.
        pair: place in ``pairs``, shape (rows,), as are the next two.
        kind: which kind.
        items: how many such items.
        patterns: the patterns of the items that some of the pairs share.
    """

    pairs: tuple[tuple[int, int], ...]
    answers: IntArray
    alike: IntArray
    minority: IntArray
    given: IntArray
    pair: IntArray
    kind: IntArray
    items: IntArray
    patterns: Callable[[Collection[tuple[int, int]]], PairPatterns]


def kinds_of(pairs: PairPatterns) -> SharedItems:
    """Return the kinds of items of known patterns; a kind may occur several times."""
    width = len(pairs.answers) + 1
    keys, kind = np.unique(pairs.pattern * width + pairs.same + 1, return_inverse=True)
    known = [_kind_of(pattern) for pattern in pairs.patterns]
    kinds = [
        (*known[key // width], _given(pairs, key // width, key % width - 1))
        for key in keys.tolist()
    ]
    answers, alike, minority, given = np.array(kinds, dtype=np.int64).reshape(-1, 4).T
    return SharedItems(
        pairs.pairs,
        answers,
        alike,
        minority,
        given,
        pairs.pair,
        kind,
        pairs.items,
        lambda _: pairs,
    )


def _kind_of(pattern: Pattern) -> tuple[int, int, int]:
    ways = [(count * (count - 1), is_minority(answer, pattern)) for answer, count in pattern]
    return answers_in(pattern), sum(n for n, _ in ways), sum(n for n, few in ways if few)


def _given(pairs: PairPatterns, pattern: int, same: int) -> int:
    if same < 0:
        return DIFFERENT
    return MINORITY if is_minority(pairs.answers[same], pairs.patterns[pattern]) else SAME
