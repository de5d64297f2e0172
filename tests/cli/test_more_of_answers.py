"""Attributes of annotators, confidences and guidelines on the command line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ANSWERS = "item,annotator,label,confidence,comment\n" + "".join(
    f"i{n},{who},{'xy'[(n + (who == 'eve' and n % 3 == 0)) % 2]},0.{n + 1},because {n}\n"
    for n in range(8)
    for who in ("ann", "bob", "eve")
)


@pytest.fixture
def answered(run: Run, folder: Path) -> None:
    (folder / "a.csv").write_text(ANSWERS)
    (folder / "people.csv").write_text("name,team\nann,north\nbob,north\neve,south\nfay,south\n")
    run("import", "a.csv", "-p", "p")


def test_a_file_of_annotators(run: Run, answered: None) -> None:
    shown = run("annotator", "import", "people.csv", "-p", "p")
    assert "import 2: 4 rows into p: 1 inserted, 3 changed" in shown.out
    assert "columns: annotator=name; kept: team" in shown.err
    listed = run("annotator", "list", "p")
    assert "team" in listed.out
    assert "north" in listed.out
    rows = list(csv.DictReader(io.StringIO(run("annotator", "list", "p", "--csv").out)))
    assert [row["team"] for row in rows] == ["north", "north", "south", "south"]
    assert "team: north" in run("annotator", "show", "p", "ann").out
    told = run("annotator", "import", "people.csv", "-p", "p", "--dry-run", "--json").json()
    assert (told["unchanged"], told["annotators"], told["attributes"]) == (4, 4, ["team"])


def test_groups_of_annotators(run: Run, answered: None) -> None:
    run("annotator", "import", "people.csv", "-p", "p")
    words = ("agreement", "p", "--by", "annotator-attribute:team")
    told = run(*words, "--json").json()
    assert [one["value"] for one in told["groups"]] == ["north", "south"]
    assert told["between"][0]["between"]["measure"] == "cross_replication_reliability"
    assert "alpha within" in run(*words).out
    assert "agreement between" in run(*words).out
    rows = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
    assert [(row["first"], row["second"]) for row in rows] == [
        ("north", ""),
        ("south", ""),
        ("north", "south"),
    ]
    assert "did you mean" in run("agreement", "p", "--by", "annotator-attribute:taem", code=2).err


def test_calibration(run: Run, answered: None) -> None:
    told = run("agreement", "p", "--calibration", "--json").json()
    assert told["against"] == "majority"
    assert len(told["annotators"]) == 3
    assert "Brier score" in run("agreement", "p", "--calibration").out
    rows = list(csv.DictReader(io.StringIO(run("agreement", "p", "--calibration", "--csv").out)))
    assert {row["annotator"] for row in rows} == {"ann", "bob", "eve", ""}


def test_comments_of_an_item(run: Run, answered: None) -> None:
    assert "because 3" in run("item", "show", "p", "i3").out
    assert "because 3" in run("export", "labels", "p", "-o", "-").out


def test_guidelines(run: Run, answered: None) -> None:
    said = run("project", "note", "p", "sarcasm", "--guideline", "v2", "--at", "2020-01-01").out
    assert said.endswith("sarcasm (guideline v2)\n")
    assert "v2" in run("project", "notes", "p").out
    assert run("project", "unnote", "p", 1).err.endswith("--guideline v2\n")
    run("project", "note", "p", "sarcasm", "--guideline", "v2", "--at", "2020-01-01")
    told = run("agreement", "p", "--guideline", "v2", "--json").json()
    assert told["selection"]["guideline"] == "v2"
    assert "under guideline v2" in run("agreement", "p", "--guideline", "v2").out
    assert "has no guideline" in run("agreement", "p", "--guideline", "v9", code=4).err
    assert run("history", "p", "--every", "day", "--guideline", "v2", "--json").json()


def test_evidence_holds_what_the_annotator_said_of_the_answer(run: Run, folder: Path) -> None:
    lines = ["item,annotator,label,confidence,rationale"]
    for n in range(60):
        lines += [f"i{n:02},{who},{'xyz'[n % 3]},," for who in ("ann", "bob", "cat")]
        lines.append(f"i{n:02},con,x,0.75,always {n}")
    (folder / "b.csv").write_text("\n".join(lines))
    run("import", "b.csv", "-p", "p")
    told = run("audit", "p", "--evidence", "2", "--json").json()
    (con,) = [one for one in told["annotators"] if one["annotator"] == "con"]
    rows = [row for flag in con["flags"] for row in flag.get("evidence", ())]
    assert rows
    assert all(row["confidence"] == 0.75 and row["comment"].startswith("always") for row in rows)
    assert 'comment: "always' in run("audit", "p", "--evidence", "2").out
