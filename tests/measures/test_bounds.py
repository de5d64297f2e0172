"""Cohen's kappa of one pair and of many, and bounds: Wilson's, on the logarithm, the posterior.

Formulas are checked as papers have them, the posterior by drawing; t intervals in test_oracles.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from tests.measures.answered import Answered
from tests.measures.strategies import one_category
from tests.profiles import examples
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns, make_pattern
from tracker.measures import cohen as pairs
from tracker.measures.benchmarks import (
    SCALES,
    benchmark,
    benchmark_of,
    krippendorff_reading,
    landis_koch,
)
from tracker.measures.category_rates import category_rates, one_vs_rest_coefficients
from tracker.measures.cohen import FEW_PAIRS, cohen_kappa, cohen_kappas, kappa_cells
from tracker.measures.estimate import FEW
from tracker.measures.intervals import (
    INTERVALS,
    NO_OVERLAP,
    Coefficient,
    Parts,
    Spread,
    confidence_interval,
    confidence_intervals,
    degrees_of_freedom,
    log_confidence_intervals,
    spread_bounds,
    wilson_interval,
)
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, pattern_table_of
from tracker.measures.weights import weights
from tracker.measures.words import figure_reading_words, interval_undefined
from tracker.render.cells import change_cell, figure_cell, interval_cell

NO, YES, MAYBE = (0,), (1,), (2,)
KAPPAS = ("fleiss_kappa", "krippendorff_alpha", "conger_kappa", "light_kappa")
SHARES = ("percent_agreement", "gwet_ac1", "brennan_prediger")
DECLARED = {"categories": [0, 1]}
THREE = {"categories": [0, 1, 2], "values": {0: 0.0, 1: 1.0, 2: 2.0}}
TAILS = [0.025, 0.975]

tables = st.dictionaries(st.tuples(one_category, one_category), st.integers(1, 9), max_size=12)


def bounds(figure):
    assert None not in {figure.ci_low, figure.ci_high}
    return figure.ci_low, figure.ci_high


def near(bounds, rounding):
    return pytest.approx(tuple(bounds), abs=rounding)


def alike(*numbers):
    """Items with the same answers, by annotators 1, 2, …, each with its number."""
    return Answered([dict(enumerate(answers, 1)) for number, answers in numbers
                     for _ in range(number)])  # fmt: skip


def rare(items):
    """Two annotators; one item in ten is disagreed on, or both say yes, in turn."""
    tenth = items // 20
    return alike((items - 2 * tenth, (NO, NO)), (tenth, (NO, YES)), (tenth, (YES, YES)))


def drawn(items, rows=200_000):
    """Shares of a population, by plain Dirichlet draws."""
    return np.random.default_rng(3).dirichlet(items, size=rows)


@pytest.mark.parametrize(
    ("counts", "value", "reason", "items"),
    [({(NO, YES): 1}, 0, None, 1), ({}, None, "no_overlap", 0),
     ({(NO, NO): 4}, None, "single_category", 4)],
)  # fmt: skip
def test_kappa_of_little(counts, value, reason, items):
    kappa = cohen_kappa(counts)
    assert (kappa.value, kappa.undefined, kappa.items) == (value, reason, items)
    assert (kappa.standard_error, kappa.ci_low, kappa.ci_high) == (None, None, None)
    if reason == "single_category":
        assert (kappa.observed, kappa.expected) == (1.0, 1.0)


def numbers(figure):
    parts = ("value", "observed", "expected", "standard_error", "ci_low")
    row = [getattr(figure, part) for part in parts]
    return [np.nan if number is None else float(number) for number in row]


@pytest.mark.parametrize("weighting", ["identity", "linear", "ordinal"])
@examples(12)
@given(st.lists(tables, max_size=5))
def test_many_pairs_at_once_are_each_by_itself(weighting, many):
    answers = [(n,) for n in range(4)]
    of = weights(weighting, answers, {0: 0.0, 1: 1.0, 2: 4.0, 3: 5.0})
    alone = [cohen_kappas(kappa_cells([one], answers), weighting=of)[0] for one in many]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_AT_A_TIME", 8)  # two pairs of four answers at a time
        kappas = list(cohen_kappas(kappa_cells(many, answers), weighting=of))
    assert [one.undefined for one in kappas] == [one.undefined for one in alone]
    for one, other in zip(kappas, alone, strict=True):
        assert numbers(one) == pytest.approx(numbers(other), abs=1e-12, nan_ok=True)


figures = st.tuples(st.floats(-1.2, 1), st.floats(0, 2), st.integers(2, 500))


@given(st.lists(figures, min_size=1), st.floats(0.01, 0.99))
def test_intervals_at_once_are_those_one_by_one(rows, confidence):
    low, high = confidence_intervals(*np.array(rows).T, confidence)
    alone = [confidence_interval(*row, confidence) for row in rows]
    assert list(zip(low, high, strict=True)) == alone


@pytest.mark.parametrize("measure", SHARES)
def test_a_share_has_wilsons_interval_on_the_items_that_its_error_amounts_to(measure):
    figure = rare(200).estimate(measure, **DECLARED).coefficient()
    assert figure.method == "Wilson"
    value, error = figure.value, figure.standard_error
    if measure != "percent_agreement":  # from -1 to 1
        value, error = (value + 1) / 2, error / 2
    size = value * (1 - value) / error**2
    # The roots of |p - x| = t sqrt(x (1 - x) / size), in x.
    square = t.ppf(0.975, 199) ** 2 / size
    roots = np.roots([1 + square, -(2 * value + square), value**2])
    wanted = sorted(roots if measure == "percent_agreement" else 2 * roots - 1)
    assert bounds(figure) == near(wanted, 1e-12)


def test_weights_can_let_a_coefficient_fall_below_minus_1():
    parts = Parts(0.5, 0.8)  # the least is -0.8 / 0.2 = -4
    result = spread_bounds(Spread(-1.5, 0.25, parts, 40, 40, of_pairs=True), 0.95)
    low, high = wilson_interval(0.5, 0.25 / 0.05**2, 0.95, 39)
    assert (result.low, result.high) == pytest.approx((-4 + 5 * low, -4 + 5 * high))


@pytest.mark.parametrize("measure", ["krippendorff_alpha", "fleiss_kappa", "conger_kappa"])
def test_a_kappa_of_many_items_has_t_on_the_logarithm(measure):
    answers = alike((200, (NO, NO)), (80, (NO, YES)), (120, (YES, YES)))
    estimate = answers.estimate(measure, **DECLARED)
    figure, room = estimate.coefficient(0.9), 1 - estimate.value
    assert figure.method == "log"
    assert 200 < estimate.freedom < 399
    reach = t.ppf(0.95, estimate.freedom) * figure.standard_error / room
    wanted = (1 - room * math.exp(reach), 1 - room * math.exp(-reach))
    assert bounds(figure) == pytest.approx(wanted)


def test_degrees_of_freedom_are_those_of_the_variance():
    normal = norm.ppf((np.arange(10_000) + 0.5) / 10_000)
    columns = [normal, np.array([1.0, -1.0] * 50), np.array([9.0, *([-1.0] * 9)] * 3)]
    freedom = [degrees_of_freedom(*(np.array([x]) for x in (len(c), (c**2).sum(), (c**4).sum())))[0]
               for c in columns]  # fmt: skip
    assert freedom[0] == pytest.approx(9_999, rel=0.01)
    assert freedom[1] == 99  # two values as often vary least, and n - 1 is the most
    kurtosis = 30 * (3 * 9**4 + 27) / (3 * 81 + 27) ** 2
    assert freedom[2] == pytest.approx(60 / (kurtosis - 27 / 29))
    change = np.array([1.0, *([-1e-9] * 999)])  # one item carries all the variance
    sums = (np.array([x]) for x in (1000.0, (change**2).sum(), (change**4).sum()))
    assert degrees_of_freedom(*sums)[0] == pytest.approx(2, rel=0.01)


def test_logarithmic_bounds_stay_within_minus_1_and_1():
    values, errors = np.array([0.999, -0.5, -1.2, 0.9]), np.array([0.3, 9.0, 0.1, 1e-9])
    low, high = log_confidence_intervals(values, errors, np.full(4, 5.0), 0.95)
    assert ((low <= values) & (values <= high) & (high <= 1)).all()
    assert low.tolist()[:2] == [-1.0, -1.0]
    assert low[3] == pytest.approx(0.9)
    with pytest.raises(InvalidOption):
        log_confidence_intervals(values, errors, np.full(4, 5.0), 95)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_two_categories_and_two_annotators_have_half_an_item_more_of_each_pattern(confidence):
    """By the definition: alpha = 1 - (disagreement) / (2 p (1 - p)) of a drawn population."""
    answers = alike((45, (NO, NO)), (3, (NO, YES)), (2, (YES, YES)))
    figure = answers.estimate("krippendorff_alpha").coefficient(confidence)
    both_no, apart, _ = drawn([45.5, 3.5, 2.5]).T
    p, tail = both_no + apart / 2, (1 - confidence) / 2
    wanted = np.quantile(1 - apart / (2 * p * (1 - p)), [tail, 1 - tail])
    assert figure.method == "posterior"
    # Far out few of the 2,000 draws lie.
    assert bounds(figure) == near(wanted, 0.03 if confidence == 0.99 else 0.008)


def test_of_many_annotators_the_widest_bounds_of_two_priors_hold():
    """Five annotators: .6 or its root of unanimous items, and of items that are split as often."""
    some = ((NO,) * 4 + (YES,), (NO, NO) + (YES,) * 3, (YES,) * 5)
    answers = alike((33, (NO,) * 5), (4, some[0]), (2, some[1]), (1, some[2]))
    shrinking = (norm.ppf(0.975) / t.ppf(0.975, 39)) ** 2 * 39 / 41
    holding, wanted = np.arange(6), []
    for weight in (0.6, 0.6**0.5):
        prior = weight * np.array([1 / 2, 1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 2])
        shares = drawn((np.array([33, 4, 0, 2, 0, 1]) + prior) * shrinking)
        observed = shares @ ((holding * (holding - 1) + (5 - holding) * (4 - holding)) / 20)
        p = shares @ holding / 5
        expected = p**2 + (1 - p) ** 2
        wanted.append(np.quantile((observed - expected) / (1 - expected), TAILS))
    wanted = (min(low for low, _ in wanted), max(high for _, high in wanted))
    assert bounds(answers.estimate("fleiss_kappa").coefficient()) == near(wanted, 0.012)


@pytest.mark.parametrize("people", [8, 20, 50])
def test_many_people_who_toss_coins_are_not_better_than_chance(people):
    """Of 100 samples of 20 items 95 should hold the truth; once it was 51 of alpha's."""
    held = Counter()
    for heads in np.random.default_rng(people).binomial(people, 0.5, size=(100, 20)):
        patterns = Counter(make_pattern([YES] * h + [NO] * (people - h)) for h in heads.tolist())
        table = pattern_table_of(patterns.items())
        sample = Sample(table, people, weights("identity", table.answers))
        (rate,) = category_rates(ItemPatterns(patterns), [1])
        held["rate"] += rate.ci_low <= 1 / 3 <= rate.ci_high
        for measure, truth in (
            ("krippendorff_alpha", 0),
            ("gwet_ac1", 0),
            ("percent_agreement", 1 / 2),
        ):
            low, high = bounds(MEASURES[measure].function(sample).coefficient())
            held[measure] += low <= truth <= high
    assert min(held.values()) >= 93


