"""Audits, flags and pages about annotators of a project that asks several questions, as typed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Run
from tests.questions import ONLY, answer_question
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd


@pytest.fixture
def rubric(run: Run, folder: Path) -> str:
    """A project of two questions, in each of which the same annotator says the same always."""
    ledger = Ledger(f"sqlite:///{folder / 'tracker.db'}")
    ledger.database.upgrade()
    for seed, question in enumerate((ONLY, "tone")):
        rows = simulate_crowd(80, seed, (Group("honest", 6), Group("constant", 1)))
        file = folder / f"{question}.csv"
        pd.DataFrame(list(rows)).to_csv(file, index=False)
        answer_question(ledger, file, question, "rubric")
    return "rubric"


def test_an_audit_is_told_question_by_question(run: Run, rubric: str) -> None:
    told = run("audit", rubric, "--json").json()
    assert [page["question"] for page in told["questions"]] == [ONLY, "tone"]
    assert {"annotators", "yardstick", "not_applicable"} <= told["questions"][0].keys()
    rows = run("audit", rubric, "--csv").out.splitlines()
    assert rows[0].startswith("question,annotator,kind,")
    assert {row.partition(",")[0] for row in rows[1:]} == {ONLY, "tone"}
    page = run("audit", rubric).out
    assert "1 of 7 annotators has at least one flagged finding in 2 questions" in page
    assert f"{ONLY}: constant 1" in page
    assert "tone: constant 1" in page
    assert page.count("not looked for") == 1
    failed = run("audit", rubric, "--fail-on", "flagged:constant_category", code=1)
    assert "2 findings fail" in failed.err
    one = run("audit", rubric, "-q", "tone", "--json").json()
    assert "questions" not in one
    assert one["project"] == rubric
    both = run("audit", rubric, "-q", "tone", "-q", ONLY, "--json").json()
    assert both == told
    assert "did you mean 'tone'" in run("audit", rubric, "-q", "tome", code=4).err


def test_names_are_hidden_in_every_question(run: Run, rubric: str) -> None:
    told = run("audit", rubric, "--pseudonyms", "--suppress-below", 5, "--json").json()
    for page in told["questions"]:
        assert len(page["annotators"]) == 7
        assert "constant 1" not in {one["annotator"] for one in page["annotators"]}


def test_recorded_findings_say_their_question(run: Run, rubric: str) -> None:
    recorded = run("audit", rubric, "--record", "--kind", "constant_category")
    assert "2 new" in recorded.err
    rows = run("flags", "list", rubric, "--json").json()["flags"]
    assert [(row["flag"], row["question"]) for row in rows] == [(1, ONLY), (2, "tone")]
    assert "question" in run("flags", "list", rubric).out
    assert len(run("flags", "list", rubric, "-q", "tone", "--json").json()["flags"]) == 1
    assert "in rubric, tone: constant 1" in run("flags", "show", 2, "-p", rubric).out
    run("flags", "dismiss", 2, "-p", rubric, "--by", "ann")
    history = run("flags", "history", "-p", rubric, "--json").json()["changes"]
    assert {row["question"] for row in history} == {ONLY, "tone"}
    assert "tone" in run("flags", "history", "-p", rubric).out


def test_pages_about_an_annotator_go_across_questions(run: Run, rubric: str) -> None:
    run("audit", rubric, "--record")
    shown = run("annotator", "show", "constant 1", "-p", rubric)
    assert "constant_category in tone, is open" in shown.out
    page = run("annotator", "show", "constant 1", "-p", rubric, "--json").json()
    assert [one["question"] for one in page["questions"]] == [ONLY, "tone"]
    report = run("annotator", "report", "constant 1", "-p", rubric)
    assert report.out.count("middle half of the others") == 4
    run("annotator", "report", "constant 1", "-p", rubric, "-o", "mine.md")
    assert "## tone" in Path("mine.md").read_text()
    one = run("annotator", "report", "constant 1", "-p", rubric, "-q", "tone", "--json").json()
    assert one["findings"]
    assert run("annotator", "list", rubric, "--json").json()["annotators"][-1]["labels"] > 0
