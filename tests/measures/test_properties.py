"""What must hold of every coefficient, whatever the answers; its errors are in test_errors.py."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.answered import Answered, estimate_of
from tests.measures.strategies import (
    answered,
    complete,
    one_category,
    projects,
    several_categories,
    tally,
)
from tests.profiles import examples
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.measures.benchmarks import landis_koch
from tracker.measures.cohen import cohen_kappa
from tracker.measures.registry import MEASURES
from tracker.measures.sample import sample_for_measures
from tracker.measures.weights import (
    SCALES,
    WEIGHTS,
    Weighting,
    krippendorff_distances,
    weights,
)

Reading = dict[str, Any]

# Four categories, all declared; the numbers stand in no even steps.
DECLARED: Reading = {"categories": [0, 1, 2, 3], "values": {0: 0.0, 1: 1.0, 2: 2.5, 3: 6.0}}
SETS: Reading = {"several": True, "scale": "exact"}
SHARES = ("percent_agreement", "fleiss_kappa", "conger_kappa")
WEIGHTED = [*SHARES, "gwet_ac1", "brennan_prediger", "light_kappa"]
NOMINAL = [(name, DECLARED) for name in (*WEIGHTED, "krippendorff_alpha")]
OF_SETS = [
    *((name, SETS) for name in SHARES),
    *(("krippendorff_alpha", SETS | {"scale": name}) for name in ("exact", "jaccard", "masi")),
]
THREE = tally([[(1,), (2,)], [(2,), (2,)], [(5,), (1,), (2,)]])


def figures(estimate):
    """Value, observed, expected and error; the root of a rounding is not comparable closely."""
    parts = [estimate.value, *vars(estimate.parts).values()]
    rounded = [None if part is None else round(part, 9) + 0.0 for part in parts]
    error = estimate.standard_error
    return [*rounded, None if error is None else round(error, 6) + 0.0]


def near(value, rounding=1e-9):
    return None if value is None else pytest.approx(value, abs=rounding)


def check_alike(one, other):
    """Assert that both figures are the same but for rounding."""
    assert one.undefined == other.undefined
    assert figures(one) == [near(part, 2e-6) for part in figures(other)]
    assert one.value == near(other.value)


def renamed(answers, names):
    return Answered([
        {name: tuple(sorted(names[c] for c in answer)) for name, answer in item.items()}
        for item in answers.given
    ])  # fmt: skip


def shuffled(answers, random):
    """The same answers, items and annotators under other names and in another order."""
    people = dict(zip(range(1, 5), random.sample(range(1, 5), 4), strict=True))
    rows = [{people[name]: answer for name, answer in random.sample([*item.items()], len(item))}
            for item in random.sample([*answers.given], len(answers.given))]  # fmt: skip
    return renamed(Answered(rows), dict(enumerate(random.sample(range(4), 4))))


@examples(20)
@given(answered(), answered(several_categories), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(answers, sets, random):
    for rows, readings in ((answers, NOMINAL), (sets, OF_SETS)):
        after = shuffled(rows, random)
        for measure, reading in readings:
            check_alike(after.estimate(measure, **reading), rows.estimate(measure, **reading))


@examples(20)
@given(answered())
def test_categories_that_nobody_chose_matter_to_two_coefficients_alone(answers):
    used = sorted({c for item in answers.given for (c,) in item.values()})
    for measure, reading in NOMINAL:
        fewer = answers.estimate(measure, **(reading | {"categories": used, "values": {}}))
        more = answers.estimate(measure, **reading)
        if measure not in {"gwet_ac1", "brennan_prediger"}:
            check_alike(fewer, more)
        elif fewer.value is not None and fewer.value < 1 and len(used) < 4:
            assert more.value > fewer.value  # chance has more to choose from


@examples(20)
@given(projects(one_category | several_categories))
def test_percent_agreement_by_plain_count(rows):
    estimate = estimate_of("percent_agreement", sample_for_measures(tally(rows), 5, several=True))
    pairs = [list(permutations(item, 2)) for item in rows if len(item) > 1]
    if not pairs:
        assert estimate.value is None
        return
    shares = [Fraction(sum(one == other for one, other in item), len(item)) for item in pairs]
    assert estimate.value == near(float(sum(shares, Fraction(0)) / len(shares)), 1e-12)
    every = [pair for item in pairs for pair in item]
    pooled = sum(one == other for one, other in every) / len(every)
    assert estimate.details["pair_weighted"] == near(pooled, 1e-12)


@given(answered(annotators=3))
def test_perfect_and_only_perfect_agreement_is_1(answers):
    compared = [item for item in answers.given if len(item) > 1]
    perfect = all(len({*item.values()}) == 1 for item in compared)
    used = {answer for item in answers.given for answer in item.values()}
    comparable = {answer for item in compared for answer in item.values()}
    for measure, reading in NOMINAL:
        estimate = answers.estimate(measure, **reading)
        if estimate.value is not None:
            assert (estimate.value == 1) == perfect, measure
        elif compared and len(answers.marginals) > 1 and measure != "light_kappa":
            assert estimate.undefined == "single_category"
            assert len(comparable if measure == "krippendorff_alpha" else used) == 1, measure


@pytest.mark.parametrize("weighting", WEIGHTS)
@examples(20)
@given(complete())
def test_two_annotators_have_one_kappa_and_one_pi(weighting, answers):
    reading = DECLARED | {"weighting": weighting}
    fleiss, scott, conger, light = (
        answers.estimate(name, **reading)
        for name in ("fleiss_kappa", "scott_pi", "conger_kappa", "light_kappa")
    )
    assert figures(scott) == figures(fleiss)
    (table,) = answers.tables.values()
    # A single table's answers are those that occur: the declared ones give the weights.
    cells = [((one,), (other,)) for one in range(4) for other in range(4)]
    full = {cell: table.get(cell, 0) for cell in cells}
    cohen = cohen_kappa(full, weighting=answers.sample(**reading).weighting)
    for other in (conger, light):
        assert other.undefined == cohen.undefined
        if cohen.value is not None:
            assert other.value == near(cohen.value)
            assert other.parts.observed == near(cohen.observed)
            assert other.parts.expected == near(cohen.expected)
            # The kappa of one pair is the large-sample form, without n / (n - 1).
            factor = (len(answers.given) / (len(answers.given) - 1)) ** 0.5
            assert other.standard_error == near(factor * cohen.standard_error, 1e-7)


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_annotators_who_share_no_answer_are_at_chance_level(order):
    """Of Conger's kappa roundings must not tell more than the answers."""
    apart = [("a", "aab"), ("c", "cdddee"), ("f", "ffg")]
    rows = [{name: (ord(apart[n][0]),) for name, n in enumerate(order)}]
    rows += [{name: (ord(letter),)} for name, n in enumerate(order) for letter in apart[n][1]]
    kappa = Answered(rows).estimate("conger_kappa")
    assert (kappa.parts.observed, kappa.parts.expected, kappa.value) == (0.0, 0.0, 0.0)
    assert landis_koch(kappa.value) == "slight"


