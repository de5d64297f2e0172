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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import Effect, Kind, TestResult, severity_of_size
from tracker.core.tallies import Answer, Pattern, answers_in_pattern, computed_once, share_of_same

NAME = "straight_lining"

EXCESS = Threshold("same_again", 0.15)
"""Share of answers equal to the one before, above what the items explain, at least, for a flag."""

MINIMUM_IN_ORDER = 20
"""Contested items, each with an answer before it, that a test needs."""

MEDIUM_EXCESS, HIGH_EXCESS = 0.25, 0.4

Counts = Mapping[tuple[Answer, Answer, Pattern], int]


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with answers in a known order to contested items."""
    above = computed_once(_agreement_above)
    for annotator, counts in (evidence.sequences or {}).items():
        contested = {key: items for key, items in counts.items() if len(key[2]) > 1}
        n = sum(contested.values())
        if n:
            yield _result(annotator, contested, n, sum(counts.values()), evidence, above)


def _agreement_above(own: Answer, pattern: Pattern) -> float:
    """Return the share of the others who gave this answer, above that of pairs who agree."""
    size = answers_in_pattern(pattern)
    pairs = sum(count * (count - 1) for _, count in pattern) / (size * (size - 1))
    return share_of_same(own, pattern) - pairs


def _result(
    annotator: int,
    counts: Counts,
    n: int,
    answers: int,
    evidence: Evidence,
    agreement_above: Callable[[Answer, Pattern], float],
) -> TestResult:
    before: Counter[Answer] = Counter()
    for (previous, _, _), items in counts.items():
        before[previous] += items
    usual = {answer: items / n for answer, items in before.items()}

    def moments(previous: Answer, pattern: Pattern) -> tuple[dict[Answer, float], float, float]:
        size = answers_in_pattern(pattern)
        weight = {answer: (answer == previous) - usual.get(answer, 0.0) for answer, _ in pattern}
        mean = sum(weight[answer] * count / size for answer, count in pattern)
        square = sum(weight[answer] ** 2 * count / size for answer, count in pattern)
        return weight, mean, square - mean**2

    moments_of = computed_once(moments)
    same = agreement = excess = variance = 0.0
    for (previous, own, pattern), items in counts.items():
        weight, mean, spread = moments_of(previous, pattern)
        same += items * (own == previous)
        excess += items * (weight[own] - mean)
        variance += items * spread
        agreement += items * agreement_above(own, pattern)
    tested = n >= MINIMUM_IN_ORDER and variance > 0
    more = excess / n
    return TestResult(
        kind=NAME,
        annotator=annotator,
        category=None,
        observed=same / n,
        expected=same / n - more,
        peers=None,
        n=answers,
        informative=n,
        effect=Effect("difference", more),
        p_value=0.5 * math.erfc(excess / math.sqrt(2.0 * variance)) if tested else None,
        notable=more >= evidence.floor(EXCESS) and agreement < 0,
        suspicious=False,
        severity=severity_of_size(more, MEDIUM_EXCESS, HIGH_EXCESS),
    )


STRAIGHT_LINING = Kind(NAME, frozenset({"sequences"}), run_test, EXCESS)
