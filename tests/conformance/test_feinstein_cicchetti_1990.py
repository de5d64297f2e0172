"""Feinstein and Cicchetti (1990), High agreement but low kappa, J. Clin. Epidemiol. 43, 543-549.

Two tables of 85% observed agreement whose kappas are far apart; and what Gwet's AC1 (2008,
Br. J. Math. Stat. Psychol. 61, 29-48), made for this, says of them.
"""

from __future__ import annotations

import pytest

from tests.measures.oracles import load
from tracker.measures.cohen import cohen_kappa

EXACT = 1e-12  # the margins are hundredths
PRINTED = 5e-3  # two digits


@pytest.mark.parametrize(
    ("case", "expected", "printed"),
    [
        ("c13_paradox_balanced", 0.54 * 0.51 + 0.46 * 0.49, 0.70),
        ("c14_paradox_skewed", 0.15 * 0.10 + 0.85 * 0.90, 0.32),
    ],
)
def test_the_paradox(case: str, expected: float, printed: float) -> None:
    (table,) = load(case).tables.values()
    kappa = cohen_kappa(table)
    assert kappa.observed == pytest.approx(0.85, abs=EXACT)
    assert kappa.expected == pytest.approx(expected, abs=EXACT)
    assert kappa.value == pytest.approx(printed, abs=PRINTED)


@pytest.mark.parametrize(
    ("case", "share"), [("c13_paradox_balanced", 0.525), ("c14_paradox_skewed", 0.125)]
)
def test_gwets_way_out(case: str, share: float) -> None:
    answers = load(case)
    ac1 = answers.estimate("gwet_ac1", **answers.reading)
    expected = 2 * share * (1 - share)  # of two categories, from the mean share of one
    assert ac1.parts.observed == pytest.approx(0.85, abs=EXACT)
    assert ac1.parts.expected == pytest.approx(expected, abs=EXACT)
    assert ac1.value == pytest.approx((0.85 - expected) / (1 - expected), abs=EXACT)
    assert ac1.value is not None
    assert 0.69 < ac1.value < 0.82  # both tables are read alike, unlike by kappa
