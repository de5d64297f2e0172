"""Weights and distances: their definitions, and their sums in closed form."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.strategies import several_categories
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.measures.weights import (
    DISTANCES,
    SCALES,
    WEIGHTS,
    Weighting,
    krippendorff_distances,
    weights,
)

FIVE: list[Answer] = [(n,) for n in range(5)]
RANKS = {n: float(n + 1) for n in range(5)}


def matrix(of: Weighting) -> np.ndarray:
    codes = np.arange(of.size)
    return of.between(codes[:, None], codes[None, :])


@pytest.mark.parametrize(
    ("name", "first_row"),
    [
        ("identity", [1, 0, 0, 0, 0]),
        ("linear", [1, 3 / 4, 2 / 4, 1 / 4, 0]),
        ("quadratic", [1, 15 / 16, 12 / 16, 7 / 16, 0]),
        # One less C(apart + 1, 2) / C(5, 2): Gwet (2014), chapter 3.
        ("ordinal", [1, 1 - 1 / 10, 1 - 3 / 10, 1 - 6 / 10, 0]),
    ],
)
def test_weights_of_five_ranks(name, first_row):
    found = matrix(weights(name, FIVE, RANKS))
    assert found[0] == pytest.approx(first_row)
    for apart in range(5):
        assert np.diag(found, apart) == pytest.approx([first_row[apart]] * (5 - apart))


def test_weights_by_numbers_and_by_ranks():
    uneven = {0: 1.0, 1: 2.0, 2: 10.0, 3: 11.0, 4: 21.0}
    by_number = matrix(weights("linear", FIVE, uneven))
    assert by_number[0] == pytest.approx([1, 19 / 20, 11 / 20, 10 / 20, 0])
    by_rank = matrix(weights("linear", FIVE, uneven, ordered=True))
    assert by_rank == pytest.approx(matrix(weights("linear", FIVE, RANKS)))


def test_distances_of_scales():
    values = {0: 0.0, 1: 1.0, 2: 3.0}
    three = FIVE[:3]
    totals = np.array([4.0, 2.0, 6.0])
    assert matrix(krippendorff_distances("nominal", three))[0].tolist() == [0, 1, 1]
    assert matrix(krippendorff_distances("interval", three, values))[1].tolist() == [1, 0, 4]
    assert matrix(krippendorff_distances("ratio", three, values))[1] == pytest.approx(
        [1, 0, (2 / 4) ** 2]
    )
    # The answers between two ranks, half of each end: Krippendorff (2011), section E.
    ordinal = matrix(krippendorff_distances("ordinal", three, totals=totals))
    assert ordinal[0] == pytest.approx([0, (2 + 1) ** 2, (2 + 2 + 3) ** 2])
    assert ordinal[1] == pytest.approx([(2 + 1) ** 2, 0, (1 + 3) ** 2])


numbers = st.lists(st.floats(-50, 50, allow_subnormal=False), min_size=1, max_size=7, unique=True)


@pytest.mark.parametrize("name", [*WEIGHTS, *SCALES])
@given(numbers, st.data())
def test_sums_in_closed_form_are_those_of_all_pairs(name, values, data):
    answers = [(n,) for n in range(len(values))]
    given_ = dict(enumerate(map(abs, values) if name == "ratio" else values))
    totals = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)),
                min_size=1, max_size=3,
            )
        ),
        dtype=np.float64,
    )  # fmt: skip
    make = weights if name in WEIGHTS else krippendorff_distances
    of = make(name, answers, given_) if name != "ordinal" else weights(name, answers)
    if name in SCALES and name == "ordinal":
        of = krippendorff_distances(name, answers, totals=totals[0])
    every = matrix(of)
    size = max(1.0, float(every.max())) * totals.sum()
    close = pytest.approx(totals @ every.T, abs=1e-9 * size)
    assert of.against(totals) == close
    assert Weighting.against(of, totals) == close  # without a closed form
    assert of.total() == pytest.approx(every.sum(), abs=1e-9 * max(1.0, every.max()) * of.size**2)


@given(st.lists(several_categories, min_size=1, max_size=6, unique=True), st.integers(1, 9))
def test_distances_of_sets_are_symmetric_and_between_0_and_1(answers, times):
    for name in DISTANCES:
        of = krippendorff_distances(name, answers)
        found = matrix(of)
        assert (found == found.T).all()
        assert (np.diag(found) == 0).all()
        for one, other in combinations_with_replacement(range(len(answers)), 2):
            common = {*answers[one]} & {*answers[other]}
            limit = 1 if one != other else 0
            assert 0 <= found[one, other] <= limit
            if one != other:
                assert (found[one, other] == 1) == (name == "exact" or not common)
        totals = np.full(of.size, float(times))
        assert of.against(totals) == pytest.approx(times * found.sum(axis=1), abs=1e-9)


def test_a_single_answer_is_like_itself():
    for name in WEIGHTS:
        assert matrix(weights(name, FIVE[:1], RANKS)).tolist() == [[1.0]]


def test_what_does_not_exist_or_needs_numbers_is_refused():
    with pytest.raises(InvalidOption, match="cubic"):
        weights("cubic", FIVE, RANKS)
    with pytest.raises(InvalidOption, match="cosine"):
        krippendorff_distances("cosine", FIVE, RANKS)
    for refused in (
        lambda: weights("linear", FIVE),
        lambda: weights("quadratic", FIVE, {0: 1.0}),
        lambda: krippendorff_distances("interval", FIVE, {0: 1.0}),
        lambda: krippendorff_distances("ratio", [(0, 1), ()], RANKS),
    ):
        with pytest.raises(InvalidOption, match="numeric"):
            refused()
    with pytest.raises(InvalidOption, match="-3"):
        krippendorff_distances("ratio", FIVE[:2], {0: -3.0, 1: 2.0})
