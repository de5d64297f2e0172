"""Numbers: intraclass correlations, and correlations and differences of two annotators.

Shrout and Fleiss (1979), McGraw and Wong (1996), Donner (1986); Pearson, Spearman, Lin (1989),
Bland and Altman (1986).
"""

import math
import warnings
from collections import Counter
from statistics import fmean, stdev

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import f as f_distribution
from scipy.stats import norm, pearsonr, spearmanr

from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns, make_pattern
from tracker.measures.numeric import (
    FORMS,
    NumericFigure,
    intraclass_correlations,
    numeric_agreement,
    numeric_whole_numbers,
)

VALUES = {category: float(category) for category in range(11)}
# Shrout and Fleiss (1979), table 2: six targets, four judges.
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

cell = st.integers(0, 5)
designs = st.tuples(st.integers(2, 7), st.integers(2, 4)).flatmap(
    lambda size: st.lists(
        st.lists(cell, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)
ragged = st.lists(st.lists(cell, min_size=1, max_size=4), min_size=2, max_size=8)


def tally(rows):
    return ItemPatterns(Counter(make_pattern([(cell,) for cell in row]) for row in rows))


def marginals(rows):
    return {n: Counter((row[n],) for row in rows) for n in range(len(rows[0]))}


def forms(rows, values=VALUES, confidence=0.95):
    figures = intraclass_correlations(tally(rows), values, marginals(rows), confidence)
    return {figure.form: figure for figure in figures}


def parts(figure, *names):
    return tuple(getattr(figure, name) for name in names)


# Values of table 4 of Shrout and Fleiss (1979); bounds of McGraw and Wong (1996), F and p as
# printed by the function ICC of the R package psych (Revelle) for these data.
PUBLISHED = [
    ("ICC(1)", 0.17, -0.133, 0.72, 1.8, 18, 0.16477),
    ("ICC(A,1)", 0.29, 0.019, 0.76, 11.0, 15, 0.00013),
    ("ICC(C,1)", 0.71, 0.342, 0.95, 11.0, 15, 0.00013),
    ("ICC(1,k)", 0.44, -0.884, 0.91, 1.8, 18, 0.16477),
    ("ICC(A,k)", 0.62, 0.071, 0.93, 11.0, 15, 0.00013),
    ("ICC(C,k)", 0.91, 0.676, 0.99, 11.0, 15, 0.00013),
]


@pytest.mark.parametrize(("form", "value", "low", "high", "f", "df2", "p_value"), PUBLISHED)
def test_shrout_and_fleiss_1979_with_bounds_of_mcgraw_and_wong_1996(
    form, value, low, high, f, df2, p_value
):
    figure = forms(TARGETS)[form]
    assert figure.value == pytest.approx(value, abs=5e-3)
    assert parts(figure, "items", "annotators", "balanced", "note") == (6, 4, True, None)
    assert figure.ci_low == pytest.approx(low, abs=5e-4)
    assert figure.ci_high == pytest.approx(high, abs=5e-3)
    assert figure.f == pytest.approx(f, abs=0.05)
    assert (figure.df1, figure.df2) == (5, df2)
    assert figure.p_value == pytest.approx(p_value, abs=5e-6)


def mean_squares(rows):
    """Between items, within items, between annotators, error: from means of rows and columns."""
    n, k = len(rows), len(rows[0])
    grand = fmean(cell for row in rows for cell in row)
    of_rows = [fmean(row) for row in rows]
    of_columns = [fmean(row[j] for row in rows) for j in range(k)]
    between = k * sum((x - grand) ** 2 for x in of_rows) / (n - 1)
    columns = n * sum((x - grand) ** 2 for x in of_columns) / (k - 1)
    within = sum((x - of_rows[i]) ** 2 for i, row in enumerate(rows) for x in row) / (n * (k - 1))
    error = sum((x - of_rows[i] - of_columns[j] + grand) ** 2
                for i, row in enumerate(rows) for j, x in enumerate(row))  # fmt: skip
    return between, within, columns, error / ((n - 1) * (k - 1))


@given(designs)
def test_by_means_of_rows_and_columns(rows):
    n, k = len(rows), len(rows[0])
    between, within, columns, error = mean_squares(rows)
    single = between + (k - 1) * error + k / n * (columns - error)
    of_mean = between + (columns - error) / n
    assume(min(between, within, error, of_mean) > 1e-9)
    figures = forms(rows)
    assert {form: figure.value for form, figure in figures.items()} == pytest.approx({
        "ICC(1)": (between - within) / (between + (k - 1) * within),
        "ICC(1,k)": (between - within) / between,
        "ICC(A,1)": (between - error) / single,
        "ICC(A,k)": (between - error) / of_mean,
        "ICC(C,1)": (between - error) / (between + (k - 1) * error),
        "ICC(C,k)": (between - error) / between,
    })  # fmt: skip
    assert figures["ICC(1)"].f == pytest.approx(between / within)
    p_value = f_distribution.sf(between / error, n - 1, (n - 1) * (k - 1))
    assert figures["ICC(C,1)"].p_value == pytest.approx(p_value)


@given(ragged)
def test_one_way_by_rows_of_unequal_numbers(rows):
    figure, mean, *two_way = intraclass_correlations(tally(rows), VALUES)
    rows = [row for row in rows if len(row) > 1]
    assume(figure.value is not None)
    total = sum(len(row) for row in rows)
    grand = fmean(cell for row in rows for cell in row)
    n0 = (total - sum(len(row) ** 2 for row in rows) / total) / (len(rows) - 1)
    between = sum(len(row) * (fmean(row) - grand) ** 2 for row in rows) / (len(rows) - 1)
    within = sum((x - fmean(row)) ** 2 for row in rows for x in row) / (total - len(rows))
    assert figure.annotators == pytest.approx(n0)
    expected = (between - within) / (between + (n0 - 1) * within)
    assert figure.value == pytest.approx(expected, abs=1e-12)
    assert mean.value is None or mean.value == pytest.approx((between - within) / between)
    assert figure.items == len(rows)
    if len({*map(len, rows)}) > 1:
        assert not figure.balanced
        assert "n0" in str(figure.note)
        assert {form.undefined for form in two_way} == {"not_applicable"}


@given(designs, st.floats(0.5, 0.99))
def test_a_bound_is_where_the_f_of_the_sample_is_a_quantile(rows, confidence):
    figures = forms(rows, confidence=confidence)
    for form in ("ICC(1)", "ICC(C,1)"):
        one = figures[form]
        assume(one.ci_low is not None and one.ci_low < one.ci_high < 0.999)
        for bound, share in ((one.ci_low, 1 + confidence), (one.ci_high, 1 - confidence)):
            ratio = 1 + one.annotators * bound / (1 - bound)
            assert f_distribution.cdf(one.f / ratio, one.df1, one.df2) == pytest.approx(share / 2)


def test_agreement_without_an_error_has_no_bounds():
    for one in forms([[1, 1], [2, 2], [5, 5]]).values():
        assert parts(one, "value", "f", "p_value", "ci_low", "ci_high") == (1, *[None] * 4)
        assert "F is infinite" in str(one.note)
    constant = forms([[1, 2], [2, 3], [3, 4], [5, 6]])  # consistent but no agreement
    assert parts(constant["ICC(C,1)"], "value", "ci_low") == (1, None)
    # MSR = 35/6, MSC = 2, MSE = 0: MSR / (MSR + k MSC / n).
    absolute = constant["ICC(A,1)"]
    assert absolute.value == pytest.approx(35 / 41)
    assert absolute.ci_low < 35 / 41 < absolute.ci_high
    # 0.1 + 0.2 is not 0.3 in binary; the annotators still differ by the same throughout.
    values = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
    assert forms([[0, 1], [1, 2], [2, 3]], values)["ICC(C,1)"].value == 1
    assert numeric_whole_numbers(values) == ({(0,): 1, (1,): 2, (2,): 3, (3,): 4}, 10)
    # Two values of the same number are one.
    assert forms([[1, 2], [3, 3]], {1: 4.0, 2: 4.0, 3: 9.0})["ICC(1)"].value == 1


def test_items_that_do_not_differ():
    figures = forms([[1, 2], [2, 1], [1, 2], [2, 1]])
    assert parts(figures["ICC(1)"], "value", "f", "p_value", "ci_low") == (-1, 0, 1, None)
    for form in ("ICC(1,k)", "ICC(A,k)", "ICC(C,k)"):
        assert parts(figures[form], "value", "undefined") == (None, "not_applicable")
    without = forms([[1, 2], [2, 1]])["ICC(A,1)"]  # without variance of answers
    assert parts(without, "value", "undefined") == (None, "not_applicable")
    figures = forms([[1, 2], [1, 2], [1, 2]])
    assert parts(figures["ICC(A,1)"], "value", "ci_low") == (0, None)
    assert parts(figures["ICC(C,1)"], "value", "undefined") == (None, "single_category")
    assert figures["ICC(C,k)"].note == "only annotators differ"


@pytest.mark.parametrize(
    ("rows", "reason", "own"),
    [
        ([[3, 3], [3, 3]], "single_category", None),
        ([[1, 2]], "too_few_items", None),
        ([[1, 2], [3]], "too_few_items", None),
        ([[1], [2]], "no_overlap", None),
        ([], "too_few_items", None),
        ([[1], [2]], "too_few_annotators", {7: {(1,): 1, (2,): 1}, 8: {}}),
    ],
)
def test_reason(rows, reason, own):
    figures = intraclass_correlations(tally(rows), VALUES, own)
    assert [one.form for one in figures] == list(FORMS)
    assert {(one.value, one.undefined) for one in figures} == {(None, reason)}


def test_answers_and_levels_that_do_not_fit():
    for answer in ((), (1, 2), (77,), (78,)):
        patterns = ItemPatterns({make_pattern([(1,), answer]): 2, make_pattern([(1,), (2,)]): 1})
        figures = intraclass_correlations(patterns, {**VALUES, 78: float("nan")})
        assert {one.undefined for one in figures} == {"not_applicable"}
        assert figures[0].items == 3
    with pytest.raises(InvalidOption):
        intraclass_correlations(tally(TARGETS), VALUES, confidence=95)


def test_designs_that_are_not_complete():
    rows = [[1, 2], [3, 4], [5, 5]]
    alone = marginals(rows)
    alone[0][4,] += 1  # an item of one answer
    changing = {0: {(1,): 1, (3,): 1}, 1: {(2,): 1, (5,): 1}, 2: {(4,): 1, (5,): 1}}
    for items, own, note in (
        ([*rows, [4]], alone, "items of one answer left out: 1"),
        (rows, changing, None),  # three annotators, two answers to each item
        (rows, marginals([[1, 2], [3, 4], [5, 4]]), None),  # counts of other items
    ):
        figures = intraclass_correlations(tally(items), VALUES, own)
        assert figures[0].value == forms(rows)["ICC(1)"].value
        assert figures[0].note == note
        assert {one.undefined for one in figures[2:]} == {"not_applicable"}
        assert "not every annotator" in str(figures[2].note)


# Two annotators.

# Bland and Altman (1986), table: one reading of each of the two meters, 17 subjects.
WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
PAIR_VALUES = {0: -1.5, 1: 0.1, 2: 0.2, 3: 4.0, 4: 4.0}
PAIR_NUMBERS = numeric_whole_numbers(PAIR_VALUES)

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)
perfect = NumericFigure(1.0, unbounded="no_spread")


def table(rows):
    return Counter(((one,), (other,)) for one, other in rows)


def agreement(rows, confidence=0.95):
    return numeric_agreement(table(rows), PAIR_NUMBERS, confidence)


def expanded(rows):
    return [[PAIR_VALUES[row[side]] for row in rows] for side in (0, 1)]


def of_numbers(first, second):
    values = numeric_whole_numbers({number: float(number) for number in [*first, *second]})
    return numeric_agreement(table(list(zip(first, second, strict=True))), values)


def test_bland_and_altman_1986():
    # Their difference is Wright less mini, ours the second less the first.
    result = of_numbers(MINI, WRIGHT)
    # They take 2 for 1.96: limits of -79.7 and 75.5. Their error of a limit is 16.3, t is 2.12.
    spread = 38.76513
    for figure, value, rounding in (
        (result.bias.ci_low, -22.0, 0.1),
        (result.bias.ci_high, 17.8, 0.1),
        (result.lower_limit.value, -79.65 + 0.04 * spread, 0.01),
        (result.upper_limit.value, 75.41 - 0.04 * spread, 0.01),
        *((limit.ci_high - limit.value, 2.12 * 16.28, 0.02)
          for limit in (result.lower_limit, result.upper_limit)),
        *((limit.value - limit.ci_low, 2.12 * 16.28, 0.02)
          for limit in (result.lower_limit, result.upper_limit)),
    ):  # fmt: skip
        assert figure == pytest.approx(value, abs=rounding)


def test_bonett_and_wright_2000_interval_of_a_published_example():
    # The example of the function ci.spear of Bonett's R package statpsych.
    first = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
    second = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]
    rho = of_numbers(first, second).spearman
    published = (0.8699639, 0.5840951, 0.9638297)
    assert (rho.value, rho.ci_low, rho.ci_high) == pytest.approx(published, abs=1e-7)


