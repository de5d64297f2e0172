"""Two columns of figures, or two coefficients: which test when, and its figures by other means.

Student (1908), Welch (1947), Mann and Whitney, Wilcoxon, Hedges (1981), Gwet (2016).
"""

import math
from itertools import combinations, product
from statistics import fmean, median, stdev, variance

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, ttest_ind, ttest_rel, wilcoxon

from tests.profiles import examples
from tracker.compare.tables import comparison_test_as_json
from tracker.core.errors import InvalidOption
from tracker.measures.difference_tests import (
    PAIRED_TESTS,
    UNPAIRED_TESTS,
    dependent_t_test,
    hodges_lehmann_shift,
    independent_t_test,
    paired_hodges_lehmann_shift,
    two_sample_test,
)
from tracker.measures.intervals import Coefficient

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


def bounds(result):
    return result.ci_low, result.ci_high


def unpaired(first, second, test, **options):
    return two_sample_test(first, second, paired=False, test=test, **options)


def paired(first, second, test):
    return two_sample_test(first, second, paired=True, test=test)


# As printed by t.test(extra ~ group, data = sleep) in R's documentation, with paired = TRUE, and in
# examples 3.1 and 3.4, 4.1 and 4.3 of Hollander and Wolfe (their statistic 40 is 45 - 5).
PUBLISHED = [
    ("welch_t", DRUG_1, DRUG_2, {
        "statistic": (-1.8608, 5e-5), "freedom": (17.776, 5e-4), "p_value": (0.07939, 5e-6),
        "ci_low": (-3.3654832, 5e-8), "ci_high": (0.2054832, 5e-8), "difference": (-1.58, 1e-12)}),
    ("paired_t", DRUG_1, DRUG_2, {
        "statistic": (-4.0621, 5e-5), "freedom": (9, 0), "p_value": (0.002833, 5e-7),
        "ci_low": (-2.4598858, 5e-8), "ci_high": (-0.7001142, 5e-8),
        "effect": (-4.0621 / math.sqrt(10), 5e-5)}),
    ("wilcoxon", DEPRESSION_2, DEPRESSION_1, {
        "statistic": (5, 0), "p_value": (2 * 0.0195, 1e-4), "difference": (-0.46, 1e-9),
        "ci_low": (-0.786, 1e-9), "ci_high": (-0.010, 1e-9), "effect": ((5 - 40) / 45, 1e-9)}),
    ("mann_whitney", TERM, EARLY, {
        "statistic": (35, 0), "p_value": (2 * 0.1272, 1e-4), "difference": (0.305, 1e-9),
        "ci_low": (-0.15, 1e-9), "ci_high": (0.76, 1e-9), "effect": (2 * 35 / 50 - 1, 1e-9)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "first", "second", "figures"), PUBLISHED, ids=[row[0] for row in PUBLISHED]
)
def test_published_examples(test, first, second, figures):
    result = two_sample_test(first, second, paired=test in PAIRED_TESTS, test=test)
    for name, (value, rounding) in figures.items():
        assert getattr(result, name) == pytest.approx(value, abs=rounding), name


@examples(15)
@given(columns, columns)
def test_t_tests_are_those_of_scipy_with_the_effect_of_hedges_1981(first, second):
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    for test, equal in (("student_t", True), ("welch_t", False)):
        result = unpaired(first, second, test)
        expected = ttest_ind(first, second, equal_var=equal)
        assert result.p_value == pytest.approx(expected.pvalue)
        assert result.freedom == pytest.approx(expected.df)
        assert bounds(result) == pytest.approx(tuple(expected.confidence_interval()), abs=1e-9)
    n, m = len(first), len(second)
    pooled = ((n - 1) * variance(first) + (m - 1) * variance(second)) / (n + m - 2)
    result = unpaired(first, second, "student_t")
    assert result.effect_name == "hedges_g"
    # His approximation of the correction, good to a few thousandths.
    cohen = (fmean(first) - fmean(second)) / math.sqrt(pooled)
    assert result.effect == pytest.approx(cohen * (1 - 3 / (4 * (n + m - 2) - 1)), rel=0.02)
    assert unpaired(first, first[::-1], "welch_t").effect == pytest.approx(0)


@given(columns, columns)
def test_mann_whitney_by_counting(first, second):
    assume(len({*first, *second}) > 1)
    result = unpaired(first, second, "mann_whitney")
    greater = sum(one > other for one, other in product(first, second))
    equal = sum(one == other for one, other in product(first, second))
    assert result.statistic == greater + equal / 2
    share = (2 * greater + equal) / (len(first) * len(second))
    assert result.effect == pytest.approx(share - 1, abs=1e-12)
    assert result.difference == median(one - other for one, other in product(first, second))


@examples(12)
@given(st.lists(figure, min_size=2, max_size=5), st.lists(figure, min_size=2, max_size=5))
def test_few_values_have_an_exact_p_with_and_without_ties(first, second):
    assume(len({*first, *second}) > 1)
    pooled = [*first, *second]

    def statistic(chosen):
        one = [pooled[place] for place in chosen]
        rest = [pooled[place] for place in range(len(pooled)) if place not in chosen]
        return sum((x > y) + (x == y) / 2 for x, y in product(one, rest))

    orders = [statistic(chosen) for chosen in combinations(range(len(pooled)), len(first))]
    lower = sum(u <= orders[0] for u in orders) / len(orders)
    upper = sum(u >= orders[0] for u in orders) / len(orders)
    result = unpaired(first, second, "mann_whitney")
    assert result.p_value == pytest.approx(min(1, 2 * min(lower, upper)))


def test_many_values_have_a_normal_p_and_interval():
    first, second = [float(x * x % 101) for x in range(40)], [x * 1.5 for x in range(50)]
    p_value = unpaired(first, second, "mann_whitney").p_value
    assert p_value == pytest.approx(mannwhitneyu(first, second).pvalue)
    short, long = [x * 0.37 % 1 for x in range(50)], [x * 0.37 % 1 for x in range(51)]
    for exact, normal in (
        (hodges_lehmann_shift(short, short, 0.95), hodges_lehmann_shift(long, long, 0.95)),
        (paired_hodges_lehmann_shift(short, 0.95), paired_hodges_lehmann_shift(long, 0.95)),
    ):
        assert (normal.low, normal.high) == pytest.approx((exact.low, exact.high), abs=0.03)
        assert normal.low < normal.estimate < normal.high


@examples(12)
@given(st.lists(st.tuples(figure, figure), min_size=2, max_size=15))
def test_wilcoxon_by_counting(pairs):
    moved = [one - other for one, other in pairs]
    assume(any(moved))
    result = paired(*zip(*pairs, strict=True), "wilcoxon")
    n = len(moved)
    assert result.difference == median((moved[i] + moved[j]) / 2
                                       for i in range(n) for j in range(i, n))  # fmt: skip
    not_zero = [value for value in moved if value]
    assert result.p_value == pytest.approx(wilcoxon(not_zero).pvalue)
    # The sum of positive ranks is the number of Walsh averages above 0, half of those at 0.
    k = len(not_zero)
    averages = [not_zero[i] + not_zero[j] for i in range(k) for j in range(i, k)]
    positive = sum((x > 0) + (x == 0) / 2 for x in averages)
    assert result.statistic == positive
    assert result.effect == pytest.approx(4 * positive / (k * (k + 1)) - 1)


def check_bounds(shift, confidence, p_value):
    """Assert that the test starts to reject at the bounds."""
    for bound, side in ((shift.low, -1), (shift.high, 1)):
        for step, rejected in ((1e-9, True), (-1e-9, False)):
            p = p_value(bound + side * step)
            assert (p <= 1 - confidence + 1e-12) == rejected


@given(columns, columns, st.floats(0.3, 0.99))
@example([0.0] * 3, [0.0] * 3, 0.8)  # the tail is a number of orders to the last digit
def test_bounds_of_a_shift_are_where_the_test_starts_to_reject(first, second, confidence):
    # Without ties: every value gets a trace of its own.
    one = [x + place * 1e-5 for place, x in enumerate(first)]
    other = [x + place * 3.1e-6 for place, x in enumerate(second)]
    shift = hodges_lehmann_shift(one, other, confidence)
    if shift.low is None:
        best = mannwhitneyu(range(len(one)), range(99, 99 + len(other)), method="exact").pvalue
        assert best > 1 - confidence - 1e-12
        return
    check_bounds(shift, confidence, lambda bound: mannwhitneyu(
        [x - bound for x in one], other, method="exact").pvalue)  # fmt: skip


@given(columns, st.floats(0.3, 0.99))
def test_bounds_of_a_paired_shift_are_where_the_test_starts_to_reject(column, confidence):
    one = [x + place * place * 1e-5 for place, x in enumerate(column)]
    shift = paired_hodges_lehmann_shift(one, confidence)
    if shift.low is None:
        assert 2 * 0.5 ** len(one) > 1 - confidence - 1e-12
        return

    def p_value(bound):
        moved = [x - bound for x in one]
        assume(len({abs(x) for x in moved}) == len(moved))
        return wilcoxon(moved, method="exact").pvalue

    check_bounds(shift, confidence, p_value)


@examples(15)
@given(st.lists(st.tuples(figure, figure, st.integers(1, 6)), min_size=1, max_size=4))
def test_figures_may_be_counted(rows):
    first, second, counts = map(list, zip(*rows, strict=True))
    spelled = [[x for x, n in zip(column, counts, strict=True) for _ in range(n)]
               for column in (first, second)]  # fmt: skip
    for is_paired, tests in ((True, PAIRED_TESTS), (False, UNPAIRED_TESTS)):
        for test in (None, *tests):
            how = {"paired": is_paired, "test": test}
            one = comparison_test_as_json(
                two_sample_test(first, second, counts=(counts, counts), **how)
            )
            other = comparison_test_as_json(two_sample_test(*spelled, **how))
            assert one.keys() == other.keys()
            for name, value in other.items():
                close = pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
                assert one[name] == close


@examples(15)
@given(st.data(), st.integers(2, 40), st.integers(2, 40))
def test_the_design_chooses_and_never_the_figures(data, n, m):
    """Pairs or not, and how many: the same test whatever the figures are."""
    for is_paired, tests in (
        (True, ("paired_t", "wilcoxon")),
        (False, ("welch_t", "mann_whitney")),
    ):
        sizes = (n, n if is_paired else m)
        column = [data.draw(st.lists(figure, min_size=size, max_size=size)) for size in sizes]
        assert two_sample_test(*column, paired=is_paired).test == tests[min(sizes) < 30]


def test_columns_that_do_not_differ_have_p_1():
    for test in (None, "paired_t", "wilcoxon"):
        result = paired([0.1, 0.7, 0.3], [0.1, 0.7, 0.3], test)
        figures = (result.difference, result.p_value, result.effect, result.undefined)
        assert figures == (0, 1, 0, None)
        assert (result.statistic, bounds(result)) == (None, (None, None))
        assert str(result.why).endswith("no value differs.")
    for test in (None, "welch_t", "student_t", "mann_whitney"):
        for first, second in (([0.4, 0.4], [0.4, 0.4, 0.4]), (DRUG_1, DRUG_1)):
            result = unpaired(first, second, test)
            assert (result.difference, result.p_value, result.effect) == (0, 1, 0)


def test_constant_differences_have_ranks_but_no_t():
    # In binary the differences are not equal: 0.5 - 0.3 and 0.4 - 0.2.
    columns = [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]
    result = paired(*columns, None)
    assert (result.test, result.difference, result.p_value) == ("wilcoxon", 0.2, 0.25)
    result = paired(*columns, "paired_t")
    assert (result.difference, result.standard_error) == (0.2, 0)
    assert (result.p_value, result.effect, result.undefined) == (None, None, "no_spread")
    result = unpaired([1, 1, 1], [2, 2, 2], None)
    assert (result.test, result.difference, result.effect) == ("mann_whitney", -1, -1)
    assert result.p_value == pytest.approx(0.1)  # two of twenty orders
    for test in ("welch_t", "student_t"):
        result = unpaired([1, 1, 1], [2, 2, 2], test)
        assert (result.difference, result.p_value, result.undefined) == (-1, None, "no_spread")
    for is_paired, column in product((True, False), ([], [0.5])):
        result = two_sample_test(column, column, paired=is_paired)
        figures = (result.difference, result.p_value, result.undefined)
        assert figures == (None, None, "too_few_items")


def test_arguments_that_are_refused():
    with pytest.raises(ValueError, match="same length"):
        paired([1, 2], [1, 2, 3], None)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="not finite"):
            unpaired([1, 2], [1, bad], None)
    with pytest.raises(InvalidOption):
        unpaired([1, 2], [1, 2], None, confidence=95)
    for is_paired, test in ((True, "welch_t"), (False, "wilcoxon"), (False, "anova")):
        with pytest.raises(InvalidOption, match="one of"):
            two_sample_test([1, 2], [3, 4], paired=is_paired, test=test)


