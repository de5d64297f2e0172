"""What audits examine besides the annotator tallies: exact counts, made by the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import Answer, Pattern

GoldTallies: TypeAlias = Mapping[int, Mapping[tuple[Answer, Answer, Pattern], int]]
"""``{annotator: {(truth, own answer, pattern): items}}`` of the items that have a truth."""

RepeatTallies: TypeAlias = Mapping[int, Mapping[tuple[Answer, Answer, Pattern], int]]
"""``{annotator: {(earlier answer, later answer, pattern): times}}`` of items answered again."""

Sequences: TypeAlias = Mapping[int, Mapping[tuple[Answer, Answer, Pattern], int]]
"""``{annotator: {(previous answer, own answer, pattern): items}}``: each answer with the one that
the annotator gave just before it, to another item; only where its time is later, not the same."""

SkipTallies: TypeAlias = Mapping[int, Mapping[tuple[bool, int, int], int]]
"""``{annotator: {(skipped, annotators who skipped the item, annotators who saw it): items}}``."""


@dataclass(frozen=True)
class Blocks:
    """One annotator's timed answers in order, cut into blocks of equal numbers.

    Attributes:
        counts: ``{(block, own answer, pattern, truth or None): items}``; blocks count from 0.
        began: when each block's first answer was given, in microseconds since 1970.
    """

    counts: Mapping[tuple[int, Answer, Pattern, Answer | None], int]
    began: Mapping[int, int]


@dataclass(frozen=True)
class AnswerTimes:
    """The times that one annotator's answers took.

    Attributes:
        answers: answers whose time is known.
        median: their median, in seconds.
        compared: those to items for which another's time is known as well.
        ratio: median over these of the time divided by the mean of the others' for the item;
            None if there is none.
    """

    answers: int
    median: float
    compared: int
    ratio: float | None


@dataclass(frozen=True)
class PairPatterns:
    """Every two annotators' shared items, by pattern and by whether they answered alike.

    One row is a pair, a pattern and an answer that both gave (or the fact that they differ).

    Attributes:
        pairs: ``(first id, second id)``, first < second; those with enough shared items.
        patterns: the patterns that occur.
        answers: the answers that occur.
        pair: place in ``pairs``, shape (rows,).
        pattern: place in ``patterns``, shape (rows,).
        same: place in ``answers`` of the answer that both gave, -1 where they differ.
        items: how many such items.
    """

    pairs: tuple[tuple[int, int], ...]
    patterns: tuple[Pattern, ...]
    answers: tuple[Answer, ...]
    pair: NDArray[np.int64]
    pattern: NDArray[np.int64]
    same: NDArray[np.int64]
    items: NDArray[np.int64]

    def of(self, place: int) -> dict[Pattern, int]:
        """Return on how many items a pair met each pattern, by the pair's place in ``pairs``."""
        order, start = self._by_pair
        items: Counter[Pattern] = Counter()
        for row in order[start[place] : start[place + 1]].tolist():
            items[self.patterns[self.pattern[row]]] += int(self.items[row])
        return items

    @cached_property
    def _by_pair(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in the order of their pairs, and the place where each pair's rows begin."""
        order = np.argsort(self.pair, kind="stable")
        return order, np.searchsorted(self.pair[order], np.arange(len(self.pairs) + 1))
