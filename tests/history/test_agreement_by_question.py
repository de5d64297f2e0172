"""A rubric: several questions about the same items, beside each other and one by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.audit.flags.found import Seen, record_in
from tests.filled import FillOnce
from tests.helpers import count_statements
from tests.questions import FILES, ONLY, OPTIONS, answer_question, fill_rubrics
from tracker.audit.flags import record_flags
from tracker.audit.run import audit_project
from tracker.audit.tables import audit_by_question_view
from tracker.core.errors import InvalidOption, NotFound
from tracker.history.tables import agreement_by_question_view
from tracker.history.take import take_snapshot
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names


@pytest.fixture
def rubric(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """Project p asks three questions; each is also a project of its own."""
    return fill_once(ledger, fill_rubrics)


def test_each_question_is_as_if_it_had_a_project_of_its_own(rubric: Ledger) -> None:
    told = rubric.agreement_by_question("p").to_dict()
    assert told["project"] == "p"
    for one in told["questions"]:
        name = one["question"]
        page = rubric.agreement(name).to_dict() | {"project": "p"}
        assert {key: one[key] for key in page} == page
        assert rubric.agreement("p", question=name).to_dict() == page


def test_the_weakest_comes_first_and_without_a_figure_last(
    rubric: Ledger, write: Callable[..., Path]
) -> None:
    answer_question(rubric, write("item,annotator,category\n 1,ada,z"), "new")
    found = rubric.agreement_by_question("p").questions
    values = [one.main.value for one in found]
    assert [one.question.name for one in found] == ["tone", "where", ONLY, "new"]
    assert values[-1] is None
    assert values[:-1] == sorted(value for value in values if value is not None)


def test_only_the_questions_named(rubric: Ledger) -> None:
    found = rubric.agreement_by_question("p", questions=["where", " tone"]).questions
    assert {one.question.name for one in found} == {"tone", "where"}
    with pytest.raises(NotFound, match="no question 'tome'"):
        rubric.agreement_by_question("p", questions=["tome"])


def test_a_measure_asked_for_is_the_main_one(rubric: Ledger) -> None:
    asked = rubric.agreement_by_question(
        "p", questions=[ONLY, "tone"], measures=["percent_agreement", "alpha"]
    )
    assert {one.main.measure for one in asked.questions} == {"percent_agreement"}


def test_who_is_flagged_on_a_question_is_left_out_of_its_figures_alone(rubric: Ledger) -> None:
    with rubric.changing("p", "tone") as (connection, question):
        people = annotator_names(connection, question.project).items()
        bo = next(number for number, name in people if name == "bo")
        record_in(connection, question, Seen(bo))
    pages = rubric.agreement_by_question("p", exclude_flagged=True).to_dict()["questions"]
    without = rubric.agreement("p", question="tone", exclude_annotators=["bo"]).to_dict()
    assert without["counts"]["annotators"] == 2
    for page in pages:
        name = page["question"]
        expected = without if name == "tone" else rubric.agreement("p", question=name).to_dict()
        assert {key: page[key] for key in expected} == expected
    shown = [str(part) for part in agreement_by_question_view(
        rubric.agreement_by_question("p", exclude_flagged=True))]  # fmt: skip
    assert "tone: only answers of all but bo." in shown
    shown = [
        str(part)
        for part in audit_by_question_view(rubric.audit_by_question("p", exclude_flagged=True))
    ]
    assert "tone: only answers of all but bo." in shown


def test_a_question_that_a_measure_does_not_fit_says_so(rubric: Ledger) -> None:
    found = rubric.agreement_by_question("p", measures=["fleiss_kappa"])
    assert {one.question.name for one in found.questions} == {ONLY, "tone"}
    assert found.to_dict()["questions"][2] == {
        "question": "where",
        "undefined": "not_applicable",
        "why": "fleiss_kappa does not fit 'where', a question of spans",
    }
    frame = found.to_frame()
    assert list(frame["question"])[2] == "where"
    assert list(frame["why"])[2].startswith("fleiss_kappa does not fit")
    with pytest.raises(InvalidOption, match="does not fit 'where'"):
        rubric.agreement_by_question("p", questions=["where"], measures=["fleiss_kappa"])
    (unfit, _) = rubric.agreement_by_question("p", weights="quadratic").unfit
    assert unfit.why == "quadratic weights need numbers, and the categories of 'p' are not"
    with pytest.raises(InvalidOption, match="the categories of 'where' are not"):
        rubric.agreement("p", question="where", weights="quadratic")


def test_a_curve_leaves_spans_out_and_says_so(rubric: Ledger) -> None:
    for every, measures in (("week", []), (None, ["fleiss_kappa"])):
        found = rubric.history_by_question("p", every, measures=measures)
        assert list(found.questions) == [ONLY, "tone"]
        assert [one.question for one in found.unfit] == ["where"]
        assert found.to_dict()["questions"][2]["undefined"] == "not_applicable"
        assert found.rows()[-1]["question"] == "where"
        with pytest.raises(InvalidOption):
            rubric.history_by_question("p", every, measures=measures, questions=["where"])


def test_statements_do_not_depend_on_the_answers(
    rubric: Ledger, write: Callable[..., Path]
) -> None:
    def statements(items: int) -> int:
        rows = [f"{item},{who},{item % 3}" for item in range(items) for who in ("ada", "bo", "cy")]
        answer_question(rubric, write("\n".join(["item,annotator,category", *rows])), "tone")
        with count_statements(rubric.database.engine) as counted:
            rubric.agreement_by_question("p")
        return counted.number

    assert statements(60) == statements(6)


def test_the_change_is_that_since_the_last_snapshot_of_the_question(rubric: Ledger) -> None:
    with rubric.changing("p", "tone") as (connection, tone):
        take_snapshot(connection, tone)
    before = rubric.agreement("p", question="tone").main.value
    rubric.categories.merge("p", "3", "2", question="tone")
    found = {one.question.name: one for one in rubric.agreement_by_question("p").questions}
    assert before is not None
    assert found["tone"].main.value is not None
    assert found["tone"].change == pytest.approx(found["tone"].main.value - before)
    assert (found[ONLY].last, found[ONLY].change) == (None, None)
    # A snapshot is not before what was the case on a day before it.
    past = rubric.agreement_by_question("p", questions=["tone"], as_of="2020-01-01").questions
    assert past[0].last is None
    # Computed in another way the figures are not comparable.
    weighted = rubric.agreement_by_question("p", questions=["tone"], scale="nominal").questions
    assert weighted[0].change is None


def test_before_a_question_was_made_it_is_left_out_with_a_note(
    ledger: Ledger, write: Callable[..., Path]
) -> None:
    answer_question(ledger, write(FILES[ONLY]))
    before = datetime.now(UTC)
    answer_question(ledger, write(FILES["tone"]), "tone", options=OPTIONS["tone"])
    ledger.questions.add("p", "new")
    told: list[str] = []
    ledger.notice = told.append
    found = ledger.agreement_by_question("p", known_at=before).questions
    assert [one.question.name for one in found] == [ONLY]
    assert "left out, because it was not asked then: 'tone', 'new'" in told
    assert len(ledger.status_by_question("p", known_at=before)) == 1
    for name in ("tone", "new"):
        with pytest.raises(InvalidOption, match=f"'{name}': not asked then"):
            ledger.agreement("p", question=name, known_at=before)
    told.clear()
    assert len(ledger.agreement_by_question("p").questions) == 3
    assert told == []


def test_findings_are_counted_by_question(rubric: Ledger, write: Callable[..., Path]) -> None:
    rows = [
        f"{item},{who},{'x' if who == 'bo' else 'xy'[item % 2]}"
        for item in range(60)
        for who in ("ada", "bo", "cy")
    ]
    answer_question(rubric, write("\n".join(["item,annotator,category", *rows])))
    with rubric.changing("p", ONLY) as (connection, question):
        found = audit_project(connection, question)
        recorded = record_flags(connection, question, found, closes=True)
    counts = {
        one.question.name: one.findings for one in rubric.agreement_by_question("p").questions
    }
    assert recorded.new > 0
    assert counts == {ONLY: recorded.new, "tone": 0, "where": 0}
    assert [one.flags for one in rubric.status_by_question("p")] == [recorded.new, 0, 0]