@given(st.lists(st.tuples(figure, figure, st.integers(1, 4)), min_size=1, max_size=8))
def test_dependent_means_are_a_paired_t_test(patterns):
    # A mean is a coefficient too; the influence of an item on it is (x - mean) / n.
    rows = [(x, y) for x, y, items in patterns for _ in range(items)]
    n = len(rows)
    x, y = [one for one, _ in rows], [other for _, other in rows]
    assume(n > 1 and len({one - other for one, other in rows}) > 1)
    result = dependent_t_test(
        [(one - fmean(x)) / n for one, _, _ in patterns],
        [(other - fmean(y)) / n for _, other, _ in patterns],
        [items for _, _, items in patterns],
        fmean(x) - fmean(y),
    )
    expected = ttest_rel(x, y)
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert bounds(result) == pytest.approx(tuple(expected.confidence_interval()), abs=1e-9)
    assert (result.freedom, result.n_first, result.n_second) == (n - 1, n, n)
    assert result.test == "dependent_t"


def test_dependent_results():
    shared = [0.3, -0.3, 0.1, -0.1]  # what both share drops out
    near = dependent_t_test(shared, [0.29, -0.3, 0.11, -0.1], [5, 5, 5, 5], 0.1)
    assert near.standard_error == pytest.approx(math.sqrt(20 / 19 * 5 * 2 * 0.01**2))
    assert near.standard_error < math.sqrt(20 / 19 * 5 * sum(u * u for u in shared)) / 10
    same = dependent_t_test([0.1, -0.1], [0.1, -0.1], [3, 3], 0.0)
    assert (same.difference, same.standard_error, same.p_value) == (0, 0, 1)
    assert (same.undefined, same.statistic, bounds(same)) == (None, None, (None, None))
    for influences, items, reason in ((([0.0], [0.0]), [8], "no_spread"),
                                      (([0.2], [0.1]), [1], "too_few_items")):  # fmt: skip
        result = dependent_t_test(*influences, items, 0.25)
        assert (result.difference, result.p_value, result.undefined) == (0.25, None, reason)
    with pytest.raises(ValueError, match="longer"):
        dependent_t_test([0.1], [0.1, 0.2], [1], 0.0)


