"""An annotator's agreement, or accuracy on gold, falls over time.

Agreement is taken above what the item's annotators reach with each other, so that a run of hard
items is no drift. Whichever of the two has more answers that can tell is tested
(`cochran_armitage`), and the moment of the fall is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import Effect, Kind, TestResult, opinion_of_fall, severity_of_size
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.exact_tests import Fall, cochran_armitage_fall
from tracker.audit.statistics.peer_agreement import peer_agreement_draws
from tracker.core.audit_tallies import Blocks
from tracker.core.clock import iso, parse_timestamp
from tracker.core.tallies import (
    Answer,
    FloatArray,
    Pattern,
    answers_in_pattern,
    computed_once,
    share_of_same,
)

NAME = "drift"

FALL = Threshold("drift_fall", 0.15)
"""By how much the share fell, at least, for a flag."""

MINIMUM_IN_TIME = 30
"""Answers that can tell below which no trend is looked for."""

MEDIUM_FALL, HIGH_FALL = 0.25, 0.4


@dataclass(frozen=True)
class _Course:
    """A figure by block: answers, their sum and that of squares; shape (blocks,) each."""

    what: str
    answers: FloatArray
    total: FloatArray
    squares: FloatArray
    expected: FloatArray

    @property
    def informative(self) -> int:
        return int(self.answers.sum())


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator whose answers have times."""
    chances = _chances(evidence)

    def level(own: Answer, pattern: Pattern) -> tuple[float, float] | None:
        expected, varies = chances.get(pattern, (0.0, False))
        if not varies:
            return None
        size, share = answers_in_pattern(pattern), share_of_same(own, pattern)
        # Above the others' agreement with each other: own answer out, n / (n - 2) times more.
        return share, (share - expected) * size / (size - 2)

    levels = computed_once(level)
    for annotator, blocks in (evidence.blocks or {}).items():
        if not blocks.counts:
            continue
        agreement, accuracy = _courses(blocks, levels)
        course = accuracy if accuracy.informative > agreement.informative else agreement
        fall = cochran_armitage_fall(course.answers, course.total, course.squares)
        if fall is not None:
            yield _result(annotator, course, fall, blocks, evidence.floor(FALL))


def _result(
    annotator: int, course: _Course, fall: Fall, blocks: Blocks, floor: float
) -> TestResult:
    size = fall.before - fall.after
    late = course.answers[fall.block :]
    level = float(course.expected[fall.block :].sum() / late.sum())
    began = min(moment for block, moment in blocks.began.items() if block >= fall.block)
    tested = course.informative >= MINIMUM_IN_TIME
    return TestResult(
        kind=NAME,
        annotator=annotator,
        category=None,
        observed=fall.after + level,
        expected=fall.before + level,
        peers=None,
        n=sum(blocks.counts.values()),
        informative=course.informative,
        effect=Effect("difference", -size),
        p_value=fall.p_value if tested else None,
        notable=size >= floor,
        suspicious=False,
        severity=severity_of_size(size, MEDIUM_FALL, HIGH_FALL),
        details={
            "of": course.what,
            "since": iso(began),
            "trend_p_value": fall.trend_p,
            "cusum_p_value": fall.sum_p,
        },
    )


def _chances(evidence: Evidence) -> dict[Pattern, tuple[float, bool]]:
    """By pattern: the expected agreement of one of its answers, and whether it can vary."""
    patterns = list(
        dict.fromkeys(
            pattern
            for blocks in (evidence.blocks or {}).values()
            for _, _, pattern, _ in blocks.counts
            if answers_in_pattern(pattern) > 1
        )
    )
    draws = peer_agreement_draws(patterns)
    varies = (draws.variance > 0).tolist() if patterns else []
    mean = draws.mean.tolist() if patterns else []
    return {p: (m, bool(v)) for p, m, v in zip(patterns, mean, varies, strict=True)}


def _courses(
    blocks: Blocks, level: Callable[[Answer, Pattern], tuple[float, float] | None]
) -> tuple[_Course, _Course]:
    """Return the course of agreement, from its ``level`` with and above the others, and of gold."""
    agreement: list[tuple[float, ...]] = []
    accuracy: list[tuple[float, ...]] = []
    for (block, own, pattern, truth), items in blocks.counts.items():
        if truth is not None:
            right = float(own == truth)
            accuracy.append((block, items, right, 0.0))
        if (shares := level(own, pattern)) is not None:
            share, above = shares
            agreement.append((block, items, above, share - above))
    number = 1 + max(block for block, *_ in blocks.counts)
    return (
        _course("agreement on contested items", agreement, number),
        _course("accuracy on gold", accuracy, number),
    )


def _course(what: str, rows: Sequence[tuple[float, ...]], number: int) -> _Course:
    """Return the sums by block of rows of a block, its items, their level and what is expected."""
    block, items, level, expected = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    sums = (items, items * level, items * level**2, items * expected)
    place = block.astype(np.int64)
    return _Course(what, *(np.bincount(place, part, number).astype(np.float64) for part in sums))


def drift_falls_since(findings: Iterable[TestResult]) -> dict[int, int]:
    """Return the moment from which each annotator's answers fell, in microseconds since 1970."""
    return {
        result.annotator: parse_timestamp(str(result.details["since"]))
        for result in findings
        if "since" in result.details
    }


def confirm_drift(result: TestResult, consensus: Consensus, evidence: Evidence) -> Opinion:
    """Ask for the same fall of right answers since then."""
    return opinion_of_fall(result, consensus, evidence.floor(FALL))


DRIFT = Kind(NAME, frozenset({"blocks"}), run_test, FALL, confirm=confirm_drift)
