"""Answers in their order: the first ones, whatever stands now, and the last ones."""

from __future__ import annotations

import random
from dataclasses import replace

import pandas as pd

from tests.helpers import question_of, undo
from tests.profiles import both
from tracker.core.tallies import Answer, Pattern, answers_in_pattern, make_pattern
from tracker.counts import in_turn
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.ledger import Ledger
from tracker.projects.categories import category_names

Row = tuple[str, str, str, str, int]
PEOPLE = ("ada", "bob", "carl")


def moment(day: int) -> str:
    return f"2026-01-{day + 1:02}T12:00"


def rows_of(seed: int, items: int = 24) -> list[Row]:
    """Answers of three people and a reference; some are revised, or given again on a pass."""
    draw = random.Random(seed)  # noqa: S311
    rows = [(f"i{n:02}", "gold", draw.choice("xyz"), moment(0), 1) for n in range(0, items, 2)]
    for who in PEOPLE:
        for n in draw.sample(range(items), items - 4):
            for day, turn in sorted({(draw.randrange(28), 1), (draw.randrange(28), 1)}):
                rows.append((f"i{n:02}", who, draw.choice("xyz"), moment(day), turn))
            if draw.random() < 0.2:
                rows.append((f"i{n:02}", who, draw.choice("xyz"), moment(27), 2))
    return rows


def firsts(rows: list[Row], who: str) -> list[tuple[str, str, str]]:
    """An annotator's first answer to each item on the first pass: moment, item, category."""
    first: dict[str, tuple[str, str, str]] = {}
    for item, annotator, category, at, turn in rows:
        if annotator == who and turn == 1 and (item not in first or at < first[item][0]):
            first[item] = (at, item, category)
    return sorted(first.values())


def fill(ledger: Ledger, rows: list[Row], project: str = "p") -> dict[str, int]:
    columns = ["item", "annotator", "category", "labeled_at", "pass"]
    ledger.import_frame(pd.DataFrame(sorted(rows), columns=columns), project)
    if any(who == "gold" for _, who, *_ in rows):
        ledger.annotators.kind(project, "gold", "reference")
    return {one.annotator.name: one.annotator.id for one in ledger.annotators.list(project)}


def alone(selection: Selection, number: int) -> Selection:
    return replace(selection, left_out=frozenset(), only=frozenset({number}))


@both
def test_first_answers_are_graded_in_their_order_and_meet_the_others(ledger: Ledger) -> None:
    rows = rows_of(7)
    numbers = fill(ledger, rows)
    truths = {item: category for item, who, category, _, _ in rows if who == "gold"}
    stands, times = {}, {}
    for item, who, category, at, turn in sorted(rows, key=lambda row: row[3]):
        if turn == 1 and who != "gold":
            stands[item, who], times[item, who] = category, at
    with ledger.database.read() as connection:
        question = question_of(connection)
        selection = select_answers(connection, question)
        assert in_turn.count_gold_items(connection, selection) == len(truths)
        recent = in_turn.recent_gold_tallies(connection, selection, 5, {})
        for who in PEOPLE:
            graded = [answer == truths[item] for _, item, answer in firsts(rows, who)
                      if item in truths]  # fmt: skip
            assert in_turn.gold_outcomes(connection, alone(selection, numbers[who])) == graded
            assert recent[numbers[who]] == (sum(graded[-5:]), 5)
        later = in_turn.recent_gold_tallies(connection, selection, 5, {numbers["ada"]: 10**15 * 3})
        assert sorted(later) == sorted([numbers["bob"], numbers["carl"]])
        numbered = {name: number for number, name in category_names(connection, question).items()}
        ada = numbers["ada"]
        met = in_turn.first_answers_and_patterns(
            connection, alone(selection, ada), selection.without(frozenset({ada}))
        )
        shared = in_turn.recent_shared_answers(connection, selection, 6, {})[ada]

    def as_answer(category: str) -> Answer:
        return (numbered[category],)

    def pattern(item: str, people: tuple[str, ...]) -> Pattern:
        return make_pattern(as_answer(stands[item, who]) for who in people if (item, who) in stands)

    assert met == [
        (as_answer(answer), pattern(item, ("bob", "carl")))
        for _, item, answer in firsts(rows, "ada")
        if pattern(item, ("bob", "carl"))
    ]
    last = sorted(((at, *key) for key, at in times.items() if key[1] == "ada"), reverse=True)
    answers = [(as_answer(stands[item, who]), pattern(item, PEOPLE)) for _, item, who in last]
    assert shared == [answer for answer in answers if answers_in_pattern(answer[1]) > 1][:6]


def test_answers_taken_back_were_not_given(ledger: Ledger) -> None:
    fill(ledger, [("i", "gold", "x", moment(0), 1), ("i", "ada", "x", moment(2), 1)])
    numbers = fill(ledger, [("i", "ada", "y", moment(1), 1)])

    def graded() -> list[bool]:
        with ledger.database.read() as connection:
            selection = select_answers(connection, question_of(connection))
            return in_turn.gold_outcomes(connection, alone(selection, numbers["ada"]))

    assert graded() == [False], "the earlier one"
    undo(ledger, 2)
    assert graded() == [True]