@given(pairs, st.floats(0.5, 0.99))
def test_figures_as_of_expanded_rows(rows, confidence):
    """Pearson and Spearman as scipy has them, Lin (1989), differences, and the other way round."""
    (x, y), n = expanded(rows), len(rows)
    result = agreement(rows, confidence)
    turned = agreement([(second, first) for first, second in rows], confidence)
    same = ("pearson", "spearman", "concordance", "sd")
    assert parts(result, *same) == parts(turned, *same)
    assert result.bias.value == -turned.bias.value
    moved = [other - one for one, other in zip(x, y, strict=True)]
    assert result.bias.value == pytest.approx(fmean(moved), abs=1e-12)
    if n > 1:
        spread = stdev(moved)
        assert result.sd.value == pytest.approx(spread, abs=1e-12)
        assert result.lower_limit.value == pytest.approx(fmean(moved) - 1.96 * spread, abs=1e-9)
        assert result.upper_limit.value == pytest.approx(fmean(moved) + 1.96 * spread, abs=1e-9)
        assert result.upper_limit.value == pytest.approx(-turned.lower_limit.value)
    if result.concordance.value is not None:
        assert (result.concordance.value == 1) == (x == y)
        if result.pearson.value is not None:
            assert abs(result.concordance.value) <= abs(result.pearson.value) + 1e-12
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, ranked = pearsonr(x, y), spearmanr(x, y)
        bounds = plain.confidence_interval(confidence) if n > 3 else None
    assert result.pearson.value == pytest.approx(plain.statistic, abs=1e-9)
    assert result.spearman.value == pytest.approx(ranked.statistic, abs=1e-9)
    if result.pearson.ci_low is not None:
        assert (result.pearson.ci_low, result.pearson.ci_high) == pytest.approx(tuple(bounds))
        assert result.pearson.ci_low < result.pearson.value < result.pearson.ci_high
    assume(n > 2)
    mean_x, mean_y = fmean(x), fmean(y)
    s_x, s_y = (math.sqrt(fmean((v - m) ** 2 for v in c)) for c, m in ((x, mean_x), (y, mean_y)))
    s_xy = fmean((one - mean_x) * (other - mean_y) for one, other in zip(x, y, strict=True))
    value = 2 * s_xy / (s_x**2 + s_y**2 + (mean_x - mean_y) ** 2)
    lin = result.concordance
    assert lin.value == pytest.approx(value, abs=1e-12)
    r, u = s_xy / (s_x * s_y), (mean_x - mean_y) / math.sqrt(s_x * s_y)
    assume(0.01 < abs(r) < 1 - 1e-9)
    # Lin (1989), p. 258, with the last power of the second term as corrected in 2000.
    square = (
        (1 - r**2) * value**2 / ((1 - value**2) * r**2)
        + 2 * value**3 * (1 - value) * u**2 / (r * (1 - value**2) ** 2)
        - value**4 * u**4 / (2 * r**2 * (1 - value**2) ** 2)
    )
    reach = norm.ppf((1 + confidence) / 2) * math.sqrt(square / (n - 2))
    wanted = [math.tanh(math.atanh(value) + side * reach) for side in (-1, 1)]
    assert [lin.ci_low, lin.ci_high] == pytest.approx(wanted)


