"""Exact tails, trends and discovery rates; category use against co-annotators and gold.

Lugannani and Rice (1980) and Daniels (1987) for sums; Clopper and Pearson (1934) for intervals;
Armitage (1955) for trends; Mantel and Haenszel 1959, Robins, Breslow and Greenland 1986; McNemar
1947, Stuart 1955 and Maxwell 1970.
"""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable, StratifiedTable, Table, mcnemar

from tests.audit.crowds import Crowd, leaning, mostly_right, one, seeded, simulate
from tests.profiles import examples
from tracker.audit.statistics.exact_tests import (
    EXACT_ITEMS,
    Draws,
    Stratum,
    benjamini_hochberg,
    clopper_pearson,
    cochran_armitage_fall,
    exchangeable_sum_tails,
    poisson_binomial_tails,
    pool_strata,
)
from tracker.audit.statistics.mantel_haenszel import (
    mantel_haenszel_of_chances,
    mantel_haenszel_usages,
    marginal_homogeneity_margins,
    stuart_maxwell,
)
from tracker.audit.statistics.peer_agreement import peer_agreement_draws
from tracker.core.tally_columns import tally_columns_of


def test_discovery_rates_against_scipy():
    for seed in range(5):
        random = seeded(seed)
        p_values = [random.random() ** 4 for _ in range(50)] + [0.01, 0.01, 1.0]
        expected = stats.false_discovery_control(p_values)
        assert benjamini_hochberg(p_values) == pytest.approx(expected, rel=1e-12)
    # 0.01 * 4 / 1, 0.02 * 4 / 2, 0.04 * 4 / 3, and 0.05 * 4 / 4 which is less than the last
    assert benjamini_hochberg([0.05, 0.01, 0.04, 0.02]) == pytest.approx([0.05, 0.04, 0.05, 0.04])
    assert (benjamini_hochberg([]), benjamini_hochberg([0.3])) == ([], [0.3])


def test_poisson_binomial_tails_against_scipy():
    for seed in range(5):
        random = seeded(seed)
        chances = [(random.randrange(1, n), n, random.randrange(1, 12)) for n in range(2, 9)]
        trials = [held / size for held, size, items in chances for _ in range(items)]
        peer = stats.poisson_binom(trials)
        for count in range(0, len(trials) + 1, 3):
            tails = poisson_binomial_tails(count, chances)
            # scipy convolves by Fourier transform, whose error is absolute
            assert tails.lower == pytest.approx(float(peer.cdf(count)), abs=1e-12)
            assert tails.upper == pytest.approx(float(peer.sf(count - 1)), abs=1e-12)
    # Of equal chances, binomial far into the tail.
    upper = poisson_binomial_tails(150, [(1, 5, 300)]).upper
    assert upper == pytest.approx(stats.binom.sf(149, 300, 0.2), rel=1e-9)
    assert upper < 1e-25
    lower = poisson_binomial_tails(10, [(1, 5, 300)]).lower
    assert lower == pytest.approx(stats.binom.cdf(10, 300, 0.2), rel=1e-9)


@st.composite
def strata(draw, most=5):
    trials, other = draw(st.integers(1, most)), draw(st.integers(1, 3 * most))
    own, theirs = draw(st.integers(0, trials)), draw(st.integers(0, other))
    return Stratum(own, trials, own + theirs, trials + other)


@examples(40)
@given(st.lists(strata(), min_size=1, max_size=4))
def test_strata_count_every_outcome(several):
    """Of one stratum that is Fisher's exact test."""
    telling = [s for s in several if 0 < s.all_own < s.all_trials]
    pooled = pool_strata(several)
    if not telling:
        assert pooled is None
        return
    chances = np.ones(1)
    for stratum in telling:
        law = stats.hypergeom(stratum.all_trials, stratum.all_own, stratum.trials)
        chances = np.convolve(chances, law.pmf(range(stratum.trials + 1)))
    own = sum(stratum.own for stratum in telling)
    trials = sum(stratum.trials for stratum in telling)
    assert (pooled.own, pooled.trials) == (own, trials)
    assert pooled.tails.lower == pytest.approx(chances[: own + 1].sum())
    assert pooled.tails.upper == pytest.approx(chances[own:].sum())


def test_strata_of_many_trials_are_normal_and_meet_the_exact_ones():
    exact, more = Stratum(190, 250, 1600, 2000), Stratum(191, 251, 1600, 2000)
    assert 2 * exact.trials <= EXACT_ITEMS < 2 * (exact.trials + 1)
    one, other = pool_strata([exact, exact]), pool_strata([exact, more])
    assert one.tails.lower == pytest.approx(other.tails.lower, rel=0.1)
    variance = sum(n * 0.16 * (2000 - n) / 1999 for n in (250, 251))
    expected = stats.norm.cdf((381 + 0.5 - 501 * 0.8) / np.sqrt(variance))
    assert other.tails.lower == pytest.approx(expected)


