"""`tracker estimate`: what is counted for it, when it refuses, and what a draw makes of it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.helpers import SEVERAL, give, question_of, write_file
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption, NoBasis, NotFound
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.counts.filter import select_answers
from tracker.judge.cells import Cell, people_gave
from tracker.judge.panel_sql import count_panel
from tracker.judge.soft_labels import Sides, count_sides, sides_with, soft_label_distances
from tracker.ledger import Ledger
from tracker.projects.annotators import annotators_by_name
from tracker.projects.categories import category_names

_NUMBERS = count()
SETS: Any = {"options": SEVERAL, "separator": "|"}


def with_model(ledger: Ledger, answers: str, project: str = "p") -> None:
    """Let a model answer as many items, i0 and so on, as there are letters."""
    give(ledger, [(f"i{n}", "gpt", letter) for n, letter in enumerate(answers)], project)
    ledger.annotators.kind(project, "gpt", "model")


def label_drawn(ledger: Ledger, truth: str, who: str) -> list[int]:
    """Let somebody answer what they are assigned, by the letters; returns the items."""
    open_ = ledger.assignments.list("p", annotators=[who], states=["open"])
    items = [int(row.item[1:]) for row in open_]
    give(ledger, [(f"i{n}", who, truth[n]) for n in items])
    return items


ITEMS = st.integers(0, 6)
PEOPLE, MODELS = ["ann", "bob", "cat", "dot"], ["m1", "m2"]
GROUPS = {"one": ["ann", "bob"], "two": ["cat"]}


def answers_with(texts: list[str]) -> st.SearchStrategy[dict[tuple[int, str], str]]:
    """Some answers, and two that differ by a model and a person."""
    who = st.sampled_from([*PEOPLE, *MODELS])
    drawn = st.dictionaries(st.tuples(ITEMS, who), st.sampled_from(texts), max_size=30)
    return drawn.map(lambda answers: answers | {(0, "m1"): "x", (9, "m2"): "y", (0, "ann"): "y"})


def sides_of(answers: dict[tuple[int, str], str], model: str) -> dict[str, dict[Sides, int]]:
    """How often a model says what a group says, and what the others say."""
    sides: dict[str, Counter[Sides]] = {name: Counter() for name in GROUPS}
    for n in {n for n, who in answers if who == model}:
        texts = {who: answers[n, who] for who in PEOPLE if (n, who) in answers}
        for name, members in GROUPS.items():
            own = [text for who, text in texts.items() if who in members]
            rest = [text for who, text in texts.items() if who not in members]
            if own:
                said = answers[n, model]
                sides[name][Sides(len(own), own.count(said), len(rest), rest.count(said))] += 1
    return {name: dict(counts) for name, counts in sides.items()}


@both
@given(
    answers=answers_with(["x", "y", "z"]) | answers_with(["x", "y", "z", "x|y", "y|z"]),
    decided=st.dictionaries(ITEMS, st.sampled_from("xyz"), max_size=3),
)
@examples(20)
def test_cells_and_sides_are_those_of_a_plain_count(
    ledger: Ledger, answers: dict[tuple[int, str], str], decided: dict[int, str]
) -> None:
    project, several = f"p{next(_NUMBERS)}", any("|" in text for text in answers.values())
    rows = [(f"i{n}", who, text) for (n, who), text in answers.items()]
    give(ledger, rows, project, **(SETS if several else {}))
    for model in MODELS:
        ledger.annotators.kind(project, model, "model")
    known = {name for text in answers.values() for name in text.split("|")}
    decided = {n: c for n, c in decided.items() if c in known and n in {n for n, _ in answers}}
    for n, category in decided.items():
        ledger.adjudication.decide(project, f"i{n}", [category], reason="ambiguous")
    with ledger.database.read() as connection:
        question = question_of(connection, project)
        selection = select_answers(connection, question)
        people = annotators_by_name(connection, question.project)
        ids = {name: people[name].id for name in people}
        cells = count_panel(connection, selection, [ids[model] for model in MODELS])
        numbers = {name: n for n, name in category_names(connection, question).items()}
        groups = {name: [ids[who] for who in of if who in ids] for name, of in GROUPS.items()}
        if several:
            with pytest.raises(InvalidOption, match="no sides to take"):
                count_sides(connection, selection, frozenset(), groups)
        else:
            sides = count_sides(connection, selection, frozenset([ids["m1"]]), groups)
            expected = sides_of(answers, "m1")
            assert sides.get(ids["m1"], {name: {} for name in GROUPS}) == expected

    def answer(n: int, who: str) -> Answer | None:
        text = answers.get((n, who))
        return None if text is None else tuple(sorted(numbers[one] for one in text.split("|")))

    counts = Counter[Cell]()
    for n in {n for n, _ in answers}:
        given_ = [own for who in PEOPLE if (own := answer(n, who)) is not None]
        truth = (numbers[decided[n]],) if n in decided else None
        models = tuple(answer(n, model) for model in MODELS)
        counts[Cell(models, truth, make_pattern(given_))] += 1
    assert cells == dict(counts)


@both
def test_an_estimate_counts_majorities_and_decisions_and_says_what_it_left_out(
    ledger: Ledger, tmp_path: Path
) -> None:
    with_model(ledger, "xxxxyyyyxy")
    give(ledger, [(f"i{n}", who, letter) for who, letters in
                  {"ann": "xxyy", "bob": "xyyx", "cat": "xxy"}.items()
                  for n, letter in enumerate(letters)])  # fmt: skip
    give(ledger, [("i4", "ann", "x"), ("i5", "ann", "y"), ("new", "ann", "y")])
    ledger.adjudication.decide("p", "i4", ["y"], reason="ambiguous")
    ledger.import_items(write_file(tmp_path / "t.csv", "item,used-for\ni6,tuning\n"), "p",
                        keep=["used-for"])  # fmt: skip
    of = ledger.estimates.estimate("p", model="gpt", category="x", random=True)
    # i0, i1: x by people; i2: y; i3: tied; i4: y, decided; i5: y; the model: xxxxyy
    assert (of.labeled, of.items, of.differ) == (5, 8, 1)
    assert of.left_out.to_dict() == {
        "tuning": 1, "undecided": 1, "without_model": 1, "later": 0
    }  # fmt: skip
    assert of.human_only.value == pytest.approx(2 / 5)
    assert (of.corrected.true_positive_rate, of.corrected.true_negative_rate) == (1, 2 / 3)
    assert {row.answer: (row.items, row.labeled, row.value) for row in of.strata} == {
        "x": (4, 3, pytest.approx(2 / 3)), "y": (4, 2, 0.0)
    }  # fmt: skip
    assert of.stratified.value == pytest.approx(0.5 * 2 / 3)
    assert sum(row.next or 0 for row in of.strata) == 3  # no more items are left


def test_a_mean_is_that_of_the_numbers_people_gave(ledger: Ledger) -> None:
    with_model(ledger, "12345123451234512345")
    give(ledger, [(f"i{n}", "ann", str(1 + n % 5)) for n in range(10)])
    give(ledger, [(f"i{n}", "bob", "3") for n in range(5)])
    of = ledger.estimates.estimate("p", model="gpt", mean=True, random=True)
    assert of.human_only.value == pytest.approx(3)
    assert of.prediction_powered.value == pytest.approx(3)
    assert of.prediction_powered.worth is not None
    assert of.prediction_powered.worth > 10
    assert of.corrected.undefined == "only_shares"
    assert of.stratified.value == pytest.approx(3)


def test_an_agreement_is_of_the_items_that_two_people_answered(ledger: Ledger) -> None:
    """Where the model says y two people seldom agree; there are more such items without people."""
    with_model(ledger, "xxxxyyyyxyyyyyyy")
    give(ledger, [(f"i{n}", "ann", "x") for n in range(9)])
    give(ledger, [(f"i{n}", "bob", letter) for n, letter in enumerate("xxxyyyyx")])
    of = ledger.estimates.estimate("p", model="gpt", agreement=True, random=True)
    assert (of.measure, of.items, of.labeled, of.differ) == ("agreement", 16, 8, 0)
    assert of.human_only.value == pytest.approx(4 / 8)
    assert of.stratified.value == pytest.approx(5 / 16 * 3 / 4 + 11 / 16 * 1 / 4)
    assert of.prediction_powered.undefined == "no_prediction"
    assert of.corrected.undefined == "only_shares"
    with pytest.raises(InvalidOption, match="two figures"):
        ledger.estimates.estimate("p", model="gpt", agreement=True, mean=True, random=True)
    with pytest.raises(InvalidOption, match="--agreement is of all categories"):
        ledger.estimates.estimate("p", model="gpt", agreement=True, category="x", random=True)


def test_of_few_items_there_is_no_estimate(ledger: Ledger) -> None:
    with_model(ledger, "xxyy")
    give(ledger, [("i0", "ann", "x")])
    few = ledger.estimates.estimate("p", model="gpt", category="x", random=True)
    assert few.human_only.undefined == few.prediction_powered.undefined == "too_few_items"
    with pytest.raises(NotFound, match="no annotator 'gpt5'"):
        ledger.assignments.assign("p", to=["ann"], prefer="estimate", category="x", model="gpt5")


def test_of_several_categories_one_counts_that_most_people_gave(ledger: Ledger) -> None:
    people = {"a": ["x|y", "x|z"], "b": ["x|y", "y"], "c": ["z"], "e": ["x|y", "x"]}
    rows = [(item, f"person {n}", answer)
            for item, answers in people.items() for n, answer in enumerate(answers)]  # fmt: skip
    rows += [("a", "gpt", "x"), ("b", "gpt", "x"), ("c", "gpt", "x"), ("d", "gpt", "z"),
             ("e", "gpt", "z")]  # fmt: skip
    give(ledger, rows, **SETS)
    ledger.annotators.kind("p", "gpt", "model")
    of = ledger.estimates.estimate("p", model="gpt", category="x", random=True)
    assert (of.labeled, of.left_out.undecided, of.human_only.value) == (3, 1, pytest.approx(2 / 3))
    assert people_gave(Cell((), None, (((), 1),)), 1) == 0


@both
def test_items_drawn_at_random_are_known_to_be_and_others_are_counted(ledger: Ledger) -> None:
    truth = "".join(np.random.default_rng(1).choice(["x", "y"], 300, p=[0.3, 0.7]))
    with_model(ledger, truth)
    drawn = {"answers": 1, "per_annotator": 40, "prefer": "random", "seed": 3}
    ledger.assignments.assign("p", to=["ann"], **drawn)
    items = label_drawn(ledger, truth, "ann")
    assert items != sorted(items)
    of = ledger.estimates.estimate("p", model="gpt", category="x")
    assert (of.drawn, of.labeled, of.unanswered) == ("random", 40, 0)
    ledger.assignments.assign("p", to=["bob"], **drawn)
    assert ledger.estimates.estimate("p", model="gpt", category="x").unanswered == 40
    free = next(n for n in range(300) if n not in {*items} | {
        int(row.item[1:]) for row in ledger.assignments.list("p")})  # fmt: skip
    give(ledger, [(f"i{free}", "cat", "x")])
    with pytest.raises(NoBasis, match="1 of the 41 items that people answered were not drawn"):
        ledger.estimates.estimate("p", model="gpt", category="x")
    assert ledger.estimates.estimate("p", model="gpt", category="x", random=True).labeled == 41


def test_answers_before_a_draw_and_items_after_it_are_not_drawn_by_it(ledger: Ledger) -> None:
    with_model(ledger, "xxxyyy")
    ledger.assignments.assign("p", to=["bob"], answers=1, per_annotator=3, prefer="random")
    label_drawn(ledger, "xxxyyy", "bob")
    give(ledger, [("late", "gpt", "x"), ("later", "gpt", "x"), ("later", "ann", "x")])
    of = ledger.estimates.estimate("p", model="gpt", category="x")
    assert (of.items, of.labeled, of.left_out.later) == (6, 3, 2)
    ledger.projects.rename("p", "q")
    with_model(ledger, "xxxyyy")
    give(ledger, [("i0", "ann", "x"), ("i1", "ann", "x")])
    ledger.assignments.assign("p", to=["bob"], answers=2, prefer="random")
    label_drawn(ledger, "xxxyyy", "bob")
    with pytest.raises(NoBasis, match="2 of the 6 items"):
        ledger.estimates.estimate("p", model="gpt", category="x")


def test_a_draw_for_an_estimate_is_shared_out_by_the_models_answers(ledger: Ledger) -> None:
    answers = "x" * 40 + "y" * 160
    with_model(ledger, answers)
    truth = "x" * 20 + "y" * 180  # the model's x are right half the time, its y always
    ledger.assignments.assign("p", to=["ann"], answers=1, per_annotator=30, prefer="random")
    label_drawn(ledger, truth, "ann")
    of = ledger.estimates.estimate("p", model="gpt", category="x")
    wanted = {row.answer: row.next for row in of.strata}
    ledger.assignments.assign(
        "p", to=["bob"], answers=1, per_annotator=20, prefer="estimate", category="x", model="gpt"
    )
    first = Counter(answers[n] for n in label_drawn(ledger, truth, "bob"))
    assert first["x"] > first["y"]
    more = ledger.estimates.estimate("p", model="gpt", category="x")
    assert (more.drawn, more.labeled) == ("by_model", 50)
    undefined = more.human_only, more.prediction_powered, more.corrected
    assert {of.undefined for of in undefined} == {"drawn_by_model"}
    assert more.stratified.worth is not None
    assert of.stratified.worth is not None
    assert more.stratified.worth > of.stratified.worth
    assert wanted["x"] == 40 - sum(row.labeled for row in of.strata if row.answer == "x")
    # It says nothing of another model's answers.
    give(ledger, [(f"i{n}", "other", "x") for n in range(200)])
    ledger.annotators.kind("p", "other", "model")
    with pytest.raises(NoBasis, match="20 of the 50"):
        ledger.estimates.estimate("p", model="other", category="x")


CATEGORY = st.integers(1, 4)
ITEM = st.tuples(CATEGORY, st.lists(CATEGORY, max_size=5), st.floats(0.01, 0.99))


def tallied(items: list[tuple[int, list[int], float]]) -> Counter[tuple[Answer, Pattern]]:
    return Counter(((own,), make_pattern((a,) for a in people)) for own, people, _ in items)


@given(items=st.lists(ITEM, max_size=12))
def test_distances_are_those_of_each_item_and_its_people(
    items: list[tuple[int, list[int], float]],
) -> None:
    sure = Counter(
        ((own,), make_pattern((a,) for a in people), certain) for own, people, certain in items
    )
    of = soft_label_distances(
        tallied(items), places={n: float(n) for n in range(1, 5)}, sure=sure, categories=4
    )
    values = defaultdict(list)
    for own, people, certain in items:
        if not people:
            continue
        shares = np.bincount(people, minlength=5)[1:] / len(people)
        point = np.eye(4)[own - 1]
        soft = np.where(point == 1, certain, (1 - certain) / 3)
        values["manhattan"].append(np.abs(shares - point).sum())
        values["wasserstein"].append(stats.wasserstein_distance([own], people))
        values["cross_entropy"].append(-(shares * np.log2(soft)).sum())
        values["person_error"].append(np.mean([a != own for a in people]))
    for name in ("manhattan", "wasserstein", "cross_entropy", "person_error"):
        distance, expected = getattr(of, name), values[name]
        assert distance.items == len(expected)
        if not expected:
            assert distance.value is None
            continue
        assert distance.value == pytest.approx(np.mean(expected))
        if len(expected) > 1:
            error = np.std(expected, ddof=1) / math.sqrt(len(expected))
            reach = stats.t.ppf(0.975, len(expected) - 1) * error
            assert distance.ci_high == pytest.approx(np.mean(expected) + reach)


def test_distances_by_hand() -> None:
    of = soft_label_distances({((1,), (((2,), 3),)): 4})  # a hard answer that no person gave
    assert (of.cross_entropy.value, of.cross_entropy.undefined) == (None, "hard_answer")
    assert of.wasserstein.undefined == "no_order"
    assert soft_label_distances({((1,), (((1,), 3),)): 4}).cross_entropy.value == 0
    of = soft_label_distances({((1, 2), (((1,), 1), ((1, 3), 1))): 1})  # categories one by one
    assert of.manhattan.value == 0 + 1 + 0.5
    # Each person among the others: two of three say x, and are half wrong, the third always.
    of = soft_label_distances({((3,), (((1,), 2), ((2,), 1))): 10}, among=True)
    assert of.person_error.value == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    assert of.manhattan.value == pytest.approx((1 + 1 + 2) / 3)
    assert of.person_error.items == 10
    assert soft_label_distances({((1,), (((1,), 1),)): 5}, among=True).person_error.value is None


def test_a_model_that_sides_with_a_group_is_told_and_others_are_not() -> None:
    groups = {
        "old": {Sides(2, 2, 2, 1): 60, Sides(2, 1, 2, 1): 40},
        "young": {Sides(1, 1, 3, 2): 30, Sides(1, 0, 3, 2): 12},
        "alone": {Sides(1, 1, 0, 0): 9},
    }
    old, young, alone = sides_with(groups)
    values = [0.5] * 60 + [0.0] * 40
    assert old.difference == pytest.approx(0.3)
    p = stats.ttest_1samp(values, 0).pvalue
    other = stats.ttest_1samp([1 / 3] * 30 + [-2 / 3] * 12, 0).pvalue
    assert old.p == pytest.approx(2 * p)
    assert young.p == pytest.approx(max(other, 2 * p))
    assert (old.sides, young.sides, alone.sides) == (True, False, False)
    assert (alone.agreement, alone.difference, alone.p) == (1.0, None, None)


def test_two_equal_groups_are_seldom_told_apart() -> None:
    random, told, draws = np.random.default_rng(2), 0, 400
    for _ in range(draws):
        alike = random.random((60, 4)) < 0.7
        counts = [Counter[Sides](), Counter[Sides]()]
        for row in alike.tolist():
            first, second = sum(row[:2]), sum(row[2:])
            counts[0][Sides(2, first, 2, second)] += 1
            counts[1][Sides(2, second, 2, first)] += 1
        told += any(side.sides for side in sides_with({"a": counts[0], "b": counts[1]}))
    assert told / draws < 0.08