two_categories = st.integers(0, 1).map(lambda category: (category,))


@given(complete(two_categories), st.floats(-50, 50))
def test_two_categories_of_one_number_are_one_answer(answers, number):
    # Such as "1" and "1.0": nothing is apart, and rounding must not make a perfect 1 of that.
    values = {0: number, 1: number, 2: number + 0.3}
    reading: Reading = {"categories": [0, 1, 2], "values": values}
    alpha = answers.estimate("krippendorff_alpha", scale="interval", **reading)
    kappa = answers.estimate("fleiss_kappa", weighting="linear", **reading)
    assert (alpha.undefined, kappa.undefined) == ("single_category", "single_category")


# Samples: which answers there are, in which order, and what cannot be compared.


@given(projects(one_category))
def test_an_empty_or_lonely_project_has_a_reason(rows):
    alone = tally([item[:1] for item in rows])
    marginals = {1: {(0,): 1}, 2: {(1,): 1}, 3: {(0,): 1}}
    for measure, reading in NOMINAL:
        if MEASURES[measure].function is None:
            continue
        for patterns, annotators, reason in (
            (ItemPatterns(), 3, "too_few_items"),
            (alone, 1, "too_few_annotators"),
            (alone, 3, "no_overlap"),
        ):
            sample = sample_for_measures(patterns, annotators, marginals=marginals, **reading)
            estimate = estimate_of(measure, sample)
            wanted = reason if patterns.items else "too_few_items"
            assert (estimate.value, estimate.undefined) == (None, wanted), measure
            assert estimate.standard_error is None


