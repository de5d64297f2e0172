"""Shares of a difference, by group (Kitagawa 1955) and by kind of change (Shapley)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.compare.decomposition import Group, decomposition_contributions, decomposition_shares

Groups = dict[str, Group]


def groups(**figures: tuple[float, float]) -> Groups:
    return {name: Group(weight, value, 10) for name, (weight, value) in figures.items()}


def rate(of: Mapping[str, Group]) -> float:
    return sum(group.weight * group.value for group in of.values())


def parts(before: Groups, after: Groups) -> dict[str, float]:
    return {
        name: part.contribution for name, part in decomposition_contributions(before, after).items()
    }


BEFORE = groups(young=(0.7, 0.010), old=(0.3, 0.050))
AFTER = groups(young=(0.5, 0.012), old=(0.5, 0.050))


def test_two_death_rates_by_age() -> None:
    """22 and 31 of a thousand die; their mean is 26.5.

    The young die of 2 in a thousand more, at 60% of the people: 1.2. They are a fifth fewer,
    and die 26.5 - 11 less than the mean: 3.1. The old are a fifth more and die 50 - 26.5 more.
    """
    assert (rate(BEFORE), rate(AFTER)) == pytest.approx((0.022, 0.031))
    found = parts(BEFORE, AFTER)
    assert found == pytest.approx({"young": 0.0012 + 0.0031, "old": 0.0047})
    assert sum(found.values()) == pytest.approx(0.009)
    part = decomposition_contributions(BEFORE, AFTER)["young"]
    assert (part.before, part.after) == (BEFORE["young"], AFTER["young"])


def test_who_comes_and_who_goes_counts_by_the_distance_from_the_mean() -> None:
    before, after = groups(a=(0.5, 0.8), gone=(0.5, 0.6)), groups(a=(0.6, 0.8), new=(0.4, 0.3))
    level = (0.7 + 0.6) / 2
    found = decomposition_contributions(before, after)
    assert {name: part.contribution for name, part in found.items()} == pytest.approx(
        {"a": 0.1 * (0.8 - level), "gone": -0.5 * (0.6 - level), "new": 0.4 * (0.3 - level)}
    )
    assert (found["gone"].after, found["new"].before) == (None, None)


def test_the_greatest_part_comes_first_whatever_its_sign() -> None:
    before = groups(a=(0.3, 0.5), b=(0.3, 0.5), c=(0.4, 0.5))
    after = groups(a=(0.3, 0.6), b=(0.3, 0.1), c=(0.4, 0.7))
    assert [*decomposition_contributions(before, after)] == ["b", "c", "a"]
    assert decomposition_contributions({}, {}) == {}


@st.composite
def some_groups(draw: st.DrawFn) -> Groups:
    values = st.integers(-16, 16).map(lambda n: n / 16)
    figures = st.tuples(st.integers(1, 9), values)
    drawn = draw(st.dictionaries(st.sampled_from("abcde"), figures, min_size=1))
    total = sum(weight for weight, _ in drawn.values())
    return {name: Group(weight / total, value, weight) for name, (weight, value) in drawn.items()}


def near(found: Mapping[str, float]) -> Any:
    return pytest.approx(dict(found), abs=1e-12)


def rescaled(of: Groups, shift: float) -> Groups:
    return {n: Group(g.weight, 4 * g.value + shift, g.answers) for n, g in of.items()}


def halved(of: Groups) -> Groups:
    return {
        f"{name}{half}": Group(group.weight / 2, group.value, group.answers)
        for name, group in of.items()
        for half in (1, 2)
    }


@examples(15)
@given(some_groups(), some_groups(), st.sampled_from([-2.0, 0.5, 3.0]))
def test_parts_add_up_and_do_not_depend_on_how_they_are_told(
    before: Groups, after: Groups, shift: float
) -> None:
    found = parts(before, after)
    assert math.fsum(found.values()) == pytest.approx(rate(after) - rate(before), abs=1e-12)
    assert found.keys() == before.keys() | after.keys()
    back = parts(after, before)
    assert found == near({name: -part for name, part in back.items()})
    elsewhere = parts(rescaled(before, shift), rescaled(after, shift))
    assert elsewhere == near({n: 4 * part for n, part in found.items()})
    halves = parts(halved(before), halved(after))
    assert found == near({name: halves[f"{name}1"] + halves[f"{name}2"] for name in found})
    assert parts(before, before) == dict.fromkeys(before, 0.0)


KINDS = "abcd"
SETS = [frozenset(some) for n in range(5) for some in itertools.combinations(KINDS, n)]
worths = st.integers(-50, 50).map(lambda eighths: eighths / 8)
games = st.fixed_dictionaries(dict.fromkeys(SETS, worths))
Worths = Mapping[frozenset[str], float]


def found(worths: Worths) -> dict[str, float]:
    return decomposition_shares(KINDS, worths.__getitem__)


def test_the_glove_game() -> None:
    """One has a left glove, two a right one each, and a pair is worth 1."""

    def pairs(some: frozenset[str]) -> float:
        return float("left" in some and len(some) > 1)

    told = decomposition_shares(["left", "right 1", "right 2"], pairs)
    assert told == pytest.approx({"left": 2 / 3, "right 1": 1 / 6, "right 2": 1 / 6})


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


def told(worths: dict[str, float | None]) -> dict[str, float] | None:
    kinds = max(worths, key=len)
    return decomposition_shares(
        kinds, {frozenset(some): worth for some, worth in worths.items()}.__getitem__
    )


def test_an_order_that_passes_what_is_undefined_is_left_out() -> None:
    worths: dict[str, Any] = {
        "": 0.0, "a": 1.0, "b": 4.0, "c": None, "ab": 6.0, "ac": 3.0, "bc": None, "abc": 10.0,
    }  # fmt: skip
    # Left are a b c, a c b and b a c.
    shared = told(worths)
    assert shared == pytest.approx(
        {"a": (1 + 1 + 2) / 3, "b": (5 + 7 + 4) / 3, "c": (4 + 2 + 4) / 3}
    )


def test_no_order_without_a_figure_gives_no_shares() -> None:
    for worths in (
        {"": 1.0, "a": None, "b": None, "ab": 2.0},
        {"": None, "a": 1.0, "b": 1.0, "ab": 2.0},
        {"": 1.0, "a": 1.0, "b": 1.0, "ab": None},
    ):
        assert told(worths) is None
    assert decomposition_shares([], lambda _: 0.7) == {}
    computed: Counter[frozenset[str]] = Counter()

    def value(some: frozenset[str]) -> float:
        computed[some] += 1
        return float(len(some))

    assert decomposition_shares(KINDS, value) == dict.fromkeys(KINDS, 1.0)
    assert computed == Counter(SETS), "each figure is computed once"
