"""Category agreement of Uebersax and Siegel (2018): figures, plain counts, bounds, summary."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from scipy.stats import beta

from tests.measures.oracles import load
from tests.measures.strategies import one_category, projects, several_categories, tally
from tracker.core.errors import InvalidOption
from tracker.measures.category_rates import category_rate_summary, category_rates
from tracker.measures.intervals import wilson_interval

CATEGORIES = [0, 1, 2, 3]


def test_the_sandwich_table_of_siegel_2018():
    case = load("c12_sandwich")
    zero, one = category_rates(case.patterns, [case.categories["0"], case.categories["1"]])
    assert (zero.agreements, zero.potential_agreements) == (400, 550)
    assert (one.agreements, one.potential_agreements) == (450, 600)
    assert zero.rate == pytest.approx(400 / 550)
    assert one.rate == 0.75
    assert one.specific_agreement == pytest.approx(6 / 7)
    assert (zero.labels, one.labels) == (950, 1050)
    assert category_rate_summary([zero, one]).lowest is zero
    assert category_rate_summary([zero, one]).mean == pytest.approx((400 / 550 + 0.75) / 2)


def test_the_lazy_pair_is_visible_in_the_rare_category():
    rows = [[(0,), (0,)]] * 980 + [[(0,), (1,)]] * 10 + [[(1,), (0,)]] * 10
    common, rare = category_rates(tally(rows), [0, 1])
    assert common.rate == pytest.approx(0.98)
    assert (rare.agreements, rare.potential_agreements, rare.rate) == (0, 20, 0.0)


def test_the_number_of_annotators_counts_and_not_that_of_labels():
    # Three annotators; the shortcut of summing labels would see four answers.
    (rate,) = category_rates(tally([[(0, 1), (0,), ()]]), [0])
    assert (rate.agreements, rate.potential_agreements) == (1, 3)


@given(projects(one_category | several_categories))
def test_by_plain_count_over_rows(rows):
    for rate in category_rates(tally(rows), CATEGORIES):
        pairs = [pair for given_ in rows for pair in combinations(given_, 2)]
        agreed = sum(rate.category in one and rate.category in other for one, other in pairs)
        potential = sum(rate.category in one or rate.category in other for one, other in pairs)
        labels = sum(rate.category in answer for given_ in rows for answer in given_)
        assert (rate.agreements, rate.potential_agreements) == (agreed, potential)
        assert rate.labels == labels
        assert rate.rate == (agreed / potential if potential else None)
        assert rate.undefined == (None if potential else "no_overlap")


@given(projects(several_categories), projects(several_categories))
def test_counts_add_over_items(left, right):
    parts = zip(
        category_rates(tally(left), CATEGORIES),
        category_rates(tally(right), CATEGORIES),
        category_rates(tally(left) + tally(right), CATEGORIES),
        strict=True,
    )
    for one, other, both in parts:
        assert both.labels == one.labels + other.labels
        assert both.agreements == one.agreements + other.agreements
        assert both.potential_agreements == one.potential_agreements + other.potential_agreements


@given(projects(one_category | several_categories))
def test_bounds_hold_the_rate(rows):
    for rate in category_rates(tally(rows), CATEGORIES):
        if rate.rate is not None:
            assert rate.ci_low is not None
            assert rate.ci_high is not None
            assert 0 <= rate.ci_low <= rate.rate <= rate.ci_high <= 1
            assert rate.ci_low < rate.ci_high


def test_perfect_category_has_wilson_bounds_on_its_items_not_on_its_pairs():
    (rate,) = category_rates(tally([[(0,)] * 5] * 4 + [[(1,)] * 5] * 6), [0], interval="t")
    assert (rate.rate, rate.standard_error, rate.potential_agreements) == (1.0, 0.0, 40)
    assert (rate.ci_low, rate.ci_high) == wilson_interval(1.0, 4, 0.95)


def test_one_item_has_no_error_but_wide_bounds():
    (rate,) = category_rates(tally([[(0,), (0,)]]), [0], interval="t")
    assert rate.standard_error is None
    assert rate.ci_low == pytest.approx(0.2065, abs=1e-4)
    (rate,) = category_rates(tally([[(0,), (0,)]]), [0])
    assert rate.ci_high == 1
    # Of a beta distribution of 3/2 and 1/2, to the precision of its draws.
    assert rate.ci_low == pytest.approx(beta.ppf(0.025, 1.5, 0.5), abs=0.01)


def test_unused_category_keeps_its_place():
    rates = category_rates(tally([[(2,), (2,)], [(0,)]]), [7, 2, 0])
    assert [rate.category for rate in rates] == [7, 2, 0]
    assert [rate.rate for rate in rates] == [None, 1.0, None]
    assert [rate.labels for rate in rates] == [0, 2, 1]


def test_summary_is_of_defined_rates_only():
    rows = [[(0,), (0,)], [(0,), (1,)], [(2,), (2,)]]
    result = category_rate_summary(category_rates(tally(rows), CATEGORIES))
    assert result.lowest is not None
    assert result.lowest.category == 1
    assert (result.mean, result.median) == (0.5, 0.5)


def test_a_category_of_few_pairs_is_not_the_weakest_one():
    """Of a typo that nobody repeats 0 of 13 pairs agree, which says nothing of the category."""
    typo = [[(2,), (0,)]] * 13
    rows = [[(0,), (0,)]] * 60 + [[(1,), (1,)]] * 30 + [[(0,), (1,)]] * 20 + typo
    result = category_rate_summary(category_rates(tally(rows), [0, 1, 2]))
    assert result.lowest is not None
    assert result.lowest.category == 1
    assert [rate.category for rate in result.passed_over] == [2]
    assert [rate.potential_agreements for rate in result.passed_over] == [13]
    assert result.mean == pytest.approx((60 / 93 + 30 / 50 + 0) / 3)
    more = category_rate_summary(category_rates(tally([*rows, *typo]), [0, 1, 2]))
    assert more.lowest is not None
    assert (more.lowest.category, more.passed_over) == (2, ())


def test_where_no_category_has_enough_pairs_the_lowest_of_all_is_the_weakest():
    rows = [[(0,), (0,)]] * 4 + [[(0,), (1,)]]
    result = category_rate_summary(category_rates(tally(rows), [0, 1]))
    assert result.lowest is not None
    assert (result.lowest.category, result.passed_over) == (1, ())


def test_summary_of_nothing():
    result = category_rate_summary(category_rates(tally([]), CATEGORIES))
    assert (result.lowest, result.mean, result.median) == (None, None, None)


def test_a_level_outside_0_to_1_is_refused():
    with pytest.raises(InvalidOption):
        category_rates(tally([]), [], confidence=95)


def test_bounds_are_wilsons_on_the_effective_number_of_items_with_their_own_freedom():
    # Four items where category 0 could agree, of ten; t has three degrees of freedom.
    rows = [[(0,)] * 3] * 3 + [[(0,), (1,), (1,)]] + [[(1,)] * 3] * 6
    (rate,) = category_rates(tally(rows), [0], interval="t")
    assert rate.rate == pytest.approx(9 / 11)
    # Residuals a - R p are 6/11 three times and -18/11 once; n / (n - 1) of the ten compared.
    variance = 10 / 9 * (3 * (6 / 11) ** 2 + (18 / 11) ** 2) / 11**2
    assert rate.standard_error == pytest.approx(variance**0.5)
    size = 9 / 11 * 2 / 11 / variance
    assert (rate.ci_low, rate.ci_high) == pytest.approx(
        wilson_interval(9 / 11, size, 0.95, freedom=3)
    )
