"""Shares of a difference: games that the literature solves, and the axioms that define them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.compare.decomposition import decomposition_shares

Game = Callable[[frozenset[str]], float | None]

KINDS = "abcd"
SETS = [frozenset(some) for n in range(5) for some in itertools.combinations(KINDS, n)]
worths = st.integers(-50, 50).map(lambda eighths: eighths / 8)
games = st.fixed_dictionaries(dict.fromkeys(SETS, worths))
Worths = Mapping[frozenset[str], float]


def found(worths: Worths) -> dict[str, float]:
    told = decomposition_shares(KINDS, worths.__getitem__)
    assert told is not None
    return told


# -- published games -----------------------------------------------------------------------


def test_the_glove_game() -> None:
    """One has a left glove, two a right one each, and a pair is worth 1."""

    def pairs(some: frozenset[str]) -> float:
        return float("left" in some and len(some) > 1)

    told = decomposition_shares(["left", "right 1", "right 2"], pairs)
    assert told == pytest.approx({"left": 2 / 3, "right 1": 1 / 6, "right 2": 1 / 6})


def test_the_airport_game() -> None:
    """A runway costs what its largest aircraft needs (Littlechild and Owen 1973)."""
    costs = {"small": 12.0, "middle": 20.0, "large": 35.0}

    def runway(some: frozenset[str]) -> float:
        return max((costs[one] for one in some), default=0.0)

    told = decomposition_shares([*costs], runway)
    # Each step in size is paid by those who need it, in equal parts.
    assert told == pytest.approx({"small": 12 / 3, "middle": 4 + 8 / 2, "large": 4 + 4 + 15})


def test_one_vote_in_a_weighted_majority() -> None:
    """Votes of 3, 2 and 2 where 4 win: all are as powerful (Shapley and Shubik 1954)."""
    votes = {"three": 3, "two": 2, "other": 2}
    told = decomposition_shares([*votes], lambda some: float(sum(votes[one] for one in some) >= 4))
    assert told == pytest.approx(dict.fromkeys(votes, 1 / 3))


# -- axioms --------------------------------------------------------------------------------


@examples(15)
@given(games, games, worths, st.permutations(KINDS))
def test_the_axioms_hold(game: Worths, other: Worths, worth: float, order: list[str]) -> None:
    shares = found(game)
    whole = game[frozenset(KINDS)] - game[frozenset()]
    assert math.fsum(shares.values()) == pytest.approx(whole, abs=1e-12)
    assert decomposition_shares(order, game.__getitem__) == pytest.approx(shares, abs=1e-12)

    both, theirs = found({some: 3 * game[some] + other[some] for some in SETS}), found(other)
    assert both == pytest.approx({k: 3 * shares[k] + theirs[k] for k in KINDS}, abs=1e-12)

    swapped = str.maketrans("ab", "ba")
    alike = found({s: game[s] + game[frozenset(k.translate(swapped) for k in s)] for s in SETS})
    assert alike["a"] == pytest.approx(alike["b"], abs=1e-12)

    dull = found({some: game[some - {"d"}] + worth * ("d" in some) for some in SETS})
    assert dull["d"] == pytest.approx(worth, abs=1e-12)


# -- undefined on the way ------------------------------------------------------------------


def told(worths: dict[str, float | None]) -> dict[str, float] | None:
    kinds = max(worths, key=len)
    return decomposition_shares(
        kinds, {frozenset(some): worth for some, worth in worths.items()}.__getitem__
    )


def test_an_order_that_passes_what_is_undefined_is_left_out() -> None:
    worths: dict[str, Any] = {"": 1.0, "a": None, "b": 2.0, "ab": 4.5}
    assert told(worths) == {"b": 1.0, "a": 2.5}


def test_of_three_the_orders_that_are_left_count() -> None:
    worths: dict[str, Any] = {
        "": 0.0, "a": 1.0, "b": 4.0, "c": None, "ab": 6.0, "ac": 3.0, "bc": None, "abc": 10.0,
    }  # fmt: skip
    # Left are a b c, a c b and b a c.
    shared = told(worths)
    assert shared == pytest.approx(
        {"a": (1 + 1 + 2) / 3, "b": (5 + 7 + 4) / 3, "c": (4 + 2 + 4) / 3}
    )
    assert sum(shared.values()) == pytest.approx(10)


@pytest.mark.parametrize(
    "worths",
    [
        {"": 1.0, "a": None, "b": None, "ab": 2.0},
        {"": None, "a": 1.0, "b": 1.0, "ab": 2.0},
        {"": 1.0, "a": 1.0, "b": 1.0, "ab": None},
        {"": None},
    ],
)
def test_there_are_none_where_no_order_is_defined(worths: dict[str, float | None]) -> None:
    assert told(worths) is None


def test_without_a_change_there_is_nothing_to_share() -> None:
    assert decomposition_shares([], lambda _: 0.7) == {}


def test_each_figure_is_computed_once() -> None:
    asked: Counter[frozenset[str]] = Counter()

    def value(some: frozenset[str]) -> float:
        asked[some] += 1
        return float(len(some))

    assert decomposition_shares(KINDS, value) == dict.fromkeys(KINDS, 1.0)
    assert asked == Counter(SETS)
