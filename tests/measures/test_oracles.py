"""Every case of tests/data/oracles: observed, expected and coefficient, each on its own.

1e-9 is the tolerance to which the programs behind the figures agree, relative above 1; standard
errors get 1e-6, where programs that agree still differ in rounding.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.measures.oracles import CASES, EXPECTED, SETS, SINGLE, figure, load
from tracker.measures.category_rates import category_rates, one_vs_rest_coefficients
from tracker.measures.cohen import cohen_kappa, cohen_kappas, kappa_cells
from tracker.measures.intervals import Coefficient, confidence_interval
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.resampling import jackknife_item_patterns
from tracker.measures.sample import sample_for_measures

CLOSE = 1e-9
CLOSE_ERROR = 1e-6
# The oracles' names for measures; AC2 is AC1 with weights.
NAMES = {
    "pa": "percent_agreement",
    "fleiss": "fleiss_kappa",
    "ac1": "gwet_ac1",
    "ac2": "gwet_ac2",
    "bp": "brennan_prediger",
    "conger": "conger_kappa",
    "alpha": "krippendorff_alpha",
    "cohen": "cohen_kappa",
    "light": "light_kappa",
}
SET_DISTANCES = {
    "alpha.nominal_exact_set": "exact",
    "alpha.jaccard": "jaccard",
    "alpha.masi": "masi",
}
SUFFIXES = {"", "linear", "quadratic", "nominal", "ordinal", "interval", "ratio"}


def is_measure(key: str) -> bool:
    name, _, suffix = key.partition(".")
    return name in NAMES and (suffix in SUFFIXES or key in SET_DISTANCES)


KEYS = [(case, key) for case in CASES for key in EXPECTED[case]["coefficients"] if is_measure(key)]


def near(value: float | None, tolerance: float = CLOSE) -> Any:
    """What a figure must be: None where it has none."""
    return None if value is None else pytest.approx(value, abs=tolerance, rel=tolerance)


@cache
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


def test_no_figure_of_a_measure_is_passed_over():
    left = {key for case in CASES for key in EXPECTED[case]["coefficients"]} - {k for _, k in KEYS}
    assert {key.partition(":")[0] for key in left} == {
        # tested below
        "pa.pair_weighted", "fleiss.se0", "fleiss.cat", "cohen.se", "cohen.se0",
        "specific.dice", "specific.jaccard", "per_label.alpha.nominal", "per_label.fleiss",
        # not computed: other weights of items, other distances of sets, other summaries
        "pa.rating_weighted", "cohen.max", "bangdiwala", "mean_item_exact_match",
        "mean_item_jaccard_similarity", "alpha.masi_dkpro_variant",
        "alpha.setscale_0_1/3_2/3_1", "pair_pooled_micro_f1",
    }  # fmt: skip


@pytest.mark.parametrize(("case", "key"), KEYS)
def test_value(case, key):
    result = computed(case, key)
    assert result.measure == NAMES[key.partition(".")[0]]
    assert result.value == near(figure(case, key)["value"])


@pytest.mark.parametrize(
    ("case", "key"), [k for k in KEYS if figure(*k).keys() & {"po", "pe", "do", "de"}]
)
def test_observed_and_expected(case, key):
    given, result = figure(case, key), computed(case, key)
    known = {"po": result.observed, "pe": result.expected}
    known["do"], known["de"] = (
        result.details.get(f"{kind}_disagreement") for kind in ("observed", "expected")
    )
    if result.undefined == "single_category":  # all agree, and so would chance
        assert (result.observed, result.expected) == (1.0, 1.0)
        assert {given.get(part) for part in ("po", "pe")} <= {None, 1.0}
        assert {given.get(part) for part in ("do", "de")} <= {None, 0.0}
        return
    for part in given.keys() & known.keys():
        assert known[part] == near(given[part]), part


def given_error(case: str, key: str) -> float | None:
    """The error to give: of a ratio where that is known, else linearised."""
    if key == "cohen":
        found = EXPECTED[case]["coefficients"].get("cohen.se", {}).get("value")
        return found
    errors = figure(case, key).get("se", {})
    known = (errors[name] for name in ("ratio", "linearised", "gwet") if name in errors)
    return next(known, None)


@pytest.mark.parametrize(("case", "key"), [k for k in KEYS if given_error(*k) is not None])
def test_standard_error(case, key):
    result = computed(case, key)
    if EXPECTED[case]["n_items_two_plus"] < 2:
        assert result.standard_error is None
    else:
        assert result.standard_error == near(given_error(case, key), CLOSE_ERROR)


def published_bounds(case: str, key: str) -> tuple[float, list[float], int] | None:
    """The error, the bounds and t's degrees of freedom of a published 95% interval."""
    errors = figure(case, key).get("se", {})
    names = [name for name in errors if "ci95_t" in name]
    if not names or not errors.get("gwet", errors.get("linearised")):
        return None
    name = next((name for name in names if "kept" in name), names[0])
    freedom = int(name.partition("ci95_t")[2].partition(" ")[0])
    return errors.get("gwet", errors.get("linearised")), errors[name], freedom