def test_answers_stand_in_the_order_of_the_categories_and_others_follow():
    assert sample_for_measures(THREE, 3).table.answers == ((1,), (2,), (5,))
    ordered = sample_for_measures(THREE, 3, categories=[5, 9, 1])
    assert ordered.table.answers == ((5,), (9,), (1,), (2,))
    # In the order 5, 1, 2 the neighbours are 1 of 3 ranks apart, 5 and 2 are the ends.
    for first, second, agreement in ((5, 1, 2 / 3), (1, 2, 2 / 3), (5, 2, 0)):
        patterns = tally([[(first,), (second,)], [(2,)]])
        sample = sample_for_measures(patterns, 2, categories=[5, 1], weighting="ordinal")
        assert sample.observed == pytest.approx(agreement)
    declared = sample_for_measures(THREE, 3, categories=[1, 2, 3, 4, 5])
    used = sample_for_measures(THREE, 3, categories=[1, 2, 3, 4, 5], declared=False)
    assert used.table.answers == ((1,), (2,), (5,))
    for sample, number in ((declared, 5), (used, 3)):
        expected = estimate_of("brennan_prediger", sample).parts.expected
        assert expected == pytest.approx(1 / number)
    assert used.shares == pytest.approx(declared.shares[[0, 1, 4]])
    with pytest.raises(InvalidOption, match="numeric"):
        sample_for_measures(THREE, 3, weighting="linear")
    by_rank = sample_for_measures(THREE, 3, weighting="linear", by_rank=True)
    assert by_rank.reading == {"weights": "linear"}


# Weights and distances: their definitions, and their sums in closed form.

FIVE = [(n,) for n in range(5)]
RANKS = {n: float(n + 1) for n in range(5)}


def matrix(weighting):
    codes = np.arange(weighting.size)
    return weighting.between(codes[:, None], codes[None, :])


def test_ordinal_weights_of_gwet_2014_chapter_3():
    """One less C(apart + 1, 2) / C(5, 2)."""
    rows = matrix(weights("ordinal", FIVE, RANKS))
    for apart, weight in enumerate((1, 0.9, 0.7, 0.4, 0)):
        assert np.diag(rows, apart) == pytest.approx([weight] * (5 - apart))


def test_weights_by_numbers_and_by_ranks():
    uneven = {0: 1.0, 1: 2.0, 2: 10.0, 3: 11.0, 4: 21.0}
    by_number = matrix(weights("linear", FIVE, uneven))
    assert by_number[0] == pytest.approx([1, 19 / 20, 11 / 20, 10 / 20, 0])
    by_rank = matrix(weights("linear", FIVE, uneven, ordered=True))
    assert by_rank == pytest.approx(matrix(weights("linear", FIVE, RANKS)))


numbers = st.lists(st.floats(-50, 50, allow_subnormal=False), min_size=1, max_size=7, unique=True)


@pytest.mark.parametrize("name", [*WEIGHTS, *SCALES])
@given(numbers, st.data())
def test_sums_in_closed_form_are_those_of_all_pairs(name, values, data):
    size = len(values)
    answers = [(n,) for n in range(size)]
    values = dict(enumerate(map(abs, values) if name == "ratio" else values))
    counts = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    totals = np.array(data.draw(st.lists(counts, min_size=1, max_size=3)), dtype=np.float64)
    make = weights if name in WEIGHTS else krippendorff_distances
    weighting = make(name, answers, values) if name != "ordinal" else weights(name, answers)
    if name in SCALES and name == "ordinal":
        weighting = krippendorff_distances(name, answers, totals=totals[0])
    every = matrix(weighting)
    close = pytest.approx(totals @ every.T, abs=1e-9 * max(1.0, every.max()) * totals.sum())
    assert weighting.against(totals) == close
    assert Weighting.against(weighting, totals) == close  # without a closed form
    rounding = 1e-9 * max(1.0, every.max()) * weighting.size**2
    assert weighting.total() == pytest.approx(every.sum(), abs=rounding)


def test_readings_without_numbers_are_refused():
    for message, refused in (
        ("cubic", lambda: weights("cubic", FIVE, RANKS)),
        ("cosine", lambda: krippendorff_distances("cosine", FIVE, RANKS)),
        ("numeric", lambda: weights("linear", FIVE)),
        ("numeric", lambda: weights("quadratic", FIVE, {0: 1.0})),
        ("numeric", lambda: krippendorff_distances("interval", FIVE, {0: 1.0})),
        ("numeric", lambda: krippendorff_distances("ratio", [(0, 1), ()], RANKS)),
        ("-3", lambda: krippendorff_distances("ratio", FIVE[:2], {0: -3.0, 1: 2.0})),
    ):
        with pytest.raises(InvalidOption, match=message):
            refused()
