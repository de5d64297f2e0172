"""Attributes of annotators, confidences and guidelines on the command line."""

from __future__ import annotations

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


def test_comments_of_an_item(run: Run, answered: None) -> None:
    assert "because 3" in run("item", "show", "p", "i3").out
    assert "because 3" in run("export", "labels", "p", "-o", "-").out


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
