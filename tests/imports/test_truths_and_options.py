"""Truths beside answers or alone, and what a project is made with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import ONE, SEVERAL, fates, stored
from tests.profiles import both
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.projects.names import is_numeric_category_name
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]


@pytest.mark.parametrize("text", ["1_0", "٣", "inf", "nan", "1e999", "0x1", "e5", ".", "1 0"])
def test_a_number_is_one_in_every_program(text: str) -> None:
    assert not is_numeric_category_name(text)


@pytest.mark.parametrize("text", ["0", "-1", "+2.5", ".5", "3.", "1e3", "1E-3"])
def test_the_ways_to_write_a_number(text: str) -> None:
    assert is_numeric_category_name(text)


def test_a_gold_column_is_a_reference_annotator(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,truth\n i,A,x,x\n i,B,y,x\n j,A,y,\n k,A,x,y")
    result = ledger.import_file(file, "p")
    assert fates(result) == {"inserted": 4}
    told = {"inserted": 2, "changed": 0, "unchanged": 0, "older": 0}
    assert result.to_dict()["gold"] == told
    agreement = ledger.agreement("p")
    assert (agreement.counts.annotators, agreement.counts.answers) == (2, 4)
    assert agreement.gold is not None
    assert (agreement.gold.items, agreement.gold.answers) == (2, 3)
    assert agreement.gold.observed == pytest.approx(1 / 3)
    assert fates(ledger.import_file(file, "p")) == {"unchanged": 4}


def test_a_file_of_truths_alone(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n j,A,y"), "p")
    result = ledger.import_file(write("item,gold\n i,x\n j,x\n k,x\n l,"), "p")
    assert fates(result) == {"inserted": 3}
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert (gold.items, gold.answers, gold.observed) == (2, 2, 0.5)
    assert fates(ledger.import_file(write("item,gold\n i,y\n j,x"), "p")) == {
        "changed": 1,
        "unchanged": 1,
    }


def test_truths_that_contradict_each_other_are_refused(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,gold\n i,A,x,x\n i,B,x,y")
    for skip in (False, True):
        with pytest.raises(Refused, match="line 2: 'gold' has two different answers") as caught:
            ledger.import_file(file, "p", skip_invalid=skip)
        assert "correct the gold column" in str(caught.value)
    assert stored(ledger) == {}


def test_truths_of_several_are_sets(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,gold\n i,A,x,x\n i,A,y,y\n i,B,x,x")
    ledger.import_file(file, "p", options=SEVERAL)
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert (gold.answers, gold.observed) == (2, 0.5)


def test_an_annotator_named_gold_is_not_the_truth(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,gold,x\n i,A,x"), "p")
    assert ledger.agreement("p").gold is None
    with pytest.raises(Refused, match="annotator of kind human") as caught:
        ledger.import_file(write("item,gold\n i,x"), "p")
    assert "tracker annotator kind gold reference -p p" in str(caught.value)


def test_declared_categories_are_closed_and_ordered(ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(categories=("z", "y", "x"), scale="ordinal")
    file = write("item,annotator,category\n i,A,x\n i,B,y\n j,A,Y\n j,B, x ")
    with pytest.raises(Refused, match="line 4: 'Y' is none of the project's categories") as caught:
        ledger.import_file(file, "p", options=options)
    assert "z, y, x" in str(caught.value) or "did you mean" in str(caught.value)
    assert stored(ledger) == {}
    result = ledger.import_file(file, "p", options=options, skip_invalid=True)
    assert fates(result) == {"inserted": 3, "rejected": 1}
    told = ledger.agreement("p").to_dict()["categories"]
    assert [row["category"] for row in told] == ["z", "y", "x"]


@both
def test_learnt_categories_are_in_order(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,10\n i,B,9\n j,A,-1"), "n")
    ledger.import_file(write("item,annotator,category\n i,A,b\n i,B,10\n j,A,B"), "t")
    for project, order in (("n", ["-1", "9", "10"]), ("t", ["10", "B", "b"])):
        told = ledger.agreement(project).to_dict()["categories"]
        assert [row["category"] for row in told] == order


@pytest.mark.parametrize("scale", ["interval", "ratio"])
def test_scales_of_numbers_take_numbers(ledger: Ledger, write: Write, scale: str) -> None:
    file = write("item,annotator,category\n i,A,1.5\n i,B,many\n j,A,-2e3\n j,B,inf\n k,A,nan")
    options = QuestionOptions(scale=scale)
    with pytest.raises(Refused, match=f"line 3: 'many' is not a number, as a scale of {scale}"):
        ledger.import_file(file, "p", options=options)
    result = ledger.import_file(file, "p", options=options, skip_invalid=True)
    # A ratio scale starts at 0.
    assert [rejection.line for rejection in result.rejections] == (
        [3, 5, 6] if scale == "interval" else [3, 4, 5, 6]
    )
    with pytest.raises(InvalidOption, match="'low' is not a number"):
        ledger.import_file(file, "q", options=QuestionOptions(scale=scale, categories=("1", "low")))


def test_a_project_keeps_what_it_was_made_with(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x")
    ledger.import_file(file, "p", options=QuestionOptions(answers="several", wanted=3))
    ledger.import_file(file, "p", options=QuestionOptions(answers="several"))
    with pytest.raises(InvalidOption, match="'p' has --answers several, not one"):
        ledger.import_file(file, "p", options=ONE)
    with pytest.raises(InvalidOption, match="'p' has --wanted 3, not 4"):
        ledger.import_file(file, "p", options=QuestionOptions(wanted=4))
