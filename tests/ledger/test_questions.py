"""A project of two questions through the ledger: each call is about one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.questions import ONLY, answer_question
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

FIRST = "item,annotator,category\n i,ada,x\n i,bo,y\n j,ada,x\n j,bo,x"
SECOND = "item,annotator,category\n i,ada,1\n i,bo,1\n j,ada,3\n j,cy,1\n k,cy,2\n k,bo,2"


@pytest.fixture
def two(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """A ledger whose project p asks `label` and `tone`."""
    answer_question(ledger, write(FIRST))
    answer_question(ledger, write(SECOND), "tone", options=QuestionOptions(scale="interval"))
    return ledger


def test_each_question_has_the_figures_of_a_project_of_its_own(
    two: Ledger, write: Callable[..., Path]
) -> None:
    answer_question(two, write(SECOND), project="alone", options=QuestionOptions(scale="interval"))
    alone = two.agreement("alone").to_dict() | {"project": "p"}
    assert two.agreement("p", question="tone").to_dict() == alone
    assert two.agreement("p", question=ONLY).counts.items == 2


def test_several_questions_must_be_told_apart(two: Ledger) -> None:
    with pytest.raises(InvalidOption, match="asks 2 questions") as error:
        two.categories.list("p")
    assert "label, tone" in str(error.value.mend)
    with pytest.raises(NotFound, match="no question 'tune'"):
        two.categories.list("p", question="tune")


def test_categories_are_those_of_a_question(two: Ledger) -> None:
    assert two.categories.list("p", question=ONLY).labels == {"x": 3, "y": 1}
    assert two.categories.merge("p", "3", "2", question="tone").labels == 1
    assert two.categories.list("p", question="tone").labels == {"1": 3, "2": 3}
    two.categories.rename("p", "x", "z", question=ONLY)
    assert two.categories.order("p", ["z", "y"], question=ONLY).categories == ("z", "y")
    assert two.categories.split("p", "3", question="tone").whose == "2"
