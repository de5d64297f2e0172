"""``tracker simulate``: rows with a known truth."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.cli.conftest import Run


def test_to_a_file_and_on(run: Run, folder: Path) -> None:
    done = run("simulate", "crowd", "--items", 40, "--seed", 3, "-o", "crowd.csv")
    assert done.out == ""
    assert done.err == "next: tracker import crowd.csv --project NAME\n"
    with Path("crowd.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    assert list(rows[0]) == ["item", "annotator", "category", "gold"]
    assert "200 inserted" in run("import", "crowd.csv", "-p", "c").out
    assert run("agreement", "c", "--json").json()["gold"]["items"] == 40


def test_straight_into_a_project(run: Run, folder: Path) -> None:
    done = run("simulate", "mixed", "--items", 100, "-p", "m")
    assert done.out == "import 1: 300 rows into m\n"
    assert done.err == "next: tracker agreement m\n"
    assert (
        "300 unchanged"
        in run(
            "import", "-", "-p", "m", stdin=run("simulate", "mixed", "--items", 100, "-o", "-").out
        ).out
    )


def test_the_same_seed_gives_the_same_rows(run: Run, folder: Path) -> None:
    def rows(seed: int) -> str:
        return run("simulate", "high", "--items", 50, "--seed", seed, "-o", "-").out

    assert rows(1) == rows(1) != rows(2)


def test_planted_annotators_by_kind(run: Run, folder: Path) -> None:
    roster = "honest=3,lazy=1,constant=1"
    run("simulate", "crowd", "--annotators", roster, "--answers-per-item", 3, "-p", "c")
    rows = run("annotator", "list", "c", "--json").json()["annotators"]
    names = [row["annotator"] for row in rows if row["kind"] == "human"]
    assert sorted(names) == ["annotator 01", "annotator 02", "annotator 03", "constant 1", "lazy 1"]
