"""Category use against co-annotators and gold, typed from definitions and by statsmodels.

Mantel and Haenszel 1959, Robins, Breslow and Greenland 1986; McNemar 1947, Stuart 1955 and
Maxwell 1970.
"""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable, StratifiedTable, mcnemar

from tests.audit.crowds import Crowd, leaning, mostly_right, one, seeded, simulate
from tracker.audit.statistics.mantel_haenszel import (
    mantel_haenszel_of_chances,
    mantel_haenszel_usages,
    marginal_homogeneity_margins,
    stuart_maxwell,
)
from tracker.core.tallies import AnnotatorTallies
from tracker.core.tally_columns import tally_columns_of


def usages(crowd):
    found = mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared)
    return {(usage.annotator, usage.category): usage for usage in found}


def tables(crowd, annotator, category):
    """Yield the 2 by 2 table (a, b, c, d) of each shared item: own row, then co-annotators'."""
    for answers in crowd.items:
        if annotator in answers and len(answers) > 1:
            own = int(category in answers[annotator])
            others = [category in a for who, a in answers.items() if who != annotator]
            yield own, 1 - own, sum(others), len(others) - sum(others)


def stratified(tables):
    return StratifiedTable([np.array([[a, b], [c, d]], dtype=float) for a, b, c, d in tables])


def ragged(seed, several):
    random, items = seeded(seed), []
    for _ in range(120):
        who = random.sample(range(6), random.randrange(1, 6))
        items.append(
            {
                w: tuple(c for c in (3, 8, 9) if random.random() < 0.4)
                if several
                else (random.choice((3, 8, 9)),)
                for w in who
            }
        )
    return Crowd(items)


@pytest.mark.parametrize("several", [False, True])
def test_usages_are_sums_of_tables(several):
    for seed in range(3):
        crowd = ragged(seed, several)
        found = usages(crowd)
        assert len(found) == 6 * 3
        for key, usage in found.items():
            rows = np.array([*tables(crowd, *key)])
            a, b, c, d = rows.T
            n, held = rows.sum(axis=1), a + c
            assert (usage.n, usage.own) == (len(rows), a.sum())
            assert usage.expected_share == pytest.approx((held / n).mean())
            assert usage.peer_share == pytest.approx((c / (c + d)).mean())
            assert usage.informative == ((held > 0) & (held < n)).sum()
            assert usage.informative == sum(items for *_, items in usage.chances)
            # The hypergeometric variance with the annotator's row total 1.
            variance = (a + b) * (c + d) * held * (b + d) / (n * n * (n - 1))
            assert usage.variance == pytest.approx(variance.sum())
            expected = stratified(rows)
            assert usage.odds_ratio == pytest.approx((a * d / n).sum() / (b * c / n).sum())
            assert usage.odds_ratio == pytest.approx(expected.oddsratio_pooled)
            interval = expected.oddsratio_pooled_confint()
            assert usage.odds_interval == pytest.approx(interval, rel=1e-6)


def test_a_usage_beyond_the_exact_bound_has_the_p_value_of_mantel_and_haenszel():
    voices = {i: mostly_right(0.7) for i in range(4)} | {4: leaning(0, 0.1, mostly_right(0.7))}
    crowd = simulate(seeded(7), voices, items=1500, per_item=4)
    usage = usages(crowd)[4, 0]
    assert usage.informative > 500
    assert not usage.chances
    expected = sum((a + c) / (a + b + c + d) for a, b, c, d in tables(crowd, 4, 0))
    statistic = (abs(usage.own - expected) - 0.5) ** 2 / usage.variance
    assert usage.tails.two_sided == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-9)


