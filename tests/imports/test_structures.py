"""Cells that hold more than one thing: a list or an object is no category."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]


OBJECTS = ['{"choices":["Speed","Price"]}', '[{"rating":5}]', "{}", '[{"a":5}]', "['a' 'b']"]
LISTS = ['["a","b"]', "['a', 'b']", "[]"]


@pytest.mark.parametrize(
    ("answers", "cell"),
    [*(("several", cell) for cell in OBJECTS), *(("one", cell) for cell in OBJECTS + LISTS)],
)
def test_a_structure_is_no_category(
    sqlite_ledger: Ledger, write: Write, cell: str, answers: str
) -> None:
    file = write([("item", "annotator", "category"), ("i", "A", "x"), ("j", "A", cell)])
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_file(file, "p", options=QuestionOptions(answers=answers))
    assert f"{file}, line 3: the category " in str(caught.value)
    assert "is a list or an object" in str(caught.value)
    assert stored(sqlite_ledger) == {}
    declared = QuestionOptions(answers=answers, categories=("x", cell))
    assert fates(sqlite_ledger.import_file(file, "p", options=declared)) == {"inserted": 2}


@pytest.mark.parametrize("cell", ["[x]", "{", "[1", "[" * 400, "(1, 2)", "[sic]", "{a}"])
def test_brackets_alone_are_no_structure(sqlite_ledger: Ledger, write: Write, cell: str) -> None:
    sqlite_ledger.import_file(write([("item", "annotator", "category"), ("i", "A", cell)]), "p")
    assert standing(sqlite_ledger) == [("i", "A", cell)]
