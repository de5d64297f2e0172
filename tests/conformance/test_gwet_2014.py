"""Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.: any number of answers to an item.

The figures are those that the author's R package prints for the data it comes with. Its standard
errors take the items of two answers for a fixed number; here observed agreement is a ratio over
all items, whose error a jackknife confirms, so that the two differ where an item has one answer.
"""

from __future__ import annotations

import pytest

from tests.measures.oracles import figure, load

PRINTED = 5e-6  # five digits
CLOSE = 1e-9  # as far as the package prints with rounding switched off

KEYS = {
    "percent_agreement": "pa",
    "fleiss_kappa": "fleiss",
    "gwet_ac1": "ac1",
    "brennan_prediger": "bp",
    "conger_kappa": "conger",
}


@pytest.mark.parametrize(
    ("measure", "value", "error"),
    [("gwet_ac1", 0.77544, 0.14295), ("fleiss_kappa", 0.76117, 0.15302)],
)
def test_four_raters_of_twelve_units(measure: str, value: float, error: float) -> None:
    case = load("c25_kripp_4x12")
    found = case.estimate(measure, **case.reading)
    assert found.value == pytest.approx(value, abs=PRINTED)
    errors = figure("c25_kripp_4x12", KEYS[measure])["se"]
    assert errors["gwet"] == pytest.approx(error, abs=PRINTED)  # what the package prints
    assert found.standard_error == pytest.approx(errors["ratio"], abs=1e-6)
    # Nearer to the jackknife, which knows neither of the two formulas.
    assert found.standard_error is not None
    assert abs(found.standard_error - errors["jackknife"]) < abs(error - errors["jackknife"])


@pytest.mark.parametrize("case", ["c27_gwet_g1g2", "c28_gwet_agreecac"])
@pytest.mark.parametrize("measure", KEYS)
def test_raters_who_miss_subjects(case: str, measure: str) -> None:
    answers, given = load(case), figure(case, KEYS[measure])
    assert "RC" in given["agree"]  # the author's own program gave it
    found = answers.estimate(measure, **answers.reading)
    assert found.parts.observed == pytest.approx(given.get("po", given["value"]), abs=CLOSE)
    if measure != "percent_agreement":
        assert found.parts.expected == pytest.approx(given["pe"], abs=CLOSE)
    assert found.value == pytest.approx(given["value"], abs=CLOSE)
    error = given["se"].get("ratio", given["se"]["gwet"])
    assert found.standard_error == pytest.approx(error, abs=1e-6)  # programs round differently


@pytest.mark.parametrize(("case", "value"), [("before", 0.3856655), ("after", 0.7248495)])
def test_paired_ratings(case: str, value: float) -> None:
    name = {"before": "c33_paired_before", "after": "c34_paired_after"}[case]
    kappa = load(name).estimate("fleiss_kappa", **load(name).reading)
    assert kappa.value == pytest.approx(value, abs=5e-8)  # printed with seven digits
    assert kappa.parts.observed == pytest.approx(figure(name, "fleiss")["po"], abs=CLOSE)
    assert kappa.parts.expected == pytest.approx(figure(name, "fleiss")["pe"], abs=CLOSE)


def test_weights_with_missing_answers() -> None:
    case = load("c25_kripp_4x12")
    ac2 = case.estimate("gwet_ac2", weighting="quadratic", **case.reading)
    assert ac2.parts.observed == pytest.approx(0.975378787879, abs=CLOSE)
    # The sum of all quadratic weights of five ranks is 18.75: T_w / (q (q - 1)) = 0.9375.
    shares = case.sample(**case.reading).shares
    spread = float((shares * (1 - shares)).sum())
    assert ac2.parts.expected == pytest.approx(0.9375 * spread, abs=1e-12)
    assert ac2.value == pytest.approx(0.914000723552, abs=CLOSE)