def test_strata_that_cannot_tell_change_nothing():
    easy, hard = Stratum(3, 4, 93, 104), Stratum(5, 16, 25, 66)
    mixed = pool_strata([easy, hard])
    assert mixed.peers == pytest.approx((4 * 0.9 + 16 * 0.4) / 20), "in the annotator's own mix"
    assert mixed.expected == pytest.approx((4 * 93 / 104 + 16 * 25 / 66) / 20)
    mute = [Stratum(4, 4, 4, 4), Stratum(4, 4, 40, 40), Stratum(0, 5, 0, 50), Stratum(0, 0, 3, 9)]
    assert pool_strata([easy, *mute]) == pool_strata([easy])
    assert pool_strata(mute) is pool_strata([]) is None


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 20), (7, 20), (20, 20), (199, 500)])
def test_clopper_pearson_against_scipy(successes, trials):
    expected = stats.binomtest(successes, trials).proportion_ci(method="exact")
    assert clopper_pearson(successes, trials) == pytest.approx((expected.low, expected.high))


def pattern(*counts):
    return tuple(((category,), count) for category, count in enumerate(counts))


def draws_of(*patterns):
    return peer_agreement_draws([pattern(*counts) for counts in patterns])


def tails_of(draws, items, excess):
    return exchangeable_sum_tails(draws, np.arange(len(items)), np.array(items), float(excess))


def sums(draws, items):
    """Return every sum less its expectation, ascending, and its probability, in sixtieths."""
    total, mean = np.ones(1), 0.0
    for place, number in enumerate(items):
        one = np.zeros(1 + round(60 * draws.values[place].max()))
        np.add.at(one, np.rint(60 * draws.values[place]).astype(int), draws.chances[place])
        mean += number * draws.mean[place]
        for _ in range(number):
            total = np.convolve(total, one)
    possible = np.flatnonzero(total)
    return possible / 60 - mean, total[possible]


SCALE = Draws(
    np.array([[1.0, 2, 5], [2, 3, 4]]), np.array([[0.5, 0.25, 0.25]] * 2), (Fraction(1),) * 2
)


