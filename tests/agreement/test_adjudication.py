"""The queue of contested items, and the categories that are confused, against plain counts."""

from collections import Counter
from itertools import combinations, count

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement.crowd import PEOPLE
from tests.helpers import SEVERAL, SPANS, give
from tests.profiles import both, examples
from tracker.core.errors import NotFound
from tracker.projects.questions import QuestionOptions

_numbers = count(1)
COLUMNS = ["item", "annotator", "category"]
ANSWERS = st.dictionaries(
    st.tuples(st.integers(1, 6).map("i{}".format), st.sampled_from(PEOPLE)),
    st.sampled_from("xyz"), min_size=1, max_size=20,
)  # fmt: skip


def fill(ledger, answers, **options):
    project = f"p{next(_numbers)}"
    rows = [(*key, label) for key, label in answers.items()]
    give(ledger, rows, project, options=QuestionOptions(**options))
    return project


def plain(answers):
    votes = {}
    for (item, _), category in answers.items():
        votes.setdefault(item, Counter())[category] += 1
    pairs = Counter(pair for own in votes.values() for pair in combinations(sorted(own), 2))
    gains = {
        item: sum(2 * own[a] * own[b] * pairs[a, b] for a, b in combinations(sorted(own), 2))
        / (own.total() * (own.total() - 1))
        for item, own in votes.items()
        if len(own) > 1
    }
    return {item: (dict(votes[item]), pytest.approx(gain)) for item, gain in gains.items()}


@both
@given(ANSWERS, st.data())
@examples(10)
def test_votes_and_gains_of_contested_items(ledger, answers, data):
    """Decided items are no longer contested, and no longer alike to others."""
    project = fill(ledger, answers)
    listed = ledger.adjudication.list(project, limit=0).items
    assert {row.item: (dict(row.votes), row.gain) for row in listed} == plain(answers)
    gains = [row.gain for row in listed]
    assert gains == sorted(gains, reverse=True)
    items = sorted({item for item, _ in answers})
    decided = data.draw(st.lists(st.sampled_from(items), unique=True, max_size=3))
    for item in decided:
        ledger.adjudication.decide(project, item, reason="ambiguous")
    rest = {key: category for key, category in answers.items() if key[0] not in decided}
    listed = ledger.adjudication.list(project, limit=0).items
    assert {row.item: (dict(row.votes), row.gain) for row in listed} == plain(rest)


@both
def test_sets_numbers_and_spans_are_contested_as_one_answer(ledger):
    rows = [("i1", "ada", "b|a"), ("i1", "bo", "a|b"), ("i2", "ada", "a|b"), ("i2", "bo", "a"),
            ("i3", "ada", "a"), ("i3", "bo", None)]  # fmt: skip
    give(ledger, rows, "sets", options=SEVERAL, separator="|")
    listed = ledger.adjudication.list("sets").to_dict()["items"]
    assert [(row["item"], row["votes"], row["gain"]) for row in listed] == [
        ("i2", {"a": 2, "b": 1}, 1.0), ("i3", {"a": 1, "(none)": 1}, 1.0),
    ]  # fmt: skip
    answers = {("i1", "ada"): "1", ("i1", "bo"): "2", ("i2", "ada"): "1", ("i2", "bo"): "5",
               ("i3", "ada"): "1", ("i3", "bo"): "2", ("i3", "cy"): "2"}  # fmt: skip
    listed = ledger.adjudication.list(fill(ledger, answers, scale="interval")).items
    gains = [("i2", 16.0), ("i1", 1.0), ("i3", pytest.approx(2 / 3))]  # by distance
    assert [(row.item, row.gain) for row in listed] == gains
    rows = [("i1", "ada", "x", 0, 3), ("i1", "bo", "x", 0, 3), ("i2", "ada", "x", 0, 3),
            ("i2", "bo", "x", 0, 4)]  # fmt: skip
    give(ledger, rows, "spans", "start", "end", options=SPANS)
    listed = ledger.adjudication.list("spans").items
    assert [(row.item, row.gain) for row in listed] == [("i2", 1.0)]


def test_models_contest_nothing_unless_they_are_named(ledger):
    project = fill(ledger, {("i1", "ada"): "x", ("i1", "gpt"): "y"})
    ledger.annotators.kind(project, "gpt", "model")
    assert ledger.adjudication.list(project).items == ()
    named = ledger.adjudication.list(project, annotators=["ada", "gpt"])
    assert [row.item for row in named.items] == ["i1"]


ITEMS = {
    "split": {"ann": "a", "bob": "b"},
    "all but one": {"ann": "a", "bob": "a", "cy": "a", "dee": "b"},
    "three ways": {"ann": "a", "bob": "b", "cy": "c"},
    "agreed": {"ann": "a", "bob": "a"},
    "alone": {"ann": "c"},
}


CONFUSED = [{"item": item, "annotator": name, "category": label, "text": f"text of {item}"}
            for item, labels in ITEMS.items() for name, label in labels.items()]  # fmt: skip


def test_confusions_show_the_items_that_are_most_divided(sqlite_ledger):
    sqlite_ledger.import_frame(pd.DataFrame(CONFUSED), "p")
    result = sqlite_ledger.confusions("p").to_dict()
    assert result["disagreements"] == 7
    rows = [(row["categories"], row["disagreements"], row["items"]) for row in result["confusions"]]
    assert rows == [(["a", "b"], 5, 3), (["a", "c"], 1, 1), (["b", "c"], 1, 1)]
    shown = result["confusions"][0]["examples"]
    assert [item["item"] for item in shown] == ["split", "all but one", "three ways"]
    assert shown[0]["text"] == "text of split"
    pair = [{"annotator": "ann", "answer": "a"}, {"annotator": "bob", "answer": "b"}]
    assert shown[0]["answers"] == pair
    chosen = sqlite_ledger.confusions("p", exclude_annotators=["bob"]).to_dict()["confusions"]
    assert [row["categories"] for row in chosen] == [["a", "b"], ["a", "c"]]
    names = {answer["annotator"] for row in chosen for item in row["examples"]
             for answer in item["answers"]}  # fmt: skip
    assert "bob" not in names
    of_c = sqlite_ledger.confusions("p", category="c").to_dict()
    assert of_c["disagreements"] == 7, "shares are of all"
    assert [row["categories"] for row in of_c["confusions"]] == [["a", "c"], ["b", "c"]]
    with pytest.raises(NotFound, match="category 'z'"):
        sqlite_ledger.confusions("p", category="z")
