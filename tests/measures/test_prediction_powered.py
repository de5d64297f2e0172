"""Figures of items that a model answered: reference values, formulas by hand, coverage."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.estimates import SETTINGS, coverage
from tests.profiles import exhaustive
from tracker.measures.intervals import wilson_interval
from tracker.measures.prediction_powered import (
    NO_BETTER_THAN_CHANCE,
    NO_UNLABELED,
    UNLABELED_STRATUM,
    Stratum,
    human_only,
    neyman_allocation,
    neyman_weight,
    prediction_powered_mean,
    rogan_gladen_share,
    stratified_mean,
    worth_of,
)

# ppi-python 0.2.3, ppi_mean_pointestimate and ppi_mean_ci with alpha=0.05.
REFERENCES = [
    ({(1, 1): 40, (1, 0): 7, (0, 1): 9, (0, 0): 44}, {1: 500, 0: 700},
     (0.45574778472945504, 0.38162460716541874, 0.5298709622934914)),
    ({(1, 1): 10, (1, 0): 40, (0, 1): 40, (0, 0): 10}, {1: 100, 0: 50},
     (0.5, 0.4020018007729973, 0.5979981992270027)),
    ({(1, 1.5): 12, (2, 2): 30, (3, 2.5): 18, (4, 5): 9, (5, 4): 4},
     {1: 100, 2: 321, 3: 200, 4: 90, 5: 35},
     (2.540747747437794, 2.40642910395573, 2.675066390919858)),
]  # fmt: skip
COUNTS = st.integers(0, 60)
Z = 1.959963984540054


@pytest.mark.parametrize(("labeled", "unlabeled", "expected"), REFERENCES)
def test_the_prediction_powered_mean_is_that_of_ppi_python(labeled, unlabeled, expected):
    mean = prediction_powered_mean(labeled, unlabeled, 0.95)
    assert (mean.value, mean.ci_low, mean.ci_high) == pytest.approx(expected, abs=1e-9)


@given(cells=st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), others=st.tuples(COUNTS, COUNTS))
def test_the_prediction_powered_mean_is_its_formula_over_rows(cells, others):
    pairs = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
    unlabeled = {1.0: others[0], 0.0: others[1]}
    mean = prediction_powered_mean(dict(zip(pairs, cells, strict=True)), unlabeled, 0.95)
    if sum(cells) < 2 or not sum(others):
        assert mean.value is None
        return
    f, y = (np.repeat([pair[side] for pair in pairs], cells) for side in (0, 1))
    g = np.repeat([1.0, 0.0], others)
    both = np.concatenate([f, g]).var(ddof=1)
    cov = ((y - y.mean()) * (f - f.mean())).mean()
    weight = min(max(cov / ((1 + len(f) / len(g)) * both), 0), 1) if both > 0 else 0
    value = weight * g.mean() + (y - weight * f).mean()
    error = math.sqrt(weight**2 * g.var() / len(g) + (y - weight * f).var() / len(f))
    figures = (mean.weight, mean.value, mean.ci_high)
    assert figures == pytest.approx((weight, value, value + Z * error), abs=1e-9)


def test_a_model_that_says_nothing_leaves_people_alone():
    labeled = {(1, 1): 25, (1, 0): 25, (0, 1): 25, (0, 0): 25}
    assert prediction_powered_mean(labeled, {1: 30, 0: 30}, 0.95).weight == 0
    assert rogan_gladen_share(labeled, {1: 1, 0: 1}, 0.95).undefined == NO_BETTER_THAN_CHANCE
    assert prediction_powered_mean(labeled, {}, 0.95).undefined == NO_UNLABELED


def test_the_corrected_share_is_rogan_and_gladens_with_lang_and_reiczigels_interval():
    """The interval was computed by hand from the paper's formulas, step by step."""
    labeled = {(1, 1): 40, (1, 0): 7, (0, 1): 9, (0, 0): 44}
    share = rogan_gladen_share(labeled, {1: 500, 0: 700}, 0.95)
    p, tpr, tnr = 500 / 1200, 40 / 49, 44 / 51
    assert share.value == pytest.approx((p + tnr - 1) / (tpr + tnr - 1))
    z2 = Z**2
    p, tpr, tnr = (500 + z2 / 2) / (1200 + z2), 41 / 51, 45 / 53
    middle, youden = (p + tnr - 1) / (tpr + tnr - 1), tpr + tnr - 1
    a, b = tpr * (1 - tpr) / 51, tnr * (1 - tnr) / 53
    error = math.sqrt(p * (1 - p) / (1200 + z2) + middle**2 * a + (1 - middle) ** 2 * b) / youden
    shift = 2 * z2 * (middle * a - (1 - middle) * b)
    bounds = (middle + shift - math.sqrt(z2) * error, middle + shift + math.sqrt(z2) * error)
    assert (share.ci_low, share.ci_high) == pytest.approx(bounds)
    assert not share.clipped
    outside = {(1, 1): 9, (0, 1): 1, (1, 0): 3, (0, 0): 7}
    share = rogan_gladen_share(outside, {1: 5, 0: 95}, 0.95)
    assert (share.value, share.clipped, share.ci_low) == (0.0, True, 0)


