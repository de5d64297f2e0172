"""Known answers, from a file to the figure: imported, counted by the database, computed.

1e-9 is the tolerance to which the programs behind the figures agree.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest

from tests.helpers import SEVERAL
from tests.measures.oracles import EXPECTED, FOLDER
from tests.measures.test_oracles import ORACLE_NAMES, applies
from tests.test_simulate import PUBLISHED
from tracker.assess import by_item, by_pair
from tracker.catalogue.projects import ProjectOptions
from tracker.ledger import Ledger
from tracker.measures import MEASURES
from tracker.simulate import Experiment, experiment

CLOSE = 1e-9
AMT = Path(__file__).parent / "data" / "amt"
SINGLE = [name for name in sorted(EXPECTED) if EXPECTED[name]["group"] != "multilabel"]


@pytest.fixture
def turk(ledger: Ledger) -> Ledger:
    ledger.import_file(AMT / "assignments.csv", "turk")
    ledger.import_file(AMT / "truth.csv", "turk")
    return ledger


def import_case(ledger: Ledger, case: str) -> None:
    expected = EXPECTED[case]
    categories = None
    if expected.get("categories_declared_beyond_use"):
        with (FOLDER / expected["file"]).open(newline="") as file:
            used = sorted({row["category"] for row in csv.DictReader(file)})
        unused = [f"unused {n}" for n in range(len(used), expected["n_categories"])]
        categories = tuple(expected.get("categories", [*used, *unused]))
    options = ProjectOptions(categories=categories)
    ledger.import_file(FOLDER / expected["file"], case, options=options)


@pytest.mark.parametrize("case", SINGLE)
def test_case(ledger: Ledger, case: str) -> None:
    expected = EXPECTED[case]
    import_case(ledger, case)
    assessment = ledger.agreement(case)
    assert assessment.counts.items == expected["n_items"]
    assert assessment.counts.items_compared == expected["n_items_two_plus"]
    assert assessment.counts.annotators == expected["n_annotators"]
    assert assessment.counts.answers == expected["n_annotations"]
    assert len(assessment.rates) == expected["n_categories"]

    for name in MEASURES:
        found = assessment.measure(name)
        if not applies(case, name):
            if expected["n_annotators"] != 2 and name in {"scott_pi", "cohen_kappa"}:
                assert found.value is None
                assert found.undefined in {"not_applicable", "too_few_annotators"}
            continue
        figure = expected["coefficients"][ORACLE_NAMES[name]]
        if figure["value"] is None:
            assert found.value is None
            assert found.undefined is not None
        else:
            assert found.value == pytest.approx(figure["value"], abs=CLOSE), name

    for rate in assessment.rates:
        name = assessment.categories[rate.category]
        for kind, value in (("dice", rate.specific_agreement), ("jaccard", rate.rate)):
            figure = expected["coefficients"].get(f"specific.{kind}:{name}")
            if figure is not None:
                assert value == (
                    None if figure["value"] is None else pytest.approx(figure["value"], abs=CLOSE)
                )


@pytest.mark.parametrize("case", [c for c in SINGLE if "pairwise_cohen (SK agrees)" in EXPECTED[c]])
def test_kappa_of_every_pair(ledger: Ledger, case: str) -> None:
    import_case(ledger, case)
    with ledger.reading(case) as (connection, project):
        pairs = {pair.annotators: pair.kappa for pair in by_pair(connection, project)}
    for figure in EXPECTED[case]["pairwise_cohen (SK agrees)"]:
        found = pairs[figure["a"], figure["b"]]
        assert found.items == figure["n"]
        assert found.observed == pytest.approx(figure["po"], abs=CLOSE)
        value = figure["kappa"]
        assert found.value == (None if value is None else pytest.approx(value, abs=CLOSE))


def test_sets_of_categories(ledger: Ledger, write: Callable[..., Path]) -> None:
    expected = EXPECTED["m01_dkpro_sets"]
    with (FOLDER / expected["file"]).open(newline="") as file:
        rows = [
            (row["item"], row["annotator"], "" if label == "EMPTY" else label)
            for row in csv.DictReader(file)
            for label in row["category"].split("|")
        ]
    ledger.import_file(write([("item", "annotator", "category"), *rows]), "m01", options=SEVERAL)
    alpha = ledger.agreement("m01").measure("krippendorff_alpha")
    figure = expected["coefficients"]["alpha.nominal_exact_set"]
    assert alpha.value == pytest.approx(figure["value"], abs=CLOSE)


# -- the founding documents ----------------------------------------------------------------


def test_the_sandwich(ledger: Ledger) -> None:
    import_case(ledger, "c12_sandwich")
    told = ledger.agreement("c12_sandwich").to_dict()
    assert told["counts"] == {
        "items": 1000,
        "items_compared": 1000,
        "annotators": 2,
        "answers": 2000,
        "labels": 2000,
    }
    rates = {row["category"]: row for row in told["categories"]}
    assert rates["0"]["agreements"] == 400
    assert rates["0"]["potential_agreements"] == 550
    assert rates["0"]["rate"] == pytest.approx(400 / 550, abs=CLOSE)
    assert rates["1"]["agreements"] == 450
    assert rates["1"]["potential_agreements"] == 600
    assert rates["1"]["rate"] == 0.75
    assert told["summary"]["lowest"] == {"category": "0", "rate": rates["0"]["rate"]}
    raw = next(row for row in told["measures"] if row["measure"] == "percent_agreement")
    assert raw["value"] == 0.85


def test_the_mechanical_turk_against_the_truth(turk: Ledger) -> None:
    told = turk.agreement("turk").to_dict()
    assert told["counts"]["items"] == 6
    assert told["counts"]["annotators"] == 18
    assert told["counts"]["answers"] == 30
    gold = told["gold"]
    assert (gold["items"], gold["answers"]) == (6, 30)
    assert gold["observed"] == pytest.approx(22 / 30, abs=CLOSE)
    assert gold["expected"] == pytest.approx(0.5, abs=CLOSE)
    assert gold["cohen_kappa"] == pytest.approx(7 / 15, abs=CLOSE)


def test_the_mechanical_turk_by_pair_and_item(turk: Ledger) -> None:
    with turk.reading("turk") as (connection, project):
        pairs = {pair.annotators: pair.to_dict() for pair in by_pair(connection, project)}
        items = {row["item"]: row for row in by_item(connection, project)}
    both = pairs["P", "Q"]
    assert (both["items"], both["observed"], both["expected"]) == (4, 0.25, 0.25)
    assert both["cohen_kappa"] == 0.0
    scores = [items[f"document {n}"]["vote_score"] for n in range(1, 7)]
    assert scores == [0.4, 0.4, 0.4, 1.0, 1.0, 0.6]
    assert items["document 4"]["votes"] == {"positive": 5}
    assert items["document 4"]["entropy"] == 0
    assert [items[f"document {n}"]["gold"] for n in (1, 6)] == ["negative", "positive"]


def test_the_mechanical_turk_is_too_thin_to_accuse(turk: Ledger) -> None:
    audited = {row["annotator"]: row for row in turk.audit("turk").to_dict()["annotators"]}
    assert set(audited) == set("ABCDEFGHIJKLMNOPQR")
    (flag,) = [one for one in audited["Q"]["flags"] if one["kind"] == "constant_category"]
    assert (flag["category"], flag["state"], flag["n"]) == ("positive", "insufficient", 4)
    assert flag["observed"] == 1.0
    assert flag["why"]
    assert not [
        one for row in audited.values() for one in row["flags"] if one["state"] == "flagged"
    ]


@pytest.mark.parametrize("name", get_args(Experiment))
def test_the_notebooks_experiments(ledger: Ledger, name: Experiment) -> None:
    frame = pd.DataFrame(experiment(name, seed=3)).drop(columns="gold")
    ledger.import_frame(frame, name)
    assessment = ledger.agreement(name)
    assert assessment.counts.items == 1000
    assert assessment.counts.answers == 3000
    for rate, published in zip(assessment.rates, PUBLISHED[name], strict=True):
        assert rate.rate is not None
        assert rate.standard_error is not None
        assert rate.standard_error < 0.03
        assert rate.rate == pytest.approx(published, abs=3.5 * rate.standard_error)