@pytest.mark.parametrize(
    ("draws", "items", "error"),
    [
        (draws_of((2, 1)), [12], 0.1),
        (draws_of((3, 1)), [40], 0.1),
        (draws_of((2, 2, 1), (3, 2)), [10, 12], 0.1),
        (draws_of((2, 1), (3, 1), (2, 1, 1), (3, 2), (4, 2)), [20, 15, 15, 10, 10], 0.15),
        (SCALE, [10, 10], 0.1),
    ],
    ids=["2:1", "3:1", "three", "mixed sizes", "scale"],
)
def test_tails_of_sums_down_to_one_in_ten_thousand(draws, items, error):
    """At up to a hundred sums but the extremes, against every outcome counted."""
    excess, chance = sums(draws, items)
    least = 1.0
    for place in range(1, len(excess) - 1, 1 + len(excess) // 100):
        tails = tails_of(draws, items, excess[place])
        for tail, counted in zip(
            tails, (chance[: place + 1].sum(), chance[place:].sum()), strict=True
        ):
            least = min(least, counted)
            assert counted < 1e-4 or tail == pytest.approx(counted, rel=error)
        mirrored = Draws(-draws.values, draws.chances, draws.steps)
        reverse = tails_of(mirrored, items, -excess[place])[::-1]
        assert tails == pytest.approx(reverse, rel=1e-9)
        assert sum(tails) >= 1.0 - 1e-3, "both hold what was seen"
    assert least < 1e-3


@pytest.mark.parametrize("items", [10, 200])
def test_tails_of_the_most_and_the_least_are_exact(items):
    most, least = (tails_of(draws_of((3, 1)), [items], items * e) for e in (2 / 3 - 1 / 2, -1 / 2))
    assert most.upper == pytest.approx(0.75**items, rel=1e-9)
    assert least.lower == pytest.approx(0.25**items, rel=1e-9)
    assert (most.lower, least.upper) == (1.0, 1.0)


def test_tails_beyond_the_exact_bound_are_normal_with_half_a_step():
    draws, number = draws_of((2, 1)), EXACT_ITEMS + 1
    tails = tails_of(draws, [number], -15.0)
    deviation = np.sqrt(number * 2 / 3 * 1 / 3) / 2
    assert tails.lower == pytest.approx(stats.norm.cdf((-15.0 + 0.25) / deviation))
    assert tails.upper == pytest.approx(stats.norm.sf((-15.0 - 0.25) / deviation))
    near = tails_of(draws, [number - 1], -15.0)
    assert near.lower == pytest.approx(tails.lower, rel=0.1)


def fall(answers, right):
    answers, right = np.array(answers, dtype=float), np.array(right, dtype=float)
    return cochran_armitage_fall(answers, right, right)


def test_a_trend_of_right_and_wrong_is_the_test_of_statsmodels():
    for seed in range(5):
        random = np.random.default_rng(seed)
        answers = random.integers(5, 15, size=8)
        right = random.binomial(answers, np.linspace(0.85, 0.6, 8))
        table = Table(np.column_stack([answers - right, right]), shift_zeros=False)
        peer = table.test_ordinal_association(row_scores=np.arange(8), col_scores=np.array([0, 1]))
        # Theirs takes the variance with one degree of freedom less.
        score = peer.zscore * math.sqrt(answers.sum() / (answers.sum() - 1))
        assert fall(answers, right).trend_p == pytest.approx(stats.norm.cdf(score), rel=1e-9)
    block = np.repeat(np.arange(10), 12)
    figure = np.random.default_rng(9).normal(0.0, 1.0, size=120) - 0.08 * block
    totals = [np.bincount(block, weights) for weights in (np.ones(120), figure, figure**2)]
    slope = ((block - block.mean()) * (figure - figure.mean())).sum()
    score = slope / math.sqrt(figure.var() * ((block - block.mean()) ** 2).sum())
    assert cochran_armitage_fall(*totals).trend_p == pytest.approx(stats.norm.cdf(score))


def test_a_cumulative_sum_names_the_block_from_which_a_figure_fell():
    found = fall([10] * 12, [9, 10, 9, 10, 9, 10, 9, 4, 5, 4, 5, 4])
    assert found.block == 7
    assert (found.before, found.after) == (pytest.approx(66 / 70), pytest.approx(22 / 50))
    mean = 88 / 120
    height = (66 - 70 * mean) / math.sqrt(mean * (1 - mean) * 120)
    assert found.sum_p == pytest.approx(math.exp(-2 * height**2))
    assert found.p_value == 2 * min(found.trend_p, found.sum_p)
    rise = fall([10] * 6, [2, 3, 4, 7, 8, 9])
    assert rise.trend_p > 0.99
    assert rise.p_value == 1.0
    one, other = fall([10, 0, 10, 0], [9, 0, 2, 0]), fall([10, 10], [9, 2])
    for name in ("trend_p", "sum_p", "after"):
        assert getattr(one, name) == pytest.approx(getattr(other, name)), "empty blocks"
    for answers, right in (
        ([10, 0, 0], [4, 0, 0]), ([5, 5], [5, 5]), ([5, 5], [0, 0]), ([0], [0])
    ):  # fmt: skip
        assert fall(answers, right) is None


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
            expected = StratifiedTable(list(rows.reshape(-1, 2, 2).astype(float)))
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


def test_an_interval_of_always_and_never_has_one_exact_bound():
    odds, infinite = mantel_haenszel_of_chances(0, [(1, 1, 4, 12)]).odds_interval
    assert (odds / (odds + 3)) ** 12 == pytest.approx(0.025)  # odds to 1 against three others
    assert infinite == math.inf
    never = mantel_haenszel_of_chances(0, [(0, 3, 4, 12)]).odds_interval
    assert never == pytest.approx((0.0, 1 / odds))
    assert mantel_haenszel_of_chances(0, [(1, 4, 4, 12), (0, 0, 3, 5)]).odds_interval is None
    assert mantel_haenszel_of_chances(0, [(1, 1, 1, 12)]) is None


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
    for margin in margins(((0,), (0,), 8), ((1,), (1,), 5)).values():
        assert (margin.p_value, margin.odds_ratio, margin.overall_p_value) == (1.0, None, None)
    several = margins(((0, 1), (1,), 6), ((), (0,), 2), ((1,), (1,), 9))
    counts = [(m.over, m.under, m.given, m.true) for m in (several[0], several[1])]
    assert counts == [(2, 6, 2, 6), (0, 0, 15, 15)]
    assert several[0].overall_p_value is None
    assert stuart_maxwell({((0, 1), (1,)): 3}) is stuart_maxwell({}) is None
    assert margins() == {}
