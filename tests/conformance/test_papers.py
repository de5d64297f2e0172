"""Figures that papers print: of each measure, by the paper that made it or that works it out.

`EXACT` is for short fractions, which leave no remainder; otherwise a tolerance is half of the last
digit that is printed.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.measures.answered import Answered, Table, cross_table
from tests.measures.oracles import figure, load
from tests.measures.strategies import one_category
from tracker.core.tallies import Answer
from tracker.measures.category_rates import category_rates, one_vs_rest_coefficients
from tracker.measures.cohen import cohen_kappa
from tracker.measures.weights import Weighting, krippendorff_distances, weights

EXACT = 1e-12
CLOSE = 1e-9  # as far as Gwet's package prints with rounding switched off

# -- Two annotators ------------------------------------------------------------------------


def pair(case: str) -> Table:
    (table,) = load(case).tables.values()
    return table


# Shares of 200 patients of Cohen (1968): personality disorder, neurosis, psychosis.
SHARES = [[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]
PATIENTS_OF_COHEN = cross_table([[round(200 * share) for share in row] for row in SHARES])
DIAGNOSES = cross_table([[75, 1, 4], [5, 4, 1], [0, 0, 10]])


@pytest.mark.parametrize(
    ("table", "observed", "expected", "kappa", "within"),
    [
        pytest.param(cross_table([[25, 12, 3], [13, 2, 15], [12, 16, 2]]), 0.29, 0.35, -6 / 65,
                     EXACT, id="Cohen (1960), A coefficient of agreement, p. 37"),
        pytest.param(cross_table([[3, 0], [0, 4]]), 1, 25 / 49, 1, EXACT, id="perfect agreement"),
        pytest.param(cross_table([[4, 8], [6, 12]]), 16 / 30, 16 / 30, 0, EXACT, id="chance"),
        pytest.param(cross_table([[0, 5], [5, 0]]), 0, 0.5, -1, EXACT,
                     id="Cohen (1960), p. 42: the least kappa of two categories"),
        pytest.param(PATIENTS_OF_COHEN, 0.70, 0.41, 0.492, 5e-4, id="Cohen (1968), Weighted kappa"),
        pytest.param(DIAGNOSES, 0.89, 0.66, 0.68, 5e-3,
                     id="Fleiss, Levin and Paik (2003), Statistical Methods, table 18.1"),
        pytest.param(pair("c06_brennan_prediger_ex1"), 0.6, 0.5 * 0.8 + 0.3 * 0.1 + 0.2 * 0.1, 0.27,
                     5e-3, id="Brennan and Prediger (1981), Coefficient kappa, example 1"),
        pytest.param(pair("c07_brennan_prediger_ex2"), 0.6, 0.6 * 0.6 + 0.2 * 0.2 + 0.2 * 0.2, 0.29,
                     5e-3, id="Brennan and Prediger (1981), example 2"),
        pytest.param(pair("c04_artstein_poesio_ex1"), 0.7, 0.54, 0.348, 5e-4,
                     id="Artstein and Poesio (2008), Inter-coder agreement, section 2.3"),
        pytest.param(pair("c13_paradox_balanced"), 0.85, 0.54 * 0.51 + 0.46 * 0.49, 0.70, 5e-3,
                     id="Feinstein and Cicchetti (1990), High agreement but low kappa, balanced"),
        pytest.param(pair("c14_paradox_skewed"), 0.85, 0.15 * 0.10 + 0.85 * 0.90, 0.32, 5e-3,
                     id="Feinstein and Cicchetti (1990), skewed"),
    ],
)  # fmt: skip
def test_cohens_kappa(
    table: Table, observed: float, expected: float, kappa: float, within: float
) -> None:
    ours = cohen_kappa(table)
    assert ours.observed == pytest.approx(observed, abs=EXACT)
    assert ours.expected == pytest.approx(expected, abs=EXACT)
    assert ours.value == pytest.approx(kappa, abs=within)


class ByGravity(Weighting):
    """Agreement weights from the paper's disagreement weights, the gravest being 0."""

    name = "gravity"
    size = 3
    # How grave a disagreement is; no three points on a line are so far apart.
    apart = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 6.0], [3.0, 6.0, 0.0]])

    def between(self, first: Any, second: Any) -> Any:
        return 1 - self.apart[first, second] / self.apart.max()


def test_weighted_kappa_of_cohen_1968() -> None:
    kappa = cohen_kappa(PATIENTS_OF_COHEN, weighting=ByGravity())
    assert kappa.observed is not None
    assert kappa.expected is not None
    # Mean disagreement weights, observed and by chance: sums of printed shares, exact.
    assert 6 * (1 - kappa.observed) == pytest.approx(0.90, abs=EXACT)
    assert 6 * (1 - kappa.expected) == pytest.approx(1.38, abs=EXACT)
    assert kappa.value == pytest.approx(0.348, abs=5e-4)
    equal = weights("identity", [(0,), (1,), (2,)])  # the unweighted kappa
    assert cohen_kappa(PATIENTS_OF_COHEN, weighting=equal) == cohen_kappa(PATIENTS_OF_COHEN)


