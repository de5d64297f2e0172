"""Synthetic experiments: the published rates, and planted annotators that do as they claim."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import pytest

from tracker.core.errors import InvalidOption
from tracker.simulate.crowds import (
    DEFAULT_ROSTER,
    EXPERIMENTS,
    Group,
    Row,
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


def answers_by_item(rows: Iterable[Row]) -> dict[str, dict[str, str]]:
    """``{item: {annotator: category}}``."""
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        assert row.annotator not in answers[row.item]
        answers[row.item][row.annotator] = row.category
    return dict(answers)


def answers_of(rows: Iterable[Row], annotator: str) -> dict[str, str]:
    """``{item: category}`` of one annotator."""
    return {row.item: row.category for row in rows if row.annotator == annotator}


def rate_and_error(rows: Iterable[Row], category: str) -> tuple[float, float]:
    """A category's rate, pair by pair, and its standard error by linearising the ratio."""
    counts = []
    for answers in answers_by_item(rows).values():
        given = [answer == category for answer in answers.values()]
        pairs = list(itertools.combinations(given, 2))
        counts.append((sum(a and b for a, b in pairs), sum(a or b for a, b in pairs)))
    agreed, potential = (sum(column) for column in zip(*counts, strict=True))
    rate = agreed / potential
    squares = math.fsum((a - rate * p) ** 2 for a, p in counts)
    return rate, math.sqrt(squares * len(counts) / (len(counts) - 1)) / potential


@pytest.mark.parametrize("category", [0, 1, 2])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_published_rates(name: str, category: int) -> None:
    rate, error = rate_and_error(simulate_experiment(name), str(category))
    assert rate == pytest.approx(PUBLISHED[name][category], abs=3 * error)
    assert error < 0.03


def expected_rate(name: str, category: int) -> float:
    """The rate that an endless experiment has, from the probability of each triple."""
    model = (0.95, 0.025, 0.025)
    agreed = potential = 0.0
    for place, a, b, c in itertools.product(range(3), repeat=4):
        chance = model[(a - place) % 3] * model[(b - place) % 3]
        if name == "mixed" and a != 0:
            chance *= c == 1
        else:
            chance *= model[(c - place - (name == "low")) % 3]
        for pair in itertools.combinations((a, b, c), 2):
            agreed += chance * (pair.count(category) == 2)
            potential += chance * (category in pair)
    return agreed / potential


@pytest.mark.parametrize("category", [0, 1, 2])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_rates_of_a_large_experiment(name: str, category: int) -> None:
    rate, error = rate_and_error(simulate_experiment(name, items=30_000, seed=1), str(category))
    assert rate == pytest.approx(expected_rate(name, category), abs=3.5 * error)
    assert error < 0.004


def test_an_experiment_has_three_answers_an_item_in_order() -> None:
    rows = list(simulate_experiment("high"))
    assert [row.annotator for row in rows] == list("ABC") * 1000
    assert (rows[0].item, rows[-1].item) == ("item 0001", "item 1000")
    assert [row.item for row in rows] == sorted(row.item for row in rows)
    assert {row.category for row in rows} == {"0", "1", "2"}
    assert {row.gold for row in rows} == {None}


def test_c_in_mixed_gives_1_wherever_a_does_not_give_0() -> None:
    items = answers_by_item(simulate_experiment("mixed", items=3000)).values()
    assert {answers["C"] for answers in items if answers["A"] != "0"} == {"1"}
    assert {answers["C"] for answers in items if answers["A"] == "0"} == {"0", "1", "2"}


def digest(rows: Iterable[Row]) -> str:
    return hashlib.sha256(repr([tuple(row[:4]) for row in rows]).encode()).hexdigest()[:16]


def test_the_same_rows_on_every_machine() -> None:
    # Made by this module; they change only with the rows that every user's seed gives.
    assert digest(simulate_experiment("mixed", items=50, seed=7)) == "5059a14f67759519"
    assert (
        digest(simulate_crowd(items=50, seed=7, spread=0.1, shares=[0.3, 0.7]))
        == "be50309c22932ddb"
    )


def test_another_seed_or_name_gives_other_answers() -> None:
    draws = [
        simulate_experiment("high", 50, 0),
        simulate_experiment("high", 50, 1),
        simulate_experiment("high", 50, -1),
    ]
    draws += [simulate_crowd(50, 0), simulate_crowd(50, 1), simulate_crowd(50, -1)]
    assert len({digest(rows) for rows in draws}) == 6


@pytest.mark.parametrize("rows", [simulate_experiment("low", 10**12), simulate_crowd(10**12)])
def test_rows_are_streamed(rows: Iterator[Row]) -> None:
    assert next(rows).item == "item 0000000000001"


def test_every_item_gets_its_answers_and_every_annotator_its_share() -> None:
    rows = list(simulate_crowd(items=1000))
    assert {len(answers) for answers in answers_by_item(rows).values()} == {5}
    loads = Counter(row.annotator for row in rows)
    assert len(loads) == sum(group.number for group in DEFAULT_ROSTER)
    assert max(loads.values()) - min(loads.values()) <= 2
    assert {"annotator 01", "annotator 20", "constant 1", "lazy 2"} <= set(loads)


def test_who_answers_together_is_random() -> None:
    met = {
        frozenset(pair)
        for answers in answers_by_item(simulate_crowd(items=1000)).values()
        for pair in itertools.combinations(answers, 2)
    }
    assert len(met) == math.comb(25, 2)


@pytest.mark.parametrize("roster", ["honest=3", "honest=1,copier=2", "lazy=1,honest=2"])
def test_a_small_roster_answers_every_item(roster: str) -> None:
    rows = simulate_crowd(items=20, annotators=parse_roster(roster))
    assert {len(answers) for answers in answers_by_item(rows).values()} == {3}


