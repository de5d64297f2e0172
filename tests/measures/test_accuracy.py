"""Accuracy against a truth, calibration, confusions, and category rates by plain counts.

Category agreement is that of Uebersax and of Siegel (2018).
"""

from collections import Counter, defaultdict
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from tests.measures.strategies import one_category, projects, several_categories, tally
from tracker.measures.accuracy import (
    NOTHING,
    ConfidenceTally,
    calibration,
    category_confusions,
)
from tracker.measures.category_rates import category_rate_summary, category_rates
from tracker.measures.intervals import wilson_interval

CATEGORIES = [0, 1, 2, 3]
A, B, C = 1, 2, 3
N, P = (0,), (1,)


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