def test_a_stratified_mean_weighs_each_stratum_by_its_items():
    strata = {"1": Stratum(300, {1.0: 5, 2.0: 5}), "2": Stratum(100, {4.0: 6, 5.0: 2})}
    mean = stratified_mean(strata, 0.95, share=False)
    assert mean.value == pytest.approx(0.75 * 1.5 + 0.25 * 4.25)
    within = 0.75**2 * 0.25 / 9 + 0.25**2 * 0.1875 / 7
    error = math.sqrt(within + (0.75 * 0.6875**2 + 0.25 * 2.0625**2) / 400)
    assert mean.ci_high - mean.ci_low == pytest.approx(2 * 2.109815577833317 * error)
    unlabeled = {"x": Stratum(50, {1: 5, 0: 5}), "y": Stratum(1, {}), "z": Stratum(0, {})}
    share = stratified_mean(unlabeled, 0.95)
    assert (share.undefined, share.missing) == (UNLABELED_STRATUM, ("y",))


@given(ones=st.integers(0, 300), zeros=st.integers(0, 300))
def test_people_alone_are_worth_themselves(ones, zeros):
    n = ones + zeros
    assume(n > 1)
    assert worth_of(ones / n, *wilson_interval(ones / n, n, 0.95), 0.95) == n
    assert human_only({1: ones, 0: zeros}, 0.95).worth == n


@given(
    strata=st.lists(st.tuples(st.integers(1, 400), COUNTS, COUNTS), min_size=1, max_size=5),
    answers=st.integers(0, 80),
)
def test_answers_are_shared_out_by_items_and_spread(strata, answers):
    every = [Stratum(items + ones + zeros, {1: ones, 0: zeros}) for items, ones, zeros in strata]
    more = neyman_allocation(every, answers)
    assert sum(more) == min(answers, sum(items for items, _, _ in strata))
    for stratum, number in zip(every, more, strict=True):
        for other, others in zip(every, more, strict=True):
            if number and other.labeled + others < other.items:  # none got one out of turn
                turn = (stratum.labeled + number - 0.5) / neyman_weight(stratum)
                assert turn <= (other.labeled + others + 0.5) / neyman_weight(other) + 1e-12


@pytest.mark.parametrize(
    ("setting", "samples"),
    [*((setting, 400) for setting in SETTINGS[1:3]),
     *(pytest.param(setting, 1_000, marks=exhaustive) for setting in SETTINGS)],
)  # fmt: skip
def test_intervals_hold_the_truth_about_as_often_as_they_say(setting, samples):
    covered = coverage(setting, samples)
    assert all(share > 0.925 for share, _ in covered.values()), covered
    if samples == 1_000:
        assert 0.93 <= covered["prediction powered"][0] <= 0.97
