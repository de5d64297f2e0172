"""The queue of contested items against a plain count of all answers."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, count

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import SEVERAL, count_statements
from tests.profiles import both, examples
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

_numbers = count(1)
_PEOPLE = ("ada", "bo", "cy", "dan")
ANSWERS = st.dictionaries(
    st.tuples(st.integers(1, 6).map("i{}".format), st.sampled_from(_PEOPLE)),
    st.sampled_from(["x", "y", "z"]), min_size=1, max_size=20,
)  # fmt: skip


def filled(ledger: Ledger, answers: dict[tuple[str, str], str], **options: str) -> str:
    project = f"p{next(_numbers)}"
    rows = [(*key, category) for key, category in answers.items()]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, project, options=QuestionOptions(**options))
    return project


def plain(answers: dict[tuple[str, str], str]) -> dict[str, tuple[dict[str, int], float]]:
    """Votes and gain of each contested item, as the docstring has them."""
    votes = {}
    for (item, _), category in answers.items():
        votes.setdefault(item, Counter())[category] += 1
    met = Counter(pair for own in votes.values() for pair in combinations(sorted(own), 2))
    gains = {
        item: sum(2 * own[a] * own[b] * met[a, b] for a, b in combinations(sorted(own), 2))
        / (own.total() * (own.total() - 1))
        for item, own in votes.items()
        if len(own) > 1
    }
    return {item: (dict(votes[item]), gain) for item, gain in gains.items()}


@both
@given(ANSWERS)
@examples(40)
def test_votes_gains_and_their_order_are_those_of_a_plain_count(ledger, answers):
    listed = ledger.adjudication.list(filled(ledger, answers), limit=0).items
    expected = plain(answers)
    assert {one.item: (dict(one.votes), pytest.approx(one.gain)) for one in listed} == expected
    gains = [one.gain for one in listed]
    assert gains == sorted(gains, reverse=True)


@given(ANSWERS, st.data())
@examples(15)
def test_what_is_decided_is_no_longer_contested_nor_like_anything(ledger, answers, data):
    project = filled(ledger, answers)
    items = sorted({item for item, _ in answers})
    for item in data.draw(st.lists(st.sampled_from(items), unique=True, max_size=3)):
        ledger.adjudication.decide(project, item, reason="ambiguous")
        answers = {key: category for key, category in answers.items() if key[0] != item}
    listed = ledger.adjudication.list(project, limit=0).items
    assert {one.item: (dict(one.votes), pytest.approx(one.gain)) for one in listed} == plain(
        answers
    )


@both
def test_an_answer_of_several_categories_is_one_answer(ledger):
    rows = [("i1", "ada", "b|a"), ("i1", "bo", "a|b"), ("i2", "ada", "a|b"), ("i2", "bo", "a"),
            ("i3", "ada", "a"), ("i3", "bo", None)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, "p", options=SEVERAL, separator="|")
    listed = ledger.adjudication.list("p").to_dict()["items"]
    assert [(one["item"], one["votes"], one["gain"]) for one in listed] == [
        ("i2", {"a": 2, "b": 1}, 1.0), ("i3", {"a": 1, "(none)": 1}, 1.0),
    ]  # fmt: skip


@both
def test_numbers_are_contested_by_their_distance(ledger):
    answers = {("i1", "ada"): "1", ("i1", "bo"): "2", ("i2", "ada"): "1", ("i2", "bo"): "5",
               ("i3", "ada"): "1", ("i3", "bo"): "2", ("i3", "cy"): "2"}  # fmt: skip
    project = filled(ledger, answers, scale="interval")
    listed = ledger.adjudication.list(project).items
    assert [(one.item, one.gain) for one in listed] == [
        ("i2", 16.0), ("i1", 1.0), ("i3", pytest.approx(2 / 3))]  # fmt: skip


@both
def test_spans_that_differ_are_contested(ledger):
    rows = [("i1", "ada", "x", 0, 3), ("i1", "bo", "x", 0, 3), ("i2", "ada", "x", 0, 3),
            ("i2", "bo", "x", 0, 4)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category", "start", "end"])
    ledger.import_frame(frame, "p", options=QuestionOptions(answers="spans"))
    assert [(one.item, one.gain) for one in ledger.adjudication.list("p").items] == [("i2", 1.0)]


def test_models_and_references_contest_nothing_unless_they_are_named(ledger):
    project = filled(ledger, {("i1", "ada"): "x", ("i1", "gpt"): "y"})
    ledger.annotators.kind(project, "gpt", "model")
    assert ledger.adjudication.list(project).items == ()
    named = ledger.adjudication.list(project, annotators=["ada", "gpt"])
    assert [one.item for one in named.items] == ["i1"]


def test_more_answers_take_no_more_statements(ledger):
    few, many = (
        filled(ledger, {(f"i{n}", who): "xy"[turn % 2] for n in range(items)
                        for turn, who in enumerate(_PEOPLE)})
        for items in (2, 40)
    )  # fmt: skip
    with count_statements(ledger.database.engine) as of_few:
        ledger.adjudication.list(few)
    with count_statements(ledger.database.engine) as of_many:
        ledger.adjudication.list(many)
    assert of_few.number == of_many.number
