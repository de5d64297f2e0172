"""Categories against the truth's: McNemar 1947, Stuart 1955 and Maxwell 1970."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable, mcnemar

from tests.audit.crowds import seeded
from tracker.audit.statistics.mantel_haenszel import marginal_homogeneity_margins, stuart_maxwell


def cells(seed, categories=4, items=90):
    """Truth, own answer and a pattern that does not matter, with how many items."""
    random = seeded(seed)
    counts = Counter()
    for _ in range(items):
        truth = random.randrange(categories)
        own = truth if random.random() < 0.6 else min(truth + 1, categories - 1)
        counts[(truth,), (own,), (((own,), random.randrange(1, 4)),)] += 1
    return counts


def table(counts, categories=4):
    square = np.zeros((categories, categories))
    for (truth, own, _), items in counts.items():
        square[truth[0], own[0]] += items
    return square


@pytest.mark.parametrize("seed", range(4))
def test_stuart_maxwell_against_statsmodels(seed):
    counts = cells(seed)
    expected = SquareTable(table(counts), shift_zeros=False).homogeneity(method="stuart_maxwell")
    for margin in marginal_homogeneity_margins(counts).values():
        assert margin.overall_p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("seed", range(4))
def test_mcnemar_against_statsmodels(seed):
    counts = cells(seed)
    square = table(counts)
    for category, margin in marginal_homogeneity_margins(counts).items():
        given, true = square[:, category].sum(), square[category].sum()
        both = square[category, category]
        two = [[both, true - both], [given - both, square.sum() - given - true + both]]
        assert margin.p_value == pytest.approx(mcnemar(two, exact=True).pvalue)
        assert (margin.items, margin.given, margin.true) == (square.sum(), given, true)
        assert (margin.over, margin.under) == (given - both, true - both)


def test_mcnemar_s_odds_and_their_interval():
    found = marginal_homogeneity_margins(
        {((0,), (1,), ()): 12, ((1,), (0,), ()): 4, ((0,), (0,), ()): 30}
    )[1]
    assert found.odds_ratio == pytest.approx(3.0)
    share = stats.binomtest(12, 16).proportion_ci(method="exact")
    expected = (share.low / (1 - share.low), share.high / (1 - share.high))
    assert found.odds_interval == pytest.approx(expected)
    assert found.p_value == pytest.approx(stats.binomtest(12, 16).pvalue)


def test_one_side_only():
    found = marginal_homogeneity_margins({((0,), (1,), ()): 12, ((0,), (0,), ()): 3})
    assert (found[1].odds_ratio, found[0].odds_ratio) == (math.inf, 0.0)
    assert found[1].odds_interval[1] == math.inf
    assert found[0].odds_interval[0] == 0.0
    assert found[0].odds_interval[1] == pytest.approx(1 / found[1].odds_interval[0])


def test_always_right_is_no_bias():
    found = marginal_homogeneity_margins({((0,), (0,), ()): 8, ((1,), (1,), ()): 5})
    assert [m.p_value for m in found.values()] == [1.0, 1.0]
    assert [m.odds_ratio for m in found.values()] == [None, None]
    assert [m.overall_p_value for m in found.values()] == [None, None]


def test_a_very_sure_bias_is_not_zero():
    assert 0.0 < marginal_homogeneity_margins({((0,), (1,), ()): 20_000})[1].p_value < 1e-300


def test_answers_of_several_categories_have_margins_and_no_overall_test():
    counts = {((0, 1), (1,), ()): 6, ((), (0,), ()): 2, ((1,), (1,), ()): 9}
    found = marginal_homogeneity_margins(counts)
    assert (found[0].over, found[0].under, found[0].given, found[0].true) == (2, 6, 2, 6)
    assert (found[1].over, found[1].under, found[1].given, found[1].true) == (0, 0, 15, 15)
    assert found[0].overall_p_value is None
    assert stuart_maxwell({((0, 1), (1,)): 3}) is None


def test_nothing_to_compare():
    assert marginal_homogeneity_margins({}) == {}
    assert stuart_maxwell({}) is None
