"""Who said what about an item, and which items have too few answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import SEVERAL, count_statements, question_of
from tracker.counts.filter import make_answer_filter, select_answers
from tracker.counts.items import select_answers_to_items, select_items_below
from tracker.counts.selection import Selection
from tracker.ledger import Ledger
from tracker.projects.items import item_texts_of

ROWS = [
    ["item", "annotator", "category", "pass", "text"],
    ["one", "ann", "a", 1, "the first"],
    ["one", "bob", "b", 1, "the first"],
    ["one", "bob", "a", 2, "the first"],
    ["two", "ann", "a", 1, None],
    ["three", "cy", None, 1, None],
]


@pytest.fixture
def asked(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """Items of two answers, one, and a skipped one; and one that nobody has seen."""
    ledger.import_file([write(ROWS)], "p")
    ledger.import_items([write([["item"], ["four"]], "items.csv")], "p")
    return ledger


def test_answers_to_items_are_those_that_count(asked: Ledger) -> None:
    with asked.database.read() as connection:
        question = question_of(connection)
        selection = select_answers(connection, question)
        texts = item_texts_of(connection, question.project, range(1, 9))
        (one,) = [item for item, (name, _) in texts.items() if name == "one"]
        found = select_answers_to_items(connection, selection, [one])
        assert item_texts_of(connection, question.project, [one]) == {one: ("one", "the first")}
    assert [answer for _, answer in found[one]] == [(1,), (2,)]


def test_items_below_the_number_are_named_in_the_order_of_import(asked: Ledger) -> None:
    def below(wanted: int, most: int = 9, left_out: bool = False) -> list[tuple[str, int]]:
        with asked.database.read() as connection:
            question = question_of(connection)
            selection = (
                select_answers(connection, question, make_answer_filter(exclude_annotators=["ann"]))
                if left_out
                else select_answers(connection, question)
            )
            rows = select_items_below(connection, selection, wanted, most)
            return [(name, answers) for _, name, answers in rows]

    assert below(2) == [("two", 1), ("three", 0), ("four", 0)]
    assert below(3, most=2) == [("one", 2), ("two", 1)]
    assert below(1, left_out=True) == [("two", 0), ("three", 0), ("four", 0)]
    assert below(0) == []


def test_several_categories_are_one_answer(ledger: Ledger, write: Callable[..., Path]) -> None:
    rows = [["item", "annotator", "category"], ["x", "a", "p"], ["x", "a", "q"], ["x", "b", "p"]]
    ledger.import_file([write(rows)], "p", options=SEVERAL)
    with ledger.database.read() as connection:
        selection: Selection = select_answers(connection, question_of(connection))
        with count_statements(ledger.database.engine) as counted:
            found = select_answers_to_items(connection, selection, [1])
            rows_below = select_items_below(connection, selection, 3, 5)
    assert [answer for _, answer in found[1]] == [(1, 2), (1,)]
    assert [(name, answers) for _, name, answers in rows_below] == [("x", 2)]
    assert counted.number == 2
