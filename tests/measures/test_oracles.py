"""Every case of tests/data/oracles: observed, expected and coefficient, each on its own.

1e-9 is the tolerance to which the programs behind the figures agree, relative above 1; standard
errors get 1e-6, where programs that agree still differ in rounding.
"""

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
REASONS = {
    "d01_one_category": "single_category", "d02_one_category_of_two": "single_category",
    "d03_one_annotator": "too_few_annotators", "d04_one_item_agree": "single_category",
    "d06_all_singly": "no_overlap", "d08_no_overlap": "no_overlap",
}  # fmt: skip


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


def test_no_figure_of_a_measure_is_passed_over():
    keys = {key for case in CASES for key in EXPECTED[case]["coefficients"]} - {k for _, k in KEYS}
    assert {key.partition(":")[0] for key in keys} == {
        # tested below
        "pa.pair_weighted", "fleiss.se0", "fleiss.cat", "cohen.se", "cohen.se0",
        "specific.dice", "specific.jaccard", "per_label.alpha.nominal", "per_label.fleiss",
        # not computed: other weights of items, other distances of sets, other summaries
        "pa.rating_weighted", "cohen.max", "bangdiwala", "mean_item_exact_match",
        "mean_item_jaccard_similarity", "alpha.masi_dkpro_variant",
        "alpha.setscale_0_1/3_2/3_1", "pair_pooled_micro_f1",
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_figures_of_a_case(case):
    reasons = set()
    for key in (key for name, key in KEYS if name == case):
        given, result = figure(case, key), computed(case, key)
        assert result.measure == NAMES[key.partition(".")[0]]
        assert result.value == near(given["value"]), key
        reasons.add(result.undefined)
        check_parts(given, result)
        if given_error(case, key) is not None:
            few = EXPECTED[case]["n_items_two_plus"] < 2
            error = None if few else near(given_error(case, key), CLOSE_ERROR)
            assert result.standard_error == error, key
        if published_bounds(case, key) is not None:
            check_interval(case, key, result)
        check_recommended(EXPECTED[case].get("recommended", {}), key, result)
    if case in REASONS:
        assert reasons - {None} == {REASONS[case]}


def check_parts(given, result):
    shares = {"po": result.observed, "pe": result.expected}
    shares["do"], shares["de"] = (
        result.details.get(f"{kind}_disagreement") for kind in ("observed", "expected")
    )
    parts = given.keys() & shares.keys()
    if result.undefined == "single_category" and parts:  # all agree, and so would chance
        assert (result.observed, result.expected) == (1.0, 1.0)
        assert {given.get(part) for part in ("po", "pe")} <= {None, 1.0}
        assert {given.get(part) for part in ("do", "de")} <= {None, 0.0}
        return
    for part in parts:
        assert shares[part] == near(given[part]), part


def check_interval(case, key, result):
    error, bounds, freedom = published_bounds(case, key)
    published = pytest.approx(tuple(bounds), abs=CLOSE_ERROR)
    low = 0.0 if key.startswith("pa") else -1.0
    assert confidence_interval(result.value, error, freedom + 1, 0.95, low=low) == published
    if "ratio" not in figure(case, key)["se"]:  # the published one rests on another error then
        assert (result.ci_low, result.ci_high) == published
        assert result.method == "t"


def check_recommended(recommended, key, result):
    """Assert what is recommended for degenerate cases."""
    names = [name for name in (key, key.partition(".")[0], "*") if name in recommended]
    if names:
        wanted = recommended[names[0]]
        value = wanted[0] if isinstance(wanted, list) else wanted
        assert result.value == (None if value == "null" else value)
        assert (result.undefined is None) == (value != "null")
        if "se" in recommended and result.value is not None:
            error = recommended["se"][0]
            assert result.standard_error == (None if error == "null" else pytest.approx(error))


def test_scott_pi_is_for_two():
    of_three = load("d04_one_item_agree").estimate("scott_pi")
    assert (of_three.value, of_three.undefined) == (None, "not_applicable")
    of_two = load("c01_cohen1960_p37").estimate("scott_pi")
    assert of_two.value == near(figure("c01_cohen1960_p37", "fleiss")["value"])


def test_perfect_agreement_has_a_one_sided_bound():
    low = 0.05 ** (1 / 9)
    for key, bound in (("pa", low), ("fleiss", (low - 1 / 3) / (2 / 3))):
        result = computed("d07_perfect", key)
        assert (result.ci_low, result.ci_high) == (near(bound), 1.0)
        assert result.method == "one-sided exact"


@pytest.mark.parametrize("case", SINGLE)
def test_pairs_and_annotators_of_a_case(case):
    """Agreement of all pairs together, kappa of every pair, alpha without each annotator."""
    pooled = computed(case, "pa").details.get("pair_weighted")
    assert pooled == near(figure(case, "pa.pair_weighted")["value"])
    loaded, expected = load(case), EXPECTED[case]
    if "pairwise_cohen (SK agrees)" in expected:
        cells = kappa_cells(list(loaded.tables.values()))
        kappas = dict(zip(loaded.tables, cohen_kappas(cells), strict=True))
        rows = expected["pairwise_cohen (SK agrees)"]
        assert len(rows) == len(kappas)
        for row in rows:
            kappa = kappas[loaded.annotators[row["a"]], loaded.annotators[row["b"]]]
            assert kappa.items == row["n"]
            assert (kappa.observed, kappa.value) == (near(row["po"]), near(row["kappa"]))
    if WITHOUT in expected:
        others = dict(jackknife_item_patterns(loaded.patterns, loaded.tallies))
        for name, row in expected[WITHOUT].items():
            patterns = others.pop(loaded.annotators[name])
            alpha = krippendorff_alpha(sample_for_measures(patterns, len(loaded.annotators) - 1))
            assert alpha.value == near(row["alpha_nominal_without"]), name
            assert loaded.patterns.answers - patterns.answers == row["labels"], name
        assert others == {}


@pytest.mark.parametrize("case", [c for c in CASES if any(":" in key for key in load(c).figures)])
def test_categories_of_a_case(case):
    """Category rates, and kappa and alpha of each category against the rest."""
    loaded = load(case)
    numbers = list(loaded.categories.values())
    rates = category_rates(loaded.patterns, numbers)
    coefficients = one_vs_rest_coefficients(loaded.sample(**loaded.reading), numbers)
    for (name, number), rate in zip(loaded.categories.items(), rates, strict=True):
        if case in SINGLE:
            kinds = ("jaccard", "dice")
            jaccard, dice = (figure(case, f"specific.{kind}:{name}") for kind in kinds)
            assert rate.rate == near(jaccard["value"])
            assert rate.specific_agreement == near(dice["value"])
            assert (rate.undefined is None) == (jaccard["value"] is not None)
            if "se" in jaccard:
                assert rate.standard_error == near(jaccard["se"], CLOSE_ERROR)
        label = ("per_label.fleiss", "per_label.alpha.nominal")
        keys = label if case in SETS else ("fleiss.cat",)
        for key, coefficient in zip(keys, coefficients[number], strict=False):
            if case in SETS or f"{key}:{name}" in loaded.figures:
                assert coefficient.value == near(figure(case, f"{key}:{name}")["value"]), name
