"""A column named question, in a project with one question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[[str], Path]


def test_rows_of_another_question_than_the_only_named_one_are_rejected(
    ledger: Ledger, write: Write
) -> None:
    ledger.import_file(write("item,annotator,fair\ni,A,yes\ni,B,no"), "p", questions=["fair=fair"])
    rows = "item,annotator,question,category\nj,A,fair,no\nk,A,tone,rude\n"
    with pytest.raises(Refused, match=r"line 3: 'p' has no question 'tone'"):
        ledger.import_file(write(rows), "p")
    assert ledger.import_file(write(rows), "p", skip_invalid=True).inserted == 1
    assert ledger.import_file(write(rows), "p", columns=["question="]).rejected == 0


def test_without_a_name_for_the_only_question_the_column_is_left_out(
    ledger: Ledger, write: Write
) -> None:
    ledger.projects.create("p")
    rows = "item,annotator,question,category\ni,A,Who is it?,yes\nj,A,Where?,no\n"
    (read,) = ledger.import_file(write(rows), "p").columns
    assert read["left_out"] == ["question"]
