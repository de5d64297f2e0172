"""Two columns of figures: Student (1908), Welch, Mann and Whitney, Wilcoxon, and which when."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean, median, variance
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, ttest_ind, wilcoxon

from tests.profiles import examples
from tracker.core.errors import InvalidOption
from tracker.core.results import as_json
from tracker.measures.difference_tests import (
    PAIRED_TESTS,
    UNPAIRED_TESTS,
    Comparison,
    Shift,
    hodges_lehmann_shift,
    paired_hodges_lehmann_shift,
    two_sample_test,
)

# Student (1908), hours of sleep gained by two drugs, ten patients.
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
# Hollander and Wolfe (1999), tables 3.1 and 4.1.
DEPRESSION_1 = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
DEPRESSION_2 = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]

figure = st.integers(-20, 20).map(lambda tenths: tenths / 8)
columns = st.lists(figure, min_size=2, max_size=15)
two = st.lists(st.tuples(figure, figure), min_size=2, max_size=15)


def both(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def bounds(found: Comparison | Shift) -> tuple[float | None, float | None]:
    if isinstance(found, Shift):
        return found.low, found.high
    return found.ci_low, found.ci_high


def test_welch_on_student_1908():
    # As printed by t.test(extra ~ group, data = sleep) in R's documentation.
    found = two_sample_test(DRUG_1, DRUG_2, paired=False, test="welch_t")
    assert found.statistic == pytest.approx(-1.8608, abs=5e-5)
    assert found.freedom == pytest.approx(17.776, abs=5e-4)
    assert found.p_value == pytest.approx(0.07939, abs=5e-6)
    assert bounds(found) == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)
    assert found.difference == pytest.approx(-1.58)


def test_paired_t_on_student_1908():
    found = two_sample_test(DRUG_1, DRUG_2, paired=True, test="paired_t")
    assert found.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert (found.freedom, found.p_value) == (9, pytest.approx(0.002833, abs=5e-7))
    assert bounds(found) == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)
    assert found.effect == pytest.approx(found.statistic / math.sqrt(10))
    assert str(found.why) == "The paired t test, as requested."


def test_wilcoxon_on_hollander_and_wolfe_1999_examples_3_1_and_3_4():
    found = two_sample_test(DEPRESSION_2, DEPRESSION_1, paired=True, test="wilcoxon")
    assert found.statistic == 5  # theirs is 45 - 5 = 40 for the other direction
    assert found.p_value == pytest.approx(2 * 0.0195, abs=1e-4)
    assert found.difference == pytest.approx(-0.46)
    assert bounds(found) == pytest.approx((-0.786, -0.010))
    assert found.effect == pytest.approx((5 - 40) / 45)


def test_mann_whitney_on_hollander_and_wolfe_1999_examples_4_1_and_4_3():
    found = two_sample_test(TERM, EARLY, paired=False, test="mann_whitney")
    assert found.statistic == 35
    assert found.p_value == pytest.approx(2 * 0.1272, abs=1e-4)
    assert found.difference == pytest.approx(0.305)
    assert bounds(found) == pytest.approx((-0.15, 0.76))
    assert found.effect == pytest.approx(2 * 35 / 50 - 1)


@examples(15)
@given(columns, columns)
def test_t_tests_as_by_another_program(first, second):
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    for test, equal in (("student_t", True), ("welch_t", False)):
        found = two_sample_test(first, second, paired=False, test=test)
        expected = ttest_ind(first, second, equal_var=equal)
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.freedom == pytest.approx(expected.df)
        assert bounds(found) == pytest.approx(tuple(expected.confidence_interval()), abs=1e-9)


@given(columns, columns)
def test_effect_of_student_is_hedges_1981(first, second):
    n, m = len(first), len(second)
    pooled = ((n - 1) * variance(first) + (m - 1) * variance(second)) / (n + m - 2)
    assume(pooled > 0)
    found = two_sample_test(first, second, paired=False, test="student_t")
    assert found.effect_name == "hedges_g"
    # His approximation of the correction, good to a few thousandths.
    cohen = (fmean(first) - fmean(second)) / math.sqrt(pooled)
    assert found.effect == pytest.approx(cohen * (1 - 3 / (4 * (n + m - 2) - 1)), rel=0.02)
    equal = two_sample_test(first, first[::-1], paired=False, test="welch_t")
    assert equal.effect == pytest.approx(0) if len(set(first)) > 1 else equal.p_value == 1


def test_effects_of_welch_and_student_are_one_where_variances_are():
    first, second = [1.0, 2.0, 4.0, 5.0], [3.0, 4.0, 6.0, 7.0]
    one, other = (
        two_sample_test(first, second, paired=False, test=test) for test in ("welch_t", "student_t")
    )
    assert one.effect == pytest.approx(other.effect)
    assert (one.effect_name, other.effect_name) == ("hedges_g_average", "hedges_g")


def test_an_effect_on_one_degree_of_freedom_cannot_be_corrected():
    found = two_sample_test([1.0, 2.0], [3.0, 3.0], paired=False, test="welch_t")
    assert found.p_value is not None
    assert found.effect is None


@given(columns, columns)
def test_mann_whitney_by_counting(first, second):
    assume(len({*first, *second}) > 1)
    found = two_sample_test(first, second, paired=False, test="mann_whitney")
    greater = sum(one > other for one, other in product(first, second))
    equal = sum(one == other for one, other in product(first, second))
    assert found.statistic == greater + equal / 2
    assert found.effect == pytest.approx(
        (2 * greater + equal) / (len(first) * len(second)) - 1, abs=1e-12
    )
    assert found.difference == median(one - other for one, other in product(first, second))


@examples(12)
@given(st.lists(figure, min_size=2, max_size=5), st.lists(figure, min_size=2, max_size=5))
def test_few_values_have_an_exact_p_ties_or_not(first, second):
    assume(len({*first, *second}) > 1)
    pooled, n = [*first, *second], len(first)

    def u_of(chosen):
        one = [pooled[place] for place in chosen]
        rest = [pooled[place] for place in range(len(pooled)) if place not in chosen]
        return sum((x > y) + (x == y) / 2 for x, y in product(one, rest))

    orders = [u_of(chosen) for chosen in combinations(range(len(pooled)), n)]
    lower = sum(u <= orders[0] for u in orders) / len(orders)
    upper = sum(u >= orders[0] for u in orders) / len(orders)
    found = two_sample_test(first, second, paired=False, test="mann_whitney")
    assert found.p_value == pytest.approx(min(1, 2 * min(lower, upper)))


def test_many_values_have_the_p_of_another_program():
    first, second = [float(x * x % 101) for x in range(40)], [x * 1.5 for x in range(50)]
    found = two_sample_test(first, second, paired=False, test="mann_whitney")
    assert found.p_value == pytest.approx(mannwhitneyu(first, second).pvalue)


@examples(12)
@given(two)
def test_wilcoxon_by_counting(pairs):
    first, second = both(pairs)
    moved = [one - other for one, other in pairs]
    assume(any(moved))
    found = two_sample_test(first, second, paired=True, test="wilcoxon")
    n = len(moved)
    walsh = [(moved[i] + moved[j]) / 2 for i in range(n) for j in range(i, n)]
    assert found.difference == median(walsh)
    not_zero = [value for value in moved if value]
    assert found.p_value == pytest.approx(wilcoxon(not_zero).pvalue)
    # The sum of positive ranks is the number of Walsh averages above 0, half of those at 0.
    k = len(not_zero)
    averages = [not_zero[i] + not_zero[j] for i in range(k) for j in range(i, k)]
    positive = sum((x > 0) + (x == 0) / 2 for x in averages)
    assert found.statistic == positive
    assert found.effect == pytest.approx(4 * positive / (k * (k + 1)) - 1)


@given(columns, columns, st.floats(0.3, 0.99))
@example([0.0] * 3, [0.0] * 3, 0.8)  # the tail is a number of orders to the last digit
def test_bounds_of_a_shift_are_where_the_test_starts_to_reject(first, second, confidence):
    # Without ties: every value gets a trace of its own.
    one = [x + place * 1e-5 for place, x in enumerate(first)]
    other = [x + place * 3.1e-6 for place, x in enumerate(second)]
    found = hodges_lehmann_shift(one, other, confidence)
    if found.low is None:
        best = mannwhitneyu(range(len(one)), range(99, 99 + len(other)), method="exact").pvalue
        assert best > 1 - confidence - 1e-12
        return
    for bound, side in ((found.low, -1), (found.high, 1)):
        for step, rejected in ((1e-9, True), (-1e-9, False)):
            moved = [x - (bound + side * step) for x in one]
            p = mannwhitneyu(moved, other, method="exact").pvalue
            assert (p <= 1 - confidence + 1e-12) == rejected


@given(columns, st.floats(0.3, 0.99))
def test_bounds_of_paired_shifts_likewise(column, confidence):
    one = [x + place * place * 1e-5 for place, x in enumerate(column)]
    found = paired_hodges_lehmann_shift(one, confidence)
    if found.low is None:
        assert 2 * 0.5 ** len(one) > 1 - confidence - 1e-12
        return
    for bound, side in ((found.low, -1), (found.high, 1)):
        for step, rejected in ((1e-9, True), (-1e-9, False)):
            moved = [x - (bound + side * step) for x in one]
            assume(len({abs(x) for x in moved}) == len(moved))
            p = wilcoxon(moved, method="exact").pvalue
            assert (p <= 1 - confidence + 1e-12) == rejected


def test_long_columns_have_a_normal_interval_close_to_the_exact_one():
    short, long = [x * 0.37 % 1 for x in range(50)], [x * 0.37 % 1 for x in range(51)]
    for exact, normal in (
        (hodges_lehmann_shift(short, short, 0.95), hodges_lehmann_shift(long, long, 0.95)),
        (paired_hodges_lehmann_shift(short, 0.95), paired_hodges_lehmann_shift(long, 0.95)),
    ):
        assert bounds(normal) == pytest.approx(bounds(exact), abs=0.03)
        assert normal.low < normal.estimate < normal.high


@given(two)
def test_the_other_way_round_everything_turns(pairs):
    first, second = both(pairs)
    for paired in (True, False):
        one = two_sample_test(first, second, paired=paired)
        other = two_sample_test(second, first, paired=paired)
        assert (one.test, one.undefined) == (other.test, other.undefined)
        assert one.difference == pytest.approx(-other.difference, abs=1e-12)
        assert one.p_value == pytest.approx(other.p_value)
        assert one.effect == pytest.approx(-other.effect)
        if one.ci_low is not None:
            assert bounds(one) == pytest.approx((-other.ci_high, -other.ci_low), abs=1e-9)
            assert one.ci_low <= one.difference <= one.ci_high


@examples(15)
@given(st.data())
def test_the_design_chooses_and_never_the_figures(data):
    """Pairs or not, and how many: the same test whatever the figures are."""
    n, m = (data.draw(st.integers(2, 40)) for _ in "ab")
    for paired, tests in ((True, ("paired_t", "wilcoxon")), (False, ("welch_t", "mann_whitney"))):
        sizes = (n, n if paired else m)
        found = two_sample_test(
            *(data.draw(st.lists(figure, min_size=size, max_size=size)) for size in sizes),
            paired=paired,
        )
        assert found.test == tests[min(sizes) < 30]


def test_why():
    short, long = [0.0, 1.0, 0.5], [float(x % 7 == 0) for x in range(1200)]
    for sizes, paired, why in (
        ((long, long[::-1]), True, "The paired t test, because both sides have the same items, and "
         "1,200 are enough for a test of means (30 or more)."),
        ((short, short[::-1]), True, "Wilcoxon's signed-rank test, because both sides have the "
         "same items, and 3 are too few for a test of means (fewer than 30)."),
        ((long, short), False, "The Mann-Whitney test, because the sides share no item, and 1,200 "
         "and 3 are too few for a test of means (fewer than 30)."),
        ((short[:1], short), False, "There are fewer than two values."),
    ):  # fmt: skip
        assert str(two_sample_test(*sizes, paired=paired).why) == why


def near(found: Comparison) -> dict[str, Any]:
    made = as_json(found)
    return {
        name: pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
        for name, value in made.items()
    }


@examples(15)
@given(st.lists(st.tuples(figure, figure, st.integers(1, 6)), min_size=1, max_size=4))
def test_figures_may_be_counted(rows):
    first, second, counts = map(list, zip(*rows, strict=True))
    spelled = [[x for x, n in zip(some, counts, strict=True) for _ in range(n)]
               for some in (first, second)]  # fmt: skip
    for paired, tests in ((True, PAIRED_TESTS), (False, UNPAIRED_TESTS)):
        for test in (None, *tests):
            one = two_sample_test(first, second, paired=paired, counts=(counts, counts), test=test)
            other = two_sample_test(spelled[0], spelled[1], paired=paired, test=test)
            assert as_json(one) == near(other)


@pytest.mark.parametrize(
    ("paired", "test"), [(True, "welch_t"), (False, "wilcoxon"), (False, "anova")]
)
def test_a_test_for_other_columns_is_refused(paired, test):
    with pytest.raises(InvalidOption, match="one of"):
        two_sample_test([1, 2], [3, 4], paired=paired, test=test)


@pytest.mark.parametrize("test", [None, "paired_t", "wilcoxon"])
def test_identical_pairs_have_p_1(test):
    found = two_sample_test([0.1, 0.7, 0.3], [0.1, 0.7, 0.3], paired=True, test=test)
    assert (found.difference, found.p_value, found.effect, found.undefined) == (0, 1, 0, None)
    assert (found.statistic, bounds(found)) == (None, (None, None))
    assert str(found.why).endswith("no value differs.")


@pytest.mark.parametrize("test", [None, "welch_t", "student_t", "mann_whitney"])
def test_two_columns_of_one_value_have_p_1(test):
    found = two_sample_test([0.4, 0.4], [0.4, 0.4, 0.4], paired=False, test=test)
    assert (found.difference, found.p_value, found.effect) == (0, 1, 0)


def test_identical_columns_that_vary_have_p_1_too():
    for test in ("welch_t", "student_t", "mann_whitney"):
        found = two_sample_test(DRUG_1, DRUG_1, paired=False, test=test)
        assert (found.p_value, found.effect) == (1, 0)
        assert found.difference == 0


def test_a_constant_difference_has_ranks_but_no_t():
    # In binary the differences are not equal: 0.5 - 0.3 and 0.4 - 0.2.
    found = two_sample_test([0.3, 0.4, 0.5], [0.1, 0.2, 0.3], paired=True)
    assert (found.test, found.difference, found.p_value) == ("wilcoxon", 0.2, 0.25)
    found = two_sample_test([0.3, 0.4, 0.5], [0.1, 0.2, 0.3], paired=True, test="paired_t")
    assert (found.difference, found.standard_error) == (0.2, 0)
    assert (found.p_value, found.effect, found.undefined) == (None, None, "no_spread")


def test_two_constants_have_ranks_but_no_t():
    found = two_sample_test([1, 1, 1], [2, 2, 2], paired=False)
    assert (found.test, found.difference, found.effect) == ("mann_whitney", -1, -1)
    assert found.p_value == pytest.approx(0.1)  # two of twenty orders
    for test in ("welch_t", "student_t"):
        found = two_sample_test([1, 1, 1], [2, 2, 2], paired=False, test=test)
        assert (found.difference, found.p_value, found.undefined) == (-1, None, "no_spread")


@pytest.mark.parametrize("paired", [True, False])
def test_fewer_than_two_values(paired):
    for column in ([], [0.5]):
        found = two_sample_test(column, column, paired=paired)
        assert (found.difference, found.p_value, found.undefined) == (None, None, "too_few_items")


def test_what_a_caller_must_not_pass():
    with pytest.raises(ValueError, match="same length"):
        two_sample_test([1, 2], [1, 2, 3], paired=True)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="not finite"):
            two_sample_test([1, 2], [1, bad], paired=False)
    with pytest.raises(InvalidOption):
        two_sample_test([1, 2], [1, 2], paired=False, confidence=95)


def test_keys_of_the_json_in_order():
    assert list(as_json(two_sample_test([1, 2], [3, 5], paired=False))) == [
        "difference",
        "standard_error",
        "ci_low",
        "ci_high",
        "confidence",
        "statistic",
        "freedom",
        "p_value",
        "test",
        "why",
        "effect",
        "effect_name",
        "n_first",
        "n_second",
        "undefined",
        "p_value_annotators",
        "undefined_annotators",
    ]