@pytest.mark.parametrize("measure", [*KAPPAS, "scott_pi"])
def test_posteriors_of_perfect_agreement_and_of_nothing(measure):
    for items, least in ((4, -0.5), (20, 0.6), (80, 0.88)):
        answers = alike((items // 2, (NO, NO)), (items // 2, (YES, YES)))
        figure = answers.estimate(measure, **DECLARED).coefficient()
        assert (figure.value, figure.method, figure.ci_high) == (1, "posterior", 1)
        assert least < figure.ci_low < 1
    one_category = alike((30, (NO, NO))).estimate(measure).coefficient()
    assert (one_category.undefined, one_category.ci_low) == ("single_category", None)
    one_item = Answered([{1: NO, 2: YES}, {1: NO}, {2: YES}]).estimate(measure).coefficient()
    assert (one_item.ci_low, one_item.ci_high, one_item.method) == (None, None, None)
    if measure == "fleiss_kappa":  # two items hardly bound anything
        two = alike((1, (NO, NO)), (1, (YES, YES))).estimate(measure).coefficient()
        assert two.ci_low < -0.2
        assert two.ci_high == 1


@pytest.mark.parametrize("measure", KAPPAS)
def test_bounds_are_drawn_until_a_hundred_items_say_more(measure):
    for apart, method in ((FEW - 1, "posterior"), (FEW, "log")):
        answers = alike((300, (NO, NO)), (apart - 20, (YES, YES)), (20, (NO, YES)))
        figure = answers.estimate(measure).coefficient()
        assert figure.method == method
        low, high = bounds(figure)
        # Either way about the same: 1.96 errors off.
        assert figure.standard_error == pytest.approx((high - low) / 3.92, rel=0.1)


def test_of_very_many_pairs_none_is_drawn():
    table = {(NO, NO): 30, (NO, YES): 5, (YES, YES): 5}
    for number, method in ((FEW_PAIRS, "posterior"), (FEW_PAIRS + 1, "log")):
        assert {one.method for one in cohen_kappas(kappa_cells([table] * number))} == {method}


def test_each_category_against_the_rest_has_its_bounds():
    answers = alike((30, (NO, NO)), (4, (NO, YES)), (3, (YES, YES)), (1, (YES, MAYBE)))
    result = one_vs_rest_coefficients(answers.sample(), [0, 1, 2])
    for pair in result.values():
        assert {figure.method for figure in pair} == {"posterior"}
    as_two = alike((37, (NO, NO)), (1, (NO, YES))).estimate("fleiss_kappa").coefficient()
    assert bounds(result[2][0]) == near(bounds(as_two), 1e-12)


@pytest.mark.parametrize("measure", SHARES)
def test_with_weights_the_wider_of_wilsons_and_the_posterior_is_taken(measure):
    """No answer is two places apart here, and in the next sample one may be."""
    answers = alike((40, (NO, NO)), (5, (NO, YES)), (5, (MAYBE, MAYBE)))
    estimate = answers.estimate(measure, **THREE, weighting="quadratic")
    both, alone = estimate.coefficient(), replace(estimate, sample=None).coefficient()
    assert (both.method, alone.method) == ("posterior and Wilson", "Wilson")
    likely = estimate.likely(0.95)
    assert bounds(both) == (min(likely[0], alone.ci_low), max(likely[1], alone.ci_high))
    assert bounds(both) != bounds(alone)


# Coefficients as values, and the words of reading scales.

values = st.floats(-1, 1)
errors = st.floats(1e-4, 2)
scales = st.sampled_from(sorted(SCALES))


def test_a_coefficient_has_a_value_or_a_reason():
    for value, reason in ((None, None), (0.5, NO_OVERLAP)):
        with pytest.raises(ValueError, match="either"):
            Coefficient("cohen_kappa", value, reason)
    with pytest.raises(InvalidOption, match=r"0\.95"):
        Coefficient("cohen_kappa", 0.5, confidence=95)


def test_student_and_wilson_1927_intervals():
    # From the table: t of 9 degrees of freedom at 97.5% is 2.262.
    assert confidence_interval(0.5, 0.1, 10, 0.95) == pytest.approx((0.2738, 0.7262), abs=1e-4)
    assert confidence_interval(0.95, 0.1, 10, 0.95, low=0.0)[1] == 1.0
    assert confidence_interval(0.05, 0.1, 10, 0.95, low=0.0)[0] == 0.0
    assert confidence_interval(-1.5, 0.1, 10, 0.95)[0] == -1.5  # never past the value itself
    with pytest.raises(ValueError, match="two items"):
        confidence_interval(0.5, 0.1, 1, 0.95)
    assert wilson_interval(0.5, 10, 0.95) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson_interval(1.0, 4, 0.95)[1] == 1.0
    low, high = wilson_interval(0.5, 10, 0.95, freedom=9)
    assert low < 0.2366
    assert high > 0.7634


@pytest.mark.parametrize("how", INTERVALS)
def test_an_error_of_0_bounds_perfect_agreement_alone(how):
    # With hardly any variation perfect agreement supports little.
    perfect = spread_bounds(Spread(1.0, 0.0, Parts(observed=1.0, expected=0.98), 50, 50), 0.95, how)
    assert (perfect.low, perfect.high, perfect.method) == (-1.0, 1.0, "one-sided exact")
    for value, parts in (
        (0.3, Parts(0.65, 0.5)),  # every item is alike, but not perfect
        (1.0, Parts(None, None, 0.0, 2.0)),  # distances without a limit bound no agreement
    ):
        bounds = spread_bounds(Spread(value, 0.0, parts, 9, 9), 0.95, how)
        assert (bounds.low, bounds.high, bounds.method) == (None, None, None)


@pytest.mark.parametrize(
    "measure", ["gwet_ac1", "brennan_prediger", "fleiss_kappa", "conger_kappa"]
)
@pytest.mark.parametrize("how", INTERVALS)
def test_a_figure_has_an_interval_or_a_reason(measure, how):
    apart = alike((15, (NO, YES)), (15, (YES, NO))).estimate(measure, **DECLARED)
    figure = apart.coefficient(interval=how)
    assert (figure.value, figure.standard_error) == (-1, 0)
    # As many items without an agreement as with nothing else: see `interval_without_spread`.
    assert bounds(figure) == near((-1, 2 * (1 - 0.05 ** (1 / 30)) - 1), 0.03)
    one = alike((1, (NO, YES))).estimate(measure, **DECLARED).coefficient(interval=how)
    assert interval_undefined(one) == "too_few_items"
    assert figure_reading_words(one) == "no interval: too few items"
    # A constant annotator's kappa is 0, whatever the items are.
    constant = alike((13, (NO, NO, NO)), (8, (NO, YES, NO)), (3, (NO, MAYBE, NO)))
    figure = constant.estimate(measure).coefficient(interval=how)
    assert figure.standard_error == 0 or figure.standard_error > 1e-3
    assert (figure.ci_low is None) == (interval_undefined(figure) == "no_spread")


@pytest.mark.parametrize("items", [1, 4, 60])
def test_an_error_of_0_makes_no_word_sure(items):
    """Alpha of two items was "almost perfect; definite" beside an interval from 0.139."""
    figure = alike((items, (NO, NO)), (1, (YES, YES))).estimate("krippendorff_alpha").coefficient()
    assert (figure.value, figure.standard_error) == (1, 0)
    words = {"poor": " (may be poor)", "almost perfect": ""}
    least = landis_koch(figure.ci_low)
    careful = words.get(least, f" ({least} at least)")
    assert figure_reading_words(figure) == f"almost perfect{careful}; definite"
    assert (benchmark_of(figure).word, benchmark_of(figure).undefined) == (None, "no_spread")


def test_nothing_is_printed_as_less_than_zero():
    assert (figure_cell(-1e-4), change_cell(-0.0)) == ("0.000", "+0.000")
    assert interval_cell(-0.0004, -0.0) == "0.000 to 0.000"


# Landis and Koch (1977), Krippendorff (2004), Altman (1991).
WORDS = [
    (landis_koch, {-0.01: "poor", 0.0: "slight", 0.19: "slight", 0.2: "fair", 0.4: "moderate",
                   7 / 15: "moderate", 0.6: "substantial", 0.8: "almost perfect",
                   1.0: "almost perfect"}),
    (krippendorff_reading, {-1: "too low", 0.666: "too low", 0.667: "tentative", 0.8: "definite"}),
    (SCALES["altman"].word, {-0.5: "poor", 0.19: "poor", 0.2: "fair", 0.4: "moderate", 0.6: "good",
                             0.8: "very good", 1.0: "very good"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reading", "words"), WORDS, ids=["landis_koch_1977", "krippendorff_2004", "altman_1991"]
)
def test_words_of_a_scale(reading, words):
    assert {value: reading(value) for value in words} == words


def test_a_rounding_below_a_limit_has_reached_it():
    for limit in (0.0, 0.2, 0.4, 0.6, 0.8):
        for value in (limit - 2e-16, limit - 1.2e-16, limit):
            assert landis_koch(value) == landis_koch(limit)
            assert benchmark(value, None).word == benchmark(limit, None).word
        assert landis_koch(limit - 1e-9) != landis_koch(limit)


@pytest.mark.parametrize(
    ("scale", "words"),
    [("landis_koch", ["almost perfect", "substantial", "moderate", "fair", "slight"]),
     ("altman", ["very good", "good", "moderate", "fair"])],
)  # fmt: skip
def test_gwet_2014_chapter_6(scale, words):
    # AC1 of four raters, as in the vignette "benchmarking" of Gwet's R package irrCAC.
    result = benchmark(0.77544, 0.14295, scale)
    cumulative = 0.0
    published = zip(words, [0.39674, 0.88336, 0.99542, 0.99997, 1.0], strict=False)
    for (word, share), (name, expected) in zip(result.memberships, published, strict=False):
        cumulative += share
        assert (word, cumulative) == (name, pytest.approx(expected, abs=6e-6))
    assert (result.word, result.scale, result.undefined) == ("moderate", scale, None)
    assert result.probability == pytest.approx(0.99542, abs=6e-6)
    if scale == "landis_koch":  # a lower level allows a better word
        assert benchmark(0.77544, 0.14295, level=0.88).word == "substantial"
        assert benchmark(0.77544, 0.14295, level=0.3).word == "almost perfect"


@given(values, errors, scales)
def test_the_word_is_the_best_that_reaches_the_level(value, error, scale):
    result = benchmark(value, error, scale)
    shares = [share for _, share in result.memberships]
    assert sum(shares) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in shares)
    place = [word for word, _ in result.memberships].index(str(result.word))
    assert result.probability == pytest.approx(sum(shares[: place + 1]))
    assert result.probability >= 0.95
    assert sum(shares[:place]) < 0.95 + 1e-12
    steps = [word for _, word in SCALES[scale].steps]
    assert steps.index(str(result.word)) >= steps.index(SCALES[scale].word(value))
    certain = benchmark(value, 0.0, scale)
    assert (certain.word, certain.probability) == (SCALES[scale].word(value), 1.0)
    assert dict(certain.memberships)[str(certain.word)] == 1.0
    assert SCALES["landis_koch"].word(value) == landis_koch(value)
    assert SCALES["krippendorff"].word(value) == krippendorff_reading(value)


def test_benchmarks_of_special_figures():
    # Half of the normal lies above 1; of the other half 68.27% are within one error.
    assert benchmark(1.0, 0.2).memberships[0][1] == pytest.approx(0.6827, abs=1e-4)
    nothing = benchmark(0.7, None)
    assert (nothing.word, nothing.probability, nothing.undefined) == (None, None, "too_few_items")
    with pytest.raises(InvalidOption, match="landis_koch, altman, krippendorff"):
        benchmark(0.5, 0.1, "fleiss")
    with pytest.raises(InvalidOption):
        benchmark(0.5, 0.1, level=1.0)