@given(st.dictionaries(st.tuples(one_category, one_category), st.integers(1, 9), max_size=12))
def test_equation_13_of_fleiss_cohen_and_everitt_1969(counts: Table) -> None:
    """Large sample standard errors of kappa, in fractions."""
    kappa = cohen_kappa(counts)
    assume(kappa.value is not None and sum(counts.values()) > 1)
    n = sum(counts.values())
    share = {
        c: [sum((Fraction(k, n) for cell, k in counts.items() if cell[side] == c), Fraction(0))
            for side in (0, 1)]
        for c in {answer for cell in counts for answer in cell}
    }  # fmt: skip
    po = sum((Fraction(k, n) for (a, b), k in counts.items() if a == b), Fraction(0))
    pe = sum((a * b for a, b in share.values()), Fraction(0))
    inner, outer = Fraction(0), Fraction(0)
    for (a, b), count in counts.items():
        if a == b:
            inner += Fraction(count, n) * ((1 - pe) - sum(share[a]) * (1 - po)) ** 2
        else:
            outer += Fraction(count, n) * (share[a][1] + share[b][0]) ** 2
    variance = inner + (1 - po) ** 2 * outer - (po * pe - 2 * pe + po) ** 2
    exact = sqrt(variance / n) / float((1 - pe) ** 2)
    assert kappa.standard_error == pytest.approx(exact, abs=1e-7)  # the root of a rounding


def test_the_error_of_kappa_of_fleiss_levin_and_paik_2003() -> None:
    error = cohen_kappa(DIAGNOSES).standard_error
    assert error == pytest.approx(0.087, abs=1e-3)  # from rounded products


# -- Chance by the number of categories, or by the shares of all answers ---------------------


@pytest.mark.parametrize(
    ("case", "measure", "observed", "expected", "value", "within"),
    [
        # Brennan and Prediger (1981): three categories, (3/5 - 1/3) / (2/3).
        ("c06_brennan_prediger_ex1", "brennan_prediger", 0.6, 1 / 3, 0.4, EXACT),
        ("c07_brennan_prediger_ex2", "brennan_prediger", 0.6, 1 / 3, 0.4, EXACT),
        # Artstein and Poesio (2008), 2.3; the first is S, of Bennett, Alpert and Goldstein.
        ("c04_artstein_poesio_ex1", "brennan_prediger", 0.7, 0.5, 0.4, 5e-4),
        ("c04_artstein_poesio_ex1", "scott_pi", 0.7, 0.65**2 + 0.35**2, 0.341, 5e-4),
        ("c04_artstein_poesio_ex1", "conger_kappa", 0.7, 0.7 * 0.6 + 0.3 * 0.4, 0.348, 5e-4),
        # Gwet (2008) of the tables of Feinstein and Cicchetti (1990), which AC1 reads alike.
        ("c13_paradox_balanced", "gwet_ac1", 0.85, 2 * 0.525 * 0.475, 0.35125 / 0.50125, EXACT),
        ("c14_paradox_skewed", "gwet_ac1", 0.85, 2 * 0.125 * 0.875, 0.63125 / 0.78125, EXACT),
        # Fleiss (1971), Measuring nominal scale agreement: four digits; expected .2201 is printed,
        # whose shares are rounded to three digits.
        ("c19_fleiss1971", "fleiss_kappa", 5 / 9, 0.219938271605, 0.430, 5e-4),
    ],
)
def test_agreement_corrected_for_chance(
    case: str, measure: str, observed: float, expected: float, value: float, within: float
) -> None:
    answers = load(case)
    ours = answers.estimate(measure, **answers.reading)
    assert ours.parts.observed == pytest.approx(observed, abs=EXACT)
    assert ours.parts.expected == pytest.approx(expected, abs=EXACT)
    assert ours.value == pytest.approx(value, abs=within)


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
def test_kappa_of_each_diagnosis_of_fleiss_1971(
    diagnosis: str, printed: float, exact: float
) -> None:
    patients = load("c19_fleiss1971")  # 30 patients, each diagnosed by six psychiatrists
    assert patients.estimate("fleiss_kappa", **patients.reading).items == 30
    number = patients.categories[diagnosis]
    kappa, _ = one_vs_rest_coefficients(patients.sample(**patients.reading), [number])[number]
    # The printed figures follow from shares rounded to three digits, which shifts the third.
    assert kappa.value == pytest.approx(printed, abs=4e-3)
    assert kappa.value == pytest.approx(exact, abs=EXACT)


