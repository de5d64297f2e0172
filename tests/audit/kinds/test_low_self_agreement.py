"""Asked the same item again, an annotator changes the answer more often than the others."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from tracker.audit.findings import Evidence
from tracker.audit.kinds.low_self_agreement import LOW_SELF_AGREEMENT
from tracker.core.tallies import AnnotatorTallies, make_pattern

ALONE = make_pattern([(0,)])
ALL = make_pattern([(0,)] * 3)
MOST = make_pattern([(0,), (0,), (1,)])
FEW = make_pattern([(0,), (0,), (1,), (1,)])


def found_in(repeats):
    findings = LOW_SELF_AGREEMENT.find(Evidence(AnnotatorTallies(), repeats=repeats))
    return {finding.annotator: finding for finding in findings}


def again(pattern, same, changed):
    return {((0,), (0,), pattern): same, ((0,), (1,), pattern): changed}


def test_items_as_contested_are_a_stratum():
    repeats = {
        1: again(ALL, 5, 5) | again(FEW, 4, 8),
        2: again(ALL, 18, 2) | again(FEW, 6, 4),
        3: again(ALL, 9, 1) | again(MOST, 9, 0),
    }
    found = found_in(repeats)[1]
    easy, hard = stats.hypergeom(40, 32, 10), stats.hypergeom(22, 10, 12)
    tail = sum(easy.pmf(k) * hard.cdf(9 - k) for k in range(11))
    assert found.p_value == pytest.approx(tail)
    assert found.peers == pytest.approx((10 * 27 / 30 + 12 * 6 / 10) / 22)
    assert found.effect.value == pytest.approx(9 / 22 - found.peers)
    assert (found.n, found.informative, found.details["same"]) == (22, 22, 9)
    assert found.notable


@pytest.mark.parametrize("others", [ALONE, MOST, FEW])
def test_other_strata_are_not_compared_with(others):
    repeats = {1: again(ALL, 5, 15), 2: again(others, 19, 1)}
    assert {f.p_value for f in found_in(repeats).values()} == {None}


def test_patterns_of_a_stratum_are_together():
    five = make_pattern([(0,)] * 5)
    one, other = again(ALL, 5, 15), again(five, 19, 1)
    apart = found_in({1: one, 2: other})[1]
    assert apart.p_value == pytest.approx(stats.hypergeom(40, 24, 20).cdf(5))


def test_contested_items_are_no_one_s_fault():
    """Whoever was asked the contested ones again changes more, as everybody does on them."""
    repeats = {
        1: again(FEW, 12, 28),
        2: again(FEW, 3, 7) | again(ALL, 29, 1),
        3: again(FEW, 3, 7) | again(ALL, 29, 1),
    }
    found = found_in(repeats)[1]
    assert found.p_value > 0.3
    assert not found.notable


def test_few_repeats_have_no_test_and_an_interval_all_the_same():
    found = found_in({1: again(ALL, 2, 7), 2: again(ALL, 30, 2)})[1]
    assert found.p_value is None
    assert found.effect.low < found.effect.value < found.effect.high
    interval = stats.binomtest(2, 9).proportion_ci()
    assert found.effect.high - found.effect.low == pytest.approx(interval.high - interval.low)


def test_any_change_counts():
    repeats = {1: Counter({((0,), (0, 1), ALL): 10, ((0, 1), (0, 1), ALL): 4}), 2: again(ALL, 9, 1)}
    assert found_in(repeats)[1].observed == pytest.approx(4 / 14)
    assert [*LOW_SELF_AGREEMENT.find(Evidence(AnnotatorTallies()))] == []
