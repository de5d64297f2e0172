"""An annotator's agreement, or accuracy on gold, falls over time.

Agreement is taken above what the item's annotators reach with each other, so that a run of hard
items is no drift. Whichever of the two has more answers that can tell is tested
(`cochran_armitage`), and the moment of the fall is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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

_NOTHING = (np.nan, np.nan)


@dataclass(frozen=True)
class _Course:
    """A figure by block: answers, their sum and that of squares; shape (…, blocks) each."""

    what: str
    answers: FloatArray
    total: FloatArray
    squares: FloatArray
    expected: FloatArray

    @property
    def informative(self) -> int:
        return int(self.answers.sum())

    def of(self, place: int, number: int) -> _Course:
        """Return that of one annotator, who has so many blocks."""
        sums = (self.answers, self.total, self.squares, self.expected)
        return _Course(self.what, *(table[place, :number] for table in sums))


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator whose answers have times."""
    blocks = evidence.blocks
    if blocks is None:
        return
    agreement, accuracy = _courses(blocks)
    answers = blocks.tallies.total(1).astype(np.int64).tolist()
    numbers = blocks.numbers.tolist()
    for place, annotator in enumerate(blocks.tallies):
        course = max(
            (courses.of(place, numbers[place]) for courses in (agreement, accuracy)),
            key=lambda course: course.informative,
        )
        fall = cochran_armitage_fall(course.answers, course.total, course.squares)
        if fall is not None:
            began = min(at for block, at in blocks.began[annotator].items() if block >= fall.block)
            yield _result(annotator, course, fall, answers[place], began, evidence.floor(FALL))


def _result(
    annotator: int, course: _Course, fall: Fall, answers: int, began: int, floor: float
) -> TestResult:
    size = fall.before - fall.after
    late = course.answers[fall.block :]
    level = float(course.expected[fall.block :].sum() / late.sum())
    tested = course.informative >= MINIMUM_IN_TIME
    return TestResult(
        kind=NAME,
        annotator=annotator,
        observed=fall.after + level,
        expected=fall.before + level,
        n=answers,
        informative=course.informative,
        effect=Effect("difference", -size),
        p_value=fall.p_value if tested else None,
        notable=size >= floor,
        severity=severity_of_size(size, MEDIUM_FALL, HIGH_FALL),
        details={
            "of": course.what,
            "since": iso(began),
            "trend_p_value": fall.trend_p,
            "cusum_p_value": fall.sum_p,
        },
    )


def _courses(blocks: Blocks) -> tuple[_Course, _Course]:
    """Return the courses of agreement with the others and of accuracy on gold."""
    keys = blocks.tallies.every_key
    chances = _chances([*dict.fromkeys(pattern for *_, pattern in keys)])

    def level(own: Answer, pattern: Pattern) -> tuple[float, float]:
        """Return the answer's level and what is expected; NaN for both if it cannot vary."""
        expected, varies = chances.get(pattern, (0.0, False))
        if not varies:
            return _NOTHING
        size, share = answers_in_pattern(pattern), share_of_same(own, pattern)
        # Above the others' agreement with each other: own answer out, n / (n - 2) times more.
        above = (share - expected) * size / (size - 2)
        return above, share - above

    levels = computed_once(level)
    agreement = [levels(own, pattern) for _, _, own, pattern in keys]
    accuracy = [
        _NOTHING if truth is None else (float(own == truth), 0.0) for _, truth, own, _ in keys
    ]
    return (
        _course("agreement on contested items", blocks, agreement),
        _course("accuracy on gold", blocks, accuracy),
    )


def _chances(patterns: Sequence[Pattern]) -> dict[Pattern, tuple[float, bool]]:
    """By pattern: the expected agreement of one of its answers, and whether it can vary."""
    shared = [pattern for pattern in patterns if answers_in_pattern(pattern) > 1]
    if not shared:
        return {}
    draws = peer_agreement_draws(shared)
    varies = (draws.variance > 0).tolist()
    return {p: (m, v) for p, m, v in zip(shared, draws.mean.tolist(), varies, strict=True)}


def _course(what: str, blocks: Blocks, rows: Sequence[tuple[float, float]]) -> _Course:
    """Return the sums by annotator and block of each key's level and of what is expected."""
    level, expected = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    return _Course(what, *blocks.powers(level), blocks.sums(np.nan_to_num(expected)))


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
