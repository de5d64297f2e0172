"""On an ordered scale, an annotator answers higher or lower than the co-annotators do.

Points are the places of the categories in the declared order, or their numbers. The test is
two-sided, under the null hypothesis of `exchangeability`, item by item.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import (
    MINIMUM_ANSWERS,
    MINIMUM_INFORMATIVE,
    Effect,
    Finding,
    Kind,
    Points,
    TestResult,
    examples_for_kind,
    opinion_of_points,
    severity_of_size,
    with_slightness,
)
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.exact_tests import (
    Z_95,
    Draws,
    exchangeable_draws,
    exchangeable_sum_tails,
)
from tracker.audit.statistics.point_differences import differences_from_others
from tracker.core.tallies import Answer, Pattern, answers_in_pattern

NAME = "severity_bias"

POINTS = Threshold("severity_points", 0.5, 0.0, 10.0)
"""Standard deviations of answers to an item, at least, for a flag."""

MEDIUM_POINTS, HIGH_POINTS = 0.8, 1.2
_LOOK_INFORMATIVE = 3


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with a shared item."""
    shared, points = evidence.shared_columns, evidence.points or {}
    if not len(shared.number):
        return
    draws = _point_draws(shared.patterns, points)
    own = np.array([points[answer[0]] for answer in shared.answers])[shared.own]
    size = np.array([answers_in_pattern(pattern) for pattern in shared.patterns])[shared.pattern]
    mean, variance = draws.mean[shared.pattern], draws.variance[shared.pattern]
    difference = differences_from_others(shared, points)
    per_row = (
        1.0, own, mean, difference, difference**2, variance * size / (size - 1), variance > 0
    )  # fmt: skip
    totals = np.stack([shared.total(values) for values in per_row], axis=1).tolist()
    for place, annotator in enumerate(shared.annotators.tolist()):
        n, mine, chance, gap, square, within, informative = totals[place]
        if not n or evidence.only not in (None, annotator):
            continue
        rows = shared.rows_of(place)
        tested = informative >= MINIMUM_INFORMATIVE
        tails = exchangeable_sum_tails(
            draws, shared.pattern[rows], shared.number[rows], mine - chance
        )
        points_off, deviation = gap / n, math.sqrt(within / n)
        error = math.sqrt(max(square - n * points_off**2, 0.0) / max(n - 1, 1) / n)
        size_of_it = abs(points_off) / deviation if deviation > 0 else 0.0
        notable = size_of_it >= evidence.floor(POINTS)
        yield TestResult(
            kind=NAME,
            annotator=annotator,
            category=None,
            observed=mine / n,
            expected=chance / n,
            peers=(mine - gap) / n,
            n=int(n),
            informative=int(informative),
            effect=Effect(
                "points", points_off, points_off - Z_95 * error, points_off + Z_95 * error
            ),
            p_value=tails.two_sided if tested else None,
            notable=notable,
            suspicious=not tested
            and notable
            and n >= MINIMUM_ANSWERS
            and informative >= _LOOK_INFORMATIVE
            and tails.two_sided <= evidence.alpha,
            severity=severity_of_size(size_of_it, MEDIUM_POINTS, HIGH_POINTS),
            details={"standard_deviations": size_of_it},
        )


def _point_draws(patterns: Sequence[Pattern], points: Mapping[int, float]) -> Draws:
    def worth(pattern: Pattern) -> tuple[list[float], Fraction]:
        values = [points[answer[0]] for answer, _ in pattern]
        if not all(value.is_integer() for value in values):
            return values, Fraction(0)  # no lattice
        return values, Fraction(math.gcd(*(int(value - values[0]) for value in values)))

    return exchangeable_draws(patterns, worth)


def confirm_severity_bias(result: TestResult, consensus: Consensus, evidence: Evidence) -> Opinion:
    """Ask for the same shift against the consensus."""
    opinion = opinion_of_points(result, consensus, evidence, evidence.floor(POINTS))
    return with_slightness(opinion, result.annotator, consensus, evidence)


def severity_bias_side(flag: Finding, own: Answer, pattern: Pattern, points: Points) -> float:
    """Return how far the answer is on the finding's side of the others' mean."""
    place = points[own[0]]
    total = sum(points[answer[0]] * count for answer, count in pattern)
    off = place - (total - place) / (answers_in_pattern(pattern) - 1)
    widest = max(points.values()) - min(points.values())
    way = 1.0 if (flag.effect.value or 0.0) > 0 else -1.0
    return max(way * off / widest, 0.0)


SEVERITY_BIAS = Kind(
    NAME,
    frozenset({"shared", "points"}),
    run_test,
    POINTS,
    spoils=True,
    confirm=confirm_severity_bias,
    examples=examples_for_kind(severity_bias_side),
)
