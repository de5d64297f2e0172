"""Errors of coefficients: linearised, by cluster, resampled, over annotators.

Each against something that does not know its formula: a numerical slope, a jackknife, the same
answers twice, a sample of the samples.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.measures.answered import Answered
from tests.measures.strategies import answered, complete, crowd
from tests.profiles import examples
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.measures.cohen import cohen_kappa
from tracker.measures.conger import conger_kappa
from tracker.measures.intervals import INTERVALS, Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.resampling import (
    bootstrap,
    bootstrap_draws,
    coefficient_over_clusters,
    jackknife_over_annotators,
)
from tracker.measures.sample import Sample, sample_for_measures

BOOTSTRAPPED = {name: one.redrawn for name, one in MEASURES.items() if one.redrawn is not None}
Metric = dict[str, Any]
Of = tuple[str, Metric]

DECLARED: Metric = {"categories": [0, 1, 2, 3], "values": {0: 0.0, 1: 1.0, 2: 2.0, 3: 4.0}}
PLAIN: list[Of] = [
    (name, DECLARED)
    for name in ("percent_agreement", "fleiss_kappa", "gwet_ac1", "brennan_prediger")
]
ALPHAS: list[Of] = [
    ("krippendorff_alpha", DECLARED | {"scale": scale})
    for scale in ("nominal", "ordinal", "interval", "ratio")
]
WEIGHTED: list[Of] = [
    (name, DECLARED | {"weighting": word})
    for name in ("percent_agreement", "fleiss_kappa", "gwet_ac2", "brennan_prediger")
    for word in ("linear", "quadratic", "ordinal")
]
CONGER: list[Of] = [
    ("conger_kappa", DECLARED | {"weighting": word}) for word in ("identity", "linear")
]


def named(of: Of) -> str:
    measure, reading = of
    return f"{measure}-{reading.get('weighting', reading.get('scale', 'plain'))}"


def value_of(measure: str, sample: Sample) -> float:
    function = MEASURES[measure].function
    assert function is not None
    found = function(sample).value
    assert found is not None
    return found


@pytest.mark.parametrize("of", [*PLAIN, *ALPHAS, *WEIGHTED], ids=named)
@pytest.mark.parametrize("answering", [1.0, 0.6])
def test_an_items_influence_is_the_slope_of_the_coefficient(of, answering):
    """What a hundred items more of one kind change, of a hundred million: the slope itself."""
    measure, reading = of
    many = ItemPatterns({p: n * 1_000_000 for p, n in crowd(100, 3, answering=answering).patterns})
    function = MEASURES[measure].function
    assert function is not None
    found = function(sample_for_measures(many, 4, **reading))
    assert found.influence is not None
    for place, (pattern, items) in enumerate(many):
        beside = [
            value_of(
                measure,
                sample_for_measures(ItemPatterns({**many.counts, pattern: n}), 4, **reading),
            )
            for n in (items - 1000, items + 1000)
        ]
        slope = (beside[1] - beside[0]) / 2000
        # Influences are some 1e-9; a value of 16 digits gives seven of a slope over 2000 items.
        assert found.influence[place] == pytest.approx(slope, rel=1e-4, abs=1e-13)


def jackknife(answers: Answered, measure: str, reading: Metric) -> float:
    """The delete-one-item error; items of one assignment are alike."""
    function = conger_kappa if measure == "conger_kappa" else MEASURES[measure].function
    assert function is not None
    rows = Counter(dict(answers.joint))
    values = []
    for left in rows:
        others = Answered([dict(row) for row in (rows - Counter([left])).elements()])
        values.append((function(others.sample(**reading)).value, rows[left]))
    items = rows.total()
    mean = sum(value * n for value, n in values) / items
    return math.sqrt((items - 1) / items * sum(n * (value - mean) ** 2 for value, n in values))


NEAR = [*PLAIN, CONGER[0], ALPHAS[0], ALPHAS[1], ALPHAS[3]]
# Squared distances give a rare outlying category great influence, of which a jackknife makes more:
# it takes in what is of second order, is conservative (Efron and Stein 1981), and falls with 1 / n.
FAR = [ALPHAS[2], ("fleiss_kappa", DECLARED | {"weighting": "quadratic"}), CONGER[1]]


@pytest.mark.parametrize("of", [*NEAR, *FAR], ids=named)
@pytest.mark.parametrize("answering", [1.0, 0.6])
def test_errors_are_near_a_jackknifes_from_a_hundred_items_on(of, answering):
    measure, reading = of
    answers = crowd(100, 8, answering=answering)
    apart = []
    for each in (answers, Answered([*answers.given, *answers.given])):
        error = each.estimate(measure, **reading).standard_error
        assert error is not None
        apart.append(1 - error / jackknife(each, measure, reading))
    assert abs(apart[0]) < (0.01 if of in NEAR else 0.06)
    assert abs(apart[1]) < abs(apart[0]) * 0.55 + 1e-4  # half of it with twice the items


def test_the_error_of_lights_kappa_is_near_a_jackknifes():
    answers = crowd(200, 8)
    error = answers.estimate("light_kappa", **DECLARED).standard_error
    rows, values = list(answers.given), []
    for place in range(len(rows)):
        left = Answered(rows[:place] + rows[place + 1 :])
        kappas = [cohen_kappa(table).value for table in left.tables.values()]
        values.append(float(np.mean([kappa for kappa in kappas if kappa is not None])))
    wanted = math.sqrt(199**2 / 200 * float(np.var(values, ddof=1)))
    assert error == pytest.approx(wanted, rel=0.01)


@examples(20)
@given(answered(annotators=3))
def test_the_same_answers_twice(answers):
    """Nothing changes but alpha's correction, and n - 1 of n items' squares become (2n - 1)."""
    twice = Answered([*answers.given, *answers.given])
    every = [*PLAIN, *WEIGHTED, *ALPHAS, *CONGER, ("light_kappa", DECLARED)]
    for measure, reading in every:
        once, both = (each.estimate(measure, **reading) for each in (answers, twice))
        assert both.undefined == once.undefined
        if once.value is None or both.value is None:
            continue
        compared = [one for one in answers.given if len(one) > 1]
        alpha = measure == "krippendorff_alpha"
        if alpha:
            n = sum(len(one) for one in compared)  # of answers
            wanted = 1 - (1 - once.value) * (2 * n - 1) / (2 * n - 2)
        else:
            wanted = once.value
        assert both.value == pytest.approx(wanted, abs=1e-9)
        if once.standard_error is None:
            assert len(compared) < 2
            continue
        # Light's rests on items of two answers alone, as alpha does.
        items = len(compared) if alpha or measure == "light_kappa" else len(answers.given)
        shrunk = once.standard_error * math.sqrt((items - 1) / (2 * items - 1))
        assert both.standard_error == pytest.approx(shrunk, abs=1e-7), measure


@given(complete())
def test_cohens_large_sample_error_shrinks_by_the_root_of_two(answers):
    (table,) = answers.tables.values()
    once, both = cohen_kappa(table), cohen_kappa({cell: 2 * n for cell, n in table.items()})
    assert both.undefined == once.undefined
    if once.value is not None:
        assert once.standard_error is not None
        assert both.value == pytest.approx(once.value, abs=1e-12)
        assert both.standard_error == pytest.approx(once.standard_error / math.sqrt(2), abs=1e-7)


@given(answered())
def test_bounds_hold_the_value(answers):
    for measure, reading in [*PLAIN, *WEIGHTED, *ALPHAS, *CONGER]:
        found = answers.estimate(measure, **reading).coefficient(0.9)
        assert (found.ci_low is None) == (found.ci_high is None) == (found.method is None)
        if found.ci_low is not None and found.ci_high is not None and found.value is not None:
            assert found.ci_low <= found.value <= found.ci_high <= 1
            wide = answers.estimate(measure, **reading).coefficient(0.99)
            assert wide.ci_low is not None
            assert wide.ci_low <= found.ci_low + 1e-3  # other draws of the same posterior


def test_a_single_compared_item_among_singles_has_no_error():
    kappa = Answered([{1: (0,), 2: (1,)}, {1: (0,)}, {2: (1,)}]).estimate("fleiss_kappa")
    found = kappa.coefficient()
    assert (found.value, found.standard_error, found.ci_low) == (-1, None, None)


def test_items_that_all_agree_to_the_same_degree_still_have_bounds():
    found = Answered([{1: (0,), 2: (0,), 3: (1,)}] * 9).estimate("percent_agreement").coefficient()
    assert found.standard_error == pytest.approx(0, abs=1e-15)
    assert found.ci_low == pytest.approx(0.05 ** (1 / 9) / 3)
    assert found.ci_high == pytest.approx(1 - 0.05 ** (1 / 9) * 2 / 3)
    assert found.method == "one-sided exact"


@pytest.mark.parametrize("confidence", [0, 1, 95, float("nan")])
def test_a_level_outside_0_to_1_is_refused(confidence):
    answers = Answered([{1: (0,), 2: (1,)}])
    for measure, reading in [*PLAIN, *ALPHAS]:
        with pytest.raises(InvalidOption):
            answers.estimate(measure, **reading).coefficient(confidence)
    with pytest.raises(InvalidOption):
        cohen_kappa({((0,), (1,)): 3}, confidence)


def by_cluster(answers, measure, clusters, how="asymmetric", **reading):
    """The figure with the error of items in clusters, one number per item."""
    found = answers.estimate(measure, **reading)
    assert found.influence is not None
    place = {pattern: n for n, (pattern, _) in enumerate(answers.patterns)}
    sums = Counter()
    for given_, cluster in zip(answers.given, clusters, strict=True):
        (pattern,) = Answered([given_]).patterns.counts
        sums[cluster] += found.influence[place[pattern]]
    powers = sum(total**2 for total in sums.values()), sum(total**4 for total in sums.values())
    return coefficient_over_clusters(
        found.coefficient(interval=how), powers, len(sums), "document", how, of_pairs=found.of_pairs
    )


@pytest.mark.parametrize("of", [*PLAIN, *ALPHAS, *WEIGHTED], ids=named)
def test_clusters_of_one_item_each_give_the_plain_error(of):
    measure, reading = of
    answers = crowd(400, 11)  # enough for the bounds of both to be made alike
    for how in INTERVALS:
        plain = answers.estimate(measure, **reading).coefficient(interval=how)
        found = by_cluster(answers, measure, list(range(400)), how, **reading)
        assert found.method == "clustered by document"
        for one, other in zip(told(found), told(plain), strict=True):
            assert one == pytest.approx(other, abs=1e-12)


def told(found: Coefficient) -> list[float | None]:
    return [found.value, found.standard_error, found.ci_low, found.ci_high]


@pytest.mark.parametrize("of", [*PLAIN, *ALPHAS, *WEIGHTED], ids=named)
def test_an_item_twice_in_one_cluster_is_one_item(of):
    measure, reading = of
    once = crowd(50, 11)
    twice = Answered([*once.given, *once.given])
    naive = twice.estimate(measure, **reading).standard_error
    found = by_cluster(twice, measure, [*range(50), *range(50)], **reading)
    assert found.standard_error is not None
    assert naive is not None
    assert found.standard_error == pytest.approx(
        once.estimate(measure, **reading).standard_error, abs=1e-12
    )
    # Twice 50 items look like 100: sqrt((2n - 1) / (n - 1)), near the root of two.
    assert found.standard_error / naive == pytest.approx(math.sqrt(99 / 49), abs=1e-9)


def test_one_cluster_supports_no_error_and_nothing_has_none():
    answers = crowd(20, 1)
    one = by_cluster(answers, "fleiss_kappa", [0] * 20)
    assert (one.standard_error, one.ci_low, one.ci_high, one.method) == (None, None, None, None)
    assert one.value is not None
    blank = Coefficient("fleiss_kappa", None, "no_overlap")
    assert coefficient_over_clusters(blank, (1.0, 1.0), 5, "document") is blank


@pytest.mark.parametrize("answering", [1.0, 0.6])
def test_the_bootstrap_is_near_the_linearised_error(answering):
    answers = crowd(1000, 21, answering=answering)
    ordinal = [("krippendorff_alpha", DECLARED | {"scale": "ordinal"})]
    for measure, reading in [*PLAIN, *WEIGHTED[-3:], *ALPHAS[:1], *ALPHAS[2:], *ordinal]:
        plain = answers.estimate(measure, **reading).coefficient()
        rounds = 300 if reading.get("scale") == "ordinal" else 1000
        (found,) = bootstrap(answers.sample(**reading), [plain], replicates=rounds, seed=5)
        assert (found.value, found.method) == (plain.value, "bootstrap")
        # The spread of 1000 values is known to 1 / sqrt(2000), 2.2%; of 300 to 4.1%.
        assert found.standard_error == pytest.approx(
            plain.standard_error, rel=4 / (2 * rounds) ** 0.5
        )
        assert plain.standard_error is not None
        for one, other in ((found.ci_low, plain.ci_low), (found.ci_high, plain.ci_high)):
            assert one == pytest.approx(other, abs=0.5 * plain.standard_error)


def test_the_same_seed_gives_the_same_bootstrap():
    answers = crowd(60, 2)
    sample = answers.sample(**DECLARED)
    found = [answers.estimate(measure, **DECLARED).coefficient() for measure, _ in PLAIN]
    first, again, other = (bootstrap(sample, found, replicates=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert [one.standard_error for one in first] != [one.standard_error for one in other]


def test_draws_are_samples_of_as_many_items():
    sample = crowd(40, 2).sample()
    drawn = np.concatenate(list(bootstrap_draws(sample, 200, seed=3)))
    assert drawn.shape == (200, len(sample.table.items))
    assert set(drawn.sum(axis=1)) == {40.0}
    # The mean of 200 draws of n p (1 - p) variance each.
    spread = np.sqrt(sample.table.items / 200)
    assert (np.abs(drawn.mean(axis=0) - sample.table.items) < 5 * spread).all()
    with pytest.raises(InvalidOption, match="1000"):
        next(bootstrap_draws(sample, 1, seed=0))


@pytest.mark.parametrize("measure", BOOTSTRAPPED)
@given(answered(annotators=2))
def test_a_draw_of_every_item_once_gives_the_figure_itself(measure, answers):
    for reading in ({}, {"weighting": "linear"}, {"scale": "ordinal"}, {"scale": "interval"}):
        sample = answers.sample(**DECLARED, **reading)
        function = MEASURES[measure].function
        assert function is not None
        wanted = function(sample).value
        if wanted is not None:
            items = sample.table.items[None, :].astype(float)
            assert BOOTSTRAPPED[measure](sample, items)[0] == pytest.approx(wanted, abs=1e-9)


def test_what_cannot_be_bootstrapped_keeps_what_it_has():
    answers = crowd(30, 4)
    conger = answers.estimate("conger_kappa", **DECLARED).coefficient()
    blank = Coefficient("fleiss_kappa", None, "no_overlap")
    sample = answers.sample(**DECLARED)
    assert bootstrap(sample, [conger, blank], replicates=10, seed=0) == [conger, blank]


def test_a_figure_that_most_samples_leave_undefined_keeps_its_error():
    # Both items of two answers are in 1 - 2 (21/22)**22 + (20/22)**22 of the samples: in 40%.
    pairs = [{1: (0,), 2: (0,)}, {1: (1,), 2: (1,)}]
    answers = Answered([*pairs, *([{1: (0,)}] * 20)])
    plain = answers.estimate("krippendorff_alpha").coefficient()
    assert (plain.value, plain.standard_error) == (1, 0)
    assert bootstrap(answers.sample(), [plain], replicates=500, seed=1) == [plain]


def test_samples_of_what_does_not_vary_leave_the_exact_bound():
    answers = Answered([{1: (0,), 2: (0,)}, {1: (1,), 2: (1,)}] * 10)
    plain = answers.estimate("fleiss_kappa").coefficient(interval="t")
    assert (plain.value, plain.method) == (1, "one-sided exact")
    assert bootstrap(answers.sample(), [plain], replicates=500, seed=1) == [plain]


def test_the_jackknife_over_annotators_by_hand():
    found = jackknife_over_annotators(Coefficient("fleiss_kappa", 0.5), [0.4, 0.5, 0.6, 0.7])
    # (n - 1) / n times the squared distances from .55: .75 * .05.
    assert found.standard_error == pytest.approx(math.sqrt(0.0375))
    # t of three degrees of freedom at 97.5% is 3.182; both bounds are cut off at the limits.
    assert found.ci_low == pytest.approx(0.5 - 3.1824 * math.sqrt(0.0375), abs=1e-4)
    assert (found.ci_high, found.method) == (1.0, "jackknife over annotators")
    shares = jackknife_over_annotators(Coefficient("percent_agreement", 0.5), [0.4, 0.5, 0.6, 0.7])
    assert shares.ci_low == 0.0


@pytest.mark.parametrize("without", [[0.4, 0.5], [0.4, None, 0.5, 0.6], []])
def test_too_few_annotators_support_no_error(without):
    figure = Coefficient("fleiss_kappa", 0.5, standard_error=0.1, ci_low=0.3, ci_high=0.7)
    found = jackknife_over_annotators(figure, without)
    assert (found.value, found.standard_error, found.ci_low, found.method) == (
        0.5,
        None,
        None,
        None,
    )
    blank = Coefficient("fleiss_kappa", None, "no_overlap")
    assert jackknife_over_annotators(blank, without) is blank
