"""Cells that look like JSON: lists of categories are read where they can be, others explained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tracker.core.errors import Refused
from tracker.imports.structured_cells import advice_for_structure, listed_texts
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[[str], Path]
SEVERAL = QuestionOptions(answers="several")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', 'b c']", ["a", "b c"]),
        ("""["it's", 'so']""", ["it's", "so"]),
        ("[1, 2.5]", ["1", "2.5"]),
        ("""['it\\'s', -3, "so",]""", ["it's", "-3", "so"]),
        (r"['\x']", None),
        ("[]", []),
        ("['a' 'b']", None),
        ("[a, b]", None),
        ('[["a"]]', None),
        ('[{"a": 1}]', None),
        ("[true]", None),
        ('{"a": 1}', None),
        ("[f('a')]", None),
        ("[" * 3000 + "]" * 3000, None),
    ],
)
def test_lists_of_texts(text: str, found: list[str] | None) -> None:
    assert listed_texts(text) == found


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ('{"choices": ["x", "y"]}', "Label Studio"),
        ('[{"start": 1, "end": 2, "text": "x", "labels": ["y"]}]', "Label Studio"),
        ('[{"rating": 3}]', "Label Studio"),
        ('["x", "y"]', "--answers several"),
        ('{"tone": "x"}', "write one category a row"),
        ('{"choices": "x"}', "write one category a row"),
        ('[{"a": 3}]', "write one category a row"),
    ],
)
def test_what_to_do_is_said_only_if_it_is_known(write: Write, sqlite_ledger: Ledger,
                                                cell: str, advice: str) -> None:  # fmt: skip
    quoted = '"' + cell.replace('"', '""') + '"'
    with pytest.raises(Refused, match="a list or an object") as caught:
        sqlite_ledger.import_file(write(f"item,annotator,tone\ni,A,{quoted}\n"), "p",
                                  columns=["category=tone"])  # fmt: skip
    assert advice in str(caught.value)
    assert "--answers" not in advice_for_structure(cell, "several")


def test_lists_of_a_question_of_several_are_its_categories(ledger: Ledger, write: Write) -> None:
    rows = 'i,A,"[""x"", ""y""]"\ni,B,"[\'x\']"\nj,A,[]\nj,B,x\n'
    path = write(f"item,annotator,category\n{rows}")
    ledger.import_file(path, "p", options=SEVERAL)
    assert ledger.import_file(path, "p").unchanged == 5
    frame = ledger.export_frame("p").astype(object).fillna("")
    assert sorted(zip(frame["item"], frame["annotator"], frame["category"], strict=True)) == [
        ("i", "A", "x"), ("i", "A", "y"), ("i", "B", "x"), ("j", "A", ""), ("j", "B", "x"),
    ]  # fmt: skip
    with pytest.raises(Refused, match="a list or an object"):
        ledger.import_file(write("item,annotator,category\nk,A,\"['x' 'y']\"\n"), "p")


def test_a_list_of_one_category_is_it_in_a_question_of_one(
    sqlite_ledger: Ledger, write: Write
) -> None:
    file = write("item,annotator,stars,gold\ni,A,['4'],[\"4\"]\ni,B,[4],\nj,A,5,\n")
    sqlite_ledger.import_file(file, "p", columns=["category=stars"])
    assert sorted(sqlite_ledger.export_frame("p")["category"]) == ["4", "4", "4", "5"]


def test_a_declared_category_may_look_like_a_list(ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(answers="several", categories=("[1]", "x"))
    ledger.import_file(write("item,annotator,category\ni,A,[1]\n"), "p", options=options)
    assert list(ledger.export_frame("p")["category"]) == ["[1]"]
