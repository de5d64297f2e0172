from __future__ import annotations

import pytest
from scipy import stats

from tests.audit.crowds import seeded
from tracker.audit.statistics.exact_tests import benjamini_hochberg


@pytest.mark.parametrize("seed", range(5))
def test_against_scipy(seed):
    random = seeded(seed)
    p_values = [random.random() ** 4 for _ in range(50)] + [0.01, 0.01, 1.0]
    expected = stats.false_discovery_control(p_values)
    assert benjamini_hochberg(p_values) == pytest.approx(expected, rel=1e-12)


def test_worked_by_hand():
    # 0.01 * 4 / 1, 0.02 * 4 / 2, 0.04 * 4 / 3, and 0.05 * 4 / 4 which is less than the last
    assert benjamini_hochberg([0.05, 0.01, 0.04, 0.02]) == pytest.approx([0.05, 0.04, 0.05, 0.04])


def test_none_and_one():
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([0.3]) == [0.3]
