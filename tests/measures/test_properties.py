"""What must hold of every coefficient, whatever the answers; its errors are in test_errors.py."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.measures.answered import Answered
from tests.measures.strategies import (
    answered,
    complete,
    one_category,
    projects,
    several_categories,
    tally,
)
from tests.profiles import examples
from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures.chance_corrected import percent_agreement
from tracker.measures.cohen import cohen_kappa
from tracker.measures.estimate import Estimate
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.registry import MEASURES
from tracker.measures.sample import sample_for_measures

Metric = dict[str, Any]

# Four categories, all declared; the numbers stand in no even steps.
DECLARED: Metric = {"categories": [0, 1, 2, 3], "values": {0: 0.0, 1: 1.0, 2: 2.5, 3: 6.0}}
SETS: Metric = {"several": True, "scale": "exact"}
WEIGHTS = ["identity", "linear", "quadratic", "ordinal"]
SCALES = ["nominal", "ordinal", "interval", "ratio"]
WEIGHTED = [
    "percent_agreement", "fleiss_kappa", "gwet_ac1", "brennan_prediger", "conger_kappa",
    "light_kappa",
]  # fmt: skip
NOMINAL: list[tuple[str, Metric]] = [
    *((name, DECLARED) for name in WEIGHTED),
    ("krippendorff_alpha", DECLARED),
]
OF_SETS: list[tuple[str, Metric]] = [
    *((name, SETS) for name in ("percent_agreement", "fleiss_kappa", "conger_kappa")),
    *(("krippendorff_alpha", SETS | {"scale": name}) for name in ("exact", "jaccard", "masi")),
]
ORDERED: list[tuple[str, Metric]] = [
    *((name, DECLARED | {"weighting": word}) for name in WEIGHTED for word in WEIGHTS[1:]),
    *(("krippendorff_alpha", DECLARED | {"scale": scale}) for scale in SCALES[1:]),
]
EVERY = [*NOMINAL, *ORDERED]


def figures(found: Estimate) -> list[float | None]:
    """Value, observed, expected and error; the root of a rounding is not comparable closely."""
    parts = [found.value, *vars(found.parts).values()]
    told = [None if part is None else round(part, 9) + 0.0 for part in parts]
    error = found.standard_error
    return [*told, None if error is None else round(error, 6) + 0.0]


def alike(one: Estimate, other: Estimate) -> None:
    """Both figures are the same but for rounding."""
    assert one.undefined == other.undefined
    for first, second in zip(figures(one), figures(other), strict=True):
        assert first == (None if second is None else pytest.approx(second, abs=2e-6))
    if one.value is not None:
        assert one.value == pytest.approx(other.value, abs=1e-9)


def renamed(answers: Answered, names: dict[int, int]) -> Answered:
    return Answered(
        [
            {who: tuple(sorted(names[c] for c in answer)) for who, answer in given_.items()}
            for given_ in answers.given
        ]
    )


def shuffled(answers: Answered, random: Random) -> Answered:
    """The same answers, items and annotators under other names and in another order."""
    people = dict(zip(range(1, 5), random.sample(range(1, 5), 4), strict=True))
    given_ = [
        {people[who]: answer for who, answer in random.sample([*one.items()], len(one))}
        for one in random.sample([*answers.given], len(answers.given))
    ]
    return renamed(Answered(given_), dict(enumerate(random.sample(range(4), 4))))


@examples(20)
@given(answered(), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(answers, random):
    after = shuffled(answers, random)
    for measure, reading in NOMINAL:
        alike(after.estimate(measure, **reading), answers.estimate(measure, **reading))


@examples(20)
@given(answered(several_categories), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter_to_sets(answers, random):
    after = shuffled(answers, random)
    for measure, reading in OF_SETS:
        alike(after.estimate(measure, **reading), answers.estimate(measure, **reading))


@examples(20)
@given(answered())
def test_the_direction_of_a_scale_does_not_matter(answers):
    turned = renamed(answers, {0: 3, 1: 2, 2: 1, 3: 0})
    values = {number: 6.0 - DECLARED["values"][3 - number] for number in range(4)}
    for measure, reading in ORDERED:
        if reading.get("scale") != "ratio":  # which has a true zero
            after = turned.estimate(measure, **(reading | {"values": values}))
            alike(after, answers.estimate(measure, **reading))


@examples(20)
@given(answered(), st.floats(0.1, 50), st.floats(-9, 9))
def test_the_unit_of_numbers_does_not_matter_nor_where_they_begin(answers, unit, start):
    values = {number: start + unit * value for number, value in DECLARED["values"].items()}
    for measure, reading in ORDERED:
        if reading.get("scale") != "ratio":
            after = answers.estimate(measure, **(reading | {"values": values}))
            before = answers.estimate(measure, **reading)
            assert after.value == (
                None if before.value is None else pytest.approx(before.value, abs=1e-8)
            )


@examples(20)
@given(projects(one_category), projects(one_category))
def test_tallies_of_parts_add_up_to_the_tally_of_all(left, right):
    parts, whole = tally(left) + tally(right), tally(left + right)
    for measure, reading in EVERY:
        function = MEASURES[measure].function
        if function is not None and measure != "conger_kappa":
            alike(
                function(sample_for_measures(parts, 5, **reading)),
                function(sample_for_measures(whole, 5, **reading)),
            )


@examples(20)
@given(answered(), answered())
def test_kappas_of_names_add_up_as_well(left, right):
    whole = Answered([*left.given, *right.given])
    sample = sample_for_measures(
        left.patterns + right.patterns,
        len(left.marginals | right.marginals),
        marginals={
            who: {
                answer: left.marginals.get(who, {}).get(answer, 0)
                + right.marginals.get(who, {}).get(answer, 0)
                for answer in [(0,), (1,), (2,), (3,)]
            }
            for who in left.marginals | right.marginals
        },
        **DECLARED,
    )
    function = MEASURES["conger_kappa"].function
    assert function is not None
    found, wanted = function(sample), whole.estimate("conger_kappa", **DECLARED)
    assert found.undefined == wanted.undefined
    assert found.value == (None if wanted.value is None else pytest.approx(wanted.value, abs=1e-9))


@examples(20)
@given(answered())
def test_categories_that_nobody_chose_matter_to_two_coefficients_alone(answers):
    used = sorted({c for given_ in answers.given for (c,) in given_.values()})
    for measure, reading in NOMINAL:
        fewer = answers.estimate(measure, **(reading | {"categories": used, "values": {}}))
        more = answers.estimate(measure, **reading)
        if measure in {"gwet_ac1", "brennan_prediger"}:
            if fewer.value is not None and fewer.value < 1 and len(used) < 4:
                assert more.value is not None
                assert more.value > fewer.value  # chance has more to choose from
        else:
            alike(fewer, more)


@examples(20)
@given(projects(one_category | several_categories))
def test_percent_agreement_by_plain_count(rows):
    found = percent_agreement(sample_for_measures(tally(rows), 5, several=True))
    pairs = [list(permutations(given_, 2)) for given_ in rows if len(given_) > 1]
    if not pairs:
        assert found.value is None
        return
    shares = [Fraction(sum(one == other for one, other in each), len(each)) for each in pairs]
    every = [pair for each in pairs for pair in each]
    assert found.value == pytest.approx(float(sum(shares, Fraction(0)) / len(shares)), abs=1e-12)
    pooled = sum(one == other for one, other in every) / len(every)
    assert found.details["pair_weighted"] == pytest.approx(pooled, abs=1e-12)


@pytest.mark.parametrize("scale", ["nominal", "interval", "ratio"])
@examples(20)
@given(projects(one_category))
def test_alpha_by_plain_count(scale, rows):
    values = DECLARED["values"]
    apart = {
        "nominal": lambda c, k: Fraction(c != k),
        "interval": lambda c, k: Fraction(c - k) ** 2,
        "ratio": lambda c, k: (Fraction(c - k) / Fraction(c + k)) ** 2 if c + k else Fraction(0),
    }[scale]
    units = [[values[c] for (c,) in given_] for given_ in rows if len(given_) > 1]
    every = [value for unit in units for value in unit]
    found = krippendorff_alpha(sample_for_measures(tally(rows), 5, scale=scale, **DECLARED))
    if len(set(every)) < 2:
        assert found.value is None
        return
    within = [apart(c, k) / (len(unit) - 1) for unit in units for c, k in permutations(unit, 2)]
    overall = [apart(c, k) for c, k in permutations(every, 2)]
    observed, expected = sum(within) / len(every), sum(overall) / len(overall)
    assert found.parts.observed_disagreement == pytest.approx(float(observed), abs=1e-12)
    assert found.parts.expected_disagreement == pytest.approx(float(expected), abs=1e-12)
    assert found.value == pytest.approx(float(1 - observed / expected), abs=1e-9)


@given(answered(annotators=3))
def test_perfect_and_only_perfect_agreement_is_1(answers):
    compared = [given_ for given_ in answers.given if len(given_) > 1]
    perfect = all(len({*given_.values()}) == 1 for given_ in compared)
    used = {answer for given_ in answers.given for answer in given_.values()}
    comparable = {answer for given_ in compared for answer in given_.values()}
    for measure, reading in NOMINAL:
        found = answers.estimate(measure, **reading)
        if found.value is not None:
            assert (found.value == 1) == perfect, measure
        elif compared and len(answers.marginals) > 1 and measure != "light_kappa":
            assert found.undefined == "single_category"
            answered_with = comparable if measure == "krippendorff_alpha" else used
            assert len(answered_with) == 1, measure


@examples(20)
@given(answered())
def test_alpha_is_fleiss_kappa_but_for_few_answers(answers):
    # Where all items have as many answers: 1 - alpha = (1 - kappa) (N - 1) / N of N answers.
    most = max(len(given_) for given_ in answers.given)
    full = Answered([given_ for given_ in answers.given if len(given_) == most])
    number = sum(len(given_) for given_ in full.given)
    for scale, weighting in (("nominal", "identity"), ("interval", "quadratic")):
        kappa = full.estimate("fleiss_kappa", weighting=weighting, **DECLARED)
        alpha = full.estimate("krippendorff_alpha", scale=scale, **DECLARED)
        assert (kappa.value is None) == (alpha.value is None)
        if kappa.value is not None and alpha.value is not None:
            wanted = (1 - kappa.value) * (number - 1) / number
            assert 1 - alpha.value == pytest.approx(wanted, abs=1e-9)


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
    sample = answers.sample(**reading)
    (table,) = answers.tables.values()
    # A single table's answers are those that occur: the declared ones give the weights.
    full = {(one, other): table.get((one, other), 0) for one in _all() for other in _all()}
    cohen = cohen_kappa(full, weighting=sample.weighting)
    for other in (conger, light):
        assert other.undefined == cohen.undefined
        for got, want in (
            (other.value, cohen.value),
            (other.parts.observed, cohen.observed if cohen.value is not None else None),
            (other.parts.expected, cohen.expected if cohen.value is not None else None),
        ):
            if cohen.value is not None:
                assert got == pytest.approx(want, abs=1e-9)
    if cohen.value is not None:
        # The kappa of one pair is the large-sample form, without n / (n - 1).
        factor = (len(answers.given) / (len(answers.given) - 1)) ** 0.5
        assert cohen.standard_error is not None
        for other in (conger, light):
            assert other.standard_error == pytest.approx(factor * cohen.standard_error, abs=1e-7)


def _all() -> list[Answer]:
    return [(category,) for category in DECLARED["categories"]]


@given(complete())
def test_quadratic_kappa_is_lins_concordance(answers):
    """Fleiss and Cohen (1973), Educ. Psychol. Meas. 33, 613: kappa and correlation are one."""
    values = DECLARED["values"]
    x, y = (np.array([values[one[who][0]] for one in answers.given]) for who in (1, 2))
    spread = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    assume(spread > 0)
    wanted = 2 * ((x - x.mean()) * (y - y.mean())).mean() / spread
    kappa = answers.estimate("conger_kappa", weighting="quadratic", **DECLARED)
    assert kappa.value == pytest.approx(wanted, abs=1e-9)


@given(st.dictionaries(st.tuples(one_category, one_category), st.integers(1, 9), max_size=12))
def test_kappa_is_symmetric_and_blind_to_names(counts):
    kappa = cohen_kappa(counts)
    swapped = cohen_kappa({(other, one): count for (one, other), count in counts.items()})
    names = {((9 - a[0],), (9 - b[0],)): count for (a, b), count in counts.items()}
    for other in (swapped, cohen_kappa(names)):
        assert other.undefined == kappa.undefined
        assert other.observed == kappa.observed
        if kappa.value is not None:
            assert other.value == pytest.approx(kappa.value, abs=1e-12)
            assert other.standard_error == (
                None
                if kappa.standard_error is None
                else pytest.approx(kappa.standard_error, abs=1e-7)
            )


# -- two categories ------------------------------------------------------------------------

TWO: Metric = {"categories": [0, 1], "values": {0: 0.0, 1: 7.0}}
two_categories = st.integers(0, 1).map(lambda category: (category,))


@examples(20)
@given(answered(two_categories))
def test_weights_of_two_categories_are_no_weights(answers):
    for measure in WEIGHTED:
        plain = answers.estimate(measure, **TWO)
        for weighting in WEIGHTS[1:]:
            alike(answers.estimate(measure, weighting=weighting, **TWO), plain)


@given(answered(two_categories))
def test_all_distances_of_two_categories_give_one_alpha(answers):
    plain = answers.estimate("krippendorff_alpha", **TWO)
    for scale in SCALES[1:]:
        found = answers.estimate("krippendorff_alpha", scale=scale, **TWO)
        assert found.undefined == plain.undefined
        assert found.value == (None if plain.value is None else pytest.approx(plain.value))
        if plain.standard_error is not None:
            assert found.standard_error == pytest.approx(plain.standard_error, abs=1e-7)


@given(complete(two_categories), st.floats(-50, 50))
def test_two_categories_of_one_number_are_one_answer(answers, number):
    # Such as "1" and "1.0": nothing is apart, and rounding must not make a perfect 1 of that.
    values = {0: number, 1: number, 2: number + 0.3}
    reading = {"categories": [0, 1, 2], "values": values}
    alpha = answers.estimate("krippendorff_alpha", scale="interval", **reading)
    kappa = answers.estimate("fleiss_kappa", weighting="linear", **reading)
    assert (alpha.undefined, kappa.undefined) == ("single_category", "single_category")


@given(projects(one_category))
def test_an_empty_or_lonely_project_has_a_reason(rows):
    alone = [given_[:1] for given_ in rows]
    for measure, reading in NOMINAL:
        function = MEASURES[measure].function
        if function is None:
            continue
        for patterns, annotators, reason in (
            (ItemPatterns(), 3, "too_few_items"),
            (tally(alone), 1, "too_few_annotators"),
            (tally(alone), 3, "no_overlap"),
        ):
            wanted = reason if patterns.items else "too_few_items"
            marginals = {1: {(0,): 1}, 2: {(1,): 1}, 3: {(0,): 1}}
            found = function(
                sample_for_measures(patterns, annotators, marginals=marginals, **reading)
            )
            assert (found.value, found.undefined) == (None, wanted), measure
            assert found.standard_error is None
