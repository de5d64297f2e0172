"""Snapshots of a project that asks several questions, as they are typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.questions import FILES, fill_rubric
from tracker.ledger import Ledger

NAMES = list(FILES)


@pytest.fixture
def rubric(run: Run, folder: Path, write: Callable[..., Path]) -> str:
    """A project of three questions."""
    ledger = Ledger(f"sqlite:///{folder / 'tracker.db'}")
    ledger.database.upgrade()
    fill_rubric(ledger, write, "rubric")
    return "rubric"


def test_one_snapshot_is_of_all_questions(run: Run, rubric: str) -> None:
    told = run("snapshot", rubric, "--json", "--name", "first").json()
    assert told["snapshot"] == 1
    assert [page["question"] for page in told["questions"]] == NAMES
    assert run("--quiet", "snapshot", rubric).out == "2\n"
    said = run("snapshot", rubric).out
    assert said.startswith("snapshot 3: label alpha ")
    assert "tone alpha" in said
    assert "nothing has changed" in run("snapshot", rubric, "--if-changed").out
    run("snapshot", rubric, "--question", "tone", code=2)


def test_the_history_says_which_answers_a_snapshot_is_of(run: Run, rubric: str) -> None:
    run("snapshot", rubric)
    assert "only answers" not in run("history", rubric).out
    run("snapshot", rubric, "--annotator", "ada", "--annotator", "bo")
    told = run("history", rubric, env={"COLUMNS": "160"}).out
    assert "only answers" in told
    assert "ada, bo" in told or "bo, ada" in told


def test_snapshots_are_listed_shown_verified_and_pruned(run: Run, rubric: str) -> None:
    run("snapshot", rubric, "--name", "first")
    run("snapshot", rubric)
    run("snapshot", rubric)
    listed = run("snapshots", "list", rubric)
    assert "3 snapshots of 3 questions" in listed.out
    assert "first" in listed.out
    told = run("snapshots", "list", rubric, "--json").json()
    assert [len(page["snapshots"]) for page in told["questions"]] == [3, 3, 3]
    rows = run("snapshots", "list", rubric, "--csv").out.splitlines()
    assert rows[0].startswith("question,snapshot,")
    shown = run("snapshots", "show", rubric, "first", "--json").json()
    assert [page["question"] for page in shown["questions"]] == NAMES
    one = run("snapshots", "show", rubric, "first", "-q", "tone", "--json").json()
    assert {"question": "tone", **one} == shown["questions"][1]
    assert "tone" in run("snapshots", "show", rubric, "first").out
    assert "3 snapshots: " in run("snapshots", "verify", rubric).out
    gone = run("snapshots", "prune", rubric, "--keep", "last:1", "--yes", "--json").json()
    assert (gone["kept"], gone["thinned"]) == (2, 1)
    run("snapshots", "verify", rubric)
