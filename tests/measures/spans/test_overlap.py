"""Intervals: matchings against trying everything, lengths against counting positions."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.measures.span_oracles import best_by_trying
from tracker.measures.spans.overlap import (
    Interval,
    common_span_length,
    disjoint_spans,
    most_matches,
)

place = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda p: (p[0], sum(p)))
places = st.lists(place, max_size=7).map(sorted)


@given(places, places)
# Equal spans first would leave one pair: only crosswise there are two.
@example([(0, 3), (2, 8)], [(2, 8), (7, 9)])
@example([(0, 9), (1, 2), (3, 4)], [(0, 2), (1, 5), (4, 9)])
@example([(0, 2), (2, 4)], [(0, 4)])
@example([(0, 2)], [(2, 4)])
def test_no_matching_is_larger(first, second):
    assert most_matches(first, second) == best_by_trying(first, second)
    assert most_matches(second, first) == most_matches(first, second)


def positions(intervals: list[Interval]) -> set[int]:
    return {position for start, end in intervals for position in range(start, end)}


@given(places, places)
def test_positions_by_counting_them(first, second):
    one, other = disjoint_spans(first), disjoint_spans(second)
    assert positions(list(one)) == positions(first)
    assert sum(end - start for start, end in one) == len(positions(first))
    assert common_span_length(one, other) == len(positions(first) & positions(second))


def test_a_matching_of_many_nested_spans_takes_no_longer_than_sorting():
    nested = [(n, 40_000 - n) for n in range(20_000)]
    apart = [(2 * n, 2 * n + 1) for n in range(20_000)]
    assert most_matches(nested, apart) == 20_000
    assert most_matches(nested, nested) == 20_000
