"""Known answers, from a file to the figure: imported, counted by the database, computed, told.

Every case of tests/data/oracles goes through a ledger and through the command. 1e-9 is the
tolerance to which the programs behind the figures agree; standard errors get 1e-6, where they
differ in rounding.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cli.conftest import Run, folder, run
from tests.helpers import write_file
from tests.measures.oracles import EXPECTED, FOLDER, SETS, SINGLE, load
from tests.measures.test_oracles import (
    CLOSE,
    CLOSE_ERROR,
    KEYS,
    NAMES,
    SET_DISTANCES,
    WITHOUT,
    given_error,
    near,
)
from tests.simulate.test_simulate import PUBLISHED
from tracker.agreement.coefficients import study
from tracker.agreement.explain import agreement_influences
from tracker.agreement.groups import agreement_by_item
from tracker.agreement.pairs import agreement_by_pair
from tracker.agreement.query import Query
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions
from tracker.simulate.crowds import EXPERIMENTS, simulate_experiment

__all__ = ["folder", "run"]  # fixtures of the command's tests

AMT = Path(__file__).parent / "data" / "amt"
CASES = [*SINGLE, *SETS]
PAIRS = "pairwise_cohen (SK agrees)"

Options = dict[str, str]
Agreement = Callable[[Options], dict[str, Any]]  # of a reading, the JSON of its figures


def file_of(case: str, folder: Path) -> Path:
    """The case as a file to import: of sets a row per label, and an empty cell for none."""
    given = FOLDER / EXPECTED[case]["file"]
    if case not in SETS:
        return given
    with given.open(newline="") as file:
        rows = [
            (row["item"], row["annotator"], None if label == "EMPTY" else label)
            for row in csv.DictReader(file)
            for label in row["category"].split("|")
        ]
    return write_file(folder / f"{case}.csv", [("item", "annotator", "category"), *rows])


def declared(case: str) -> list[str]:
    """The categories to declare: those of the case, where not all of them are used."""
    beyond_use = EXPECTED[case].get("categories_declared_beyond_use")
    return list(load(case).categories) if beyond_use else []


def readings(case: str) -> list[Options]:
    """The ways to read a case that cover all of its figures."""
    if case in SETS:
        return [{}, {"distance": "jaccard"}, {"distance": "masi"}]
    if not load(case).reading["values"]:
        return [{}]
    return [
        {},
        {"scale": "ordinal"},
        {"weights": "linear", "scale": "interval"},
        {"weights": "quadratic", "scale": "ratio"},
    ]


def keys_of(case: str, reading: Options) -> Iterable[str]:
    """The oracle's figures that a reading gives."""
    weights = reading.get("weights", "")
    for name, key in KEYS:
        if name != case:
            continue
        if key.startswith("alpha"):
            wanted = reading.get("scale", reading.get("distance", "nominal"))
            scale = SET_DISTANCES.get(key, key.removeprefix("alpha."))
            if {"exact": "nominal"}.get(scale, scale) == wanted:
                yield key
        elif key.partition(".")[2] == weights:
            yield key


def check_case(case: str, told_of: Agreement) -> None:
    """Every figure of a case, in every reading that it needs."""
    covered = set()
    for reading in readings(case):
        told = told_of(reading)
        rows = {row["measure"]: row for row in told["measures"]}
        for key in keys_of(case, reading):
            check_figure(case, key, rows[NAMES[key.partition(".")[0]]])
            covered.add(key)
        if not reading:
            check_counts(case, told)
            check_categories(case, told["categories"])
            check_what_does_not_apply(case, rows)
    assert covered == {key for name, key in KEYS if name == case}


def check_figure(case: str, key: str, row: Mapping[str, Any]) -> None:
    given = EXPECTED[case]["coefficients"][key]
    assert row["value"] == near(given["value"]), key
    assert (row["undefined"] is None) == (row["value"] is not None), key
    if row["undefined"] != "single_category":
        for part, name in (("po", "observed"), ("pe", "expected")):
            if part in given:
                assert row[name] == near(given[part]), key
            if f"d{part[1]}" in given:
                assert row[f"{name}_disagreement"] == near(given[f"d{part[1]}"]), key
    error = given_error(case, key)
    if error is not None:
        one_item = EXPECTED[case].get("n_items_two_plus", 2) < 2
        assert row["standard_error"] == (None if one_item else near(error, CLOSE_ERROR)), key
    if key == "pa":
        pooled = EXPECTED[case]["coefficients"]["pa.pair_weighted"]["value"]
        assert row.get("pair_weighted") == near(pooled)


def check_counts(case: str, told: Mapping[str, Any]) -> None:
    loaded, counts = load(case), told["counts"]
    assert counts["items"] == EXPECTED[case].get("n_items", len(loaded.given))
    assert counts["items_compared"] == loaded.patterns.items_compared
    assert counts["annotators"] == len(loaded.annotators)
    assert counts["answers"] == EXPECTED[case]["n_annotations"]
    assert [row["category"] for row in told["categories"]] == list(loaded.categories)


