"""Fleiss (1971), Measuring nominal scale agreement among many raters, Psychol. Bull. 76, 378-382.

The test of zero: Fleiss, Nee and Landis (1979), Large sample variance of kappa in the case of
different sets of raters, Psychol. Bull. 86, 974-977.
"""

from __future__ import annotations

import pytest

from tests.measures.oracles import load
from tracker.measures.category_rates import one_vs_rest_coefficients

PATIENTS = load("c19_fleiss1971")  # 30 patients, each diagnosed by six psychiatrists


def test_the_diagnoses_of_thirty_patients() -> None:
    kappa = PATIENTS.estimate("fleiss_kappa", **PATIENTS.reading)
    assert kappa.items == 30
    assert kappa.parts.observed == pytest.approx(0.5556, abs=5e-5)  # printed with four digits
    # Printed as .2201: the paper squares shares rounded to three digits.
    assert kappa.parts.expected == pytest.approx(0.2201, abs=2e-4)
    assert kappa.parts.expected == pytest.approx(0.219938271605, abs=1e-12)  # without rounding
    assert kappa.value == pytest.approx(0.430, abs=5e-4)  # printed with three digits


@pytest.mark.parametrize(
    ("diagnosis", "printed", "exact"),
    [
        ("1_depression", 0.248, 0.244755244755),
        ("2_personality", 0.248, 0.244755244755),
        ("3_schizophrenia", 0.517, 0.52),
        ("4_neurosis", 0.470, 0.471127272727),
        ("5_other", 0.565, 0.566117806824),
    ],
)
def test_kappa_of_each_diagnosis(diagnosis: str, printed: float, exact: float) -> None:
    number = PATIENTS.categories[diagnosis]
    kappa, _ = one_vs_rest_coefficients(PATIENTS.sample(**PATIENTS.reading), [number])[number]
    # The printed figures follow from shares rounded to three digits, which shifts the third.
    assert kappa.value == pytest.approx(printed, abs=4e-3)
    assert kappa.value == pytest.approx(exact, abs=1e-12)
