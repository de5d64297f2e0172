"""Asymmetric bounds: Wilson's and the logarithm's from their formulas, the posterior by drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

from tests.measures.answered import Answered
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns, make_pattern
from tracker.measures.category_rates import category_rates, one_vs_rest_coefficients
from tracker.measures.cohen import FEW_PAIRS, cohen_kappas, kappa_cells
from tracker.measures.estimate import FEW, posterior_gamma_draws
from tracker.measures.intervals import (
    Coefficient,
    Parts,
    Spread,
    confidence_interval,
    degrees_of_freedom,
    log_confidence_intervals,
    spread_bounds,
    wilson_interval,
)

YES, NO, MAYBE = (1,), (0,), (2,)
KAPPAS = ("fleiss_kappa", "krippendorff_alpha", "conger_kappa", "light_kappa")
SHARES = ("percent_agreement", "gwet_ac1", "brennan_prediger")
DECLARED = {"categories": [0, 1]}


def told(found: Coefficient) -> tuple[float, float]:
    assert found.ci_low is not None
    assert found.ci_high is not None
    return found.ci_low, found.ci_high


def alike(*numbers: tuple[int, Sequence[tuple[int, ...]]]) -> Answered:
    """So many items of each answers, by annotators 1, 2, …"""
    items = []
    for number, answers in numbers:
        items += [dict(enumerate(answers, 1))] * number
    return Answered(items)


def rare(items: int) -> Answered:
    """Two annotators; one item in ten is disagreed on, or both say yes, in turn."""
    tenth = items // 20
    return alike((items - 2 * tenth, (NO, NO)), (tenth, (NO, YES)), (tenth, (YES, YES)))


@pytest.mark.parametrize("measure", SHARES)
def test_a_share_has_wilsons_interval_on_the_items_that_its_error_amounts_to(measure):
    found = rare(200).estimate(measure, **DECLARED).coefficient()
    assert found.method == "Wilson"
    value, error = found.value, found.standard_error
    assert value is not None
    assert error is not None
    if measure != "percent_agreement":  # from -1 to 1
        value, error = (value + 1) / 2, error / 2
    size = value * (1 - value) / error**2
    # The roots of |p - x| = t sqrt(x (1 - x) / size), in x.
    square = t.ppf(0.975, 199) ** 2 / size
    roots = np.roots([1 + square, -(2 * value + square), value**2])
    wanted = sorted(roots if measure == "percent_agreement" else 2 * roots - 1)
    assert told(found) == pytest.approx(tuple(wanted), abs=1e-12)


def test_weights_can_let_a_coefficient_fall_below_minus_1():
    parts = Parts(0.5, 0.8)  # the least is -0.8 / 0.2 = -4
    found = spread_bounds(Spread(-1.5, 0.25, parts, 40, 40, of_pairs=True), 0.95)
    low, high = wilson_interval(0.5, 0.25 / 0.05**2, 0.95, 39)
    assert (found.low, found.high) == pytest.approx((-4 + 5 * low, -4 + 5 * high))


@pytest.mark.parametrize("measure", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
def test_a_kappa_of_many_items_has_t_on_the_logarithm(measure):
    answers = alike((200, (NO, NO)), (80, (NO, YES)), (120, (YES, YES)))
    found = answers.estimate(measure, **DECLARED).coefficient(0.9)
    assert found.method == "log"
    value, error = found.value, found.standard_error
    assert value is not None
    assert error is not None
    room = 1 - value
    freedom = answers.estimate(measure, **DECLARED).freedom
    assert freedom is not None
    assert 200 < freedom < 399
    reach = t.ppf(0.95, freedom) * error / room
    assert told(found) == pytest.approx((1 - room * math.exp(reach), 1 - room * math.exp(-reach)))


def test_degrees_of_freedom_are_those_of_the_variance():
    normal = norm.ppf((np.arange(10_000) + 0.5) / 10_000)
    columns = [normal, np.array([1.0, -1.0] * 50), np.array([9.0, *([-1.0] * 9)] * 3)]
    found = [
        degrees_of_freedom(*(np.array([x]) for x in (len(c), (c**2).sum(), (c**4).sum())))[0]
        for c in columns
    ]
    assert found[0] == pytest.approx(9_999, rel=0.01)
    assert found[1] == 99  # two values as often vary least, and n - 1 is the most
    kurtosis = 30 * (3 * 9**4 + 27) / (3 * 81 + 27) ** 2
    assert found[2] == pytest.approx(60 / (kurtosis - 27 / 29))


def test_one_item_that_carries_all_the_variance_leaves_one_degree_of_freedom():
    change = np.array([1.0, *([-1e-9] * 999)])
    sums = (np.array([x]) for x in (1000.0, (change**2).sum(), (change**4).sum()))
    assert degrees_of_freedom(*sums)[0] == pytest.approx(2, rel=0.01)


def test_logarithmic_bounds_stay_within_minus_1_and_1():
    values, errors = np.array([0.999, -0.5, -1.2, 0.9]), np.array([0.3, 9.0, 0.1, 1e-9])
    low, high = log_confidence_intervals(values, errors, np.full(4, 5.0), 0.95)
    assert (low <= values).all()
    assert (values <= high).all()
    assert (high <= 1).all()
    assert low.tolist()[:2] == [-1.0, -1.0]
    assert low[3] == pytest.approx(0.9)
    with pytest.raises(InvalidOption):
        log_confidence_intervals(values, errors, np.full(4, 5.0), 95)


@pytest.mark.parametrize("measure", [*SHARES, *KAPPAS])
def test_t_is_symmetric_as_it_was(measure):
    found = rare(200).estimate(measure, **DECLARED).coefficient(interval="t")
    value, error = found.value, found.standard_error
    assert value is not None
    assert error is not None
    low = 0.0 if measure == "percent_agreement" else -1.0
    assert told(found) == confidence_interval(value, error, found.items, 0.95, low=low)
    assert found.method == "t"


def test_there_is_no_other_interval():
    for ask in (
        lambda: rare(40).estimate("fleiss_kappa").coefficient(interval="wald"),
        lambda: category_rates(ItemPatterns(), [], interval="wald"),
        lambda: cohen_kappas(kappa_cells([{(YES, NO): 3}]), interval="wald"),
    ):
        with pytest.raises(InvalidOption, match="no interval 'wald'\none of: asymmetric, t"):
            ask()


def drawn(items: Sequence[float], rows: int = 400_000) -> Any:
    """Shares of a population, by plain Dirichlet draws."""
    return np.random.default_rng(3).dirichlet(items, size=rows)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_two_categories_and_two_annotators_have_half_an_item_more_of_each_pattern(confidence):
    """By the definition: alpha = 1 - (disagreement) / (2 p (1 - p)) of a drawn population."""
    answers = alike((45, (NO, NO)), (3, (NO, YES)), (2, (YES, YES)))
    found = answers.estimate("krippendorff_alpha").coefficient(confidence)
    both_no, apart, _ = drawn([45.5, 3.5, 2.5]).T
    p = both_no + apart / 2
    values = 1 - apart / (2 * p * (1 - p))
    tail = (1 - confidence) / 2
    assert found.method == "posterior"
    wanted = np.quantile(values, [tail, 1 - tail])
    # Far out few of the 2,000 draws lie.
    assert told(found) == pytest.approx(tuple(wanted), abs=0.03 if confidence == 0.99 else 0.008)


def test_of_many_annotators_one_item_at_most_is_supposed_between_the_two():
    """Five annotators: 1/2 for each end, 1/4 for each of the four splits (kappa by hand)."""
    some = ((NO,) * 4 + (YES,), (NO, NO) + (YES,) * 3, (YES,) * 5)
    answers = alike((33, (NO,) * 5), (4, some[0]), (2, some[1]), (1, some[2]))
    found = answers.estimate("fleiss_kappa").coefficient()
    shares = drawn([33.5, 4.25, 0.25, 2.25, 0.25, 1.5])
    holding = np.arange(6)
    observed = shares @ ((holding * (holding - 1) + (5 - holding) * (4 - holding)) / 20)
    p = shares @ holding / 5
    expected = p**2 + (1 - p) ** 2
    wanted = np.quantile((observed - expected) / (1 - expected), [0.025, 0.975])
    assert told(found) == pytest.approx(tuple(wanted), abs=0.008)


def test_numbers_and_ranks_are_drawn_like_names():
    """Three ranked categories, the least frequent one only ever beside its neighbour."""
    answers = alike((20, (NO, NO)), (5, (NO, YES)), (9, (YES, YES)), (2, (YES, MAYBE)))
    reading = {"categories": [0, 1, 2], "values": {0: 0.0, 1: 1.0, 2: 2.0}}
    found = answers.estimate("krippendorff_alpha", scale="interval", **reading).coefficient()
    # 1/3 for each end; 1/2 for the two pairs with the most frequent category.
    shares = drawn([20 + 1 / 3, 5.25, 0.25, 9 + 1 / 3, 2, 1 / 3])
    first, second = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])
    mean = shares @ (first + second) / 2
    variance = shares @ (first**2 + second**2) / 2 - mean**2
    values = 1 - shares @ (first - second) ** 2 / (2 * variance)
    assert told(found) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=0.01)
    ordinal = answers.estimate("krippendorff_alpha", scale="ordinal", **reading).coefficient()
    assert ordinal.method == "posterior"
    assert told(ordinal) != told(found)


@pytest.mark.parametrize("measure", [*KAPPAS, "scott_pi"])
def test_perfect_agreement_is_bounded_below(measure):
    for items, least in ((4, -0.5), (20, 0.6), (80, 0.88)):
        answers = alike((items // 2, (NO, NO)), (items // 2, (YES, YES)))
        found = answers.estimate(measure, **DECLARED).coefficient()
        low, high = told(found)
        assert (found.value, found.method, high) == (1, "posterior", 1)
        assert least < low < 1


@pytest.mark.parametrize("measure", KAPPAS)
def test_where_nothing_can_be_learnt_there_are_no_bounds(measure):
    one_category = alike((30, (NO, NO))).estimate(measure).coefficient()
    assert (one_category.undefined, one_category.ci_low) == ("single_category", None)
    one_item = Answered([{1: NO, 2: YES}, {1: NO}, {2: YES}]).estimate(measure).coefficient()
    assert (one_item.ci_low, one_item.ci_high, one_item.method) == (None, None, None)


def test_two_items_hardly_bound_anything():
    low, high = told(alike((1, (NO, NO)), (1, (YES, YES))).estimate("fleiss_kappa").coefficient())
    assert low < -0.2
    assert high == 1


@pytest.mark.parametrize("measure", KAPPAS)
def test_bounds_are_drawn_until_a_hundred_items_say_more(measure):
    for apart, method in ((FEW - 1, "posterior"), (FEW, "log")):
        answers = alike((300, (NO, NO)), (apart - 20, (YES, YES)), (20, (NO, YES)))
        found = answers.estimate(measure).coefficient()
        assert found.method == method
        low, high = told(found)
        # Either way about the same: 1.96 errors off.
        assert found.standard_error == pytest.approx((high - low) / 3.92, rel=0.1)


def test_bounds_do_not_depend_on_the_order_of_the_tally():
    numbers = [(30, (NO, NO)), (4, (NO, YES)), (3, (YES, YES)), (1, (YES, MAYBE))]
    both = [
        [alike(*given).estimate(measure).coefficient() for measure in KAPPAS]
        for given in (numbers, numbers[::-1])
    ]
    assert [told(one) for one in both[0]] == [told(one) for one in both[1]]


def test_an_answer_that_nobody_gave_changes_nothing():
    plain, more = (
        rare(60).estimate("krippendorff_alpha", categories=categories).coefficient()
        for categories in ([0, 1], [0, 1, 7, 8, 9])
    )
    assert told(plain) == told(more)


def test_a_kappa_of_named_annotators_is_as_far_from_its_bounds_as_that_of_unnamed():
    """On the scale of 1 - kappa, from Fleiss' kappa of the same items."""
    answers = alike((30, (NO, NO)), (6, (NO, YES)), (4, (YES, YES)))
    fleiss = answers.estimate("fleiss_kappa").coefficient()
    conger = answers.estimate("conger_kappa").coefficient()
    (cohen,) = cohen_kappas(kappa_cells(list(answers.tables.values())))
    assert conger.value == pytest.approx(cohen.value)
    assert told(conger) == pytest.approx(told(cohen), abs=1e-12)
    assert fleiss.value is not None
    assert conger.value is not None
    for one, other in zip(told(conger), told(fleiss), strict=True):
        assert (1 - one) / (1 - conger.value) == pytest.approx((1 - other) / (1 - fleiss.value))


