"""An annotator agrees less with the co-annotators than these do with each other.

The test is one-sided, under the null hypothesis of `exchangeability`: the items and their
difficulty are the annotator's own. Items of two answers cannot tell which of the two is off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist, median

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import (
    MINIMUM_INFORMATIVE,
    Effect,
    Finding,
    Kind,
    TestResult,
    opinion_of_accuracy,
    severity_of_gap,
)
from tracker.audit.second_opinion import Consensus, Opinion

NAME = "low_agreement"

GAP = Threshold("agreement_gap", 0.1)
"""By how much less the co-annotators are agreed with, at least, for a flag."""

_WIDER = 1.3
"""The consensus must confirm what the test finds, and the gap that is measured be large, too."""


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with a shared item."""
    for alignment in evidence.alignments.values():
        gap = -(alignment.gap or 0.0)
        low, high = alignment.gap_interval or (None, None)
        tested = alignment.informative >= MINIMUM_INFORMATIVE
        yield TestResult(
            kind=NAME,
            annotator=alignment.annotator,
            observed=alignment.observed,
            expected=alignment.expected,
            peers=alignment.peers,
            n=alignment.n,
            informative=alignment.informative,
            effect=Effect("difference", alignment.gap, low, high),
            p_value=alignment.lower if tested else None,
            notable=gap >= evidence.floor(GAP),
            severity=severity_of_gap(gap),
        )


def detectable_gap(findings: Sequence[Finding], annotators: int) -> float | None:
    """Return the gap in agreement at which most annotators would be found.

    Such is the difference of two shares that a one-sided test of as many shared items as half of
    the annotators have finds with a power of .8, for the first of all annotators at a false
    discovery rate of .05, widened by `_WIDER`: in simulated crowds 83 to 100% are then flagged.
    None if fewer than half of the audited ``annotators`` have enough items that could tell.
    ``findings`` are those of this kind, about each of them, clear ones too.
    """
    tested = [
        (finding.observed, finding.n)
        for finding in findings
        if finding.p_value is not None and finding.observed is not None
    ]
    if not annotators or 2 * len(tested) < annotators:
        return None
    agreement, answers = (median(column) for column in zip(*tested, strict=True))
    normal = NormalDist().inv_cdf
    sure = normal(1 - 0.025 / annotators) + normal(0.8)
    error = math.sqrt(agreement * (1 - agreement) / answers)
    return max(_WIDER * GAP.default, _WIDER * sure * error)


def confirm_low_agreement(result: TestResult, consensus: Consensus, evidence: Evidence) -> Opinion:
    """Ask whether the annotator is right less often than a typical one, by as much."""
    return opinion_of_accuracy(result, consensus, evidence.floor(GAP))


LOW_AGREEMENT = Kind(
    NAME, frozenset({"shared"}), run_test, GAP, spoils=True, confirm=confirm_low_agreement
)
