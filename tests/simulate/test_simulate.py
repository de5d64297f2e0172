"""Synthetic experiments are reproducible, and planted annotators do as they claim."""

import hashlib
import itertools
import math
from collections import Counter, defaultdict

import pytest

from tracker.core.errors import InvalidOption
from tracker.simulate.crowds import (
    DEFAULT_ROSTER,
    Group,
    parse_roster,
    simulate_crowd,
    simulate_experiment,
)

# The curves' end points in P. W. Siegel's notebook (2018): the rates of categories 0, 1 and 2.
PUBLISHED = {
    "high": (0.830, 0.832, 0.836),
    "low": (0.194, 0.198, 0.204),
    "mixed": (0.826, 0.555, 0.285),
}


def answers_by_item(rows):
    answers = defaultdict(dict)
    for row in rows:
        assert row.annotator not in answers[row.item]
        answers[row.item][row.annotator] = row.category
    return dict(answers)


def answers_of(rows, annotator):
    return {row.item: row.category for row in rows if row.annotator == annotator}


def digest(rows):
    return hashlib.sha256(repr([tuple(row[:4]) for row in rows]).encode()).hexdigest()[:16]


def test_rows_are_the_same_on_every_machine_and_differ_by_seed():
    # Made by this module; they change only with the rows that every user's seed gives.
    assert digest(simulate_experiment("mixed", items=50, seed=7)) == "5059a14f67759519"
    crowd = simulate_crowd(items=50, seed=7, spread=0.1, shares=[0.3, 0.7])
    assert digest(crowd) == "be50309c22932ddb"
    draws = [simulate_experiment("high", 50, seed) for seed in (0, 1, -1)]
    draws += [simulate_crowd(50, seed) for seed in (0, 1, -1)]
    assert len({digest(rows) for rows in draws}) == 6
    for rows in (simulate_experiment("low", 10**12), simulate_crowd(10**12)):
        assert next(rows).item == "item 0000000000001", "rows are streamed"


def test_a_crowd_shares_the_items_at_random():
    rows = list(simulate_crowd(items=1000))
    answers = answers_by_item(rows).values()
    assert {len(item) for item in answers} == {5}
    loads = Counter(row.annotator for row in rows)
    assert len(loads) == sum(group.number for group in DEFAULT_ROSTER)
    assert max(loads.values()) - min(loads.values()) <= 2
    assert {"annotator 01", "annotator 20", "constant 1", "lazy 2"} <= set(loads)
    met = {frozenset(pair) for item in answers for pair in itertools.combinations(item, 2)}
    assert len(met) == math.comb(25, 2)
    for roster in ("honest=3", "honest=1,copier=2", "lazy=1,honest=2"):
        few = answers_by_item(simulate_crowd(items=20, annotators=parse_roster(roster)))
        assert {len(item) for item in few.values()} == {3}


def test_a_team_too_large_for_an_item_is_split():
    groups = parse_roster("honest=1,copier=6")
    for seats in (1, 2, 3):
        rows = list(simulate_crowd(items=300, annotators=groups, answers_per_item=seats))
        assert {len(answers) for answers in answers_by_item(rows).values()} == {seats}
        loads = Counter(row.annotator for row in rows)
        assert len(loads) == sum(group.number for group in groups)
        assert min(loads.values()) > 0.5 * max(loads.values())


def right(rows):
    return sum(row.category == row.gold for row in rows) / len(rows)


def test_honest_annotators_and_truths_are_as_asked():
    honest, variances = [Group("honest", 5)], []
    rows = list(simulate_crowd(items=4000, annotators=honest, accuracy=0.8, spread=0.2))
    assert right(rows) == pytest.approx(0.8, abs=0.015)
    for spread in (0.2, 0.0):
        rows = simulate_crowd(items=4000, annotators=honest, spread=spread)
        wrong = Counter(row.item for row in rows if row.category != row.gold)
        variances.append(sum((wrong[item] - 1) ** 2 for item in {*wrong}) / 4000)
    assert variances[0] > variances[1], "items differ in difficulty only when asked"
    rows = simulate_crowd(4000, categories=("a", "b", "c"), shares=(6, 3, 1), answers_per_item=1)
    truths = Counter(row.gold for row in rows)
    assert [truths[name] / 4000 for name in "abc"] == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


def test_planted_annotators_do_as_they_claim():
    for asked, given in ((None, "positive"), ("negative", "negative")):
        answers = answers_of(simulate_crowd(items=1000, constant=asked), "constant 1")
        assert len(answers) == 200
        assert set(answers.values()) == {given}
    rows = [row for row in simulate_crowd(items=10_000) if row.annotator == "random 1"]
    assert right(rows) == pytest.approx(0.5, abs=0.04)
    rows = list(simulate_crowd(items=1000, annotators=parse_roster("honest=10,copier=2")))
    for number in (1, 2):
        model = answers_of(rows, f"annotator {number:02}")
        copy = answers_of(rows, f"copier {number}")
        assert len(copy) > 300
        assert copy == {item: model[item] for item in copy}
    # The lazy pair agrees superbly and knows nothing.
    roster = parse_roster("honest=3,lazy=2")
    rows = list(simulate_crowd(items=5000, annotators=roster, shares=(0.9, 0.1)))
    first, second = answers_of(rows, "lazy 1"), answers_of(rows, "lazy 2")
    assert sum(first[item] == second[item] for item in first) / len(first) > 0.96
    assert not any(first[item] == second[item] == "positive" for item in first)


MISTAKES = {
    "not KIND=NUMBER": ["", "honest", "honest=5,"],
    "no kind of annotator 'angry'": ["angry=1"],
    "not a number of honest annotators":
        ["honest=", "honest=-1", "honest=2.5", "honest=²", "honest=" + "9" * 5000],
    "'honest' comes twice": ["honest=1,honest=2"],
    "0 annotators cannot be simulated": ["honest=0"],
    "100001 annotators cannot be simulated": ["honest=100000,lazy=1"],
    "no honest annotator to copy": ["copier=1,lazy=3"],
}  # fmt: skip


def test_a_roster_is_read_as_typed():
    assert parse_roster("honest=20,constant=1,random=1,copier=1,lazy=2") == DEFAULT_ROSTER
    assert parse_roster(" lazy = 2 , honest=03") == (Group("lazy", 2), Group("honest", 3))
    for message, texts in MISTAKES.items():
        for text in texts:
            with pytest.raises(InvalidOption, match=message) as caught:
                parse_roster(text)
            assert caught.value.mend


OPTIONS = {
    "items": [0],
    "answers_per_item": [0],
    "annotators": [(), [Group("honest", 5), Group("lazy", -1)]],
    "categories": [("only",), ("twice", "twice"), ("", "b")],
    "shares": [(1,), (0, 0), (-1, 2), (math.nan, 1), (1e308, 1e308)],
    "accuracy": [1.1, math.nan],
    "spread": [0.3, -0.1],
    "constant": ["purple"],
}


@pytest.mark.parametrize("option", OPTIONS)
def test_a_crowd_that_cannot_be_is_refused_before_its_first_row(option):
    for value in OPTIONS[option]:
        with pytest.raises(InvalidOption) as caught:
            simulate_crowd(**{option: value})
        assert caught.value.mend
