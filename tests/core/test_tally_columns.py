"""Columns of tallies: a mapping of plain counts, whatever the order of their rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.tally_columns import distinct_numbers, keyed_columns, keyed_tallies_of

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
    assert tallies == counts == keyed_tallies_of(counts)
    assert [*tallies] == sorted(counts)
    assert tallies.total(1).tolist() == [sum(counts[who].values()) for who in sorted(counts)]


@given(st.lists(st.one_of(st.integers(-3, 9), st.integers(0, 1 << 62))))
def test_distinct_numbers_are_those_of_a_sort(values: Sequence[int]) -> None:
    array = np.array(values, dtype=np.int64)
    distinct, place = distinct_numbers(array)
    assert distinct.tolist() == sorted({*values})
    assert distinct[place].tolist() == [*values]
