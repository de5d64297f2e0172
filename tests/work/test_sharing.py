"""Items shared among people: needs met, nobody twice, loads and pairs as alike as they can be."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from tests.profiles import examples
from tracker.work.sharing import Shares, share_items


def as_counted(shares: Shares, people: int) -> tuple[list[int], dict[tuple[int, int], int]]:
    """The loads, and what each two people share, counted item by item."""
    loads = [sum(person in of_item for of_item in shares.people) for person in range(people)]
    pairs = {
        pair: sum({*pair} <= {*of_item} for of_item in shares.people)
        for pair in combinations(range(people), 2)
    }
    return loads, pairs


def can_all_have(shares: Shares, barred: dict[int, set[int]], people: int, most: int) -> bool:
    """Whether the same items could be given to as many with nobody having more than ``most``."""
    items, begin, end = len(shares.people), 0, 1
    edges = np.zeros((2 + items + people, 2 + items + people), np.int32)
    for item, of_item in enumerate(shares.people):
        edges[begin, 2 + item] = len(of_item)
        for person in set(range(people)) - barred.get(item, set()):
            edges[2 + item, 2 + items + person] = 1
    edges[2 + items :, end] = most
    flow = maximum_flow(csr_array(edges), begin, end).flow_value
    return bool(flow == sum(map(len, shares.people)))


@given(st.data())
@examples(200)
def test_needs_are_met_nobody_twice_and_loads_are_as_alike_as_can_be(data: st.DataObject) -> None:
    people = data.draw(st.integers(1, 7))
    needs = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=30))
    who = st.sets(st.integers(0, people - 1))
    barred = data.draw(st.dictionaries(st.integers(0, len(needs) - 1), who, max_size=20))
    most = data.draw(st.none() | st.integers(1, 12))
    standing = data.draw(st.sets(st.integers(0, people - 1)))
    seed = data.draw(st.integers(0, 5))
    shares = share_items(needs, people, barred, most=most, standing=standing, seed=seed)
    loads, pairs = as_counted(shares, people)
    assert shares.loads.tolist() == loads
    assert {pair: int(shares.pairs[pair]) for pair in pairs} == pairs
    for item, (needed, given_to) in enumerate(zip(needs, shares.people, strict=True)):
        assert len({*given_to}) == len(given_to)
        assert not {*given_to} & barred.get(item, set())
        met = len(given_to) == min(needed, people - len(barred.get(item, set())))
        assert met or (most is not None and not given_to)
    if most is not None:
        assert max(loads) <= most
    if max(loads) - min(loads) > 1:
        assert not can_all_have(shares, barred, people, max(loads) - 1)


def test_any_two_people_share_as_many_items_as_any_others() -> None:
    for people, each, items in (
        (3, 2, 100), (5, 3, 100), (6, 3, 77), (8, 4, 123), (9, 2, 40), (6, 5, 31), (10, 2, 10),
    ):  # fmt: skip
        loads, pairs = as_counted(share_items([each] * items, people, {}, seed=0), people)
        assert max(loads) - min(loads) <= 1
        assert max(pairs.values()) - min(pairs.values()) <= 1
    first, again, other = (share_items([2] * 40, 6, {}, seed=seed) for seed in (1, 1, 2))
    assert first.people == again.people != other.people


def test_the_first_items_are_shared_whole_and_with_somebody_of_standing() -> None:
    shares = share_items([2] * 100, 4, {}, most=10)
    assert shares.loads.tolist() == [10] * 4
    assert [len(of_item) for of_item in shares.people] == [2] * 20 + [0] * 80
    shares = share_items([3] * 100, 12, {}, standing=[0, 1])
    assert max(shares.loads) - min(shares.loads) <= 1
    with_one = [bool({0, 1} & {*of_item}) for of_item in shares.people]
    assert with_one == sorted(with_one, reverse=True)
    assert sum(with_one) == shares.loads[0] + shares.loads[1]
