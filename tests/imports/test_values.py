"""What cells stand for: other values, several categories of one cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import standing
from tests.questions import labels
from tracker.core.errors import InvalidOption, Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]


def test_values_stand_for_others(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,a,b\ni,A,5 stars,5 stars\nj,A,n/a,5")
    pairs = write("old,new,question\nn/a,,\n5 stars,five,\n5 stars,V,b", "values.csv")
    result = ledger.import_file(
        file, "p", questions=["a=a", "b=b"], values=["a:5 stars=5", "6=5"], values_file=pairs
    )
    assert labels(ledger, "a") == [("i", "A", "5"), ("j", "A", None)]
    assert labels(ledger, "b") == [("i", "A", "V"), ("j", "A", "5")]
    assert result.warnings == ("no cell is '6'",)
    other = write("old,new,question\nx,y,c", "others.csv")
    with pytest.raises(Refused, match="line 2: there is no question 'c'"):
        ledger.import_file(file, "p", questions=["a=a", "b=b"], values_file=other)
    with pytest.raises(Refused, match="is no file of values"):
        ledger.import_file(file, "p", questions=["a=a", "b=b"], values_file=file)
    with pytest.raises(InvalidOption, match="is not OLD=NEW"):
        ledger.import_file(file, "p", questions=["a=a", "b=b"], values=["5"])


def test_values_that_cannot_be_meant(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,tone\ni,A,+")
    asked = ["tone=tone"]
    with pytest.raises(InvalidOption, match=r"'\+' stands for 'a' and for 'b'"):
        ledger.import_file(file, "p", questions=asked, values=["+=a", "+=b"])
    twice = write("old,new,question\n+,a,\n+,c,tone\n+,b,\n", "twice.csv")
    with pytest.raises(Refused, match=r"line 4: '\+' stands for 'b' here, and for 'a' on line 2"):
        ledger.import_file(file, "p", questions=asked, values_file=twice)
    same = write("old,new,question\n+,a,\n+,c,tone\n+,a,\n", "same.csv")
    ledger.import_file(file, "p", questions=asked, values=["+=a", "+=a"], values_file=same)
    other = write("from,to\n+,a\n", "other.csv")
    with pytest.raises(Refused, match="it needs the columns old and new") as refused:
        ledger.import_file(file, "p", values_file=other)
    assert "from, to" in str(refused.value)
    with pytest.raises(Refused, match="there is no such file"):
        ledger.import_file(file, "p", values_file="nowhere.csv")


def test_a_value_of_an_unknown_question_is_said(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,tone\ni,A,+")
    found = ledger.import_file(file, "p", questions=["tone=tone"], values=["tonee:+=polite"])
    assert found.warnings == (
        "no cell is 'tonee:+'; if 'tonee' is a question: did you mean 'tone'?",
    )


TOPICS = "item,annotator,category\n"


@pytest.mark.parametrize(
    ("cell", "values", "scale", "label"),
    [
        ("X|x", ["X=x"], None, "x"),
        ("1|1.0", [], "interval", "1"),
        ("X|y", ["X=", "y="], None, ""),
        ("X|y", ["X="], None, "y"),
        ("X|Y|z", ["X=z", "Y="], None, "z"),
    ],
)
def test_what_stands_for_one_category_in_a_cell_is_one_label(
    ledger: Ledger, write: Write, cell: str, values: list[str], scale: str | None, label: str
) -> None:
    told: dict[str, Any] = {"separator": "|", "values": values}
    several = QuestionOptions(answers="several", scale=scale)
    file = write(f"{TOPICS}i,A,{cell}\ni,B,{cell}\n")
    result = ledger.import_file(file, "p", options=several, **told)
    assert result.inserted == 2
    assert standing(ledger, "p") == [("i", who, label or None) for who in "AB"]
    assert ledger.import_file(file, "p", **told).unchanged == 2


def test_labels_of_one_cell_are_one_after_a_merge(ledger: Ledger, write: Write) -> None:
    told: dict[str, Any] = {"separator": "|"}
    several = QuestionOptions(answers="several")
    file = write(f"{TOPICS}i,A,X|x\ni,B,y\n")
    ledger.import_file(file, "p", options=several, **told)
    ledger.categories.merge("p", "X", "x")
    before = standing(ledger, "p")
    again = ledger.import_file(file, "p", **told)
    assert (again.inserted, again.changed) == (0, 0)
    assert standing(ledger, "p") == before
    new = ledger.import_file(write(f"{TOPICS}j,A,X|x\n"), "p", **told)
    assert new.inserted == 1
    ledger.categories.split("p", "X")
    ledger.import_file(write(f"{TOPICS}i,A,X|x\ni,B,y\nj,A,X|x\n"), "q", options=several, **told)
    assert standing(ledger, "p") == standing(ledger, "q")
    assert ledger.verify("p").passed


def test_a_separator_is_for_several_categories(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,label\ni,A,x;y ;x\nj,A,;\nk,A,[1];x")
    with pytest.raises(InvalidOption, match="of several categories"):
        ledger.import_file(file, "p", separator=";")
    options = QuestionOptions(answers="several")
    result = ledger.import_file(file, "p", options=options, separator=";", skip_invalid=True)
    assert standing(ledger) == [("i", "A", "x"), ("i", "A", "y"), ("j", "A", None)]
    assert (result.rows, result.inserted, result.rejected) == (4, 3, 1)


def test_a_word_among_ranked_numbers_is_a_bad_cell(ledger: Ledger, write: Write) -> None:
    ordinal = QuestionOptions(scale="ordinal")
    file = write("item,annotator,category\ni,A,1\nj,A,abc\nk,A,2\nl,A,3\n")
    with pytest.raises(Rejected, match="line 3: 'abc' is not a number, as the other"):
        ledger.import_file(file, "p", options=ordinal)
    result = ledger.import_file(file, "p", options=ordinal, skip_invalid=True)
    assert (result.inserted, result.rejected) == (3, 1)
    more = write("item,annotator,category\nm,A,abc\n")
    with pytest.raises(Rejected, match="line 2: 'abc'"):
        ledger.import_file(more, "p")


def test_an_order_that_is_missing_is_said_with_the_command_that_works(
    ledger: Ledger, write: Write
) -> None:
    file, ordinal = write("item,annotator,category\ni,A,low\n"), QuestionOptions(scale="ordinal")
    with pytest.raises(Refused, match="with the import: --categories low,middle,high"):
        ledger.import_file(file, "p", options=ordinal)
    ledger.projects.create("p", scale="ordinal")
    with pytest.raises(Refused, match="before: tracker project set p --categories"):
        ledger.import_file(file, "p")
