"""Cohen (1968), Weighted kappa, Psychol. Bull. 70, 213-220."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.measures.answered import cross_table
from tracker.measures.cohen import cohen_kappa
from tracker.measures.weights import Weighting, weights

# Shares of 200 patients: personality disorder, neurosis, psychosis.
SHARES = [[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]
TABLE = cross_table([[round(200 * share) for share in row] for row in SHARES])
# How grave a disagreement is; no three points on a line are so far apart.
GRAVITY = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 6.0], [3.0, 6.0, 0.0]])


class ByGravity(Weighting):
    """Agreement weights from the paper's disagreement weights, the gravest being 0."""

    name = "gravity"
    size = 3

    def between(self, first: Any, second: Any) -> Any:
        return 1 - GRAVITY[first, second] / GRAVITY.max()


def test_unweighted_kappa_of_the_example() -> None:
    kappa = cohen_kappa(TABLE)
    assert kappa.observed == pytest.approx(0.70, abs=1e-12)  # sums of printed shares
    assert kappa.expected == pytest.approx(0.41, abs=1e-12)
    assert kappa.value == pytest.approx(0.492, abs=5e-4)  # printed with three digits


def test_weighted_kappa_of_the_example() -> None:
    kappa = cohen_kappa(TABLE, weighting=ByGravity())
    assert kappa.observed is not None
    assert kappa.expected is not None
    # Mean disagreement weights, observed and by chance: sums of printed shares, exact.
    assert 6 * (1 - kappa.observed) == pytest.approx(0.90, abs=1e-12)
    assert 6 * (1 - kappa.expected) == pytest.approx(1.38, abs=1e-12)
    assert kappa.value == pytest.approx(0.348, abs=5e-4)  # printed with three digits


def test_equal_weights_for_all_disagreements_are_the_unweighted_kappa() -> None:
    plain = cohen_kappa(TABLE, weighting=weights("identity", [(0,), (1,), (2,)]))
    assert plain == cohen_kappa(TABLE)
