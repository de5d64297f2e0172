"""A gate of a project that asks several questions: a check is of one, or of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.questions import answer_question, fill_rubric
from tracker.core.errors import Refused
from tracker.gate.evaluate import GateResult
from tracker.gate.tables import FORMATS
from tracker.ledger import Ledger

Judge = Callable[..., GateResult]


@pytest.fixture
def judge(sqlite_ledger: Ledger, write: Callable[..., Path], tmp_path: Path) -> Judge:
    """``judge(text, **keywords)``: what becomes of the checks of a file, of three questions."""
    fill_rubric(sqlite_ledger, write)

    def judged(text: str, **selecting: object) -> GateResult:
        path = tmp_path / "gate.toml"
        path.write_text(text, encoding="utf-8")
        return sqlite_ledger.gate("p", path, **selecting)  # type: ignore[arg-type]

    return judged


def told(found: GateResult) -> list[tuple[str | None, str | None, bool | None]]:
    return [(one.question, one.category, one.passed) for one in found.checks]


def test_a_check_is_of_each_question(judge: Judge) -> None:
    found = judge("[[check]]\nitems_at_least = 3\n[[check]]\noverlap_at_least = 0.1")
    assert told(found) == [
        ("label", None, True),
        ("tone", None, True),
        ("where", None, False),
        ("label", None, True),
        ("tone", None, True),
        ("where", None, True),
    ]
    assert [one["question"] for one in found.to_dict()["checks"]][:3] == ["label", "tone", "where"]


def test_a_check_may_name_its_question(judge: Judge) -> None:
    found = judge('[[check]]\nquestion = "tone"\nmeasure = "alpha"\nat_least = 0.9')
    assert told(found) == [("tone", None, False)]
    for form in FORMATS.values():
        assert "tone" in form(found)
    with pytest.raises(Refused, match=r"gate.toml:2: 'p' has no question 'tune'"):
        judge('[[check]]\nquestion = "tune"\nitems_at_least = 1')


def test_a_category_is_of_the_questions_that_have_it(judge: Judge) -> None:
    found = judge('[[check]]\ncategory = "x"\nat_least = 0.9')
    assert told(found) == [("label", "x", True)]
    with pytest.raises(Refused, match="no category 'q'"):
        judge('[[check]]\ncategory = "q"\nat_least = 0.9')


def test_only_the_questions_chosen_are_judged(judge: Judge) -> None:
    text = '[[check]]\nitems_at_least = 3\n[[check]]\nquestion = "label"\nitems_at_least = 1'
    assert told(judge(text, questions=["tone"])) == [("tone", None, True)]
    assert told(judge(text, question="label")) == [("label", None, True)] * 2


def test_the_starting_file_has_checks_of_each_question(judge: Judge, sqlite_ledger: Ledger) -> None:
    text = sqlite_ledger.gate_config("p")
    found = judge(text)
    assert found.passed
    assert {one.question for one in found.checks} == {"label", "tone", "where"}
    only = judge(sqlite_ledger.gate_config("p", question="tone"))
    assert {one.question for one in only.checks} == {"tone"}


def test_findings_are_those_of_one_audit_of_all_questions(
    judge: Judge, sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    rows = [
        f"{item},{who},{'x' if who == 'bo' else 'xy'[item % 2]}"
        for item in range(60)
        for who in ("ada", "bo", "cy")
    ]
    answer_question(sqlite_ledger, write("\n".join(["item,annotator,category", *rows])))
    found = judge('[[check]]\nflags = ["any"]')
    audits = sqlite_ledger.audit_by_question("p").audits
    told = [one.details["annotators"] for one in found.checks]
    assert told == [sorted({who.name for who, _ in one.flagged()}) for one in audits]
    assert told == [["bo"], [], []]
