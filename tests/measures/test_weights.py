"""Weights and distances: their definitions, and their sums in closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import InvalidOption
from tracker.measures.weights import (
    SCALES,
    WEIGHTS,
    Weighting,
    krippendorff_distances,
    weights,
)

FIVE = [(n,) for n in range(5)]
RANKS = {n: float(n + 1) for n in range(5)}


def matrix(weighting):
    codes = np.arange(weighting.size)
    return weighting.between(codes[:, None], codes[None, :])


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
    rows = matrix(weights(name, FIVE, RANKS))
    assert rows[0] == pytest.approx(first_row)
    for apart in range(5):
        assert np.diag(rows, apart) == pytest.approx([first_row[apart]] * (5 - apart))
    assert matrix(weights(name, FIVE[:1], RANKS)).tolist() == [[1.0]]


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
