"""Items: lists of them, and which have too few answers; answers in their order."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from tests.counts.plain import Rows
from tests.counts.selected import Selected, check_each, selected
from tests.helpers import Write, give, question_of, undo
from tests.profiles import both
from tracker.core.tallies import Answer, Pattern, answers_in_pattern, make_pattern
from tracker.counts import in_turn
from tracker.counts.filter import make_answer_filter, select_answers
from tracker.counts.items import (
    ORDERS,
    ItemChoice,
    select_answers_to_items,
    select_item_page,
    select_items_below,
)
from tracker.counts.selection import Selection
from tracker.ledger import Ledger
from tracker.projects.categories import category_names
from tracker.projects.items import item_names, item_texts_of
from tracker.storage.schema import NONE_APPLIES

ALL = ItemChoice()


def listed(chosen: Selected, choice: ItemChoice, most: int = 100) -> list[int]:
    """The numbers of the items of all pages, each from the last item on or, in an order, on."""
    items: list[int] = []
    while True:
        start = 0 if not items else len(items) if choice.order != ALL.order else items[-1]
        page = select_item_page(chosen.connection, chosen.selection, choice, start, most)
        assert len(page) <= most
        items += [item.id for item in page]
        if len(page) < most:
            return items


def labels(answer: Answer) -> set[int]:
    return set(answer) or {NONE_APPLIES}


def fits(answers: dict[int, Answer], choice: ItemChoice) -> bool:
    if not set(choice.annotators) <= set(answers):
        return False
    among = {w: labels(a) for w, a in answers.items()
             if not choice.annotators or w in choice.annotators}  # fmt: skip
    others = [labels(a) for w, a in answers.items() if w not in choice.annotators]
    wanted = sorted(choice.categories)
    return (
        not (choice.differ and len({*map(frozenset, among.values())}) < 2)
        and all(any(label in answer for answer in others) for label in choice.of_others)
        and not (choice.fewer_than is not None and len(answers) >= choice.fewer_than)
        and (len(wanted) != 1 or any(wanted[0] in answer for answer in among.values()))
        and (
            len(wanted) < 2
            or any(wanted[0] in among[w] and wanted[1] in among[v]
                   for w in among for v in among if w != v)
        )
    )  # fmt: skip


def place(answers: dict[int, Answer], order: str) -> float:
    if order in {"answers", "recent"}:
        return len(answers) if order == "answers" else 0.0  # these rows have no times of their own
    pairs = [*combinations([one for answer in answers.values() for one in labels(answer)], 2)]
    return -sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0


def check_pages(chosen: Selected) -> None:
    answers = {one.item: chosen.compared.get(one.item, {}) for one in chosen.raw.given}
    people = sorted(chosen.plain.humans)
    categories = sorted({c for given in answers.values() for a in given.values() for c in a})
    pairs = [*combinations(categories, 2)][:2]
    choices = [
        ALL, ItemChoice(differ=True), ItemChoice(fewer_than=3),
        *(ItemChoice(categories=[one]) for one in [*categories[:1], NONE_APPLIES]),
        *(ItemChoice(categories=pair) for pair in pairs[:1]),
        ItemChoice(annotators=people[:1]), ItemChoice(annotators=people[:2], differ=True),
        ItemChoice(annotators=people[1:3], categories=categories[:2]),
        *(ItemChoice(annotators=people[:1], categories=[one], of_others=[two])
          for one, two in pairs),
    ]  # fmt: skip
    for number, choice in enumerate(choices):
        expected = [item for item in sorted(answers) if fits(answers[item], choice)]
        assert listed(chosen, choice, (100, 2)[number % 2 or choice == ALL]) == expected, choice
    for order in ORDERS[1:]:
        ordered = listed(chosen, ItemChoice(order=order), 2)
        assert sorted(ordered) == sorted(answers)
        places = [place(answers[item], order) for item in ordered]
        assert places == sorted(places), order
    for item in select_item_page(chosen.connection, chosen.selection, ALL, 0, 100):
        given = answers[item.id].values()
        assert item.answers == len(given)
        assert item.votes == Counter(c for answer in given for c in labels(answer))


@both
@pytest.mark.parametrize(
    ("backend", "kind"), [("sqlite", "one"), ("sqlite", "several"), ("postgresql", "several")]
)
def test_pages_hold_the_items_that_fit_with_their_votes(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_pages, examples=1)


ROWS: Rows = {
    (item, who, 1): frozenset("x") for item in ("Ä 50%", "b_2", "BX2") for who in ("A", "B")
}


@both
def test_a_search_takes_every_sign_as_it_is(ledger: Ledger) -> None:
    with selected(ledger, ROWS, "one") as chosen:
        known = item_names(chosen.connection, chosen.question.project)
        for search, names in (
            ("B", ["b_2", "BX2"]),
            ("b_", ["b_2"]),
            ("50%", ["Ä 50%"]),
            ("é", []),
        ):
            items = listed(chosen, ItemChoice(search=search))
            assert sorted(known[item] for item in items) == sorted(names), search


def test_answers_to_items_and_items_with_too_few(ledger: Ledger, write: Write) -> None:
    """Items of two answers, one, and a skipped one; and one without any, in their order."""
    rows = [
        ["item", "annotator", "category", "pass", "text"],
        ["one", "ann", "a", 1, "the first"],
        ["one", "bob", "b", 1, "the first"],
        ["one", "bob", "a", 2, "the first"],
        ["two", "ann", "a", 1, None],
        ["three", "cy", None, 1, None],
    ]
    ledger.import_file([write(rows)], "p", empty="skipped")
    ledger.import_items([write([["item"], ["four"]], "items.csv")], "p")
    with ledger.database.read() as connection:
        question = question_of(connection)
        whole = select_answers(connection, question)
        without = select_answers(connection, question, make_answer_filter(exclude_annotators="ann"))
        answers = select_answers_to_items(connection, whole, [1])
        assert [answer for _, answer in answers[1]] == [(1,), (2,)]
        assert item_texts_of(connection, question.project, [1]) == {1: ("one", "the first")}
        for selection, wanted, most, expected in (
            (whole, 2, 9, [("two", 1), ("three", 0), ("four", 0)]),
            (whole, 3, 2, [("one", 2), ("two", 1)]),
            (without, 1, 9, [("two", 0), ("three", 0), ("four", 0)]),
            (whole, 0, 9, []),
        ):
            below = select_items_below(connection, selection, wanted, most)
            assert [(name, number) for _, name, number in below] == expected


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
    give(ledger, sorted(rows), project, "labeled_at", "pass", empty="skipped")
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
