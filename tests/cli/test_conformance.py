"""``tracker conformance``: what it holds the installation to, and that it would notice."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.measures.oracles import FOLDER
from tracker.conformance.cases import Case, known_cases
from tracker.core.version import VERSION
from tracker.measures.registry import MEASURES

CASES = {case.name: case for case in known_cases()}
PARTS = {"observed": "po", "expected": "pe"}
NEVER = "postgresql://nobody:secret@127.0.0.1:1/nothing"


def planted(
    monkeypatch: pytest.MonkeyPatch, name: str, measure: str, **numbers: float | str
) -> None:
    """Let the shipped cases be one, with other numbers than it has."""

    def changed() -> Sequence[Case]:
        figures = tuple(
            replace(one, numbers={**one.numbers, **numbers}) if one.measure == measure else one
            for one in CASES[name].figures
        )
        return [replace(CASES[name], figures=figures)]

    monkeypatch.setattr("tracker.conformance.check.known_cases", changed)


# -- what is shipped -----------------------------------------------------------------------


def test_every_measure_is_covered() -> None:
    covered = {
        figure.measure
        for case in CASES.values()
        for figure in case.figures
        if "undefined" not in figure.numbers
    }
    assert covered - set(MEASURES) == {"category_rate", "intraclass"}
    assert set(MEASURES) <= covered


def test_errors_and_reasons_are_covered() -> None:
    figures = [figure for case in CASES.values() for figure in case.figures]
    for name in ("conger_kappa", "cohen_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert any("standard_error" in one.numbers for one in figures if one.measure == name)
    reasons = {one.numbers["undefined"] for one in figures if "undefined" in one.numbers}
    assert reasons == {"single_category", "no_overlap", "too_few_annotators", "not_applicable"}
    readings = {(name, word) for one in figures for name, word in one.reading.items()}
    assert readings >= {
        *(("scale", word) for word in ("nominal", "ordinal", "interval", "ratio")),
        *(("distance", word) for word in ("exact", "jaccard", "masi")),
        *(("weights", word) for word in ("linear", "quadratic")),
    }


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("cohen_1960", "c01_cohen1960_p37"),
        ("krippendorff_2011", "c25_kripp_4x12"),
        ("gwet_agreecac", "c28_gwet_agreecac"),
        ("gwet_g1g2", "c27_gwet_g1g2"),
        ("paradox_skewed", "c14_paradox_skewed"),
    ],
)
def test_what_is_shipped_is_what_the_tests_know(name: str, oracle: str) -> None:
    known = json.loads((FOLDER / "expected.json").read_text())["cases"][oracle]
    with (FOLDER / known["file"]).open(newline="") as file:
        rows = [(row["annotator"], row["category"]) for row in csv.DictReader(file)]
    case = CASES[name]
    assert sorted(given for _, given in rows) == sorted(row["category"] for row in case.rows())
    assert len(rows) == sum(len(item) for item in case.items)
    keys = {"fleiss_kappa": "fleiss", "gwet_ac1": "ac1", "conger_kappa": "conger"}
    for figure in case.figures:
        if figure.measure in keys and not figure.reading:
            given = known["coefficients"][keys[figure.measure]]
            assert figure.numbers["value"] == given["value"]
            for number, key in PARTS.items():
                assert figure.numbers[number] == given[key]


# -- the command ---------------------------------------------------------------------------


def test_it_passes_and_touches_nothing(run: Run, folder: Path) -> None:
    shown = run("--database", NEVER, "conformance", env={"TRACKER_DATABASE_URL": NEVER})
    assert "FAILED" not in shown.out
    for word in ("Conger's kappa", "Cohen (1960)", f"tracker {VERSION}", "scipy"):
        assert word in shown.out
    assert "numbers are right" in " ".join(shown.out.split())
    assert "no database of yours was opened" in shown.err
    assert list(folder.iterdir()) == []


def test_its_json_and_rows(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_cases()[:3]
    monkeypatch.setattr("tracker.conformance.check.known_cases", lambda: known)
    told: dict[str, Any] = run("conformance", "--json").json()
    assert set(told) == {"versions", "checks", "passed", "failed"}
    assert list(told["versions"]) == ["tracker", "Python", "SQLAlchemy", "numpy", "scipy", "sqlite"]
    assert told["versions"]["numpy"] == version("numpy")
    assert told["versions"]["sqlite"] == sqlite3.sqlite_version
    assert (told["passed"], told["failed"]) == (len(told["checks"]), 0)
    assert {check["by"] for check in told["checks"]} == {"functions", "program"}
    assert set(told["checks"][0]) == {
        *("case", "source", "measure", "of", "weights", "scale", "distance", "number", "by"),
        *("expected", "computed", "difference", "tolerance", "passed", "agree"),
    }
    rows = list(csv.DictReader(run("conformance", "--csv").out.splitlines()))
    assert {row["case"] for row in rows} == {case.name for case in known}
    assert {row["passed"] for row in rows} == {"True"}


@pytest.mark.parametrize(
    ("number", "wrong", "told"),
    [
        ("value", 0.25, "Conger's kappa, value, is 0.185607582 by the program, not 0.250000000"),
        ("standard_error", 0.127386, "standard error, is 0.127385882 by the functions"),
        ("undefined", "no_overlap", "undefined, is undefined by the program, not no_overlap"),
        ("expected", 0.345115057884, "expected, is 0.345115056 by the functions"),
    ],
)
def test_a_wrong_figure_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, number: str, wrong: float | str, told: str
) -> None:
    planted(monkeypatch, "gwet_agreecac", "conger_kappa", **{number: wrong})
    failed = run("conformance", code=1)
    assert told in " ".join(failed.out.split())
    assert "gwet_agreecac: Conger's kappa" in " ".join(failed.out.split())
    assert failed.out.count("FAILED") == 1
    document = run("conformance", "--json", code=1).json()
    wrongs = [check for check in document["checks"] if not check["passed"]]
    assert document["failed"] == len(wrongs) == 2
    assert {check["measure"] for check in wrongs} == {"conger_kappa"}


def test_printed_values_are_compared_to_their_last_digit(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, "shrout_fleiss_1979", "intraclass", value=".29")
    failed = run("conformance", "--json", code=1).json()
    wrong = {check["of"] for check in failed["checks"] if not check["passed"]}
    assert wrong == {"ICC(1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"}
