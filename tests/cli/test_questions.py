"""Commands on a project that asks several questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.questions import fill_rubric
from tracker.ledger import Ledger


@pytest.fixture
def rubric(folder: Path, write: Callable[..., Path]) -> Ledger:
    """The ledger that the commands find, with a project p of three questions."""
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    ledger.database.upgrade()
    fill_rubric(ledger, write)
    return ledger


def test_the_command_prints_a_table_or_a_page(run: Run, rubric: Ledger) -> None:
    table = run("agreement", "p")
    assert "3 questions, weakest first" in table.out
    assert "next: tracker agreement p --question tone" in table.err
    told = run("agreement", "p", "--json").json()
    assert told == rubric.agreement_by_question("p").to_dict()
    page = run("agreement", "p", "-q", "tone", "--json").json()
    assert page == rubric.agreement("p", question="tone").to_dict()
    two = run("agreement", "p", "-q", "tone", "-q", "where", "--csv").out.splitlines()
    assert [line.partition(",")[0] for line in two] == ["question", "tone", "where"]
    refused = run("agreement", "p", "--by", "pair", code=2)
    assert "name one: --question label" in refused.err
