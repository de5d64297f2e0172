"""Kitagawa (1955), Components of a difference between two rates, J. Am. Stat. Assoc. 50, 1168."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.compare.decomposition import Group, decomposition_contributions
from tracker.core.results import as_json

Groups = dict[str, Group]


def groups(**figures: tuple[float, float]) -> Groups:
    return {name: Group(weight, value, 10) for name, (weight, value) in figures.items()}


def rate(of: Mapping[str, Group]) -> float:
    return sum(group.weight * group.value for group in of.values())


def parts(before: Groups, after: Groups) -> dict[str, float]:
    return {
        name: part.contribution for name, part in decomposition_contributions(before, after).items()
    }


# -- by hand -------------------------------------------------------------------------------

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


def test_a_group_says_what_it_was() -> None:
    part = decomposition_contributions(BEFORE, AFTER)["young"]
    assert (part.before, part.after) == (BEFORE["young"], AFTER["young"])
    assert as_json(part) == {
        "contribution": pytest.approx(0.0043),
        "a": 0.010,
        "b": 0.012,
        "answers_a": 10,
        "answers_b": 10,
    }


def test_rates_alone_or_weights_alone() -> None:
    same_weights = groups(a=(0.25, 0.4), b=(0.75, 0.8)), groups(a=(0.25, 0.6), b=(0.75, 0.7))
    assert parts(*same_weights) == pytest.approx({"a": 0.25 * 0.2, "b": -0.75 * 0.1})
    same_rates = groups(a=(0.25, 0.4), b=(0.75, 0.8)), groups(a=(0.5, 0.4), b=(0.5, 0.8))
    # From 0.7 to 0.6: what lies below the mean of both grew, what lies above it shrank.
    assert parts(*same_rates) == pytest.approx({"a": -0.25 * 0.25, "b": -0.25 * 0.15})


def test_who_comes_and_who_goes_counts_by_the_distance_from_the_mean() -> None:
    before, after = groups(a=(0.5, 0.8), gone=(0.5, 0.6)), groups(a=(0.6, 0.8), new=(0.4, 0.3))
    level = (0.7 + 0.6) / 2
    found = decomposition_contributions(before, after)
    assert {name: part.contribution for name, part in found.items()} == pytest.approx(
        {"a": 0.1 * (0.8 - level), "gone": -0.5 * (0.6 - level), "new": 0.4 * (0.3 - level)}
    )
    assert (found["gone"].after, found["new"].before) == (None, None)
    told = as_json(found["new"])
    assert (told["a"], told["b"], told["answers_a"], told["answers_b"]) == (None, 0.3, 0, 10)


def test_the_greatest_part_comes_first_whatever_its_sign() -> None:
    before = groups(a=(0.3, 0.5), b=(0.3, 0.5), c=(0.4, 0.5))
    after = groups(a=(0.3, 0.6), b=(0.3, 0.1), c=(0.4, 0.7))
    assert [*decomposition_contributions(before, after)] == ["b", "c", "a"]


def test_nobody_at_all() -> None:
    assert decomposition_contributions({}, {}) == {}


# -- what never changes --------------------------------------------------------------------


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
