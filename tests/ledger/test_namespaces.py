"""What the methods of a ledger do that the commands, which the goldens ask, do not show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import stored
from tests.questions import ONLY, answer_question
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

TONE = "item,annotator,category\n i,ada,1\n i,bo,1\n j,ada,3\n j,cy,1\n k,cy,2\n k,bo,2"
ANSWERS = "item,annotator,category\n i,ada,x\n i,bo,y\n j,ada,x\n j,cy,x"


@pytest.fixture
def filled(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """A ledger whose project p has three annotators, two items and two categories."""
    ledger.import_file(write(ANSWERS), "p")
    return ledger


def test_a_method_is_one_transaction_and_a_dry_run_none(filled: Ledger) -> None:
    """What is refused leaves nothing behind."""
    before = stored(filled)
    for method in (
        lambda: filled.projects.set("p", wanted=2, scale="interval"),
        lambda: filled.annotators.erase("p", "dan"),
        lambda: filled.categories.merge("p", "x", "q"),
    ):
        with pytest.raises((NotFound, Refused)):
            method()
    assert stored(filled) == before
    assert filled.categories.merge("p", "y", "x", dry_run=True).labels == 1
    assert filled.projects.set("p", wanted=2, dry_run=True).question.target_answers == 2
    assert filled.projects.show("p").question.target_answers is None
    assert stored(filled) == before


def test_categories_are_those_of_a_question(filled: Ledger, write: Callable[..., Path]) -> None:
    answer_question(filled, write(TONE), "tone", options=QuestionOptions(scale="interval"))
    assert filled.categories.list("p", question=ONLY).labels == {"x": 3, "y": 1}
    assert filled.categories.merge("p", "3", "2", question="tone").labels == 1
    assert filled.categories.list("p", question="tone").labels == {"1": 3, "2": 3}
    filled.categories.rename("p", "x", "z", question=ONLY)
    assert filled.categories.order("p", ["z", "y"], question=ONLY).categories == ("z", "y")
    assert filled.categories.split("p", "3", question="tone").whose == "2"
    with pytest.raises(InvalidOption, match="asks 2 questions") as error:
        filled.categories.list("p")
    assert "label, tone" in str(error.value.mend)