@pytest.mark.parametrize(("category", "printed"), [("STAT", 0.571), ("IREQ", 0.769)])
def test_agreement_on_a_category_of_artstein_and_poesio_2008(category: str, printed: float) -> None:
    utterances = load("c04_artstein_poesio_ex1")
    (rate,) = category_rates(utterances.patterns, [utterances.categories[category]])
    assert rate.specific_agreement == pytest.approx(printed, abs=5e-4)


# -- Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed. -------------------------------
#
# The figures are those that the author's R package prints for the data it comes with. Its standard
# errors take the items of two answers for a fixed number; here observed agreement is a ratio over
# all items, whose error a jackknife confirms, so that the two differ where an item has one answer.

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
    ours = case.estimate(measure, **case.reading)
    assert ours.value == pytest.approx(value, abs=5e-6)
    errors = figure("c25_kripp_4x12", KEYS[measure])["se"]
    assert errors["gwet"] == pytest.approx(error, abs=5e-6)  # what the package prints
    assert ours.standard_error == pytest.approx(errors["ratio"], abs=1e-6)
    # Nearer to the jackknife, which knows neither of the two formulas.
    assert ours.standard_error is not None
    assert abs(ours.standard_error - errors["jackknife"]) < abs(error - errors["jackknife"])


@pytest.mark.parametrize("case", ["c27_gwet_g1g2", "c28_gwet_agreecac"])
@pytest.mark.parametrize("measure", KEYS)
def test_raters_who_miss_subjects(case: str, measure: str) -> None:
    answers, printed = load(case), figure(case, KEYS[measure])
    assert "RC" in printed["agree"]  # the author's own program gave it
    ours = answers.estimate(measure, **answers.reading)
    assert ours.parts.observed == pytest.approx(printed.get("po", printed["value"]), abs=CLOSE)
    if measure != "percent_agreement":
        assert ours.parts.expected == pytest.approx(printed["pe"], abs=CLOSE)
    assert ours.value == pytest.approx(printed["value"], abs=CLOSE)
    error = printed["se"].get("ratio", printed["se"]["gwet"])
    assert ours.standard_error == pytest.approx(error, abs=1e-6)  # programs round differently


@pytest.mark.parametrize(
    ("name", "value"), [("c33_paired_before", 0.3856655), ("c34_paired_after", 0.7248495)]
)
def test_paired_ratings(name: str, value: float) -> None:
    kappa = load(name).estimate("fleiss_kappa", **load(name).reading)
    assert kappa.value == pytest.approx(value, abs=5e-8)
    assert kappa.parts.observed == pytest.approx(figure(name, "fleiss")["po"], abs=CLOSE)
    assert kappa.parts.expected == pytest.approx(figure(name, "fleiss")["pe"], abs=CLOSE)


def test_weights_with_missing_answers() -> None:
    case = load("c25_kripp_4x12")
    ac2 = case.estimate("gwet_ac2", weighting="quadratic", **case.reading)
    assert ac2.parts.observed == pytest.approx(0.975378787879, abs=CLOSE)
    # The sum of all quadratic weights of five ranks is 18.75: T_w / (q (q - 1)) = 0.9375.
    shares = case.sample(**case.reading).shares
    spread = float((shares * (1 - shares)).sum())
    assert ac2.parts.expected == pytest.approx(0.9375 * spread, abs=EXACT)
    assert ac2.value == pytest.approx(0.914000723552, abs=CLOSE)


# -- Krippendorff (2011), Computing Alpha-Reliability, and (1980), Content Analysis ----------


def two_observers(first: str, second: str) -> Answered:
    """One letter per unit and observer."""
    pairs = zip(first, second, strict=True)
    return Answered([{1: (ord(one),), 2: (ord(other),)} for one, other in pairs])


@pytest.mark.parametrize(
    ("first", "second", "observed", "expected", "printed"),
    [
        ("0100000010", "1110010000", 8 / 20, 2 * 14 * 6 / (20 * 19), 0.095),
        ("aabbdcccedda", "babbbccceddd", 6 / 24,
         1 - (4 * 3 + 6 * 5 + 6 * 5 + 6 * 5 + 2 * 1) / (24 * 23), 0.692),
    ],
    ids=["section A", "section B"],
)  # fmt: skip
def test_alpha_of_two_observers(
    first: str, second: str, observed: float, expected: float, printed: float
) -> None:
    alpha = two_observers(first, second).estimate("krippendorff_alpha")
    assert alpha.parts.observed_disagreement == pytest.approx(observed, abs=EXACT)
    assert alpha.parts.expected_disagreement == pytest.approx(expected, abs=EXACT)
    assert alpha.value == pytest.approx(printed, abs=5e-4)
    assert alpha.parts.observed == pytest.approx(1 - observed, abs=EXACT)
    assert alpha.items == len(first)