def test_of_very_many_pairs_none_is_drawn():
    table = {(NO, NO): 30, (NO, YES): 5, (YES, YES): 5}
    methods = [
        {one.method for one in cohen_kappas(kappa_cells([table] * pairs))}
        for pairs in (FEW_PAIRS, FEW_PAIRS + 1)
    ]
    assert methods == [{"posterior"}, {"log"}]


def test_each_category_against_the_rest_has_bounds_of_its_own():
    answers = alike((30, (NO, NO)), (4, (NO, YES)), (3, (YES, YES)), (1, (YES, MAYBE)))
    found = one_vs_rest_coefficients(answers.sample(), [0, 1, 2])
    for pair in found.values():
        assert {one.method for one in pair} == {"posterior"}
    as_two = alike((37, (NO, NO)), (1, (NO, YES))).estimate("fleiss_kappa").coefficient()
    assert told(found[2][0]) == pytest.approx(told(as_two), abs=1e-12)


def test_rates_of_categories_are_drawn_given_that_somebody_gave_them():
    """Three annotators: of items with the category, how many hold it one, two and three times."""
    rows = [[YES, NO, NO]] * 5 + [[YES, YES, NO]] * 3 + [[YES] * 3] * 8 + [[NO] * 3] * 90
    patterns = {}
    for row in rows:
        patterns[make_pattern(row)] = patterns.get(make_pattern(row), 0) + 1
    rate, old = (
        category_rates(ItemPatterns(patterns), [1], interval=how)[0] for how in ("asymmetric", "t")
    )
    one, two, three = drawn([5.5, 3.5, 8.5]).T
    values = (two + 3 * three) / (2 * one + 3 * two + 3 * three)
    wanted = tuple(np.quantile(values, [0.025, 0.975]))
    assert (rate.ci_low, rate.ci_high) == pytest.approx(wanted, abs=0.008)
    assert (rate.rate, rate.standard_error) == (old.rate, old.standard_error)
    assert (rate.ci_low, rate.ci_high) != (old.ci_low, old.ci_high)


