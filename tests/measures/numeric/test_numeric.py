"""Pearson, Spearman, Lin (1989), Bland and Altman (1986) for two annotators."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from statistics import fmean, stdev

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm, pearsonr, spearmanr

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.measures.numeric import NumericAgreement, NumericFigure, numeric_agreement

Pairs = list[tuple[int, int]]  # per item, the categories of both
VALUES = {0: -1.5, 1: 0.1, 2: 0.2, 3: 4.0, 4: 4.0}

# Bland and Altman (1986), table: one reading of each of the two meters, 17 subjects.
WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]

categories = st.integers(0, 4)
pairs = st.lists(st.tuples(categories, categories), min_size=1, max_size=25)


def table(rows: Pairs) -> dict[tuple[Answer, Answer], int]:
    return Counter(((one,), (other,)) for one, other in rows)


def found(rows: Pairs, confidence: float = 0.95) -> NumericAgreement:
    return numeric_agreement(table(rows), VALUES, confidence)


def expanded(rows: Pairs) -> tuple[list[float], list[float]]:
    return [VALUES[one] for one, _ in rows], [VALUES[other] for _, other in rows]


def of_numbers(first: list[int], second: list[int]) -> NumericAgreement:
    values = {number: float(number) for number in [*first, *second]}
    return numeric_agreement(table(list(zip(first, second, strict=True))), values)


def test_bland_and_altman_1986():
    # Their difference is Wright less mini, ours the second less the first.
    result = of_numbers(MINI, WRIGHT)
    assert result.pearson.value == pytest.approx(0.94, abs=5e-3)
    assert result.bias.value == pytest.approx(-2.1, abs=0.05)
    assert result.sd.value == pytest.approx(38.8, abs=0.05)
    assert result.bias.ci_low == pytest.approx(-22.0, abs=0.1)
    assert result.bias.ci_high == pytest.approx(17.8, abs=0.1)
    # They take 2 for 1.96: limits of -79.7 and 75.5. Their error of a limit is 16.3, t is 2.12.
    spread = 38.76513
    assert result.lower_limit.value == pytest.approx(-79.65 + 0.04 * spread, abs=0.01)
    assert result.upper_limit.value == pytest.approx(75.41 - 0.04 * spread, abs=0.01)
    for limit in (result.lower_limit, result.upper_limit):
        assert limit.ci_high - limit.value == pytest.approx(2.12 * 16.28, abs=0.02)
        assert limit.value - limit.ci_low == pytest.approx(2.12 * 16.28, abs=0.02)


def test_bonett_and_wright_2000_interval_of_a_published_example():
    # The example of the function ci.spear of Bonett's R package statpsych.
    first = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
    second = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]
    rho = of_numbers(first, second).spearman
    assert rho.value == pytest.approx(0.8699639, abs=1e-7)
    assert (rho.ci_low, rho.ci_high) == pytest.approx((0.5840951, 0.9638297), abs=1e-7)


@given(pairs, st.floats(0.5, 0.99))
def test_pearson_and_spearman_as_of_expanded_rows(rows, confidence):
    x, y = expanded(rows)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    result = found(rows, confidence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, ranked = pearsonr(x, y), spearmanr(x, y)
        bounds = plain.confidence_interval(confidence) if len(rows) > 3 else None
    assert result.pearson.value == pytest.approx(plain.statistic, abs=1e-9)
    assert result.spearman.value == pytest.approx(ranked.statistic, abs=1e-9)
    if result.pearson.ci_low is not None:
        assert (result.pearson.ci_low, result.pearson.ci_high) == pytest.approx(tuple(bounds))
        assert result.pearson.ci_low < result.pearson.value < result.pearson.ci_high


@given(pairs)
def test_lin_1989_as_of_expanded_rows(rows):
    x, y = expanded(rows)
    n = len(rows)
    assume(n > 2 and len(set(x)) > 1 and len(set(y)) > 1)
    mean_x, mean_y = fmean(x), fmean(y)
    s_x = math.sqrt(fmean((one - mean_x) ** 2 for one in x))
    s_y = math.sqrt(fmean((one - mean_y) ** 2 for one in y))
    s_xy = fmean((one - mean_x) * (other - mean_y) for one, other in zip(x, y, strict=True))
    value = 2 * s_xy / (s_x**2 + s_y**2 + (mean_x - mean_y) ** 2)
    result = found(rows).concordance
    assert result.value == pytest.approx(value, abs=1e-12)
    r, u = s_xy / (s_x * s_y), (mean_x - mean_y) / math.sqrt(s_x * s_y)
    assume(0.01 < abs(r) < 1 - 1e-9)
    # Lin (1989), p. 258, with the last power of the second term as corrected in 2000.
    parts = (
        (1 - r**2) * value**2 / ((1 - value**2) * r**2)
        + 2 * value**3 * (1 - value) * u**2 / (r * (1 - value**2) ** 2)
        - value**4 * u**4 / (2 * r**2 * (1 - value**2) ** 2)
    )
    reach = norm.ppf(0.975) * math.sqrt(parts / (n - 2))
    bounds = math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
    assert (result.ci_low, result.ci_high) == pytest.approx(bounds)


@given(pairs)
def test_differences_as_of_expanded_rows(rows):
    x, y = expanded(rows)
    moved = [other - one for one, other in zip(x, y, strict=True)]
    result = found(rows)
    assert result.bias.value == pytest.approx(fmean(moved), abs=1e-12)
    if len(rows) > 1:
        spread = stdev(moved)
        assert result.sd.value == pytest.approx(spread, abs=1e-12)
        assert result.lower_limit.value == pytest.approx(fmean(moved) - 1.96 * spread, abs=1e-9)
        assert result.upper_limit.value == pytest.approx(fmean(moved) + 1.96 * spread, abs=1e-9)


@given(pairs)
def test_the_other_way_round_only_the_bias_turns(rows):
    one, other = found(rows), found([(second, first) for first, second in rows])
    assert (one.pearson, one.spearman, one.concordance, one.sd) == (
        other.pearson,
        other.spearman,
        other.concordance,
        other.sd,
    )
    assert one.bias.value == -other.bias.value
    if one.upper_limit.value is not None:
        assert one.upper_limit.value == pytest.approx(-other.lower_limit.value)


@given(pairs)
def test_concordance_is_1_only_for_equal_values_and_never_above_pearson(rows):
    result = found(rows)
    if result.concordance.value is not None:
        x, y = expanded(rows)
        assert (result.concordance.value == 1) == (x == y)
        if result.pearson.value is not None:
            assert abs(result.concordance.value) <= abs(result.pearson.value) + 1e-12


def test_a_constant_difference_is_a_perfect_correlation_without_bounds():
    result = of_numbers([1, 2, 3, 4, 5], [3, 4, 5, 6, 7])
    perfect = NumericFigure(1.0, unbounded="no_spread")
    assert (result.pearson, result.spearman) == (perfect, perfect)
    # Variances and covariance 2, shift 2: 2 * 2 / (2 + 2 + 4).
    assert result.concordance.value == 0.5
    assert result.bias == NumericFigure(2.0, unbounded="no_spread")
    assert result.sd == NumericFigure(0.0)
    assert result.lower_limit == NumericFigure(2.0, unbounded="no_spread")


def test_equal_throughout():
    result = of_numbers([1, 2, 3, 4], [1, 2, 3, 4])
    assert result.concordance == NumericFigure(1.0, unbounded="no_spread")


def test_a_correlation_rounded_to_1_has_no_bounds():
    first = [*range(10), 10**12]
    result = of_numbers(first, [*range(1, 10), 0, 10**12])
    assert result.pearson == NumericFigure(1.0, unbounded="no_spread")


def test_one_who_does_not_vary():
    result = of_numbers([2, 2, 2, 2], [1, 2, 3, 4])
    nothing = NumericFigure(None, "single_category", unbounded="single_category")
    assert (result.pearson, result.spearman) == (nothing, nothing)
    assert result.concordance == NumericFigure(0.0, unbounded="no_spread")
    assert result.bias.value == 0.5


def test_nobody_varies():
    assert found([(3, 4)] * 5).concordance.undefined == "single_category"  # both are 4.0
    assert found([(1, 2)] * 5).concordance == NumericFigure(0.0, unbounded="no_spread")
    assert found([(3, 4)] * 5).bias.value == 0


def test_few_items():
    one = found([(0, 1)])
    few = NumericFigure(None, "too_few_items", unbounded="too_few_items")
    assert [one.pearson, one.spearman, one.concordance, one.sd, one.upper_limit] == [few] * 5
    assert one.bias == NumericFigure(1.6, unbounded="too_few_items")
    two = found([(0, 1), (2, 2)])
    for figure in (two.pearson, two.spearman, two.concordance, two.bias, two.lower_limit):
        assert (figure.undefined, figure.unbounded) == (None, "too_few_items")
    three = found([(0, 1), (2, 2), (3, 1)])
    assert three.pearson.unbounded == "too_few_items"
    assert three.concordance.ci_low is not None
    assert three.bias.ci_low is not None


def test_no_items_and_no_numbers():
    for counts, reason in (
        ({}, "no_overlap"),
        ({((1,), ()): 3}, "not_applicable"),
        ({((1,), (1, 2)): 3}, "not_applicable"),
        ({((1,), (9,)): 3}, "not_applicable"),
    ):
        result = numeric_agreement(counts, VALUES).to_dict()
        figures = [part for part in result.values() if isinstance(part, dict)]
        assert len(figures) == 7
        assert {part["undefined"] for part in figures} == {reason}
        assert {part["value"] for part in figures} == {None}


def test_a_level_outside_0_to_1_is_refused():
    with pytest.raises(InvalidOption):
        numeric_agreement({}, VALUES, 95)


def test_keys_of_the_json_in_order():
    assert list(found([(0, 1)]).to_dict()) == [
        "items",
        "confidence",
        "pearson",
        "spearman",
        "concordance",
        "bias",
        "sd",
        "lower_limit",
        "upper_limit",
    ]
