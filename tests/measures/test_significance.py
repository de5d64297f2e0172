"""Two coefficients on the same items or on different ones: Gwet (2016), Welch (1947)."""

from __future__ import annotations

import math
from statistics import fmean, stdev

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_ind, ttest_rel

from tests.profiles import examples
from tracker.measures.difference_tests import Comparison, dependent_t_test, independent_t_test
from tracker.measures.intervals import Coefficient

figure = st.integers(-20, 20).map(lambda tenths: tenths / 8)
columns = st.lists(figure, min_size=2, max_size=15)


def bounds(found: Comparison) -> tuple[float | None, float | None]:
    return found.ci_low, found.ci_high


@given(st.lists(st.tuples(figure, figure, st.integers(1, 4)), min_size=1, max_size=8))
def test_dependent_means_are_a_paired_t_test(patterns):
    # A mean is a coefficient too; the influence of an item on it is (x - mean) / n.
    rows = [(x, y) for x, y, items in patterns for _ in range(items)]
    n = len(rows)
    x, y = [one for one, _ in rows], [other for _, other in rows]
    assume(n > 1 and len({one - other for one, other in rows}) > 1)
    found = dependent_t_test(
        [(one - fmean(x)) / n for one, _, _ in patterns],
        [(other - fmean(y)) / n for _, other, _ in patterns],
        [items for _, _, items in patterns],
        fmean(x) - fmean(y),
    )
    expected = ttest_rel(x, y)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert bounds(found) == pytest.approx(tuple(expected.confidence_interval()), abs=1e-9)
    assert (found.freedom, found.n_first, found.n_second) == (n - 1, n, n)
    assert found.test == "dependent_t"


def test_what_both_results_share_drops_out():
    shared = [0.3, -0.3, 0.1, -0.1]
    near = dependent_t_test(shared, [0.29, -0.3, 0.11, -0.1], [5, 5, 5, 5], 0.1)
    assert near.standard_error == pytest.approx(math.sqrt(20 / 19 * 5 * 2 * 0.01**2))
    assert near.standard_error < math.sqrt(20 / 19 * 5 * sum(u * u for u in shared)) / 10


def test_results_that_never_differ_are_the_same():
    found = dependent_t_test([0.1, -0.1], [0.1, -0.1], [3, 3], 0.0)
    assert (found.difference, found.standard_error, found.p_value) == (0, 0, 1)
    assert (found.undefined, found.statistic, bounds(found)) == (None, None, (None, None))


def test_a_difference_without_an_error_is_no_evidence():
    found = dependent_t_test([0.0], [0.0], [8], 0.25)
    assert (found.difference, found.p_value, found.undefined) == (0.25, None, "no_spread")


def test_dependent_on_one_item():
    found = dependent_t_test([0.2], [0.1], [1], 0.25)
    assert (found.difference, found.p_value, found.undefined) == (0.25, None, "too_few_items")


def test_influences_of_other_patterns_are_refused():
    with pytest.raises(ValueError, match="longer"):
        dependent_t_test([0.1], [0.1, 0.2], [1], 0.0)


def of_mean(column: list[float]) -> Coefficient:
    return Coefficient(
        measure="mean",
        value=fmean(column),
        standard_error=stdev(column) / math.sqrt(len(column)),
        items=len(column),
    )


@examples(15)
@given(columns, columns)
def test_independent_means_are_welchs_t_test(first, second):
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    found = independent_t_test(of_mean(first), of_mean(second), 0.9)
    expected = ttest_ind(first, second, equal_var=False)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.freedom == pytest.approx(expected.df)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert bounds(found) == pytest.approx(tuple(expected.confidence_interval(0.9)), abs=1e-9)
    assert (found.n_first, found.n_second) == (len(first), len(second))


def test_independent_undefined():
    fine = Coefficient(measure="m", value=0.5, standard_error=0.1, items=20)
    none = Coefficient(measure="m", value=None, undefined="single_category", items=20)
    single = Coefficient(measure="m", value=0.4, items=1)
    certain = Coefficient(measure="m", value=1.0, standard_error=0.0, items=20)
    for first, second, difference, reason in (
        (none, fine, None, "single_category"),
        (fine, none, None, "single_category"),
        (fine, single, 0.1, "too_few_items"),
        (certain, certain, 0.0, "no_spread"),
    ):
        found = independent_t_test(first, second)
        assert (found.p_value, found.undefined, found.ci_low) == (None, reason, None)
        assert found.difference == (None if difference is None else pytest.approx(difference))
    found = independent_t_test(certain, fine)
    assert (found.standard_error, found.freedom) == pytest.approx((0.1, 19))
