"""``tracker conformance``: what it holds the installation to, and that it would notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tracker.conformance.cases import Case, known_cases
from tracker.core.version import VERSION
from tracker.measures.registry import MEASURES

CASES = {case.name: case for case in known_cases()}
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


def test_every_measure_is_covered() -> None:
    covered = {
        figure.measure
        for case in CASES.values()
        for figure in case.figures
        if "undefined" not in figure.numbers
    }
    assert covered - set(MEASURES) == {"category_rate", "intraclass"}
    assert set(MEASURES) <= covered


def test_it_passes_and_touches_nothing(run: Run, folder: Path) -> None:
    shown = run("--database", NEVER, "conformance", env={"TRACKER_DATABASE_URL": NEVER})
    assert "FAILED" not in shown.out
    for word in ("Conger's kappa", "Cohen (1960)", f"tracker {VERSION}", "scipy"):
        assert word in shown.out
    assert "numbers are right" in " ".join(shown.out.split())
    assert "no database of yours was opened" in shown.err
    assert list(folder.iterdir()) == []


def test_its_json_names_versions(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_cases()[:3]
    monkeypatch.setattr("tracker.conformance.check.known_cases", lambda: known)
    told: dict[str, Any] = run("conformance", "--json").json()
    assert set(told) == {"versions", "checks", "passed", "failed"}
    assert list(told["versions"]) == ["tracker", "Python", "SQLAlchemy", "numpy", "scipy", "sqlite"]
    assert (told["passed"], told["failed"]) == (len(told["checks"]), 0)
    assert {check["by"] for check in told["checks"]} == {"functions", "program"}


@pytest.mark.parametrize(
    ("number", "wrong", "told"),
    [
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
    assert {round(check["tolerance"], 6) for check in failed["checks"]} == {0.005}
