"""Every case of tests/data/oracles: observed, expected and coefficient, each on its own.

1e-9 is the tolerance to which the programs behind the figures agree; standard errors get 1e-6,
where programs that agree still differ in rounding.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.measures.oracles import CASES, EXPECTED, load
from tracker.measures import MEASURES
from tracker.measures.coefficient import Coefficient
from tracker.measures.rates import category_rates

CLOSE = 1e-9
CLOSE_ERROR = 1e-6
ORACLE_NAMES = {
    "percent_agreement": "pa",
    "scott_pi": "fleiss",
    "cohen_kappa": "cohen",
    "fleiss_kappa": "fleiss",
    "krippendorff_alpha": "alpha.nominal",
}
DEGENERATE = [name for name in CASES if "recommended" in EXPECTED[name]]


def computed(case_name: str, measure: str) -> Coefficient:
    case = load(case_name)
    function = MEASURES[measure].function
    if MEASURES[measure].needs == "pairs":
        return function(case.table)
    return function(case.patterns, annotators=len(case.annotators))


def applies(case_name: str, measure: str) -> bool:
    figures = EXPECTED[case_name]["coefficients"]
    two = EXPECTED[case_name].get("n_annotators") == 2
    return ORACLE_NAMES[measure] in figures and (two or measure not in {"scott_pi", "cohen_kappa"})


PARAMETERS = [(name, measure) for name in CASES for measure in MEASURES if applies(name, measure)]


def standard_error(case_name: str, measure: str) -> float | None:
    figures = EXPECTED[case_name]["coefficients"]
    if measure == "cohen_kappa":
        found: float | None = figures.get("cohen.se", {}).get("value")
        return found
    errors: dict[str, Any] = figures[ORACLE_NAMES[measure]].get("se", {})
    return next((errors[key] for key in ("ratio", "linearised", "gwet") if key in errors), None)


@pytest.mark.parametrize(("case", "measure"), PARAMETERS)
def test_value(case: str, measure: str) -> None:
    figure = EXPECTED[case]["coefficients"][ORACLE_NAMES[measure]]
    result = computed(case, measure)
    if figure["value"] is None:
        assert result.value is None
        assert result.undefined is not None
    else:
        assert result.value == pytest.approx(figure["value"], abs=CLOSE)


@pytest.mark.parametrize(("case", "measure"), PARAMETERS)
def test_observed_and_expected(case: str, measure: str) -> None:
    figure = EXPECTED[case]["coefficients"][ORACLE_NAMES[measure]]
    result = computed(case, measure)
    if result.undefined == "too_few_annotators" and measure == "krippendorff_alpha":
        assert result.observed is None
        assert result.expected is None
    for part, found in (("po", result.observed), ("pe", result.expected)):
        if figure.get(part) is not None:
            assert found == pytest.approx(figure[part], abs=CLOSE)
    for part, found in (("do", result.observed), ("de", result.expected)):
        if figure.get(part) is not None:
            assert found is not None
            assert 1 - found == pytest.approx(figure[part], abs=CLOSE)


@pytest.mark.parametrize(
    ("case", "measure"),
    [pair for pair in PARAMETERS if standard_error(*pair) is not None],
)
def test_standard_error(case: str, measure: str) -> None:
    result = computed(case, measure)
    if EXPECTED[case].get("n_items_two_plus", 0) < 2:
        assert result.standard_error is None
    else:
        assert result.standard_error == pytest.approx(
            standard_error(case, measure), abs=CLOSE_ERROR
        )


@pytest.mark.parametrize(("case", "measure"), PARAMETERS)
def test_interval_where_programs_publish_one(case: str, measure: str) -> None:
    figures = EXPECTED[case]["coefficients"][ORACLE_NAMES[measure]].get("se", {})
    if "ratio" in figures or not standard_error(case, measure) or measure == "cohen_kappa":
        return  # the published interval rests on another error, or on the normal quantile
    keys = [key for key in figures if "ci95" in key]
    low, high = figures[next((key for key in keys if "kept" in key), keys[0])]
    result = computed(case, measure)
    assert result.ci_low == pytest.approx(low, abs=CLOSE_ERROR)
    assert result.ci_high == pytest.approx(high, abs=CLOSE_ERROR)


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("measure", MEASURES)
def test_recommended_for_degenerate_cases(case: str, measure: str) -> None:
    if not applies(case, measure):
        return
    recommended = EXPECTED[case]["recommended"]
    wanted = recommended.get(ORACLE_NAMES[measure], recommended.get("*"))
    value = wanted[0] if isinstance(wanted, list) else wanted
    result = computed(case, measure)
    assert result.value == (None if value == "null" else value)
    if "se" in recommended and result.value is not None:
        error = recommended["se"][0]
        assert result.standard_error == (None if error == "null" else error)


@pytest.mark.parametrize(
    ("case", "measure", "reason"),
    [
        ("d01_one_category", "cohen_kappa", "single_category"),
        ("d01_one_category", "scott_pi", "single_category"),
        ("d02_one_category_of_two", "krippendorff_alpha", "single_category"),
        ("d03_one_annotator", "percent_agreement", "too_few_annotators"),
        ("d03_one_annotator", "scott_pi", "too_few_annotators"),
        ("d04_one_item_agree", "fleiss_kappa", "single_category"),
        ("d04_one_item_agree", "scott_pi", "not_applicable"),
        ("d06_all_singly", "fleiss_kappa", "no_overlap"),
        ("d08_no_overlap", "krippendorff_alpha", "no_overlap"),
        ("d08_no_overlap", "cohen_kappa", "no_overlap"),
    ],
)
def test_reason(case: str, measure: str, reason: str) -> None:
    assert computed(case, measure).undefined == reason


def test_perfect_agreement_has_a_one_sided_bound() -> None:
    result = computed("d07_perfect", "percent_agreement")
    assert result.ci_low == pytest.approx(0.05 ** (1 / 9), abs=CLOSE)
    assert result.ci_high == 1.0
    kappa = computed("d07_perfect", "fleiss_kappa")
    assert kappa.ci_low == pytest.approx((0.05 ** (1 / 9) - 1 / 3) / (2 / 3), abs=CLOSE)


@pytest.mark.parametrize(
    "case", [name for name in CASES if EXPECTED[name]["group"] != "multilabel"]
)
def test_category_rates(case: str) -> None:
    loaded = load(case)
    rates = category_rates(loaded.patterns, list(loaded.categories.values()))
    for name, rate in zip(loaded.categories, rates, strict=True):
        jaccard = loaded.figures.get(f"specific.jaccard:{name}")
        dice = loaded.figures.get(f"specific.dice:{name}")
        if jaccard is None or dice is None:
            continue
        if jaccard["value"] is None:
            assert (rate.rate, rate.specific_agreement) == (None, None)
            assert rate.undefined == "no_overlap"
            continue
        assert rate.rate == pytest.approx(jaccard["value"], abs=CLOSE)
        assert rate.specific_agreement == pytest.approx(dice["value"], abs=CLOSE)
        if "se" in jaccard:
            assert rate.standard_error == pytest.approx(jaccard["se"], abs=CLOSE_ERROR)


def test_sets_are_compared_whole() -> None:
    case = load("m01_dkpro_sets")
    figure = case.figures["alpha.nominal_exact_set"]
    alpha = MEASURES["krippendorff_alpha"].function(case.patterns, annotators=2)
    assert alpha.value == pytest.approx(figure["value"], abs=CLOSE)
    assert 1 - alpha.observed == pytest.approx(figure["do"], abs=CLOSE)
    assert 1 - alpha.expected == pytest.approx(figure["de"], abs=CLOSE)