def test_usages_of_few_answers():
    lonely = usages(one({1: 0}, {1: 0}, {1: 0, 2: 1}))[1, 0]
    assert (lonely.n, lonely.own, lonely.expected, lonely.peers) == (1, 1, 0.5, 0.0)
    bounds = usages(one({1: 0, 2: 1}, {1: 5, 2: 5}))
    assert [bounds[1, category].odds_ratio for category in (0, 1, 5)] == [math.inf, 0.0, None]
    for crowd in (one(), one({1: 0}), Crowd([{1: (), 2: ()}])):
        assert usages(crowd) == {}
    assert mantel_haenszel_usages(tally_columns_of(AnnotatorTallies()).shared) == []


def test_an_interval_of_always_and_never_has_one_exact_bound():
    odds, infinite = mantel_haenszel_of_chances(0, 0, [(1, 1, 4, 12)]).odds_interval
    assert (odds / (odds + 3)) ** 12 == pytest.approx(0.025)  # odds to 1 against three others
    assert infinite == math.inf
    never = mantel_haenszel_of_chances(0, 0, [(0, 3, 4, 12)]).odds_interval
    assert never == pytest.approx((0.0, 1 / odds))
    assert mantel_haenszel_of_chances(0, 0, [(1, 4, 4, 12), (0, 0, 3, 5)]).odds_interval is None
    assert mantel_haenszel_of_chances(0, 0, [(1, 1, 1, 12)]) is None


def test_margins_against_statsmodels():
    for seed in range(4):
        random, counts, square = seeded(seed), Counter(), np.zeros((4, 4))
        for _ in range(90):
            truth = random.randrange(4)
            own = truth if random.random() < 0.6 else min(truth + 1, 3)
            counts[(truth,), (own,), (((own,), random.randrange(1, 4)),)] += 1
            square[truth, own] += 1
        overall = SquareTable(square, shift_zeros=False).homogeneity(method="stuart_maxwell")
        for category, margin in marginal_homogeneity_margins(counts).items():
            assert margin.overall_p_value == pytest.approx(overall.pvalue)
            given, true = square[:, category].sum(), square[category].sum()
            both = square[category, category]
            two = [[both, true - both], [given - both, 90 - given - true + both]]
            assert margin.p_value == pytest.approx(mcnemar(two, exact=True).pvalue)
            assert (margin.items, margin.given, margin.true) == (90, given, true)
            assert (margin.over, margin.under) == (given - both, true - both)


def margins(*counts):
    """Return the margins of (truth, answer, items)."""
    return marginal_homogeneity_margins({(truth, own, ()): items for truth, own, items in counts})


def test_margins_have_odds_and_their_interval():
    margin = margins(((0,), (1,), 12), ((1,), (0,), 4), ((0,), (0,), 30))[1]
    assert margin.odds_ratio == pytest.approx(3.0)
    share = stats.binomtest(12, 16).proportion_ci(method="exact")
    expected = (share.low / (1 - share.low), share.high / (1 - share.high))
    assert margin.odds_interval == pytest.approx(expected)
    assert margin.p_value == pytest.approx(stats.binomtest(12, 16).pvalue)
    sided = margins(((0,), (1,), 12), ((0,), (0,), 3))
    assert (sided[1].odds_ratio, sided[0].odds_ratio) == (math.inf, 0.0)
    assert (sided[0].odds_interval[0], sided[1].odds_interval[1]) == (0.0, math.inf)
    assert sided[0].odds_interval[1] == pytest.approx(1 / sided[1].odds_interval[0])
    for margin in margins(((0,), (0,), 8), ((1,), (1,), 5)).values():
        assert (margin.p_value, margin.odds_ratio, margin.overall_p_value) == (1.0, None, None)
    assert 0.0 < margins(((0,), (1,), 20_000))[1].p_value < 1e-300
    several = margins(((0, 1), (1,), 6), ((), (0,), 2), ((1,), (1,), 9))
    counts = [(m.over, m.under, m.given, m.true) for m in (several[0], several[1])]
    assert counts == [(2, 6, 2, 6), (0, 0, 15, 15)]
    assert several[0].overall_p_value is None
    assert stuart_maxwell({((0, 1), (1,)): 3}) is stuart_maxwell({}) is None
    assert margins() == {}
