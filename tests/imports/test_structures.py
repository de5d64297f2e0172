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


@pytest.mark.parametrize(("answers", "cells"), [("several", OBJECTS), ("one", OBJECTS + LISTS)])
def test_a_structure_is_no_category(
    sqlite_ledger: Ledger, write: Write, cells: list[str], answers: str
) -> None:
    rows = [(n, "A", cell) for n, cell in enumerate(cells)]
    file = write([("item", "annotator", "category"), ("i", "A", "x"), *rows])
    with pytest.raises(Refused, match=r"line 3: the category .* is a list or an object"):
        sqlite_ledger.import_file(file, "p", options=QuestionOptions(answers=answers))
    assert stored(sqlite_ledger) == {}
    options = QuestionOptions(answers=answers)
    rejected = sqlite_ledger.import_file(file, "p", options=options, skip_invalid=True).rejections
    for cell, one in zip(cells, rejected, strict=True):
        assert "is a list or an object" in one.reason, cell
    declared = QuestionOptions(answers=answers, categories=("x", *cells))
    made = sqlite_ledger.import_file(file, "declared", options=declared)
    assert fates(made) == {"inserted": len(cells) + 1}


def test_brackets_alone_are_no_structure(sqlite_ledger: Ledger, write: Write) -> None:
    cells = ["[x]", "{", "[1", "[" * 400, "(1, 2)", "[sic]", "{a}"]
    rows = [(n, "A", cell) for n, cell in enumerate(cells)]
    sqlite_ledger.import_file(write([("item", "annotator", "category"), *rows]), "p")
    assert [cell for _, _, cell in standing(sqlite_ledger)] == cells
