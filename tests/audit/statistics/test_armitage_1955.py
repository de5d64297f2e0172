"""A falling figure: the trend test of Cochran and Armitage, and a cumulative sum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import Table

from tracker.audit.statistics.exact_tests import cochran_armitage_fall


def fall(answers, right):
    answers, right = np.array(answers, dtype=float), np.array(right, dtype=float)
    return cochran_armitage_fall(answers, right, right)


@pytest.mark.parametrize("seed", range(5))
def test_of_right_and_wrong_it_is_the_test_of_statsmodels(seed):
    random = np.random.default_rng(seed)
    answers = random.integers(5, 15, size=8)
    right = random.binomial(answers, np.linspace(0.85, 0.6, 8))
    table = Table(np.column_stack([answers - right, right]), shift_zeros=False)
    found = table.test_ordinal_association(row_scores=np.arange(8), col_scores=np.array([0, 1]))
    # Theirs takes the variance with one degree of freedom less.
    score = found.zscore * math.sqrt(answers.sum() / (answers.sum() - 1))
    assert fall(answers, right).trend_p == pytest.approx(stats.norm.cdf(score), rel=1e-9)


def test_of_any_figure_it_is_a_plain_sum():
    random = np.random.default_rng(9)
    block = np.repeat(np.arange(10), 12)
    figure = random.normal(0.0, 1.0, size=120) - 0.08 * block
    totals = [np.bincount(block, weights) for weights in (np.ones(120), figure, figure**2)]
    slope = ((block - block.mean()) * (figure - figure.mean())).sum()
    score = slope / math.sqrt(figure.var() * ((block - block.mean()) ** 2).sum())
    assert cochran_armitage_fall(*totals).trend_p == pytest.approx(stats.norm.cdf(score))


def test_the_sum_names_the_block_from_which_it_fell():
    found = fall([10] * 12, [9, 10, 9, 10, 9, 10, 9, 4, 5, 4, 5, 4])
    assert found.block == 7
    assert (found.before, found.after) == (pytest.approx(66 / 70), pytest.approx(22 / 50))
    mean, number = 88 / 120, 120
    height = (66 - 70 * mean) / math.sqrt(mean * (1 - mean) * number)
    assert found.sum_p == pytest.approx(math.exp(-2 * height**2))
    assert found.p_value == 2 * min(found.trend_p, found.sum_p)


def test_a_figure_that_rises_has_no_small_p_value():
    found = fall([10] * 6, [2, 3, 4, 7, 8, 9])
    assert found.trend_p > 0.99
    assert found.p_value == 1.0


def test_of_a_figure_that_stays_one_in_twenty_is_below_a_twentieth_at_most():
    random = np.random.default_rng(3)
    right = random.binomial(10, 0.8, size=(4000, 20)).astype(float)
    answers = np.full(20, 10.0)
    found = [cochran_armitage_fall(answers, row, row) for row in right]
    # Bonferroni, and blocks in place of single answers: below the nominal rate; 3 errors allowed.
    for alpha in (0.05, 0.01):
        bound = alpha + 3 * math.sqrt(alpha / 4000)
        assert np.mean([f.p_value <= alpha for f in found]) <= bound
        assert np.mean([f.sum_p <= alpha for f in found]) <= bound
    assert np.mean([f.trend_p <= 0.05 for f in found]) == pytest.approx(0.05, abs=0.015)


def test_empty_blocks_are_no_blocks_of_nothing():
    one, other = fall([10, 0, 10, 0], [9, 0, 2, 0]), fall([10, 10], [9, 2])
    assert (one.trend_p, one.sum_p, one.after) == pytest.approx(
        (other.trend_p, other.sum_p, other.after)
    )


@pytest.mark.parametrize(
    ("answers", "right"), [([10, 0, 0], [4, 0, 0]), ([5, 5], [5, 5]), ([5, 5], [0, 0]), ([0], [0])]
)
def test_nothing_to_test(answers, right):
    assert fall(answers, right) is None
