"""Known answers, from a file to the figure: imported, counted by the database, computed, told.

1e-9 is the tolerance to which the programs behind the figures agree; standard errors get 1e-6,
where they differ in rounding.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import write_file
from tests.measures.oracles import EXPECTED, FOLDER, SETS, SINGLE, load
from tests.measures.test_oracles import (
    CLOSE_ERROR,
    KEYS,
    NAMES,
    SET_DISTANCES,
    WITHOUT,
    given_error,
    near,
)
from tracker.agreement.coefficients import study
from tracker.agreement.explain import agreement_influences
from tracker.agreement.pairs import agreement_by_pair
from tracker.agreement.query import Query
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

CASES = [*SINGLE, *SETS]
PAIRS = "pairwise_cohen (SK agrees)"


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


def readings(case: str) -> list[dict[str, Any]]:
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


def keys_of(case: str, reading: Mapping[str, str]) -> Iterable[str]:
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


def check_case(case: str, ledger: Ledger) -> None:
    """Every figure of a case, in every reading that it needs."""
    covered = set()
    for reading in readings(case):
        told = ledger.agreement(case, **reading).to_dict()
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
    check_case(case, ledger)
    with ledger.asking(case) as (connection, question):
        if PAIRS in EXPECTED[case]:
            check_pairs(case, [pair.to_dict() for pair in agreement_by_pair(connection, question)])
        if WITHOUT in EXPECTED[case]:
            _, value, rows = agreement_influences(study(connection, question, Query()), "annotator")
            check_influence(case, value, [row.to_dict("annotator") for row in rows])
