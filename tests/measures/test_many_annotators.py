"""Fleiss (1971), Scott (1955), Krippendorff (2011): published figures and what must always hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.measures.oracles import load
from tests.measures.strategies import Rows, one_category, projects, several_categories, tally
from tracker.errors import InvalidOption
from tracker.measures.coefficient import Coefficient
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.pairs import cohen_kappa
from tracker.measures.patterns import fleiss_kappa, percent_agreement, scott_pi
from tracker.tally import Answer, ItemPatterns

FUNCTIONS = [percent_agreement, fleiss_kappa, krippendorff_alpha]
answers = one_category | several_categories


def test_fleiss_1971() -> None:
    kappa = fleiss_kappa(load("c19_fleiss1971").patterns, annotators=6)
    assert kappa.observed == pytest.approx(0.5556, abs=5e-5)
    # Printed as .2201: the paper squares shares rounded to three digits.
    assert kappa.expected == pytest.approx(0.21994, abs=5e-6)
    assert kappa.value == pytest.approx(0.430, abs=5e-4)
    assert kappa.items == 30


def test_scott_pi_in_artstein_and_poesio_2008() -> None:
    pi = scott_pi(load("c04_artstein_poesio_ex1").patterns, annotators=2)
    assert (pi.measure, pi.observed) == ("scott_pi", pytest.approx(0.7))
    assert pi.value == pytest.approx(0.341, abs=5e-4)


def test_krippendorff_2011_section_c() -> None:
    alpha = krippendorff_alpha(load("c25_kripp_4x12").patterns, annotators=4)
    assert alpha.observed == pytest.approx(0.8)
    assert alpha.value == pytest.approx(0.743, abs=5e-4)
    assert alpha.items == 11  # the twelfth has one answer


def test_no_items_at_all() -> None:
    for function in [*FUNCTIONS, scott_pi]:
        result = function(ItemPatterns(), annotators=3)
        assert (result.value, result.undefined) == (None, "too_few_items")


def test_a_single_compared_item_among_singles_has_no_error() -> None:
    kappa = fleiss_kappa(tally([[(0,), (1,)], [(0,)], [(1,)]]), annotators=2)
    assert kappa.value == -1
    assert (kappa.standard_error, kappa.ci_low) == (None, None)


def test_items_that_all_agree_to_the_same_degree_still_have_bounds() -> None:
    result = percent_agreement(tally([[(0,), (0,), (1,)]] * 9), annotators=3)
    assert result.standard_error == 0
    assert result.ci_low == pytest.approx(0.05 ** (1 / 9) / 3)
    assert result.ci_high == pytest.approx(1 - 0.05 ** (1 / 9) * 2 / 3)


@pytest.mark.parametrize("confidence", [0, 1, 95, float("nan")])
def test_a_level_outside_0_to_1_is_refused(confidence: float) -> None:
    for function in FUNCTIONS:
        with pytest.raises(InvalidOption):
            function(tally([[(0,), (1,)]]), annotators=2, confidence=confidence)


def by_pairs_of_rows(rows: Rows) -> Fraction:
    """Percent agreement from the answers themselves."""
    shares = []
    for given_ in rows:
        if len(given_) > 1:
            pairs = list(permutations(given_, 2))
            shares.append(Fraction(sum(one == other for one, other in pairs), len(pairs)))
    return sum(shares, Fraction(0)) / len(shares)


@given(projects(answers))
def test_percent_agreement_by_plain_count(rows: Rows) -> None:
    result = percent_agreement(tally(rows), annotators=5)
    assume(result.value is not None)
    assert result.value == float(by_pairs_of_rows(rows))


@given(projects(one_category, least=1))
def test_alpha_by_plain_count(rows: Rows) -> None:
    result = krippendorff_alpha(tally(rows), annotators=5)
    assume(result.value is not None)
    units = [given_ for given_ in rows if len(given_) > 1]
    values = [answer for unit in units for answer in unit]
    observed = sum(
        (
            Fraction(one != other, len(unit) - 1)
            for unit in units
            for one, other in permutations(unit, 2)
        ),
        Fraction(0),
    ) / len(values)
    pairs = list(permutations(values, 2))
    expected = Fraction(sum(one != other for one, other in pairs), len(pairs))
    assert result.value == float(1 - observed / expected)


@given(projects(answers), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(rows: Rows, random: Random) -> None:
    shuffled = [random.sample(given_, len(given_)) for given_ in random.sample(rows, len(rows))]
    names = random.sample(range(4), 4)
    renamed: list[list[Answer]] = [
        [tuple(sorted(names[category] for category in answer)) for answer in given_]
        for given_ in shuffled
    ]
    for function in FUNCTIONS:
        before = function(tally(rows), annotators=5)
        after = function(tally(renamed), annotators=5)
        assert figures(after) == pytest.approx(figures(before), nan_ok=True)
        assert after.undefined == before.undefined


def figures(result: Coefficient) -> list[float]:
    found = [result.value, result.observed, result.expected, result.standard_error]
    # The square root of a rounding is not comparable relatively.
    return [float("nan") if x is None else round(x, 9) for x in found]


@given(projects(answers), projects(answers))
def test_tallies_of_parts_add_up_to_the_tally_of_all(left: Rows, right: Rows) -> None:
    for function in FUNCTIONS:
        whole = function(tally(left + right), annotators=5)
        assert figures(function(tally(left) + tally(right), annotators=5)) == pytest.approx(
            figures(whole), nan_ok=True
        )


@given(projects(one_category))
def test_1_if_and_only_if_perfect(rows: Rows) -> None:
    perfect = all(len(set(given_)) <= 1 for given_ in rows)
    for function in FUNCTIONS:
        result = function(tally(rows), annotators=5)
        if result.value is not None:
            assert (result.value == 1) == perfect


@given(projects(one_category))
def test_bounds_hold_the_value(rows: Rows) -> None:
    for function in FUNCTIONS:
        result = function(tally(rows), annotators=5)
        if result.value is not None and result.ci_low is not None:
            assert result.ci_high is not None
            assert result.ci_low <= result.value <= result.ci_high <= 1


@given(st.lists(st.tuples(one_category, one_category), min_size=2, max_size=12))
def test_scott_is_cohen_where_both_use_the_categories_alike(
    pairs: list[tuple[Answer, Answer]],
) -> None:
    both_ways = pairs + [(other, one) for one, other in pairs]
    pi = scott_pi(tally([list(pair) for pair in both_ways]), annotators=2)
    table = {pair: both_ways.count(pair) for pair in both_ways}
    kappa = cohen_kappa(table)
    assert (pi.value, pi.expected) == (kappa.value, kappa.expected)