INTERVALS = [k for k in KEYS if published_bounds(*k) is not None]


@pytest.mark.parametrize(("case", "key"), INTERVALS)
def test_published_interval(case, key):
    result, published = computed(case, key), published_bounds(case, key)
    assert result.value is not None
    assert published is not None
    error, bounds, freedom = published
    low = 0.0 if key.startswith("pa") else -1.0
    assert confidence_interval(result.value, error, freedom + 1, 0.95, low=low) == near_all(bounds)
    if "ratio" not in figure(case, key)["se"]:  # else the published one rests on another error
        assert (result.ci_low, result.ci_high) == near_all(bounds)
        assert result.method == "t"


def near_all(bounds: list[float]) -> Any:
    return pytest.approx(tuple(bounds), abs=CLOSE_ERROR)


# -- degenerate cases ----------------------------------------------------------------------

RECOMMENDED = [
    (case, key)
    for case, key in KEYS
    if {key.partition(".")[0], key, "*"} & EXPECTED[case].get("recommended", {}).keys()
]


@pytest.mark.parametrize(("case", "key"), RECOMMENDED)
def test_recommended_for_degenerate_cases(case, key):
    recommended = EXPECTED[case]["recommended"]
    wanted = recommended.get(key, recommended.get(key.partition(".")[0], recommended.get("*")))
    value = wanted[0] if isinstance(wanted, list) else wanted
    result = computed(case, key)
    assert result.value == (None if value == "null" else value)
    assert (result.undefined is None) == (value != "null")
    if "se" in recommended and result.value is not None:
        error = recommended["se"][0]
        assert result.standard_error == (None if error == "null" else pytest.approx(error))


@pytest.mark.parametrize(
    ("case", "reasons"),
    [
        ("d01_one_category", {"single_category"}),
        ("d02_one_category_of_two", {"single_category"}),
        ("d03_one_annotator", {"too_few_annotators"}),
        ("d04_one_item_agree", {"single_category"}),
        ("d06_all_singly", {"no_overlap"}),
        ("d08_no_overlap", {"no_overlap"}),
    ],
)
def test_reason(case, reasons):
    found = {computed(case, key).undefined for name, key in KEYS if name == case}
    assert found - {None} == reasons


def test_scott_pi_is_for_two():
    of_three = load("d04_one_item_agree").estimate("scott_pi")
    assert (of_three.value, of_three.undefined) == (None, "not_applicable")
    of_two = load("c01_cohen1960_p37").estimate("scott_pi")
    assert of_two.value == near(figure("c01_cohen1960_p37", "fleiss")["value"])


