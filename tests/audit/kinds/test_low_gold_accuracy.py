"""Right less often than the others on items whose answer is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tests.audit.records import Person, recorded
from tracker.audit.findings import Evidence
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.core.tallies import AnnotatorTallies


def found_in(gold):
    findings = LOW_GOLD_ACCURACY.find(Evidence(AnnotatorTallies(), gold=gold))
    return {finding.annotator: finding for finding in findings}


def test_on_shared_items_it_is_the_law_of_as_many_right_among_them():
    record = recorded(1, {4: Person(lambda asked: asked.honest(0.45))}, people=6, gold=0.5)
    found = found_in(record.evidence().gold)
    for who, finding in found.items():
        rows = [
            (held[who] == truth, [answer == truth for answer in held.values()])
            for held, truth in zip(record.items, record.truths, strict=True)
            if truth is not None and who in held
        ]
        shared = [(own, right) for own, right in rows if len(right) > 1]
        law = stats.poisson_binom([np.mean(right) for _, right in shared])
        assert finding.p_value == pytest.approx(law.cdf(sum(own for own, _ in shared)), rel=1e-6)
        assert finding.n == len(rows)
        assert finding.observed == pytest.approx(np.mean([own for own, _ in rows]))
        assert finding.details["right"] == sum(own for own, _ in rows)
        others = [(sum(right) - own) / (len(right) - 1) for own, right in shared]
        assert finding.peers == pytest.approx(np.mean(others))
        interval = stats.binomtest(finding.details["right"], len(rows)).proportion_ci()
        assert finding.details["accuracy_low"] == pytest.approx(interval.low)
        assert finding.details["accuracy_high"] == pytest.approx(interval.high)
    assert found[4].p_value == min(finding.p_value for finding in found.values())
    assert found[4].notable


def alone(truth, own):
    return ((truth,), (own,), (((own,), 1),))


def test_where_nobody_shares_items_everybody_s_answers_to_the_same_truth_are_the_yardstick():
    gold = {
        1: {alone(0, 0): 8, alone(0, 1): 12, alone(1, 1): 15, alone(1, 0): 5},
        2: {alone(0, 0): 19, alone(0, 1): 1, alone(1, 1): 16, alone(1, 0): 4},
        3: {alone(0, 0): 18, alone(0, 2): 2, alone(1, 1): 14, alone(1, 0): 6},
    }
    found = found_in(gold)[1]
    first, second = stats.hypergeom(60, 45, 20), stats.hypergeom(60, 45, 20)
    tail = sum(first.pmf(k) * second.cdf(23 - k) for k in range(21))
    assert found.p_value == pytest.approx(tail)
    assert found.peers == pytest.approx((37 / 40 + 30 / 40) / 2)
    assert found.effect.value == pytest.approx(23 / 40 - 67 / 80)
    assert (found.n, found.informative, found.notable) == (40, 40, True)


def test_hard_items_are_no_one_s_fault():
    """On one stratum all are right seldom; who was given many of these is not worse for it."""
    gold = {
        1: {alone(0, 0): 4, alone(0, 1): 36},
        2: {alone(0, 0): 2, alone(0, 1): 18, alone(1, 1): 40},
        3: {alone(0, 0): 2, alone(0, 1): 18, alone(1, 1): 40},
    }
    found = found_in(gold)[1]
    assert found.observed == pytest.approx(0.1)
    assert found.p_value > 0.5
    assert found.effect.value == pytest.approx(0.0)
    assert not found.notable


def test_nothing_to_compare_with_has_no_test():
    found = found_in({1: {alone(0, 0): 5, alone(0, 1): 15}})[1]
    assert (found.p_value, found.peers, found.expected) == (None, None, None)
    assert not found.notable
    assert found_in({1: Counter({alone(0, 1): 5}), 2: {alone(0, 0): 40}})[1].p_value is None
    assert [*LOW_GOLD_ACCURACY.find(Evidence(AnnotatorTallies()))] == []


def test_always_right_in_a_crowd_that_errs_is_not_low():
    gold = {1: {alone(0, 0): 30}, 2: {alone(0, 0): 15, alone(0, 1): 15}}
    found = found_in(gold)
    assert found[1].p_value == pytest.approx(1.0)
    assert found[1].effect.value == pytest.approx(0.5)
    assert found[2].p_value == pytest.approx(stats.hypergeom(60, 45, 30).cdf(15))
    assert found[2].severity == "high"
