"""Lugannani and Rice's tails (1980; lattice: Daniels 1987) against every outcome counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tracker.audit.statistics.exact_tests import EXACT_ITEMS, Draws, exchangeable_sum_tails
from tracker.audit.statistics.peer_agreement import peer_agreement_draws

ONE = (Fraction(1),)


def pattern(*counts):
    return tuple(((category,), count) for category, count in enumerate(counts))


def sums(draws, items):
    """Every sum less its expectation, ascending, and its probability, counted in sixtieths."""
    total, mean = np.ones(1), 0.0
    for place, number in enumerate(items):
        one = np.zeros(1 + round(60 * draws.values[place].max()))
        np.add.at(one, np.rint(60 * draws.values[place]).astype(int), draws.chances[place])
        mean += number * draws.mean[place]
        for _ in range(number):
            total = np.convolve(total, one)
    possible = np.flatnonzero(total)
    return possible / 60 - mean, total[possible]


def compared(draws, items):
    """Rows of tails by the formula and counted, at up to a hundred sums but the extremes."""
    excess, chance = sums(draws, items)
    rows = np.arange(len(items)), np.array(items)
    for place in range(1, len(excess) - 1, 1 + len(excess) // 100):
        tails = exchangeable_sum_tails(draws, *rows, float(excess[place]))
        yield tails.lower, chance[: place + 1].sum()
        yield tails.upper, chance[place:].sum()


@pytest.mark.parametrize(
    ("patterns", "items"),
    [
        ([pattern(2, 1)], [12]),
        ([pattern(2, 1)], [40]),
        ([pattern(3, 2)], [25]),
        ([pattern(2, 1), pattern(1, 1, 1)], [12, 5]),
        ([pattern(3, 1)], [40]),
        ([pattern(4, 1)], [30]),
        ([pattern(2, 2, 1), pattern(3, 2)], [10, 12]),
    ],
)
def test_on_a_lattice_down_to_one_in_ten_thousand(patterns, items):
    rows = [*compared(peer_agreement_draws(patterns), items)]
    assert any(counted < 1e-3 for _, counted in rows)
    for tail, counted in rows:
        if counted >= 1e-4:
            assert tail == pytest.approx(counted, rel=0.1)


def test_patterns_that_an_annotator_never_met_change_nothing():
    rows = np.array([0]), np.array([40])
    alone = exchangeable_sum_tails(peer_agreement_draws([pattern(2, 1)]), *rows, -5.0)
    others = [pattern(2, 1), pattern(3, 1, 1), pattern(8, 5, 2), pattern(6, 5)]
    assert exchangeable_sum_tails(peer_agreement_draws(others), *rows, -5.0) == alone


def test_mixed_sizes_where_no_lattice_is_coarse():
    patterns = [pattern(2, 1), pattern(3, 1), pattern(2, 1, 1), pattern(3, 2), pattern(4, 2)]
    for tail, counted in compared(peer_agreement_draws(patterns), [20, 15, 15, 10, 10]):
        if counted >= 1e-4:
            assert tail == pytest.approx(counted, rel=0.15)


def test_points_of_a_scale():
    draws = Draws(np.array([[1.0, 2, 5], [2, 3, 4]]), np.array([[0.5, 0.25, 0.25]] * 2), ONE * 2)
    for tail, counted in compared(draws, [10, 10]):
        if counted >= 1e-4:
            assert tail == pytest.approx(counted, rel=0.1)


def test_two_values_an_item_are_binomial():
    draws = Draws(np.array([[0.0, 1.0]]), np.array([[0.7, 0.3]]), ONE)
    for count in range(5, 30):
        tails = exchangeable_sum_tails(draws, np.array([0]), np.array([60]), count - 18.0)
        assert tails.upper == pytest.approx(stats.binom.sf(count - 1, 60, 0.3), rel=0.03)
        assert tails.lower == pytest.approx(stats.binom.cdf(count, 60, 0.3), rel=0.03)


@pytest.mark.parametrize("items", [[10], [200]])
def test_the_most_and_the_least_are_exact(items):
    draws = peer_agreement_draws([pattern(3, 1)])
    place = np.array([0])
    most = exchangeable_sum_tails(draws, place, np.array(items), items[0] * (2 / 3 - 1 / 2))
    least = exchangeable_sum_tails(draws, place, np.array(items), items[0] * (0 - 1 / 2))
    assert most.upper == pytest.approx(0.75 ** items[0], rel=1e-9)
    assert least.lower == pytest.approx(0.25 ** items[0], rel=1e-9)
    assert (most.lower, least.upper) == (1.0, 1.0)


def test_the_two_directions_are_mirror_images():
    draws = peer_agreement_draws([pattern(2, 1), pattern(3, 1, 1)])
    mirrored = Draws(-draws.values, draws.chances, draws.steps)
    place, items = np.array([0, 1]), np.array([13, 9])
    for excess in sums(draws, items)[0]:
        tails = exchangeable_sum_tails(draws, place, items, float(excess))
        other = exchangeable_sum_tails(mirrored, place, items, -float(excess))
        assert (tails.lower, tails.upper) == pytest.approx((other.upper, other.lower), rel=1e-9)


def test_both_tails_hold_what_was_seen():
    draws = peer_agreement_draws([pattern(2, 1)])
    for excess in sums(draws, [30])[0][1:-1]:
        tails = exchangeable_sum_tails(draws, np.array([0]), np.array([30]), float(excess))
        assert tails.lower + tails.upper >= 1.0 - 1e-3


def test_beyond_the_exact_bound_it_is_normal_with_half_a_step():
    draws = peer_agreement_draws([pattern(2, 1)])
    number = EXACT_ITEMS + 1
    tails = exchangeable_sum_tails(draws, np.array([0]), np.array([number]), -15.0)
    deviation = np.sqrt(number * 2 / 3 * 1 / 3) / 2
    assert tails.lower == pytest.approx(stats.norm.cdf((-15.0 + 0.25) / deviation))
    assert tails.upper == pytest.approx(stats.norm.sf((-15.0 - 0.25) / deviation))
    near = exchangeable_sum_tails(draws, np.array([0]), np.array([number - 1]), -15.0)
    assert near.lower == pytest.approx(tails.lower, rel=0.1)


def test_a_tail_is_never_zero():
    draws = peer_agreement_draws([pattern(19, 1)])
    for number in (EXACT_ITEMS, 100 * EXACT_ITEMS):
        tails = exchangeable_sum_tails(draws, np.array([0]), np.array([number]), -0.9 * number)
        assert 0.0 < tails.lower < 1e-200
        assert tails.upper <= 1.0


def test_items_that_cannot_tell_add_nothing():
    draws = peer_agreement_draws([pattern(2, 1), pattern(3), pattern(1, 1), pattern(1, 1, 1)])
    alone = exchangeable_sum_tails(draws, np.array([0]), np.array([20]), -2.0)
    assert exchangeable_sum_tails(draws, np.arange(4), np.array([20, 50, 50, 50]), -2.0) == alone
    assert exchangeable_sum_tails(draws, np.array([1, 2]), np.array([9, 9]), 0.0) == (1.0, 1.0)
