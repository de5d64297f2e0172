"""The same answer again and again in the order answered, more than the items explain.

Given the answer before, the next item's annotators are exchangeable as ever: the chance that one's
own equals the answer before is the share of them who gave that. Whoever gives an answer too often
repeats it too often in any order, so each category's own excess is taken off: what is left is
the covariance of the answer before with the answer's excess over its item, 0 whatever the order
of the items. A run of answers that the others find right is no straight-lining: agreement with
them must be below what they reach.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import Effect, Kind, TestResult, severity_of_size
from tracker.core.tallies import (
    Answer,
    FloatArray,
    IntArray,
    Pattern,
    answers_in_pattern,
    computed_once,
    share_of_same,
)

NAME = "straight_lining"

EXCESS = Threshold("same_again", 0.15)
"""Share of answers equal to the one before, above what the items explain, at least, for a flag."""

MINIMUM_IN_ORDER = 20
"""Contested items, each with an answer before it, that a test needs."""

MEDIUM_EXCESS, HIGH_EXCESS = 0.25, 0.4


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with answers in a known order to contested items."""
    tallies = evidence.sequences
    if tallies is None:
        return
    keys = _Keys.of(tallies.every_key)
    contested = keys.contested[tallies.key]
    for place, annotator in enumerate(tallies):
        rows = tallies.rows_of(place)
        chosen = contested[rows]
        items = tallies.number[rows]
        if chosen.any():
            own = tallies.key[rows][chosen], items[chosen].astype(np.float64)
            yield _result(annotator, keys, *own, int(items.sum()), evidence.floor(EXCESS))


@dataclass(frozen=True)
class _Keys:
    """What the keys of sequences come to, whoever met them; shape (keys,) each.

    Attributes:
        contested: whether the item has several answers.
        before: the place of the answer before, among all answers.
        above: the share of the others who gave the own answer, above that of pairs who agree.
        shares: how large a share of each pattern each answer has, (patterns, answers).
    """

    contested: NDArray[np.bool_]
    before: IntArray
    own: IntArray
    pattern: IntArray
    above: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, keys: Sequence[tuple[Answer, Answer, Pattern]]) -> _Keys:
        patterns = {met: n for n, met in enumerate(dict.fromkeys(met for *_, met in keys))}
        every = {answer for before, own, _ in keys for answer in (before, own)}
        every.update(answer for met in patterns for answer, _ in met)
        answers = {answer: n for n, answer in enumerate(sorted(every))}
        shares = np.zeros((len(patterns), len(answers)))
        for met, row in patterns.items():
            for answer, count in met:
                shares[row, answers[answer]] = count / answers_in_pattern(met)
        above = computed_once(_agreement_above)
        rows = [
            (answers[before], answers[own], patterns[met], len(met) > 1)
            for before, own, met in keys
        ]
        before, own, pattern, contested = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        of_own = [above(own, met) if len(met) > 1 else 0.0 for _, own, met in keys]
        return cls(contested == 1, before, own, pattern, np.array(of_own), shares)


def _agreement_above(own: Answer, pattern: Pattern) -> float:
    """Return the share of the others who gave this answer, above that of pairs who agree."""
    size = answers_in_pattern(pattern)
    pairs = sum(count * (count - 1) for _, count in pattern) / (size * (size - 1))
    return share_of_same(own, pattern) - pairs


def _result(
    annotator: int, keys: _Keys, key: IntArray, items: FloatArray, answers: int, floor: float
) -> TestResult:
    """Return the result of the contested keys that an annotator met, each with its items.

    An answer's weight is whether it equals the one before, less how usual this is before others.
    """
    n = float(items.sum())
    before, own, pattern = keys.before[key], keys.own[key], keys.pattern[key]
    usual = np.bincount(before, items, keys.shares.shape[1]) / n
    of_before = keys.shares[pattern, before]
    mean = of_before - (keys.shares @ usual)[pattern]
    square = (keys.shares @ usual**2)[pattern] + of_before * (1 - 2 * usual[before])
    same = own == before
    excess = float(items @ (same - usual[own] - mean))
    variance = float(items @ (square - mean**2))
    tested = n >= MINIMUM_IN_ORDER and variance > 0
    more = excess / n
    return TestResult(
        kind=NAME,
        annotator=annotator,
        observed=float(items @ same) / n,
        expected=float(items @ same) / n - more,
        n=answers,
        informative=round(n),
        effect=Effect("difference", more),
        p_value=0.5 * math.erfc(excess / math.sqrt(2.0 * variance)) if tested else None,
        notable=more >= floor and float(items @ keys.above[key]) < 0,
        severity=severity_of_size(more, MEDIUM_EXCESS, HIGH_EXCESS),
    )


STRAIGHT_LINING = Kind(NAME, frozenset({"sequences"}), run_test, EXCESS)
