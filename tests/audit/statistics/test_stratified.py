"""One annotator against all in strata, and Clopper and Pearson's interval (1934)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.profiles import examples
from tracker.audit.statistics.exact_tests import EXACT_ITEMS, Stratum, clopper_pearson, pool_strata


@st.composite
def strata(draw, most=12):
    trials, other = draw(st.integers(1, most)), draw(st.integers(1, 3 * most))
    own, theirs = draw(st.integers(0, trials)), draw(st.integers(0, other))
    return Stratum(own, trials, own + theirs, trials + other)


@given(strata())
def test_one_stratum_is_fisher_s_exact_test(stratum):
    own, trials, all_own, all_trials = stratum
    found = pool_strata([stratum])
    if not 0 < all_own < all_trials:
        assert found is None
        return
    table = [[own, trials - own], [all_own - own, all_trials - trials - all_own + own]]
    less = stats.fisher_exact(table, alternative="less").pvalue
    more = stats.fisher_exact(table, alternative="greater").pvalue
    assert (found.tails.lower, found.tails.upper) == pytest.approx((less, more), rel=1e-9)
    assert (found.own, found.trials) == (own, trials)
    assert found.expected == pytest.approx(all_own / all_trials)
    assert found.peers == pytest.approx((all_own - own) / (all_trials - trials))


@examples(15)
@given(st.lists(strata(most=5), min_size=2, max_size=4))
def test_several_are_every_outcome_counted(several):
    telling = [s for s in several if 0 < s.all_own < s.all_trials]
    found = pool_strata(several)
    if not telling:
        assert found is None
        return
    chances = {0: 1.0}
    for stratum in telling:
        law = stats.hypergeom(stratum.all_trials, stratum.all_own, stratum.trials)
        following = {}
        for total, chance in chances.items():
            for more in range(stratum.trials + 1):
                weight = chance * float(law.pmf(more))
                following[total + more] = following.get(total + more, 0.0) + weight
        chances = following
    own = sum(stratum.own for stratum in telling)
    assert found.own == own
    assert found.tails.lower == pytest.approx(sum(c for k, c in chances.items() if k <= own))
    assert found.tails.upper == pytest.approx(sum(c for k, c in chances.items() if k >= own))


def test_many_trials_are_normal_and_meet_the_exact_ones():
    exact = Stratum(190, 250, 1600, 2000)
    assert 2 * exact.trials <= EXACT_ITEMS < 2 * (exact.trials + 1)
    slightly_more = Stratum(191, 251, 1600, 2000)
    one, other = pool_strata([exact, exact]), pool_strata([exact, slightly_more])
    assert one.tails.lower == pytest.approx(other.tails.lower, rel=0.1)
    mean = 250 * 0.8 + 251 * 0.8
    variance = sum(n * 0.16 * (2000 - n) / 1999 for n in (250, 251))
    expected = stats.norm.cdf((381 + 0.5 - mean) / np.sqrt(variance))
    assert other.tails.lower == pytest.approx(expected)


def test_the_others_figure_is_in_the_annotator_s_own_mix():
    easy, hard = Stratum(3, 4, 93, 104), Stratum(5, 16, 25, 66)
    found = pool_strata([easy, hard])
    assert found.peers == pytest.approx((4 * 0.9 + 16 * 0.4) / 20)
    assert found.expected == pytest.approx((4 * 93 / 104 + 16 * 25 / 66) / 20)


def test_strata_that_cannot_tell_are_in_nothing():
    telling = Stratum(3, 10, 60, 80)
    mute = [Stratum(4, 4, 4, 4), Stratum(4, 4, 40, 40), Stratum(0, 5, 0, 50), Stratum(0, 0, 3, 9)]
    assert pool_strata([telling, *mute]) == pool_strata([telling])
    assert pool_strata(mute) is None
    assert pool_strata([]) is None


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 20), (7, 20), (20, 20), (199, 500)])
def test_clopper_pearson_against_scipy(successes, trials):
    expected = stats.binomtest(successes, trials).proportion_ci(method="exact")
    assert clopper_pearson(successes, trials) == pytest.approx((expected.low, expected.high))
