"""Strengths of Davidson (1970), those of other programs, and what has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from tests.profiles import examples
from tracker.measures.paired_comparisons import (
    NOT_CONNECTED,
    NOTHING,
    ONE_SIDED,
    TIES_APART,
    Comparisons,
    Row,
    Strengths,
    Undefined,
    equal_numbers_p_value,
    fit_strengths,
    kendall_tau,
    positions,
)

WINS = [[0, 4, 10, 9, 8], [3, 0, 5, 8, 13], [2, 6, 0, 7, 8], [3, 3, 4, 0, 11], [2, 3, 3, 8, 0]]
CHOIX = [0.91134149, 0.36910171, 0.05484830, -0.48071537, -0.85457613]
"""`choix.opt_pairwise` of choix 0.4.1, and `evalica.bradley_terry` of evalica 0.4.2."""


def fitted(rows, *, order=False):
    result = fit_strengths(Comparisons(rows), order=order)
    assert isinstance(result, Strengths)
    return result


def why(*rows):
    result = fit_strengths(Comparisons(rows))
    assert isinstance(result, Undefined)
    return result


def test_without_ties_strengths_are_those_of_choix_and_evalica():
    rows = [Row("abcde"[one], "abcde"[other], 1, 0, 0, number)
            for one, beaten in enumerate(WINS) for other, number in enumerate(beaten)
            if number]  # fmt: skip
    result = fitted(rows)
    assert result.values == pytest.approx(CHOIX, abs=1e-6)
    assert (result.tie, result.order) == (None, None)


def drawn(seed, *, order=0.0, items=90, people=3):
    """Comparisons of four by people who share a taste for one of each item's two."""
    random, true = np.random.default_rng(seed), (0.8, 0.3, -0.3, -0.8)
    rows = []
    for _ in range(items):
        one, other = random.choice(4, 2, replace=False)
        gap = true[one] - true[other] + order + random.normal(0, 0.5)
        weights = np.exp([gap / 2, -0.5, -gap / 2])
        chances = weights / weights.sum()
        rows.append(Row("abcd"[one], "abcd"[other], *random.multinomial(people, chances).tolist()))
    return rows


@pytest.mark.parametrize("order", [False, True])
def test_the_likelihood_is_the_greatest_that_an_independent_search_finds(order):
    """The formula of Davidson and Beaver (1977) with p, v and g themselves."""
    rows = drawn(1, order=0.4, items=40)

    def unlikely(values):
        p = dict(zip("abcd", np.exp([0, *values[:3]]), strict=True))
        v, g = np.exp(values[3]), np.exp(values[4]) if order else 1.0
        total = 0.0
        for row in rows:
            first, second = g * p[row.first], p[row.second]
            tie = v * np.sqrt(p[row.first] * p[row.second])
            parts = np.array([first, tie, second]) / (first + tie + second)
            total -= np.dot(row[2:5], np.log(parts))
        return total

    result = fitted(rows, order=order)
    best = optimize.minimize(unlikely, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    strengths = np.array([0, *best.x[:3]])
    assert result.values == pytest.approx(strengths - strengths.mean(), abs=1e-5)
    assert result.tie[0] == pytest.approx(best.x[3], abs=1e-5)
    assert (result.order is None) == (not order)
    if order:
        assert result.order[0] == pytest.approx(best.x[4], abs=1e-5)


@given(st.integers(0, 10**6))
@examples(25)
def test_names_and_the_order_of_rows_change_nothing(seed):
    rows = drawn(seed)
    result = fit_strengths(Comparisons(rows))
    if isinstance(result, Undefined):
        return
    swapped = [Row(r.second, r.first, r.worse, r.ties, r.better, r.items) for r in rows[::-1]]
    other = fitted(swapped)
    assert other.values == pytest.approx(result.values, abs=1e-6)
    assert other.covariance == pytest.approx(result.covariance, abs=1e-6)
    assert abs(result.values.mean()) < 1e-9


def test_intervals_and_ranks_hold_the_truth_as_often_as_they_say():
    """About 95 of 100: the benchmark `preferences` measures more."""
    true = np.array([0.8, 0.3, -0.3, -0.8])
    limit = fitted(drawn(9, items=20_000, people=1)).values  # tastes draw strengths together
    assert limit == pytest.approx(true, abs=0.15)
    inside, ranked = [], 0
    for seed in range(60):
        result = fitted(drawn(seed + 100))
        inside += (np.abs(result.values - limit) <= 1.96 * result.errors).tolist()
        ranked += all(low <= n <= high for n, (low, high) in enumerate(result.ranks(0.95), 1))
    assert 0.9 <= np.mean(inside) <= 0.99
    assert ranked >= 57


def test_comparisons_without_finite_strengths():
    apart = why(Row("a", "b", 1, 1, 1), Row("c", "d", 1, 1, 1))
    assert (apart.reason, apart.group, apart.others) == (NOT_CONNECTED, ("a", "b"), ("c", "d"))
    best = why(Row("a", "b", 2, 0, 1), Row("b", "c", 1, 0, 0), Row("a", "c", 3, 0, 0))
    assert (best.reason, best.group, best.others) == (ONE_SIDED, ("a", "b"), ("c",))
    assert best.sentence == "a, b were never worse than c, nor alike"
    assert why().reason == why(Row("a", "a", 1, 0, 0)).reason == NOTHING
    # Ties next to one that always wins have no finite parameter.
    assert why(Row("a", "b", 3, 2, 0)).reason == TIES_APART
    assert why(Row("a", "b", 0, 2, 0)).reason == TIES_APART
    assert fitted([Row("a", "b", 3, 2, 1)]).tie is not None
    # Nor has an order effect that the strengths explain as well.
    assert fitted([Row("a", "b", 3, 1, 2)], order=True).order is None
    order = fitted(drawn(4, order=0.7, items=400), order=True).order
    assert order[0] == pytest.approx(0.7, abs=3 * order[1])


def test_kendall_tau_and_the_test_of_equal_numbers_are_those_of_scipy():
    one, other = [3.0, 1.0, 2.0, 2.0, 0.5], [2.5, 1.5, 1.5, 3.0, 0.0]
    assert kendall_tau(one, other) == pytest.approx(stats.kendalltau(one, other).statistic)
    assert kendall_tau([1.0], [2.0]) is None
    for one, other in ((0, 5), (3, 3), (11, 0), (7, 12)):
        wanted = stats.binomtest(one, one + other).pvalue
        assert equal_numbers_p_value(one, other) == pytest.approx(wanted)
    assert equal_numbers_p_value(0, 0) is None


def test_taste_is_no_position_and_position_is_found():
    """One who prefers one of the two, wherever it stands, and one who takes the first."""
    even = [Row("a", "b", 10, 0, 10), Row("b", "a", 10, 0, 10)]
    taste = [Row("a", "b", 18, 0, 2), Row("b", "a", 2, 0, 18)]
    first = [Row("a", "b", 15, 0, 5), Row("b", "a", 15, 0, 5)]
    result = positions({1: even, 2: taste, 3: first, 4: [Row("c", "d", 9, 0, 1)]})
    assert [result[n].difference for n in (1, 2, 3)] == pytest.approx([0, 0, 0.25], abs=0.01)
    assert (result[3].p_value or 1) < 0.002 < (result[2].p_value or 1)
    assert 4 not in result  # a pair in one order says nothing
