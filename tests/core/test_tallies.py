"""Tallies are exact, add over disjoint items, and come apart again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.strategies import Rows, projects, several_categories, tally
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, make_pattern, pattern_without
from tracker.core.tally_columns import distinct_numbers, keyed_columns

annotator_cells = st.lists(
    st.lists(several_categories, min_size=1, max_size=3), min_size=1, max_size=4
).map(lambda rows: Counter((given_[0], make_pattern(given_)) for given_ in rows))
annotator_tallies = st.dictionaries(st.integers(1, 3), annotator_cells, max_size=3).map(
    AnnotatorTallies
)


def test_without_an_own_answer() -> None:
    pattern = make_pattern([(1,), (2,), (2,)])
    assert pattern_without(pattern, (2,)) == (((1,), 1), ((2,), 1))
    assert pattern_without(pattern, (1,)) == (((2,), 2),)
    with pytest.raises(ValueError, match="no annotator gave"):
        pattern_without(pattern, (3,))


@given(projects(several_categories), projects(several_categories))
def test_item_patterns_add_and_subtract(left: Rows, right: Rows) -> None:
    assert tally(left) + tally(right) == tally(left + right)
    assert tally(left + right) - tally(right) == tally(left)
    assert tally(left) - tally(left) == ItemPatterns()


@given(annotator_tallies, annotator_tallies)
def test_annotator_tallies_add_and_subtract(
    left: AnnotatorTallies, right: AnnotatorTallies
) -> None:
    assert left + right == right + left
    assert (left + right) - right == left
    assert left - left == AnnotatorTallies()


ROWS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(1, 9)))


@given(ROWS, st.permutations([("a",), ("b",), ("a",), ("c",)]))
def test_rows_of_equal_keys_are_added_up(
    rows: Sequence[tuple[int, int, int]], keys: Sequence[tuple[str]]
) -> None:
    counts: defaultdict[int, Counter[tuple[str]]] = defaultdict(Counter)
    for who, key, number in rows:
        counts[who][keys[key]] += number
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    tallies = keyed_columns(columns[0], keys, columns[1], columns[2])
    assert tallies == counts
    assert [*tallies] == sorted(counts)
    assert tallies.total(1).tolist() == [sum(counts[who].values()) for who in sorted(counts)]


@given(st.lists(st.one_of(st.integers(-3, 9), st.integers(0, 1 << 62))))
def test_distinct_numbers_are_those_of_a_sort(values: Sequence[int]) -> None:
    array = np.array(values, dtype=np.int64)
    distinct, place = distinct_numbers(array)
    assert distinct.tolist() == sorted({*values})
    assert distinct[place].tolist() == [*values]
