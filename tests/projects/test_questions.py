"""A project's questions: added, renamed, set, sealed."""

from __future__ import annotations

import pytest
from sqlalchemy import select, text

from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.storage.schema import Change
from tracker.storage.seals.verify import verify_seals


@pytest.fixture
def two(ledger: Ledger) -> Ledger:
    """A ledger whose project p asks `label` and, on an ordinal scale, `tone`."""
    ledger.projects.create("p")
    ledger.questions.add("p", "tone", scale="ordinal", wanted=2)
    return ledger


def test_questions_are_listed_in_the_order_in_which_they_were_made(two: Ledger) -> None:
    two.questions.add("p", " fair ")
    found = two.questions.list("p")
    assert [(one.id, one.name) for one in found] == [(1, "label"), (2, "tone"), (3, "fair")]
    assert [len(one.questions) for one in two.projects.list()] == [3]
    told = two.projects.settings("p").to_dict()
    assert [one["question"] for one in told["questions"]] == ["label", "tone", "fair"]
    assert two.projects.find(None).name == "p"


def test_a_name_is_taken_once(two: Ledger) -> None:
    with pytest.raises(InvalidOption, match="already has the question 'tone'"):
        two.questions.add("p", "tone")
    with pytest.raises(InvalidOption, match="already has the question 'tone'"):
        two.questions.rename("p", "label", "tone")
    with pytest.raises(InvalidOption, match="name is empty"):
        two.questions.rename("p", "label", " ")
    with pytest.raises(NotFound, match="did you mean 'tone'"):
        two.questions.rename("p", "tne", "x")


def test_settings_are_those_of_one_question(two: Ledger) -> None:
    with pytest.raises(InvalidOption, match="asks 2 questions"):
        two.projects.set("p", wanted=3)
    two.questions.set("p", "tone", wanted=3, categories=["low", "high"])
    two.projects.set("p", question="label", wanted=1)
    found = two.questions.list("p")
    assert [one.target_answers for one in found] == [1, 3]
    assert [one.categories_fixed for one in found] == [False, True]
    assert two.questions.show("p", "tone").categories == ("low", "high")


def test_changes_of_questions_are_logged_and_sealed(two: Ledger) -> None:
    assert two.questions.rename("p", "tone", "politeness").name == "politeness"
    with two.database.read() as connection:
        kinds = connection.scalars(select(Change.kind).order_by(Change.id)).all()
    assert kinds == ["create", "add question", "rename question"]
    assert two.database.check() == []
    with two.database.engine.begin() as connection:
        connection.execute(text("UPDATE questions SET name = 'tone' WHERE id = 2"))
    with two.asking("p", question="tone") as (connection, question):
        faults = verify_seals(connection, question.project_id).faults
    assert [fault.partition(":")[0] for fault in faults] == ["names of questions"]
