"""How far answers are from the people's shares, and with whom a model sides."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.judge.soft_labels import Sides, sides_with, soft_label_distances

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