def test_correlations_without_bounds_and_without_variation():
    shifted = of_numbers([1, 2, 3, 4, 5], [3, 4, 5, 6, 7])
    assert (shifted.pearson, shifted.spearman) == (perfect, perfect)
    # Variances and covariance 2, shift 2: 2 * 2 / (2 + 2 + 4).
    assert shifted.concordance.value == 0.5
    constant = NumericFigure(2.0, unbounded="no_spread")
    assert parts(shifted, "bias", "sd", "lower_limit") == (constant, NumericFigure(0.0), constant)
    assert of_numbers([1, 2, 3, 4], [1, 2, 3, 4]).concordance == perfect
    rounded = of_numbers([*range(10), 10**12], [*range(1, 10), 0, 10**12])
    assert rounded.pearson == perfect
    zero = NumericFigure(0.0, unbounded="no_spread")
    one_constant = of_numbers([2, 2, 2, 2], [1, 2, 3, 4])
    nothing = NumericFigure(None, "single_category", unbounded="single_category")
    assert parts(one_constant, "pearson", "spearman", "concordance") == (nothing, nothing, zero)
    assert one_constant.bias.value == 0.5
    assert agreement([(3, 4)] * 5).concordance.undefined == "single_category"  # both are 4.0
    assert agreement([(1, 2)] * 5).concordance == zero
    assert agreement([(3, 4)] * 5).bias.value == 0


