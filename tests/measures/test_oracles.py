"""Every case of tests/data/oracles: its published intervals.

Coefficients, their errors and parts, and figures of categories and of pairs are compared through a
ledger, in tests/test_oracles_through_ledger.py, and the relation of measures in test_properties.

1e-9 is the tolerance to which the programs behind the figures agree, relative above 1; standard
errors get 1e-6, where programs that agree still differ in rounding.
"""

from typing import Any

import pytest

from tests.measures.oracles import CASES, EXPECTED, figure, load
from tracker.measures.cohen import cohen_kappa
from tracker.measures.intervals import Coefficient, confidence_interval

CLOSE, CLOSE_ERROR = 1e-9, 1e-6
# The oracles' names for measures; AC2 is AC1 with weights.
NAMES = {
    "pa": "percent_agreement", "fleiss": "fleiss_kappa", "ac1": "gwet_ac1", "ac2": "gwet_ac2",
    "bp": "brennan_prediger", "conger": "conger_kappa", "alpha": "krippendorff_alpha",
    "cohen": "cohen_kappa", "light": "light_kappa",
}  # fmt: skip
SET_DISTANCES = {"nominal_exact_set": "exact", "jaccard": "jaccard", "masi": "masi"}
SET_DISTANCES = {f"alpha.{name}": distance for name, distance in SET_DISTANCES.items()}
SUFFIXES = {"", "linear", "quadratic", "nominal", "ordinal", "interval", "ratio"}


def is_measure(key: str) -> bool:
    name, _, suffix = key.partition(".")
    return name in NAMES and (suffix in SUFFIXES or key in SET_DISTANCES)


KEYS = [(case, key) for case in CASES for key in EXPECTED[case]["coefficients"] if is_measure(key)]
WITHOUT = "per_annotator (alpha checked with KP)"


def near(value: float | None, tolerance: float = CLOSE) -> Any:
    return None if value is None else pytest.approx(value, abs=tolerance, rel=tolerance)


def computed(case: str, key: str) -> Coefficient:
    """The figure of that name, with the interval that irrCAC gives."""
    loaded = load(case)
    name, _, suffix = key.partition(".")
    if name == "cohen":
        return cohen_kappa(next(iter(loaded.tables.values()), {}), interval="t")
    if name == "alpha":
        how = {"scale": SET_DISTANCES.get(key, suffix)}
    else:
        how = {"weighting": suffix or "identity"}
    return loaded.estimate(NAMES[name], **loaded.reading, **how).coefficient(interval="t")


def given_error(case: str, key: str) -> float | None:
    """The error to give: of a ratio where that is known, or linearised."""
    if key == "cohen":
        return EXPECTED[case]["coefficients"].get("cohen.se", {}).get("value")  # type: ignore[no-any-return]
    errors = figure(case, key).get("se", {})
    known = (errors[name] for name in ("ratio", "linearised", "gwet") if name in errors)
    return next(known, None)


def published_bounds(case, key):
    """The error, the bounds and t's degrees of freedom of a published 95% interval."""
    errors = figure(case, key).get("se", {})
    names = [name for name in errors if "ci95_t" in name]
    if not names or not errors.get("gwet", errors.get("linearised")):
        return None
    name = next((name for name in names if "kept" in name), names[0])
    freedom = int(name.partition("ci95_t")[2].partition(" ")[0])
    return errors.get("gwet", errors.get("linearised")), errors[name], freedom


@pytest.mark.parametrize("case", CASES)
def test_intervals_of_a_case(case):
    for key in (key for name, key in KEYS if name == case and published_bounds(case, key)):
        error, bounds, freedom = published_bounds(case, key)
        published = pytest.approx(tuple(bounds), abs=CLOSE_ERROR)
        low, value = 0.0 if key.startswith("pa") else -1.0, figure(case, key)["value"]
        assert confidence_interval(value, error, freedom + 1, 0.95, low=low) == published
        if "ratio" not in figure(case, key)["se"]:  # the published one rests on another error then
            result = computed(case, key)
            assert (result.ci_low, result.ci_high) == published
            assert result.method == "t"
