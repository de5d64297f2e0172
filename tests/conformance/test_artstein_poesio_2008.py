"""Artstein and Poesio (2008), Inter-coder agreement, Comput. Linguist. 34, 555-596.

Section 2.3: two coders put 100 utterances under "statement" or "information request". Printed
with three digits.
"""

from __future__ import annotations

import pytest

from tests.measures.oracles import load
from tracker.measures.category_rates import category_rates
from tracker.measures.cohen import cohen_kappa

UTTERANCES = load("c04_artstein_poesio_ex1")
EXACT = 1e-12  # shares of 100 utterances
PRINTED = 5e-4


@pytest.mark.parametrize(
    ("measure", "expected", "printed"),
    [
        ("brennan_prediger", 0.5, 0.4),  # the paper's S, of Bennett, Alpert and Goldstein
        ("scott_pi", 0.65**2 + 0.35**2, 0.341),
        ("conger_kappa", 0.7 * 0.6 + 0.3 * 0.4, 0.348),
    ],
)
def test_the_same_answers_under_three_notions_of_chance(
    measure: str, expected: float, printed: float
) -> None:
    found = UTTERANCES.estimate(measure, **UTTERANCES.reading)
    assert found.parts.observed == pytest.approx(0.7, abs=EXACT)
    assert found.parts.expected == pytest.approx(expected, abs=EXACT)
    assert found.value == pytest.approx(printed, abs=PRINTED)


def test_kappa() -> None:
    (table,) = UTTERANCES.tables.values()
    kappa = cohen_kappa(table)
    assert kappa.observed == pytest.approx(0.7, abs=EXACT)
    assert kappa.expected == pytest.approx(0.54, abs=EXACT)
    assert kappa.value == pytest.approx(0.348, abs=PRINTED)


@pytest.mark.parametrize(("category", "printed"), [("STAT", 0.571), ("IREQ", 0.769)])
def test_agreement_on_each_category(category: str, printed: float) -> None:
    (rate,) = category_rates(UTTERANCES.patterns, [UTTERANCES.categories[category]])
    assert rate.specific_agreement == pytest.approx(printed, abs=PRINTED)
