"""Audits of projects that ask several questions: one false discovery rate, each its findings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.questions import ONLY, answer_question
from tracker.audit.annotator_report import OwnReport
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd

ROSTER = (Group("honest", 8), Group("constant", 1))
WITHOUT_PAIRS = {"exclude_kinds": ["copying"]}


@pytest.fixture
def asked(ledger: Ledger, tmp_path: Path) -> Ledger:
    """A project of two questions, in one of which an annotator always says the same."""
    crowds = {
        ONLY: simulate_crowd(120, 3, ROSTER, constant="negative"),
        "tone": simulate_crowd(120, 4, (Group("honest", 9),)),
    }
    for question, rows in crowds.items():
        file = tmp_path / f"{question}.csv"
        frame = pd.DataFrame(list(rows))
        frame.to_csv(file, index=False)
        answer_question(ledger, file, question)
        answer_question(ledger, file, ONLY, f"alone with {question}")
    return ledger


def p_and_q_values(pages: Iterable[dict[str, Any]]) -> list[tuple[float, float]]:
    """The p-values and q-values of all tests, by p-value."""
    return sorted(
        (flag["p_value"], flag["q_value"])
        for page in pages
        for one in page["annotators"]
        for flag in one["flags"]
        if flag["p_value"] is not None
    )


def in_order(page: dict[str, Any]) -> dict[str, Any]:
    """An audit with its findings in an order that does not depend on annotators' numbers."""
    for one in page["annotators"]:
        one["flags"].sort(key=lambda flag: str((flag["kind"], flag["category"], flag["with"])))
    return page


def step_up(p_values: list[float]) -> list[float]:
    """Benjamini and Hochberg's procedure (1995) by its words, of sorted p-values."""
    number = len(p_values)
    return [
        min(1.0, *(p * number / rank for rank, p in enumerate(p_values, 1) if rank >= place))
        for place in range(1, number + 1)
    ]


def test_one_correction_is_made_for_the_tests_of_all_questions(
    asked: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.audit.findings.overlapping_findings", lambda *_: (set(), {}))
    told = asked.audit_by_question("p", **WITHOUT_PAIRS).to_dict(clear=True)
    assert [page["question"] for page in told["questions"]] == [ONLY, "tone"]
    p_values, q_values = zip(*p_and_q_values(told["questions"]), strict=True)
    assert len(p_values) > 60
    assert q_values == pytest.approx(step_up(list(p_values)))
    alone = asked.audit("p", question=ONLY, **WITHOUT_PAIRS).to_dict(clear=True)
    p_values, q_values = zip(*p_and_q_values([alone]), strict=True)
    assert q_values == pytest.approx(step_up(list(p_values)))


def test_a_question_audited_alone_is_a_project_of_its_own(asked: Ledger) -> None:
    for question in (ONLY, "tone"):
        alone = asked.audit(f"alone with {question}").to_dict(clear=True)
        chosen = asked.audit_by_question("p", questions=[question]).to_dict(clear=True)
        assert in_order(chosen) == in_order(alone) | {"project": "p"}
        assert in_order(asked.audit("p", question=question).to_dict(clear=True)) == chosen
    with pytest.raises(InvalidOption, match="asks 2 questions"):
        asked.audit("p")
    with pytest.raises(NotFound, match="no question 'tome'"):
        asked.audit_by_question("p", questions=["tome"])


def test_findings_say_their_question(asked: Ledger) -> None:
    found = asked.audit_by_question("p")
    assert {(audit.question, one.name) for audit, one, _ in found.flagged()} == {
        (ONLY, "constant 1")
    }
    strongest = found.by_strength()[0]
    assert strongest[0].question == ONLY
    assert len(found.failing("flagged:constant_category")) == 1
    frame = found.to_frame()
    assert set(frame.question) == {ONLY, "tone"}
    assert len(frame) == 18


def test_recorded_findings_keep_their_question(asked: Ledger) -> None:
    _, recorded = asked.record_audit_by_question("p")
    assert recorded.new >= 1
    rows = [one.to_dict() for one in asked.flags.list("p").flags]
    assert {row["question"] for row in rows} == {ONLY}
    assert [row["flag"] for row in rows] == list(range(1, recorded.new + 1))
    assert asked.flags.list("p", questions=["tone"]).flags == ()
    assert len(asked.flags.list("p", questions=[ONLY, "tone"]).flags) == len(rows)
    # What one question's audit does not look at, it does not close.
    _, again = asked.record_audit("p", question="tone")
    assert (again.new, again.again, again.closed) == (0, 0, 0)
    _, again = asked.record_audit_by_question("p")
    assert (again.new, again.again, again.closed) == (0, recorded.new, 0)
    assert "question" not in asked.audit("alone with tone", record=True).to_dict()
    assert all("question" not in one.to_dict() for one in asked.flags.list("alone with tone").flags)


def test_a_page_about_an_annotator_goes_across_questions(asked: Ledger) -> None:
    asked.record_audit_by_question("p")
    page = asked.annotator("p", "constant 1", competence=True)
    label, tone = page["questions"]
    assert (label["question"], tone["question"]) == (ONLY, "tone")
    assert "answers" in label
    assert "answers" not in tone  # who was not asked that has no figures of it
    assert page["recorded"][0]["question"] == ONLY
    alone = asked.annotator(f"alone with {ONLY}", "constant 1", competence=True)
    kept = ("answers", "agreement_with_peers", "category_shares", "influence", "competence")
    assert {name: label[name] for name in kept} == {name: alone[name] for name in kept}
    one = asked.annotator("p", "constant 1", questions=[ONLY])
    assert "questions" not in one
    assert one["flags"] == asked.annotator(f"alone with {ONLY}", "constant 1")["flags"]


def test_an_annotators_own_report_goes_across_questions(asked: Ledger) -> None:
    reports = asked.annotator_report_by_question("p", "annotator 01").to_dict()
    alone = [
        asked.annotator_report(f"alone with {name}", "annotator 01") for name in (ONLY, "tone")
    ]
    assert [page["figures"] for page in reports["questions"]] == [one.figures for one in alone]
    only = asked.annotator_report_by_question("p", "constant 1")
    assert [type(one) for one in only.reports] == [OwnReport]  # of the questions answered
    assert "questions" not in only.to_dict()
    assert asked.annotator_report("p", "constant 1", question=ONLY).to_dict()["findings"]
    with pytest.raises(InvalidOption, match="no answer of 'constant 1' is counted"):
        asked.annotator_report("p", "constant 1", question="tone")
