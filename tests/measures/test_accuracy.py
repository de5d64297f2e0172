"""Accuracy against a truth, calibration, confusions, and category rates by plain counts.

Category agreement is that of Uebersax and of Siegel (2018).
"""

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from tests.measures.strategies import one_category, projects, several_categories, tally
from tests.profiles import examples
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, make_pattern
from tracker.core.tally_columns import tally_columns_of
from tracker.measures.accuracy import (
    NOTHING,
    ConfidenceTally,
    calibration,
    category_confusions,
)
from tracker.measures.category_rates import category_rate_summary, category_rates
from tracker.measures.disagreement import (
    explained_by_items,
    explained_by_owners,
    item_disagreement,
    total_disagreement,
)
from tracker.measures.intervals import wilson_interval
from tracker.measures.krippendorff import (
    cross_replication_reliability,
)
from tracker.measures.sample import pattern_table_of, sample_for_measures

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


# Shares of the disagreement, and cross-replication reliability, by plain counts.

ITEMS = st.lists(st.dictionaries(st.integers(1, 5), st.integers(1, 3), max_size=4), max_size=12)


def pattern(answers):
    return make_pattern((answer,) for answer in answers)


def disagreement(items):
    """Disagreement by its definition: of each answer, the share of others that are different."""
    within, answers = 0.0, 0
    for item in items:
        if len(item) > 1:
            answers += len(item)
            differ = sum(item[a] != item[b] for a, b in permutations(item, 2))
            within += differ / (len(item) - 1)
    return within, answers


@given(ITEMS)
@examples(100)
def test_disagreement_of_items_and_the_share_that_an_annotator_explains(items):
    within, answers = disagreement(items)
    patterns = ItemPatterns(Counter(pattern(item.values()) for item in items))
    assert total_disagreement(patterns) == (pytest.approx(within), answers)
    counts = {}
    for item in items:
        for name, own in item.items():
            counts.setdefault(name, Counter())[(own,), pattern(item.values())] += 1
    shares = explained_by_owners(tally_columns_of(AnnotatorTallies(counts)))
    assert shares.keys() == counts.keys()
    for name, share in shares.items():
        rest = [{n: own for n, own in item.items() if n != name} for item in items]
        less, fewer = disagreement(rest)
        expected = 1 - (less / fewer) / (within / answers) if within and fewer else 0
        assert share == pytest.approx(expected)


def test_items_explain_what_would_be_gone_if_they_were_like_the_others():
    assert item_disagreement(pattern([1])) == (0.0, 0)
    alike, apart = pattern([1, 1]), pattern([1, 2])
    better, worse = ItemPatterns({alike: 90, apart: 10}), ItemPatterns({alike: 10, apart: 10})
    assert explained_by_items(better + worse, worse, better) == pytest.approx(0.4)
    assert explained_by_items(better + worse, better, worse) < 0
    assert explained_by_items(better, ItemPatterns(), better) == 0


# Cross-replication reliability. Items are the answers of either group. The data of the test of its
# authors' program (google-research, 2021), which gives 0.1818182:
PUBLISHED = [([2, 2], [2, 2]), ([2, 2, 2], [1, 2]), ([1, 1], [1, 2]), ([1, 1, 1], [1, 2]),
             ([1, 2], [1, 1])]  # fmt: skip


def estimate(items, scale="nominal"):
    rows = [(pattern(one), pattern(other)) for one, other in items if one and other]
    first, second = (pattern_table_of([(row[side], 1) for row in rows]) for side in (0, 1))
    return cross_replication_reliability(first, second, sample(first + second, scale))


def sample(patterns, scale="nominal"):
    values = {n: float(n) for n in range(1, 5)}
    return sample_for_measures(patterns, 9, categories=[1, 2, 3, 4], values=values, scale=scale)


def plain(items, scale):
    shared = [(one, other) for one, other in items if one and other]

    def apart(x, y):
        return float(x != y) if scale == "nominal" else float((x - y) ** 2)

    total = sum(len(one) + len(other) for one, other in shared)
    observed = sum(
        (len(one) + len(other)) / total * np.mean([apart(x, y) for x in one for y in other])
        for one, other in shared
    )
    pairs = [apart(x, y) for one, _ in shared for x in one for _, other in shared for y in other]
    expected = np.mean(pairs) if pairs else 0.0
    return None if not expected else float(1 - observed / expected)


def test_the_published_value_of_cross_replication_reliability():
    result = estimate(PUBLISHED)
    assert result.value == pytest.approx(0.1818182, abs=1e-7)
    assert result.parts.observed == pytest.approx(1 - 9 / 22)
    assert result.parts.expected == pytest.approx(0.5)
    assert result.items == 5
    alone = [([1, 1, 1], []), ([1, 1, 2], [])]  # items of one group do not count
    assert estimate([*PUBLISHED, *alone]).value == result.value


answers = st.lists(st.integers(1, 4), max_size=3)


@given(st.lists(st.tuples(answers, answers), max_size=8), st.sampled_from(["nominal", "interval"]))
def test_cross_replication_reliability_is_a_plain_count_and_symmetric(items, scale):
    result, wanted = estimate(items, scale), plain(items, scale)
    assert result.value == (None if wanted is None else pytest.approx(wanted))
    assert (result.value is None) == (result.undefined in {"no_overlap", "single_category"})
    turned = estimate([(other, one) for one, other in items], scale)
    for part in ("value", "standard_error"):
        value = getattr(turned, part)
        assert getattr(result, part) == (None if value is None else pytest.approx(value))


def two_groups(seed, number, right, second):
    """Answers of two and of ``second`` members of one crowd."""
    draw = np.random.default_rng(seed)
    items = []
    for true in draw.integers(1, 4, number).tolist():
        drawn = [true if draw.random() < right else int(draw.integers(1, 4)) for _ in range(5)]
        items.append((drawn[:2], drawn[2 : 2 + second(draw)]))
    return items


def test_the_error_of_cross_replication_reliability_is_that_of_a_jackknife():
    items = two_groups(1, 200, 0.8, lambda draw: 2 + int(draw.integers(0, 2)))
    left = np.array([estimate(items[:n] + items[n + 1 :]).value for n in range(len(items))], float)
    jackknife = float(np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum()))
    assert estimate(items).standard_error == pytest.approx(jackknife, rel=0.02)
