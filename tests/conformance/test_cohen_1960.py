"""Cohen (1960), A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20, 37-46."""

from __future__ import annotations

import pytest

from tests.measures.answered import cross_table
from tracker.measures.cohen import cohen_kappa


def test_the_table_on_page_37() -> None:
    kappa = cohen_kappa(cross_table([[25, 12, 3], [13, 2, 15], [12, 16, 2]]))
    # Both are printed as shares of two digits, which the counts give without a remainder.
    assert kappa.observed == pytest.approx(0.29, abs=1e-12)
    assert kappa.expected == pytest.approx(0.35, abs=1e-12)
    assert kappa.value == pytest.approx(-6 / 65, abs=1e-12)  # the fraction of the two


def test_kappa_is_1_for_perfect_agreement_and_0_for_that_of_chance() -> None:
    perfect = cohen_kappa(cross_table([[3, 0], [0, 4]]))
    assert (perfect.observed, perfect.expected) == (1.0, pytest.approx(25 / 49, abs=1e-12))
    assert perfect.value == 1.0
    independent = cohen_kappa(cross_table([[4, 8], [6, 12]]))  # each cell from its margins
    assert independent.observed == pytest.approx(16 / 30, abs=1e-12)
    assert independent.expected == pytest.approx(16 / 30, abs=1e-12)
    assert independent.value == pytest.approx(0, abs=1e-12)


def test_the_least_kappa_of_two_categories_is_minus_1() -> None:
    # P. 42: the lower limit of -1 needs both to use the two categories equally often.
    kappa = cohen_kappa(cross_table([[0, 5], [5, 0]]))
    assert (kappa.observed, kappa.expected, kappa.value) == (0.0, 0.5, -1.0)