@pytest.mark.parametrize("columns", [3, 60])
def test_draws_are_those_of_gamma_distributions_whatever_the_columns(columns):
    shapes = tuple(0.5 + n % 30 for n in range(columns))
    found = posterior_gamma_draws(shapes, 0.95)
    assert found.shape == (2000, columns)
    assert found.mean(axis=0) == pytest.approx(np.array(shapes), rel=0.01)
    assert found.var(axis=0) == pytest.approx(np.array(shapes), rel=0.03)
    apart = np.corrcoef(found.T) - np.eye(columns)
    assert np.abs(apart).max() < 0.1


def test_alpha_of_a_rare_category_is_covered_and_by_t_it_is_not():
    """Three annotators, 50 items, one answer in ten "yes", hardly any agreement on it."""
    chances = np.array([0.80, 0.12, 0.05, 0.03])  # nobody, one, two, three say yes
    holding = np.arange(4)
    p = chances @ holding / 3
    true = 1 - chances @ (2 * holding * (3 - holding) / 6) / (2 * p * (1 - p))
    drawn = np.random.default_rng(7).multinomial(50, chances, size=400)
    held = {"asymmetric": 0, "t": 0}
    every, seen = np.unique(drawn, axis=0, return_counts=True)
    for row, times in zip(every.tolist(), seen.tolist(), strict=True):
        answers = alike(
            *((items, (YES,) * n + (NO,) * (3 - n)) for n, items in enumerate(row) if items)
        )
        found = answers.estimate("krippendorff_alpha")
        for how in held:
            low, high = told(found.coefficient(interval=how))
            held[how] += times * (low <= true <= high)
    # Of 400 within 3.3%, three times the spread of a count of 95%.
    assert 0.917 <= held["asymmetric"] / 400 <= 0.983
    assert held["t"] / 400 < 0.917


@pytest.mark.parametrize("measure", ["percent_agreement", "gwet_ac1", "brennan_prediger"])
def test_with_weights_the_wider_of_wilsons_and_the_posterior_is_taken(measure):
    """Nobody is two places apart here, and in the next sample somebody may be."""
    answered = alike((40, (NO, NO)), (5, (NO, YES)), (5, (MAYBE, MAYBE)))
    weighted = {
        "categories": [0, 1, 2],
        "values": {0: 0.0, 1: 1.0, 2: 2.0},
        "weighting": "quadratic",
    }
    ours = answered.estimate(measure, **weighted)
    both, alone = ours.coefficient(), replace(ours, sample=None).coefficient()
    assert (both.method, alone.method) == ("posterior and Wilson", "Wilson")
    drawn = ours.likely(0.95)
    assert drawn is not None
    assert told(both) == (min(drawn[0], told(alone)[0]), max(drawn[1], told(alone)[1]))
    assert told(both) != told(alone)