def test_perfect_agreement_has_a_one_sided_bound():
    raw = computed("d07_perfect", "pa")
    assert (raw.ci_low, raw.ci_high) == (near(0.05 ** (1 / 9)), 1.0)
    kappa = computed("d07_perfect", "fleiss")
    assert (kappa.ci_low, kappa.ci_high) == (near((0.05 ** (1 / 9) - 1 / 3) / (2 / 3)), 1.0)
    assert {raw.method, kappa.method} == {"one-sided exact"}


@pytest.mark.parametrize("case", SINGLE)
def test_agreement_of_all_pairs_together(case):
    result = computed(case, "pa").details.get("pair_weighted")
    assert result == near(figure(case, "pa.pair_weighted")["value"])


@pytest.mark.parametrize("case", [c for c in SINGLE if "pairwise_cohen (SK agrees)" in EXPECTED[c]])
def test_kappa_of_every_pair(case):
    loaded = load(case)
    cells = kappa_cells(list(loaded.tables.values()))
    kappas = dict(zip(loaded.tables, cohen_kappas(cells), strict=True))
    rows = EXPECTED[case]["pairwise_cohen (SK agrees)"]
    assert len(rows) == len(kappas)
    for row in rows:
        kappa = kappas[loaded.annotators[row["a"]], loaded.annotators[row["b"]]]
        assert kappa.items == row["n"]
        assert kappa.observed == near(row["po"])
        assert kappa.value == near(row["kappa"])


PER_CATEGORY = [case for case in SINGLE if any(":" in key for key in load(case).figures)]


@pytest.mark.parametrize("case", PER_CATEGORY)
def test_category_rates(case):
    loaded = load(case)
    rates = category_rates(loaded.patterns, list(loaded.categories.values()))
    for name, rate in zip(loaded.categories, rates, strict=True):
        jaccard, dice = (figure(case, f"specific.{kind}:{name}") for kind in ("jaccard", "dice"))
        assert rate.rate == near(jaccard["value"])
        assert rate.specific_agreement == near(dice["value"])
        assert (rate.undefined is None) == (jaccard["value"] is not None)
        if "se" in jaccard:
            assert rate.standard_error == near(jaccard["se"], CLOSE_ERROR)


CATEGORY_KAPPAS = [c for c in CASES if any("fleiss.cat:" in key for key in load(c).figures)]


@pytest.mark.parametrize("case", CATEGORY_KAPPAS)
def test_kappa_of_every_category(case):
    loaded = load(case)
    found = one_vs_rest_coefficients(
        loaded.sample(**loaded.reading), list(loaded.categories.values())
    )
    for name, number in loaded.categories.items():
        kappa, _ = found[number]
        assert kappa.value == near(figure(case, f"fleiss.cat:{name}")["value"]), name


@pytest.mark.parametrize("case", SETS)
def test_kappa_and_alpha_of_every_label_in_sets(case):
    loaded = load(case)
    found = one_vs_rest_coefficients(
        loaded.sample(**loaded.reading), list(loaded.categories.values())
    )
    for name, number in loaded.categories.items():
        kappa, alpha = found[number]
        assert kappa.value == near(figure(case, f"per_label.fleiss:{name}")["value"]), name
        assert alpha.value == near(figure(case, f"per_label.alpha.nominal:{name}")["value"]), name


WITHOUT = "per_annotator (alpha checked with KP)"


@pytest.mark.parametrize("case", [case for case in SINGLE if WITHOUT in EXPECTED[case]])
def test_alpha_without_each_annotator(case):
    loaded = load(case)
    others = dict(jackknife_item_patterns(loaded.patterns, loaded.tallies))
    for name, row in EXPECTED[case][WITHOUT].items():
        patterns = others.pop(loaded.annotators[name])
        alpha = krippendorff_alpha(sample_for_measures(patterns, len(loaded.annotators) - 1))
        assert alpha.value == near(row["alpha_nominal_without"]), name
        assert loaded.patterns.answers - patterns.answers == row["labels"], name
    assert others == {}
