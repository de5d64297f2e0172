"""The answers of two annotators against each other."""

from __future__ import annotations

import pandas as pd
import pytest

from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger


def fill(ledger: Ledger, rows: list[tuple[str, str, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, "p")


def test_rows_are_of_the_first_by_name_whoever_came_first(ledger: Ledger) -> None:
    fill(ledger, [("1", "z", "y"), ("1", "a", "x"), ("2", "z", "x"), ("2", "a", "x"),
                  ("3", "z", "y"), ("3", "a", "x"), ("4", "z", "y"), ("4", "m", "x")])  # fmt: skip
    for two in (("a", "z"), ("z", "a")):
        found = ledger.cross_table("p", *two)
        assert found.to_dict() == {
            "annotators": ["a", "z"], "answers": ["x", "y"], "items": [[1, 2], [0, 0]]
        }  # fmt: skip


def test_answers_stand_in_the_order_of_the_categories(ledger: Ledger) -> None:
    ledger.projects.create("p", scale="ordinal", categories=("low", "high"))
    fill(ledger, [("1", "a", "high"), ("1", "b", "low"), ("2", "a", "low"), ("2", "b", "low")])
    found = ledger.cross_table("p", "a", "b").to_dict()
    assert found["answers"] == ["low", "high"]
    assert found["items"] == [[1, 0], [1, 0]]


def test_an_answer_of_several_categories_is_one(ledger: Ledger) -> None:
    ledger.projects.create("p", answers="several")
    fill(ledger, [("1", "a", "y"), ("1", "a", "x"), ("1", "b", ""), ("2", "a", "x"),
                  ("2", "b", "x")])  # fmt: skip
    found = ledger.cross_table("p", "a", "b")
    assert found.answers == ["(none)", "x", "x + y"]
    assert found.items == {("x + y", "(none)"): 1, ("x", "x"): 1}


def test_two_who_share_no_item_have_an_empty_table(ledger: Ledger) -> None:
    fill(ledger, [("1", "a", "x"), ("2", "b", "x")])
    assert ledger.cross_table("p", "a", "b").to_dict()["items"] == []


def test_what_is_no_pair_is_refused(ledger: Ledger) -> None:
    fill(ledger, [("1", "a", "x"), ("1", "b", "x")])
    with pytest.raises(InvalidOption, match="two annotators"):
        ledger.cross_table("p", "a", "a")
    with pytest.raises(NotFound, match="nobody"):
        ledger.cross_table("p", "a", "nobody")
    ledger.projects.create("s", answers="spans")
    with pytest.raises(InvalidOption, match="spans"):
        ledger.cross_table("s", "a", "b")
