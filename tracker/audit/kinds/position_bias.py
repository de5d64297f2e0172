"""Of two, the one that is shown first is preferred for its place, or the one shown second.

Expected is what everybody's strengths say of the two, see `positions`. The test is two-sided, and
compares nobody's taste with another's: that cancels out between both orders of the same two.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import Effect, Kind, TestResult, severity_of_gap
from tracker.audit.statistics.exact_tests import Z_95
from tracker.measures.paired_comparisons import positions

NAME = "position_bias"

SHARE = Threshold("position_share", 0.1)
"""By how much more often than expected, at least, the first or the second is preferred."""

MINIMUM_TOLD = 20
"""Answers, no ties, to two that were shown in both orders, that a test needs."""

_LOOK = 8


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with an answer that can tell."""
    shown = evidence.orders or {}
    for annotator, position in positions(shown).items():
        gap, tested = position.difference, position.answers >= MINIMUM_TOLD
        notable = abs(gap) >= evidence.floor(SHARE)
        doubtful = abs(gap) > Z_95 * position.error and position.answers >= _LOOK
        yield TestResult(
            kind=NAME,
            annotator=annotator,
            observed=position.observed,
            expected=position.expected,
            n=sum(row.better + row.ties + row.worse for row in shown[annotator]),
            informative=position.answers,
            effect=Effect(
                "difference", gap, gap - Z_95 * position.error, gap + Z_95 * position.error
            ),
            p_value=position.p_value if tested else None,
            notable=notable,
            suspicious=not tested and notable and doubtful,
            severity=severity_of_gap(abs(gap)),
        )


_EXPLAINS = frozenset({"category_bias"})
POSITION_BIAS = Kind(
    NAME, frozenset({"orders"}), run_test, SHARE, explains=_EXPLAINS, minimum=MINIMUM_TOLD
)
