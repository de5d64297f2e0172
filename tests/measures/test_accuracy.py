"""Accuracy against a truth, calibration, confusions, and category rates by plain counts.

Category agreement is that of Uebersax and of Siegel (2018).
"""

from collections import Counter, defaultdict
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from tests.measures.oracles import load
from tests.measures.strategies import one_category, projects, several_categories, tally
from tracker.core.errors import InvalidOption
from tracker.measures.accuracy import (
    NOTHING,
    ConfidenceTally,
    accuracy_from_confusion,
    calibration,
    category_confusions,
)
from tracker.measures.category_rates import category_rate_summary, category_rates
from tracker.measures.intervals import wilson_interval

CATEGORIES = [0, 1, 2, 3]
A, B, C = 1, 2, 3
N, P = (0,), (1,)


def test_gold_of_the_turk_experiment():
    gold = accuracy_from_confusion({(N, N): 9, (N, P): 6, (P, N): 2, (P, P): 13}, 6, [0, 1, 2])
    row = gold.to_dict()
    assert (row["items"], row["answers"], row["observed"]) == (6, 30, pytest.approx(22 / 30))
    assert (row["expected"], row["undefined"]) == (0.5, None)
    assert row["cohen_kappa"] == pytest.approx(7 / 15)
    rates = [(rate.true, rate.given, rate.right) for rate in gold.categories]
    assert rates == [(15, 11, 9), (15, 19, 13), (0, 0, 0)]
    for counts, observed, reason in (({}, None, "no_overlap"), ({(N, N): 5}, 1, "single_category")):
        gold = accuracy_from_confusion(counts, items=2)
        assert (gold.observed, gold.cohen_kappa, gold.undefined) == (observed, None, reason)


def bin_of(confidence):
    return next(n for n in range(10) if confidence <= (n + 1) / 10)


def calibrated(answers):
    """Of confidences, each with whether the answer is right."""
    bins = defaultdict(list)
    for confidence, right in answers:
        bins[bin_of(confidence), right].append(confidence)
    return calibration([
        ConfidenceTally(number, right, len(rows), sum(rows), sum(c * c for c in rows))
        for (number, right), rows in bins.items()
    ])  # fmt: skip


def test_calibration_of_forecasts_by_hand():
    """Ten answers of 0.8, seven of them right, and ten of 0.6, all right."""
    result = calibrated([(0.8, n < 7) for n in range(10)] + [(0.6, True)] * 10)
    assert result.brier_score == pytest.approx((7 * 0.04 + 3 * 0.64 + 10 * 0.16) / 20)
    assert result.expected_calibration_error == pytest.approx((10 * 0.1 + 10 * 0.4) / 20)
    figures = (result.answers, result.accuracy, result.confidence)
    assert figures == (20, 17 / 20, pytest.approx(0.7))
    bins = [(row.low, row.high, row.answers, row.accuracy) for row in result.bins]
    assert bins == [(0.5, 0.6, 10, 1.0), (0.7, 0.8, 10, 0.7)]
    nothing = calibrated([])
    figures = (nothing.answers, nothing.brier_score, nothing.expected_calibration_error)
    assert figures == (0, None, None)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_calibration_by_its_definitions(answers):
    result = calibrated(answers)
    brier = sum((confidence - right) ** 2 for confidence, right in answers) / len(answers)
    assert result.brier_score == pytest.approx(brier, abs=1e-12)
    bins = [[row for row in answers if bin_of(row[0]) == number] for number in range(10)]
    apart = [sum(right for _, right in rows) - sum(sure for sure, _ in rows) for rows in bins]
    error = sum(map(abs, apart)) / len(answers)
    assert result.expected_calibration_error == pytest.approx(error, abs=1e-12)
    assert 0 <= (result.expected_calibration_error or 0) <= 1


def confusions(items):
    rows = category_confusions(tally(items))
    return {(row.first, row.second): (row.disagreements, row.items) for row in rows}


def test_confusions_by_hand():
    # a a b: two pairs differ; a b c: three.
    items = [[(A,), (A,), (B,)], [(A,), (B,), (C,)], [(A,), (A,)], [(B,)]]
    assert confusions(items) == {(A, B): (3, 2), (A, C): (1, 1), (B, C): (1, 1)}
    first = category_confusions(tally(items))[0]
    assert (first.first, first.second, first.share) == (A, B, 3 / 5)
    # What two sets share is not confused.
    assert confusions([[(A, B), (A, C)]]) == {(B, C): (1, 1)}
    assert confusions([[(A, B), (A,)]]) == {(NOTHING, B): (1, 1)}
    assert confusions([[(), (A,)]]) == {(NOTHING, A): (1, 1)}
    assert confusions([]) == confusions([[(A,), (A,)], [(B,)]]) == {}


@given(st.lists(st.lists(st.sampled_from([A, B, C]), max_size=5), max_size=12))
def test_confusions_by_plain_count(rows):
    pairs = [pair for row in rows for pair in combinations(row, 2)]
    plain = Counter((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])
    result = category_confusions(tally([[(label,) for label in row] for row in rows]))
    assert {(row.first, row.second): row.disagreements for row in result} == plain
    assert [row.disagreements for row in result] == sorted(plain.values(), reverse=True)


def test_the_sandwich_table_of_siegel_2018():
    case = load("c12_sandwich")
    zero, one = category_rates(case.patterns, [case.categories["0"], case.categories["1"]])
    assert (zero.agreements, zero.potential_agreements) == (400, 550)
    assert (one.agreements, one.potential_agreements) == (450, 600)
    assert (zero.rate, one.rate) == (pytest.approx(400 / 550), 0.75)
    assert one.specific_agreement == pytest.approx(6 / 7)
    assert (zero.labels, one.labels) == (950, 1050)
    summary = category_rate_summary([zero, one])
    assert summary.lowest is zero
    assert summary.mean == pytest.approx((400 / 550 + 0.75) / 2)