@pytest.mark.parametrize("roster", ["honest=2,copier=2", "honest=1,copier=6", "copier=4,honest=9"])
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_teams_too_large_for_an_item_are_split(roster: str, seats: int) -> None:
    groups = parse_roster(roster)
    rows = list(simulate_crowd(items=300, annotators=groups, answers_per_item=seats))
    assert {len(answers) for answers in answers_by_item(rows).values()} == {seats}
    loads = Counter(row.annotator for row in rows)
    assert len(loads) == sum(group.number for group in groups)
    assert min(loads.values()) > 0.5 * max(loads.values())


def test_honest_annotators_are_as_accurate_as_asked() -> None:
    rows = list(
        simulate_crowd(items=4000, annotators=[Group("honest", 5)], accuracy=0.8, spread=0.2)
    )
    right = sum(row.category == row.gold for row in rows) / len(rows)
    assert right == pytest.approx(0.8, abs=0.015)


def test_items_differ_in_difficulty_only_when_asked() -> None:
    def variance(spread: float) -> float:
        rows = simulate_crowd(items=4000, annotators=[Group("honest", 5)], spread=spread)
        wrong = Counter(row.item for row in rows if row.category != row.gold)
        return sum((wrong[item] - 1) ** 2 for item in {*wrong}) / 4000

    assert variance(0.2) > variance(0.0)


def test_truths_come_in_the_shares_asked_for() -> None:
    rows = simulate_crowd(4000, categories=("a", "b", "c"), shares=(6, 3, 1), answers_per_item=1)
    truths = Counter(row.gold for row in rows)
    assert [truths[name] / 4000 for name in "abc"] == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


@pytest.mark.parametrize(("asked", "given"), [(None, "positive"), ("negative", "negative")])
def test_a_constant_annotator_gives_one_category(asked: str | None, given: str) -> None:
    answers = answers_of(simulate_crowd(items=1000, constant=asked), "constant 1")
    assert len(answers) == 200
    assert set(answers.values()) == {given}


def test_a_random_annotator_gives_any_category_whatever_the_truth() -> None:
    rows = [row for row in simulate_crowd(items=10_000) if row.annotator == "random 1"]
    right = sum(row.category == row.gold for row in rows) / len(rows)
    assert right == pytest.approx(0.5, abs=0.04)


def test_a_copier_repeats_its_model() -> None:
    rows = list(simulate_crowd(items=1000, annotators=parse_roster("honest=10,copier=2")))
    for number in (1, 2):
        model = answers_of(rows, f"annotator {number:02}")
        copy = answers_of(rows, f"copier {number}")
        assert len(copy) > 300
        assert copy == {item: model[item] for item in copy}


def test_the_lazy_pair_agrees_superbly_and_knows_nothing() -> None:
    roster = parse_roster("honest=3,lazy=2")
    rows = list(simulate_crowd(items=5000, annotators=roster, shares=(0.9, 0.1)))
    first, second = answers_of(rows, "lazy 1"), answers_of(rows, "lazy 2")
    assert sum(first[item] == second[item] for item in first) / len(first) > 0.96
    pair = [row for row in rows if row.annotator.startswith("lazy")]
    assert rate_and_error(pair, "negative")[0] > 0.96
    assert rate_and_error(pair, "positive")[0] < 0.05


def test_a_roster_is_read_as_typed() -> None:
    assert parse_roster("honest=20,constant=1,random=1,copier=1,lazy=2") == DEFAULT_ROSTER
    assert parse_roster(" lazy = 2 , honest=03") == (Group("lazy", 2), Group("honest", 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not KIND=NUMBER"),
        ("honest", "not KIND=NUMBER"),
        ("honest=5,", "not KIND=NUMBER"),
        ("angry=1", "no kind of annotator 'angry'"),
        ("honest=", "not a number of honest annotators"),
        ("honest=-1", "not a number of honest annotators"),
        ("honest=2.5", "not a number of honest annotators"),
        ("honest=²", "not a number of honest annotators"),
        ("honest=" + "9" * 5000, "not a number of honest annotators"),
        ("honest=1,honest=2", "'honest' comes twice"),
        ("honest=0", "0 annotators cannot be simulated"),
        ("honest=100000,lazy=1", "100001 annotators cannot be simulated"),
        ("copier=1,lazy=3", "no honest annotator to copy"),
    ],
)
def test_a_roster_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=message) as caught:
        parse_roster(text)
    assert caught.value.mend


@pytest.mark.parametrize(
    "options",
    [
        {"items": 0},
        {"answers_per_item": 0},
        {"annotators": ()},
        {"annotators": [Group("honest", 5), Group("lazy", -1)]},
        {"categories": ("only",)},
        {"categories": ("twice", "twice")},
        {"categories": ("", "b")},
        {"shares": (1,)},
        {"shares": (0, 0)},
        {"shares": (-1, 2)},
        {"shares": (math.nan, 1)},
        {"shares": (1e308, 1e308)},
        {"accuracy": 1.1},
        {"accuracy": math.nan},
        {"spread": 0.3},
        {"spread": -0.1},
        {"constant": "purple"},
    ],
)
def test_a_crowd_that_cannot_be_is_refused_before_its_first_row(options: dict[str, object]) -> None:
    with pytest.raises(InvalidOption) as caught:
        simulate_crowd(**options)  # type: ignore[arg-type]
    assert caught.value.mend


def test_an_experiment_that_cannot_be_is_refused_before_its_first_row() -> None:
    with pytest.raises(InvalidOption, match="no experiment 'middling'"):
        simulate_experiment("middling")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="0 items"):
        simulate_experiment("high", items=0)
