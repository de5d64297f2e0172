"""Confusions are counted pair by pair of annotators."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tracker.core.tallies import Answer, ItemPatterns, make_pattern
from tracker.measures.accuracy import NOTHING, category_confusions

A, B, C = 1, 2, 3


def patterns_of(items: list[list[Answer]]) -> ItemPatterns:
    return ItemPatterns(Counter(make_pattern(answers) for answers in items))


def counted(items: list[list[Answer]]) -> dict[tuple[int, int], tuple[int, int]]:
    found = category_confusions(patterns_of(items))
    return {(one.first, one.second): (one.disagreements, one.items) for one in found}


def test_each_pair_that_differs_is_one_confusion():
    # a a b: two pairs differ; a b c: three.
    items = [[(A,), (A,), (B,)], [(A,), (B,), (C,)], [(A,), (A,)], [(B,)]]
    assert counted(items) == {(A, B): (3, 2), (A, C): (1, 1), (B, C): (1, 1)}
    first = category_confusions(patterns_of(items))[0]
    assert (first.first, first.second, first.share) == (A, B, 3 / 5)


def test_what_two_sets_share_is_not_confused():
    assert counted([[(A, B), (A, C)]]) == {(B, C): (1, 1)}
    assert counted([[(A, B), (A,)]]) == {(NOTHING, B): (1, 1)}
    assert counted([[(), (A,)]]) == {(NOTHING, A): (1, 1)}


def test_nothing_is_confused_where_all_agree_or_are_alone():
    assert category_confusions(ItemPatterns()) == []
    assert counted([[(A,), (A,)], [(B,)]]) == {}


@given(st.lists(st.lists(st.sampled_from([A, B, C]), max_size=5), max_size=12))
def test_as_many_as_by_hand(rows):
    by_hand = Counter(
        (min(one, other), max(one, other))
        for row in rows
        for one, other in combinations(row, 2)
        if one != other
    )
    found = category_confusions(patterns_of([[(one,) for one in row] for row in rows]))
    assert {(one.first, one.second): one.disagreements for one in found} == by_hand
    assert [one.disagreements for one in found] == sorted(by_hand.values(), reverse=True)