def test_figures_of_few_items():
    one, two, three = (agreement([(0, 1), (2, 2), (3, 1)][:n]) for n in (1, 2, 3))
    few = NumericFigure(None, "too_few_items", unbounded="too_few_items")
    assert parts(one, "pearson", "spearman", "concordance", "sd", "upper_limit") == (few,) * 5
    assert one.bias == NumericFigure(1.6, unbounded="too_few_items")
    for figure in parts(two, "pearson", "spearman", "concordance", "bias", "lower_limit"):
        assert (figure.undefined, figure.unbounded) == (None, "too_few_items")
    assert three.pearson.unbounded == "too_few_items"
    assert None not in {three.concordance.ci_low, three.bias.ci_low}
    with pytest.raises(InvalidOption):
        numeric_agreement({}, PAIR_NUMBERS, 95)


@pytest.mark.parametrize("other", [None, (), (1, 2), (9,)])
def test_no_items_and_no_numbers(other):
    counts, reason = {((1,), other): 3}, "not_applicable"
    if other is None:
        counts, reason = {}, "no_overlap"
    result = numeric_agreement(counts, PAIR_NUMBERS).to_dict()
    rows = [part for part in result.values() if isinstance(part, dict)]
    assert len(rows) == 7
    assert {(row["value"], row["undefined"]) for row in rows} == {(None, reason)}