def test_rates_of_rare_of_several_and_of_unused_categories():
    rows = [[N, N]] * 980 + [[N, P]] * 10 + [[P, N]] * 10  # the lazy pair
    common, rare = category_rates(tally(rows), [0, 1])
    assert common.rate == pytest.approx(0.98)
    assert (rare.agreements, rare.potential_agreements, rare.rate) == (0, 20, 0.0)
    # Three annotators; the shortcut of summing labels would see four answers.
    (rate,) = category_rates(tally([[(0, 1), (0,), ()]]), [0])
    assert (rate.agreements, rate.potential_agreements) == (1, 3)
    rates = category_rates(tally([[(2,), (2,)], [(0,)]]), [7, 2, 0])
    rows = [(rate.category, rate.rate, rate.labels) for rate in rates]
    assert rows == [(7, None, 0), (2, 1.0, 2), (0, None, 1)]
    with pytest.raises(InvalidOption):
        category_rates(tally([]), [], confidence=95)


@given(projects(one_category | several_categories), projects(several_categories))
def test_rates_by_plain_count_and_counts_that_add_up(rows, more):
    rates, others, sums = (
        category_rates(patterns, CATEGORIES)
        for patterns in (tally(rows), tally(more), tally(rows) + tally(more))
    )
    for rate, other, total in zip(rates, others, sums, strict=True):
        pairs = [pair for item in rows for pair in combinations(item, 2)]
        agreed = sum(rate.category in one and rate.category in two for one, two in pairs)
        potential = sum(rate.category in one or rate.category in two for one, two in pairs)
        labels = sum(rate.category in answer for item in rows for answer in item)
        assert (rate.agreements, rate.potential_agreements) == (agreed, potential)
        assert rate.labels == labels
        assert rate.rate == (agreed / potential if potential else None)
        assert rate.undefined == (None if potential else "no_overlap")
        for part in ("labels", "agreements", "potential_agreements"):
            assert getattr(total, part) == getattr(rate, part) + getattr(other, part)
        if potential:
            assert 0 <= rate.ci_low <= rate.rate <= rate.ci_high <= 1
            assert rate.ci_low < rate.ci_high


def test_bounds_of_rates_are_wilsons_on_the_effective_number_of_items():
    # Four items where category 0 could agree, of ten; t has three degrees of freedom.
    rows = [[N] * 3] * 3 + [[N, P, P]] + [[P] * 3] * 6
    (rate,) = category_rates(tally(rows), [0], interval="t")
    assert rate.rate == pytest.approx(9 / 11)
    # Residuals a - R p are 6/11 three times and -18/11 once; n / (n - 1) of the ten compared.
    variance = 10 / 9 * (3 * (6 / 11) ** 2 + (18 / 11) ** 2) / 11**2
    assert rate.standard_error == pytest.approx(variance**0.5)
    wilson = wilson_interval(9 / 11, 9 / 11 * 2 / 11 / variance, 0.95, freedom=3)
    assert (rate.ci_low, rate.ci_high) == pytest.approx(wilson)
    # A perfect category: on its items, not on its pairs.
    (rate,) = category_rates(tally([[N] * 5] * 4 + [[P] * 5] * 6), [0], interval="t")
    assert (rate.rate, rate.standard_error, rate.potential_agreements) == (1.0, 0.0, 40)
    assert (rate.ci_low, rate.ci_high) == wilson_interval(1.0, 4, 0.95)
    # One item has no error but wide bounds.
    (rate,) = category_rates(tally([[N, N]]), [0], interval="t")
    assert (rate.standard_error, rate.ci_low) == (None, pytest.approx(0.2065, abs=1e-4))
    (rate,) = category_rates(tally([[N, N]]), [0])
    assert rate.ci_high == 1
    # Of a beta distribution of 3/2 and 1/2, to the precision of its draws.
    assert rate.ci_low == pytest.approx(beta.ppf(0.025, 1.5, 0.5), abs=0.01)


TYPO = [[(2,), N]] * 13  # nobody repeats it: 0 of 13 pairs agree, which tells nothing
MANY = [[N, N]] * 60 + [[P, P]] * 30 + [[N, P]] * 20


@pytest.mark.parametrize(
    ("rows", "lowest", "passed_over", "mean"),
    [([[N, N], [N, P], [(2,), (2,)]], 1, [], 0.5),
     ([[N, N]] * 4 + [[N, P]], 1, [], 0.4),  # no category has enough pairs
     ([*MANY, *TYPO], 1, [(2, 13)], (60 / 93 + 30 / 50 + 0) / 3),
     ([*MANY, *TYPO, *TYPO], 2, [], None)],
    ids=["defined", "few", "typo", "frequent typo"],
)  # fmt: skip
def test_the_weakest_category_has_enough_pairs(rows, lowest, passed_over, mean):
    summary = category_rate_summary(category_rates(tally(rows), CATEGORIES))
    assert summary.lowest.category == lowest
    skipped = [(rate.category, rate.potential_agreements) for rate in summary.passed_over]
    assert skipped == passed_over
    if mean is not None:
        assert summary.mean == pytest.approx(mean)
    if mean == 0.5:
        assert summary.median == 0.5


def test_summary_of_no_rates():
    nothing = category_rate_summary(category_rates(tally([]), CATEGORIES))
    assert (nothing.lowest, nothing.mean, nothing.median) == (None, None, None)
