"""The distribution of a count of own answers."""

from __future__ import annotations

import itertools
import math

import pytest
from scipy import stats

from tests.audit.crowds import seeded
from tracker.audit.statistics.exact_tests import (
    Tails,
    poisson_binomial,
    poisson_binomial_normal_tails,
    poisson_binomial_tails,
)


def test_every_outcome_enumerated():
    chances = [(1, 3, 2), (2, 5, 3), (3, 4, 1)]
    trials = [held / size for held, size, items in chances for _ in range(items)]
    expected = [0.0] * (len(trials) + 1)
    for outcome in itertools.product((0, 1), repeat=len(trials)):
        weight = math.prod(p if hit else 1 - p for hit, p in zip(outcome, trials, strict=True))
        expected[sum(outcome)] += weight
    assert poisson_binomial(chances) == pytest.approx(expected, abs=1e-15)


def test_equal_chances_are_binomial_far_into_the_tail():
    tails = poisson_binomial_tails(150, [(1, 5, 300)])
    assert tails.upper == pytest.approx(stats.binom.sf(149, 300, 0.2), rel=1e-9)
    assert tails.upper < 1e-25
    low = poisson_binomial_tails(10, [(1, 5, 300)])
    assert low.lower == pytest.approx(stats.binom.cdf(10, 300, 0.2), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_against_scipy(seed):
    if not hasattr(stats, "poisson_binom"):
        pytest.skip("scipy before 1.15 has no Poisson-binomial distribution")
    random = seeded(seed)
    chances = [(random.randrange(1, n), n, random.randrange(1, 12)) for n in range(2, 9)]
    trials = [held / size for held, size, items in chances for _ in range(items)]
    peer = stats.poisson_binom(trials)
    for count in range(0, len(trials) + 1, 3):
        tails = poisson_binomial_tails(count, chances)
        # scipy convolves by Fourier transform, whose error is absolute
        assert tails.lower == pytest.approx(float(peer.cdf(count)), abs=1e-12)
        assert tails.upper == pytest.approx(float(peer.sf(count - 1)), abs=1e-12)


def test_two_sided_is_twice_the_smaller_tail_and_at_most_one():
    assert Tails(0.02, 0.99).two_sided == 0.04
    assert Tails(0.7, 0.6).two_sided == 1.0


def test_normal_is_mantel_haenszel_with_continuity_correction():
    for count, mean, variance in ((70, 50.2, 30.0), (30, 50.2, 30.0)):
        statistic = (abs(count - mean) - 0.5) ** 2 / variance
        p_value = poisson_binomial_normal_tails(count, mean, variance).two_sided
        assert p_value == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-10)
    assert poisson_binomial_normal_tails(50, 50.2, 30.0).two_sided == 1.0


def test_exact_and_normal_meet_where_they_change_over():
    chances = [(1, 2, 250), (2, 5, 250)]
    mean, variance = 225.0, 122.5
    for count in (200, 215, 225, 240, 255):
        exact, normal = (
            poisson_binomial_tails(count, chances),
            poisson_binomial_normal_tails(count, mean, variance),
        )
        assert normal.upper == pytest.approx(exact.upper, rel=0.05)
        assert normal.lower == pytest.approx(exact.lower, rel=0.05)


def test_a_tail_that_underflows_is_not_zero():
    assert 0 < poisson_binomial_normal_tails(100_000, 1_000.0, 500.0).upper < 1e-300
    assert 0 < poisson_binomial_tails(500, [(1, 20, 500)]).upper < 1e-300