@pytest.mark.parametrize(
    ("scale", "observed", "expected", "printed"),
    [
        ("nominal", 8 / 40, 1216 / 1560, 0.743),
        ("ordinal", 47.275, 256.076923077, 0.815),
        ("interval", 17.333333333333 / 40, 4480 / 1560, 0.849),
        ("ratio", 0.022432728647, 0.110725744714, 0.797),
    ],
)
def test_alpha_of_sections_c_to_e(
    scale: str, observed: float, expected: float, printed: float
) -> None:
    """Units of 2, 3 or 4 answers, and one of a single answer, which does not count: 40 answers."""
    case = load("c25_kripp_4x12")
    alpha = case.estimate("krippendorff_alpha", scale=scale, **case.reading)
    # Ordinal and ratio disagreements are no short fractions: twelve digits of two programs.
    assert alpha.parts.observed_disagreement == pytest.approx(observed, rel=1e-11)
    assert alpha.parts.expected_disagreement == pytest.approx(expected, rel=1e-11)
    assert alpha.value == pytest.approx(printed, abs=5e-4)
    assert (alpha.items, case.patterns.items) == (11, 12)


@pytest.mark.parametrize(
    ("scale", "printed"), [("nominal", 0.642), ("interval", 0.547), ("ratio", 0.483)]
)
def test_alpha_of_1980_page_139(scale: str, printed: float) -> None:
    case = load("c24_kripp1980")
    alpha = case.estimate("krippendorff_alpha", **(case.reading | {"scale": scale}))
    assert alpha.value == pytest.approx(printed, abs=5e-4)
    assert alpha.parts.observed_disagreement is not None
    assert alpha.parts.expected_disagreement is not None
    assert 1 - alpha.parts.observed_disagreement / alpha.parts.expected_disagreement == alpha.value
    if scale == "nominal":
        assert alpha.parts.observed == pytest.approx(0.74, abs=5e-3)


# -- Passonneau (2006), Measuring agreement on set-valued items (MASI) -----------------------
#
# MASI is Jaccard's share of what two sets have in common, times 1 for equal sets, 2/3 where one
# holds the other, 1/3 where both have something of their own, 0 where nothing is common.


@pytest.mark.parametrize(
    ("first", "second", "jaccard", "monotonicity"),
    [
        ((1, 2), (1, 2), 1, 1),
        ((1,), (1, 2), 1 / 2, 2 / 3),
        ((1, 2), (1, 2, 3, 4), 1 / 2, 2 / 3),
        ((1, 2, 3), (1, 2), 2 / 3, 2 / 3),
        ((1, 2), (2, 3), 1 / 3, 1 / 3),
        ((1, 2, 3), (2, 3, 4), 1 / 2, 1 / 3),
        ((1,), (2,), 0, 0),
        ((1, 2), (3,), 0, 0),
        ((), (1,), 0, 0),
        ((), (), 1, 1),  # both say that none applies, and so agree
    ],
)
def test_the_distance_of_two_sets(
    first: Answer, second: Answer, jaccard: float, monotonicity: float
) -> None:
    for name, similar in (("jaccard", jaccard), ("masi", jaccard * monotonicity)):
        between = krippendorff_distances(name, [first, second])
        table = Answered([{1: first, 2: second}]).sample(scale=between.name, several=True).table
        apart = table.pairs(between)[0] / 2  # both orders of the two annotators
        assert apart == pytest.approx(1 - similar, abs=EXACT)


def test_alpha_with_masi() -> None:
    # {1} and {1, 2} on one item, {3} by both on the other: D_o = (4/3) / 4.
    answers = Answered([{1: (1,), 2: (1, 2)}, {1: (3,), 2: (3,)}])
    alpha = answers.estimate("krippendorff_alpha", scale="masi", several=True)
    assert alpha.parts.observed_disagreement == pytest.approx(2 * (2 / 3) / 4, abs=EXACT)
    # Of the twelve ordered pairs {1}-{1, 2} lie 2/3 apart, and each of them 1 from both {3}.
    assert alpha.parts.expected_disagreement == pytest.approx(2 * (2 / 3 + 2 + 2) / 12, abs=EXACT)
    assert alpha.value == pytest.approx(1 - (1 / 3) / (7 / 9), abs=EXACT)
    case = load("m01_dkpro_sets")
    exact, masi, jaccard = (
        case.estimate("krippendorff_alpha", several=True, scale=name).parts.observed_disagreement
        for name in ("exact", "masi", "jaccard")
    )
    assert exact == pytest.approx(6 / 9, abs=EXACT)  # six of nine items differ
    assert exact > masi > jaccard  # type: ignore[operator]
