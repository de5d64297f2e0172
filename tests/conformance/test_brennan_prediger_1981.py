"""Brennan and Prediger (1981), Coefficient kappa: some uses, misuses, and alternatives.

Educ. Psychol. Meas. 41, 687-699: two tables of equal observed agreement and unlike margins.
"""

from __future__ import annotations

import pytest

from tests.measures.oracles import load
from tracker.measures.cohen import cohen_kappa


@pytest.mark.parametrize(
    ("case", "expected", "kappa"),
    [
        ("c06_brennan_prediger_ex1", 0.5 * 0.8 + 0.3 * 0.1 + 0.2 * 0.1, 0.27),
        ("c07_brennan_prediger_ex2", 0.6 * 0.6 + 0.2 * 0.2 + 0.2 * 0.2, 0.29),
    ],
)
def test_kappa_and_the_free_coefficient(case: str, expected: float, kappa: float) -> None:
    answers = load(case)
    (table,) = answers.tables.values()
    cohen = cohen_kappa(table)
    assert cohen.observed == pytest.approx(0.6, abs=1e-12)  # hundredths, without a remainder
    assert cohen.expected == pytest.approx(expected, abs=1e-12)  # the margins' products
    assert cohen.value == pytest.approx(kappa, abs=5e-3)  # printed with two digits
    free = answers.estimate("brennan_prediger", **answers.reading)
    assert free.parts.observed == pytest.approx(0.6, abs=1e-12)
    assert free.parts.expected == pytest.approx(1 / 3, abs=1e-12)  # three categories
    assert free.value == pytest.approx(0.4, abs=1e-12)  # (3/5 - 1/3) / (2/3)
