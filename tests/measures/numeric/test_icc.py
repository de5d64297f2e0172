"""Shrout and Fleiss (1979), McGraw and Wong (1996), Donner (1986): intraclass correlations."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, variance

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import f as f_distribution

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns, make_pattern
from tracker.measures.numeric import FORMS, intraclass_correlations, numeric_whole_numbers

Matrix = list[list[int]]  # per item, the category of each annotator
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


def tally(rows: Matrix) -> ItemPatterns:
    return ItemPatterns(Counter(make_pattern([(cell,) for cell in row]) for row in rows))


def marginals(rows: Matrix) -> dict[int, Counter[Answer]]:
    return {
        annotator: Counter((row[annotator],) for row in rows) for annotator in range(len(rows[0]))
    }


def forms(rows, values=VALUES, confidence=0.95):
    found = intraclass_correlations(tally(rows), values, marginals(rows), confidence)
    return {one.form: one for one in found}


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("ICC(1)", 0.17),
        ("ICC(A,1)", 0.29),
        ("ICC(C,1)", 0.71),
        ("ICC(1,k)", 0.44),
        ("ICC(A,k)", 0.62),
        ("ICC(C,k)", 0.91),
    ],
)
def test_shrout_and_fleiss_1979_table_4(form, value):
    found = forms(TARGETS)[form]
    assert found.value == pytest.approx(value, abs=5e-3)
    assert (found.items, found.annotators, found.balanced, found.note) == (6, 4, True, None)


@pytest.mark.parametrize(
    ("form", "low", "high", "f", "df2", "p_value"),
    [
        # As printed by the function ICC of the R package psych (Revelle) for these data.
        ("ICC(1)", -0.133, 0.72, 1.8, 18, 0.16477),
        ("ICC(A,1)", 0.019, 0.76, 11.0, 15, 0.00013),
        ("ICC(C,1)", 0.342, 0.95, 11.0, 15, 0.00013),
        ("ICC(1,k)", -0.884, 0.91, 1.8, 18, 0.16477),
        ("ICC(A,k)", 0.071, 0.93, 11.0, 15, 0.00013),
        ("ICC(C,k)", 0.676, 0.99, 11.0, 15, 0.00013),
    ],
)
def test_mcgraw_and_wong_1996_bounds(form, low, high, f, df2, p_value):
    found = forms(TARGETS)[form]
    assert found.ci_low == pytest.approx(low, abs=5e-4)
    assert found.ci_high == pytest.approx(high, abs=5e-3)
    assert found.f == pytest.approx(f, abs=0.05)
    assert (found.df1, found.df2) == (5, df2)
    assert found.p_value == pytest.approx(p_value, abs=5e-6)


def test_donner_1986_unequal_numbers_by_hand():
    # SSB = 169/30 and SSW = 19/6 with 1 and 3 degrees of freedom; n0 = 5 - 13/5.
    rows = [[1, 2], [3, 3, 5]]
    one, mean, *two_way = intraclass_correlations(tally(rows), VALUES)
    between, within = 169 / 30, 19 / 18
    assert one.annotators == pytest.approx(2.4)
    assert one.value == pytest.approx((between - within) / (between + 1.4 * within))
    assert mean.value == pytest.approx((between - within) / between)
    assert not one.balanced
    assert "n0" in str(one.note)
    assert {form.undefined for form in two_way} == {"not_applicable"}


def mean_squares(rows: Matrix) -> tuple[float, float, float, float]:
    """Between items, within items, between annotators, error: from means of rows and columns."""
    n, k = len(rows), len(rows[0])
    grand = fmean(cell for row in rows for cell in row)
    of_rows = [fmean(row) for row in rows]
    of_columns = [fmean(row[j] for row in rows) for j in range(k)]
    between = k * sum((x - grand) ** 2 for x in of_rows) / (n - 1)
    columns = n * sum((x - grand) ** 2 for x in of_columns) / (k - 1)
    within = sum((x - of_rows[i]) ** 2 for i, row in enumerate(rows) for x in row) / (n * (k - 1))
    error = sum(
        (x - of_rows[i] - of_columns[j] + grand) ** 2
        for i, row in enumerate(rows)
        for j, x in enumerate(row)
    )
    return between, within, columns, error / ((n - 1) * (k - 1))


@given(designs)
def test_by_means_of_rows_and_columns(rows):
    n, k = len(rows), len(rows[0])
    between, within, columns, error = mean_squares(rows)
    beside = between + (k - 1) * error + k / n * (columns - error)
    of_mean = between + (columns - error) / n
    assume(min(between, within, error, of_mean) > 1e-9)
    found = forms(rows)
    expected = {
        "ICC(1)": (between - within) / (between + (k - 1) * within),
        "ICC(1,k)": (between - within) / between,
        "ICC(A,1)": (between - error) / beside,
        "ICC(A,k)": (between - error) / of_mean,
        "ICC(C,1)": (between - error) / (between + (k - 1) * error),
        "ICC(C,k)": (between - error) / between,
    }
    assert {form: one.value for form, one in found.items()} == pytest.approx(expected)
    assert found["ICC(1)"].f == pytest.approx(between / within)
    p_value = f_distribution.sf(between / error, n - 1, (n - 1) * (k - 1))
    assert found["ICC(C,1)"].p_value == pytest.approx(p_value)


@given(ragged)
def test_one_way_by_rows_of_unequal_numbers(rows):
    found = intraclass_correlations(tally(rows), VALUES)[0]
    kept = [row for row in rows if len(row) > 1]
    assume(found.value is not None)
    total = sum(len(row) for row in kept)
    grand = fmean(cell for row in kept for cell in row)
    n0 = (total - sum(len(row) ** 2 for row in kept) / total) / (len(kept) - 1)
    between = sum(len(row) * (fmean(row) - grand) ** 2 for row in kept) / (len(kept) - 1)
    within = sum((x - fmean(row)) ** 2 for row in kept for x in row) / (total - len(kept))
    assert found.annotators == pytest.approx(n0)
    expected = (between - within) / (between + (n0 - 1) * within)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.items == len(kept)


@given(designs)
def test_consistency_of_the_mean_is_cronbachs_alpha(rows):
    # Cronbach (1951), Psychometrika 16, 297.
    k = len(rows[0])
    of_sums = variance([sum(row) for row in rows])
    found = forms(rows)["ICC(C,k)"]
    assume(found.value is not None)
    parts = sum(variance([row[j] for row in rows]) for j in range(k))
    assert found.value == pytest.approx(k / (k - 1) * (1 - parts / of_sums))


@given(designs, st.floats(0.5, 0.99))
def test_a_bound_is_where_the_f_of_the_sample_is_a_quantile(rows, confidence):
    found = forms(rows, confidence=confidence)
    for form in ("ICC(1)", "ICC(C,1)"):
        one = found[form]
        assume(one.ci_low is not None and one.ci_low < one.ci_high < 0.999)
        for bound, share in ((one.ci_low, 1 + confidence), (one.ci_high, 1 - confidence)):
            ratio = 1 + one.annotators * bound / (1 - bound)
            assert f_distribution.cdf(one.f / ratio, one.df1, one.df2) == pytest.approx(share / 2)


@given(designs)
def test_bounds_hold_a_value_above_0(rows):
    for one in forms(rows).values():
        if one.value is not None and one.value > 0 and one.ci_low is not None:
            assert one.ci_low <= one.value <= one.ci_high <= 1


@given(designs)
def test_the_mean_form_steps_up_the_single_one(rows):
    # Spearman and Brown: k r / (1 + (k - 1) r), bounds included.
    found = forms(rows)
    for single, mean in (
        ("ICC(1)", "ICC(1,k)"),
        ("ICC(A,1)", "ICC(A,k)"),
        ("ICC(C,1)", "ICC(C,k)"),
    ):
        one, other = found[single], found[mean]
        if other.value is not None:
            k = one.annotators
            assert other.value == pytest.approx(k * one.value / (1 + (k - 1) * one.value))
            if other.ci_low is not None:
                stepped = k * one.ci_low / (1 + (k - 1) * one.ci_low)
                assert other.ci_low == pytest.approx(stepped)


@given(designs, st.sampled_from([0.1, 0.3, 7.0, 1e150]), st.sampled_from([0.0, -2.2, 1e6]))
def test_the_unit_and_the_origin_of_the_scale_do_not_matter(rows, unit, origin):
    # Whole decimals keep their differences, so that even "no error variation" survives; an
    # origin that is lost in the unit's rounding would spoil them.
    assume(origin == 0.0 or unit < 1e9)
    moved = {category: float(f"{category * unit + origin:.10g}") for category in range(6)}
    before, after = forms(rows), forms(rows, moved)
    for form in FORMS:
        assert after[form].undefined == before[form].undefined
        assert after[form].value == pytest.approx(before[form].value, nan_ok=True)


@given(designs, designs)
def test_tallies_add(left, right):
    both = intraclass_correlations(tally(left) + tally(right), VALUES)
    assert both == intraclass_correlations(tally(left + right), VALUES)


def test_perfect_agreement_is_1_without_bounds():
    for one in forms([[1, 1], [2, 2], [5, 5]]).values():
        assert (one.value, one.f, one.p_value, one.ci_low, one.ci_high) == (
            1,
            None,
            None,
            None,
            None,
        )
        assert "F is infinite" in str(one.note)


def test_a_constant_difference_is_consistent_but_no_agreement():
    found = forms([[1, 2], [2, 3], [3, 4], [5, 6]])
    assert (found["ICC(C,1)"].value, found["ICC(C,1)"].ci_low) == (1, None)
    # MSR = 35/6, MSC = 2, MSE = 0: MSR / (MSR + k MSC / n).
    assert found["ICC(A,1)"].value == pytest.approx(35 / 41)
    assert found["ICC(A,1)"].ci_low < 35 / 41 < found["ICC(A,1)"].ci_high


def test_decimal_values_are_taken_as_written():
    # 0.1 + 0.2 is not 0.3 in binary; the annotators still differ by the same throughout.
    values = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
    assert forms([[0, 1], [1, 2], [2, 3]], values)["ICC(C,1)"].value == 1
    assert numeric_whole_numbers(values) == ({(0,): 1, (1,): 2, (2,): 3, (3,): 4}, 10)


def test_items_that_do_not_differ():
    found = forms([[1, 2], [2, 1], [1, 2], [2, 1]])
    assert found["ICC(1)"].value == -1
    assert (found["ICC(1)"].f, found["ICC(1)"].p_value) == (0, 1)
    assert (found["ICC(1)"].ci_low, found["ICC(A,1)"].ci_low) == (None, None)
    for form in ("ICC(1,k)", "ICC(A,k)", "ICC(C,k)"):
        assert (found[form].value, found[form].undefined) == (None, "not_applicable")
        assert "variance" in str(found[form].note)


def test_two_by_two_without_variance_of_answers():
    found = forms([[1, 2], [2, 1]])
    assert (found["ICC(A,1)"].value, found["ICC(A,1)"].undefined) == (None, "not_applicable")


def test_only_annotators_differ():
    found = forms([[1, 2], [1, 2], [1, 2]])
    assert found["ICC(1)"].value == -1
    assert found["ICC(A,1)"].value == 0
    assert found["ICC(A,1)"].ci_low is None
    assert (found["ICC(C,1)"].value, found["ICC(C,1)"].undefined) == (None, "single_category")
    assert found["ICC(C,k)"].note == "only annotators differ"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[3, 3], [3, 3]], "single_category"),
        ([[1, 2]], "too_few_items"),
        ([[1, 2], [3]], "too_few_items"),
        ([[1], [2]], "no_overlap"),
        ([], "too_few_items"),
    ],
)
def test_reason(rows, reason):
    found = intraclass_correlations(tally(rows), VALUES)
    assert [one.form for one in found] == list(FORMS)
    assert {(one.value, one.undefined) for one in found} == {(None, reason)}


def test_one_annotator_is_too_few():
    found = intraclass_correlations(tally([[1], [2]]), VALUES, {7: {(1,): 1, (2,): 1}, 8: {}})
    assert {one.undefined for one in found} == {"too_few_annotators"}


@pytest.mark.parametrize("answer", [(), (1, 2), (77,), (78,)])
def test_an_answer_that_is_no_number_does_not_apply(answer):
    patterns = ItemPatterns({make_pattern([(1,), answer]): 2, make_pattern([(1,), (2,)]): 1})
    found = intraclass_correlations(patterns, {**VALUES, 78: float("nan")})
    assert {one.undefined for one in found} == {"not_applicable"}
    assert found[0].items == 3


def test_two_values_of_the_same_number_are_one():
    assert forms([[1, 2], [3, 3]], {1: 4.0, 2: 4.0, 3: 9.0})["ICC(1)"].value == 1


def test_items_of_one_answer_are_left_out_and_make_the_design_incomplete():
    rows = [[1, 2], [3, 4], [5, 5]]
    own = marginals(rows)
    own[0][4,] += 1
    found = intraclass_correlations(tally([*rows, [4]]), VALUES, own)
    assert found[0].value == forms(rows)["ICC(1)"].value
    assert found[0].note == "items of one answer left out: 1"
    assert {one.undefined for one in found[2:]} == {"not_applicable"}
    assert "not every annotator" in str(found[2].note)


def test_equal_numbers_by_changing_annotators_are_not_complete():
    # Three annotators, two answers to each item.
    own = {0: {(1,): 1, (3,): 1}, 1: {(2,): 1, (5,): 1}, 2: {(4,): 1, (5,): 1}}
    found = intraclass_correlations(tally([[1, 2], [3, 4], [5, 5]]), VALUES, own)
    assert found[0].value is not None
    assert {one.undefined for one in found[2:]} == {"not_applicable"}


def test_counts_of_other_items_are_not_complete():
    rows = [[1, 2], [3, 4], [5, 5]]
    found = intraclass_correlations(tally(rows), VALUES, marginals([[1, 2], [3, 4], [5, 4]]))
    assert {one.undefined for one in found[2:]} == {"not_applicable"}


def test_a_level_outside_0_to_1_is_refused():
    with pytest.raises(InvalidOption):
        intraclass_correlations(tally(TARGETS), VALUES, confidence=95)


def test_keys_of_the_json_in_order():
    assert list(forms(TARGETS)["ICC(1)"].to_dict()) == [
        "form",
        "value",
        "undefined",
        "ci_low",
        "ci_high",
        "confidence",
        "f",
        "df1",
        "df2",
        "p_value",
        "items",
        "annotators",
        "balanced",
        "note",
        "assumes",
    ]
