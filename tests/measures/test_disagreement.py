"""How much of the disagreement an annotator or some of the items explain."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, make_pattern
from tracker.core.tally_columns import tally_columns_of
from tracker.measures.disagreement import (
    explained_by_items,
    explained_by_owners,
    item_disagreement,
    total_disagreement,
)

ITEMS = st.lists(st.dictionaries(st.integers(1, 5), st.integers(1, 3), max_size=4), max_size=12)


def plain(items: list[dict[int, int]]) -> tuple[float, int]:
    """Disagreement by its definition: of each answer, the share of others that are different."""
    within, answers = 0.0, 0
    for held in items:
        if len(held) > 1:
            answers += len(held)
            differ = sum(held[a] != held[b] for a, b in permutations(held, 2))
            within += differ / (len(held) - 1)
    return within, answers


def patterns(items: list[dict[int, int]]) -> ItemPatterns:
    return ItemPatterns(Counter(make_pattern([(one,) for one in held.values()]) for held in items))


@given(ITEMS)
@examples(100)
def test_disagreement_adds_up_over_items(items):
    within, answers = plain(items)
    assert total_disagreement(patterns(items)) == (pytest.approx(within), answers)


@given(ITEMS)
@examples(100)
def test_what_a_person_explains_is_counted_again_without_them(items):
    counts = {}
    for held in items:
        pattern = make_pattern([(one,) for one in held.values()])
        for who, own in held.items():
            counts.setdefault(who, Counter())[(own,), pattern] += 1
    found = explained_by_owners(tally_columns_of(AnnotatorTallies(counts)))
    within, answers = plain(items)
    assert found.keys() == counts.keys()
    for who, share in found.items():
        less, fewer = plain([{n: one for n, one in held.items() if n != who} for held in items])
        expected = 1 - (less / fewer) / (within / answers) if within and fewer else 0
        assert share == pytest.approx(expected)


def test_an_item_of_one_answer_holds_none():
    assert item_disagreement(make_pattern([(1,)])) == (0.0, 0)


def test_what_items_explain_is_what_would_be_gone_if_they_were_like_the_others():
    alike, apart = make_pattern([(1,), (1,)]), make_pattern([(1,), (2,)])
    better = ItemPatterns({alike: 90, apart: 10})
    worse = ItemPatterns({alike: 10, apart: 10})
    assert explained_by_items(better + worse, worse, better) == pytest.approx(0.4)
    assert explained_by_items(better + worse, better, worse) < 0
    assert explained_by_items(better, ItemPatterns(), better) == 0