def check_categories(case: str, rows: Iterable[Mapping[str, Any]]) -> None:
    figures = EXPECTED[case]["coefficients"]
    for row in rows:
        name = row["category"]
        kappa, alpha = (one["value"] for one in row["measures"])
        for key, found in (
            (f"specific.jaccard:{name}", row["rate"]),
            (f"specific.dice:{name}", row["specific_agreement"]),
            (f"fleiss.cat:{name}", kappa),
            (f"per_label.fleiss:{name}", kappa),
            (f"per_label.alpha.nominal:{name}", alpha),
        ):
            if key in figures:
                assert found == near(figures[key]["value"]), key
                if "se" in figures[key] and "jaccard" in key:
                    assert row["standard_error"] == near(figures[key]["se"], CLOSE_ERROR), key


def check_what_does_not_apply(case: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Figures of two annotators: Scott's is Fleiss' there, and of more there is none."""
    fleiss, several = rows["fleiss_kappa"], len(load(case).annotators) > 2
    assert rows["scott_pi"]["value"] == (None if several else fleiss["value"])
    if several:
        assert {rows[name]["undefined"] for name in ("scott_pi", "cohen_kappa")} == {
            "not_applicable"
        }


def check_pairs(case: str, pairs: Iterable[Mapping[str, Any]]) -> None:
    found = {tuple(pair["annotators"]): pair for pair in pairs}
    assert len(found) == len(EXPECTED[case][PAIRS])
    for row in EXPECTED[case][PAIRS]:
        pair = found[row["a"], row["b"]]
        assert pair["items"] == row["n"]
        assert pair["observed"] == near(row["po"])
        assert pair["cohen_kappa"] == near(row["kappa"])


def check_influence(case: str, value: float | None, rows: Iterable[Mapping[str, Any]]) -> None:
    """Alpha without each annotator."""
    assert value == near(EXPECTED[case]["coefficients"]["alpha.nominal"]["value"])
    given = EXPECTED[case][WITHOUT]
    found = {row["annotator"]: row for row in rows}
    assert found.keys() == given.keys()
    for name, row in found.items():
        without = given[name]["alpha_nominal_without"]
        assert row["without"] == near(without), name
        assert row["change"] == near(without - value), name  # type: ignore[operator]


@pytest.mark.parametrize("case", CASES)
def test_case_in_a_ledger(ledger: Ledger, case: str, tmp_path: Path) -> None:
    options = QuestionOptions(
        answers="several" if case in SETS else "one", categories=tuple(declared(case)) or None
    )
    ledger.import_file(file_of(case, tmp_path), case, options=options)
    check_case(case, lambda reading: ledger.agreement(case, **reading).to_dict())  # type: ignore[arg-type]
    with ledger.asking(case) as (connection, question):
        if PAIRS in EXPECTED[case]:
            check_pairs(case, [pair.to_dict() for pair in agreement_by_pair(connection, question)])
        if WITHOUT in EXPECTED[case]:
            _, value, rows = agreement_influences(study(connection, question, Query()), "annotator")
            check_influence(case, value, [row.to_dict("annotator") for row in rows])


@pytest.mark.parametrize("case", CASES)
def test_case_by_command(run: Run, folder: Path, sqlite_template: Path, case: str) -> None:
    shutil.copy(sqlite_template, folder / "tracker.db")
    names = declared(case)
    run(
        "import", file_of(case, folder), "-p", case,
        *(("--categories", ",".join(names)) if names else ()),
        *(("--answers", "several") if case in SETS else ()),
    )  # fmt: skip
    agreement = partial(run, "agreement", case, "--json")
    check_case(
        case,
        lambda reading: agreement(
            *(word for name, value in reading.items() for word in (f"--{name}", value))
        ).json(),
    )
    if PAIRS in EXPECTED[case]:
        check_pairs(case, agreement("--by", "pair").json()["pairs"])
    if WITHOUT in EXPECTED[case]:
        told = agreement("--influence", "annotator", "--measure", "krippendorff_alpha").json()
        assert told["measure"] == "krippendorff_alpha"
        check_influence(case, told["value"], told["annotators"])


@pytest.fixture
def turk(ledger: Ledger) -> Ledger:
    ledger.import_file(AMT / "assignments.csv", "turk")
    ledger.import_file(AMT / "truth.csv", "turk")
    return ledger


def test_the_sandwich(ledger: Ledger) -> None:
    ledger.import_file(FOLDER / "cases" / "c12_sandwich.csv", "c12_sandwich")
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
    with turk.asking("turk") as (connection, question):
        pairs = {
            pair.annotators: pair.to_dict() for pair in agreement_by_pair(connection, question)
        }
        items = {row["item"]: row for row in agreement_by_item(connection, question)}
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


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_notebooks_experiments(ledger: Ledger, name: str) -> None:
    frame = pd.DataFrame(simulate_experiment(name, seed=3)).drop(columns="gold")
    ledger.import_frame(frame, name)
    assessment = ledger.agreement(name)
    assert assessment.counts.items == 1000
    assert assessment.counts.answers == 3000
    for rate, published in zip(assessment.rates, PUBLISHED[name], strict=True):
        assert rate.rate is not None
        assert rate.standard_error is not None
        assert rate.standard_error < 0.03
        assert rate.rate == pytest.approx(published, abs=3.5 * rate.standard_error)
