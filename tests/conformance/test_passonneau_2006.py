"""Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC, 831-836.

MASI is Jaccard's share of what two sets have in common, times 1 for equal sets, 2/3 where one
holds the other, 1/3 where both have something of their own, 0 where nothing is common.
"""

from __future__ import annotations

import pytest

from tests.measures.answered import Answered
from tests.measures.oracles import load
from tracker.core.tallies import Answer
from tracker.measures.weights import krippendorff_distances

EXACT = 1e-12  # short fractions


@pytest.mark.parametrize(
    ("first", "second", "jaccard", "monotonicity"),
    [
        ((1, 2), (1, 2), 1, 1),
        ((1,), (1, 2), 1 / 2, 2 / 3),
        ((1, 2), (1, 2, 3, 4), 1 / 2, 2 / 3),
        ((1, 2, 3), (1, 2), 2 / 3, 2 / 3),
        ((1, 2), (2, 3), 1 / 3, 1 / 3),
        ((1, 2, 3), (2, 3, 4), 1 / 2, 1 / 3),
        ((1,), (2,), 0, 0),
        ((1, 2), (3,), 0, 0),
        ((), (1,), 0, 0),
        ((), (), 1, 1),  # both say that none applies, and so agree
    ],
)
def test_the_distance_of_two_sets(
    first: Answer, second: Answer, jaccard: float, monotonicity: float
) -> None:
    answers = [first, second]
    codes = krippendorff_distances("jaccard", answers), krippendorff_distances("masi", answers)
    for between, similar in zip(codes, (jaccard, jaccard * monotonicity), strict=True):
        table = Answered([{1: first, 2: second}])
        found = table.sample(scale=between.name, several=True).table
        apart = found.pairs(between)[0] / 2  # both orders of the two annotators
        assert apart == pytest.approx(1 - similar, abs=EXACT)


def test_alpha_with_masi_by_hand() -> None:
    # {1} and {1, 2} on one item, {3} by both on the other: D_o = (4/3) / 4.
    answers = Answered([{1: (1,), 2: (1, 2)}, {1: (3,), 2: (3,)}])
    alpha = answers.estimate("krippendorff_alpha", scale="masi", several=True)
    assert alpha.parts.observed_disagreement == pytest.approx(2 * (2 / 3) / 4, abs=EXACT)
    # Of the twelve ordered pairs {1}-{1, 2} lie 2/3 apart, and each of them 1 from both {3}.
    assert alpha.parts.expected_disagreement == pytest.approx(2 * (2 / 3 + 2 + 2) / 12, abs=EXACT)
    assert alpha.value == pytest.approx(1 - (1 / 3) / (7 / 9), abs=EXACT)


def test_a_coefficient_between_those_of_whole_sets_and_of_shares() -> None:
    case = load("m01_dkpro_sets")
    by_distance = {
        name: case.estimate("krippendorff_alpha", several=True, scale=name)
        for name in ("exact", "masi", "jaccard")
    }
    parts = {name: found.parts.observed_disagreement for name, found in by_distance.items()}
    assert parts["exact"] == pytest.approx(6 / 9, abs=EXACT)  # six of nine items differ
    assert parts["exact"] > parts["masi"] > parts["jaccard"]  # type: ignore[operator]
