"""Answers that come much faster than the others' to the same items."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from scipy import stats
from statsmodels.robust.scale import qn_scale

from tracker.audit.findings import Evidence
from tracker.audit.kinds.too_fast import TOO_FAST
from tracker.core.audit_tallies import AnswerTimes
from tracker.core.tallies import AnnotatorTallies


def found_in(ratios, compared=40):
    times = {who: AnswerTimes(50, 4.0, compared, ratio) for who, ratio in enumerate(ratios)}
    return {f.annotator: f for f in TOO_FAST.find(Evidence(AnnotatorTallies(), times=times))}


RATIOS = [0.1, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6, 0.6]


def test_the_p_value_is_that_of_students_t():
    found = found_in(RATIOS)[0]
    others = np.log(RATIOS[1:])
    middle = np.median(others)
    spread = qn_scale(others) * 0.669  # Croux and Rousseeuw's factor of eight values
    score = (math.log(0.1) - middle) / (spread * math.sqrt(1 + math.pi / 2 / 8))
    assert found.p_value == pytest.approx(
        stats.t.cdf(score, 0.82 * 7), rel=0.02
    )  # its constant is 2.2191
    assert found.effect.value == pytest.approx(0.1 / math.exp(middle))
    assert found.notable
    assert (found.observed, found.n, found.informative) == (0.1, 50, 40)
    assert found.details == {"median_seconds": 4.0}


def test_people_alike_by_chance_are_not_taken_to_be_alike():
    found = found_in([0.8] + [1.0] * 9)[0]
    score = math.log(0.8) / (0.2 * math.sqrt(1 + math.pi / 18))
    assert found.p_value == pytest.approx(stats.t.cdf(score, 0.82 * 8))


def test_times_rounded_to_nothing_are_the_fastest():
    assert found_in([0.0, *RATIOS[1:]])[0].p_value < found_in(RATIOS)[0].p_value


def test_slow_is_not_fast():
    found = found_in([10.0, *RATIOS[1:]])[0]
    assert found.p_value > 0.99
    assert not found.notable


def test_three_others_are_needed():
    assert {f.p_value for f in found_in([0.1, 1.0, 1.1]).values()} == {None}
    assert found_in([0.1, 1.0, 1.1, 0.9])[0].p_value is not None


def test_others_with_few_times_are_no_yardstick():
    found = found_in(RATIOS, compared=9)
    assert {f.p_value for f in found.values()} == {None}
    assert not any(f.notable for f in found.values() if f.annotator)


def test_times_that_nobody_shares_have_no_finding():
    times = {1: AnswerTimes(50, 4.0, 0, None)}
    assert [*TOO_FAST.find(Evidence(AnnotatorTallies(), times=times))] == []
    assert [*TOO_FAST.find(Evidence(AnnotatorTallies()))] == []


def test_of_people_who_differ_as_people_do_few_look_fast():
    random, low = np.random.default_rng(2), 0
    for _ in range(300):
        found = found_in(np.exp(random.normal(0.0, 0.35, size=12)).tolist())
        low += sum(f.p_value <= 0.01 for f in found.values())
    assert low / 3600 <= 0.01 + 3 * math.sqrt(0.01 / 3600)
    assert statistics.median(f.p_value for f in found.values()) == pytest.approx(0.5, abs=0.1)