def of_mean(column):
    error = stdev(column) / math.sqrt(len(column))
    return Coefficient("mean", fmean(column), standard_error=error, items=len(column))


@examples(15)
@given(columns, columns)
def test_independent_means_are_welchs_t_test(first, second):
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    result = independent_t_test(of_mean(first), of_mean(second), 0.9)
    expected = ttest_ind(first, second, equal_var=False)
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.freedom == pytest.approx(expected.df)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert bounds(result) == pytest.approx(tuple(expected.confidence_interval(0.9)), abs=1e-9)
    assert (result.n_first, result.n_second) == (len(first), len(second))


def test_independent_results_that_are_undefined():
    fine = Coefficient("m", 0.5, standard_error=0.1, items=20)
    none = Coefficient("m", None, undefined="single_category", items=20)
    certain = Coefficient("m", 1.0, standard_error=0.0, items=20)
    for first, second, difference, reason in (
        (none, fine, None, "single_category"),
        (fine, none, None, "single_category"),
        (fine, Coefficient("m", 0.4, items=1), 0.1, "too_few_items"),
        (certain, certain, 0.0, "no_spread"),
    ):
        result = independent_t_test(first, second)
        assert (result.p_value, result.undefined, result.ci_low) == (None, reason, None)
        assert result.difference == (None if difference is None else pytest.approx(difference))
    result = independent_t_test(certain, fine)
    assert (result.standard_error, result.freedom) == pytest.approx((0.1, 19))
