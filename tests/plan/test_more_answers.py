"""What items bring to a variance with other numbers of answers: Hoeffding (1948)."""

from __future__ import annotations

from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.tallies import ItemPatterns, answers_in_pattern, make_pattern
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.more_answers import assumed_patterns, thinned, variance_with_answers
from tracker.measures.sample import sample_for_measures

parts = st.floats(0, 10)


def brings(apart: float, first: float, second: float, answers: int) -> float:
    return apart + 4 * first / answers + 2 * second / (answers * (answers - 1))


@given(parts, parts, st.floats(0.01, 10), st.integers(2, 6), st.integers(2, 30))
def test_the_true_variance_lies_within_the_bounds(
    apart: float, first: float, second: float, most: int, answers: int
) -> None:
    known = {m: brings(apart, first, second, m) for m in range(2, most + 1)}
    true = brings(apart, first, second, answers)
    between = variance_with_answers(known, answers)
    assert between.low - 1e-6 <= true <= between.high + 1e-6
    assert between.low <= between.expected <= between.high


def test_variances_that_no_items_bring_are_taken_from_the_most_answers_alone() -> None:
    """More answers never make an item less certain; draws of few items may say so."""
    assert variance_with_answers({2: 1.0, 3: 2.0}, 5) == variance_with_answers({3: 2.0}, 5)


def test_thinned_items_are_their_answers_drawn_without_any_twice() -> None:
    """Of 2 x and 2 y, two answers are the same in 1 of 3 draws."""
    a, b = (1,), (2,)
    patterns = ItemPatterns({((a, 2), (b, 2)): 3, ((a, 1), (b, 1)): 5, ((a, 1),): 7})
    drawn = thinned(patterns, 3, np.random.default_rng(1))
    assert {answers_in_pattern(pattern) for pattern, _ in drawn} == {3}
    assert drawn.counts[(a, 2), (b, 1)] == pytest.approx(drawn.items / 2, rel=0.05)
    two = thinned(ItemPatterns({((a, 2), (b, 2)): 3}), 2, np.random.default_rng(1))
    alike = two.counts[((a, 2),)] + two.counts[((b, 2),)]
    assert alike / two.items == pytest.approx(2 * comb(2, 2) / comb(4, 2), abs=0.02)


def test_very_many_items_are_thinned_by_a_part_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracker.measures.more_answers._MOST_CELLS", 80_000)
    rows = {make_pattern([(1,)] * held + [(2,)] * (4 - held)): 100_000 for held in range(5)}
    drawn = thinned(ItemPatterns(rows), 2, np.random.default_rng(1))
    sizes = Counter(answers_in_pattern(pattern) for pattern, _ in drawn)
    assert [*sizes] == [2]
    assert 30_000 < drawn.items < 50_000


@pytest.mark.parametrize(("alpha", "shares"), [(0.6, (0.2, 0.8)), (0.3, (0.2, 0.3, 0.5))])
def test_assumed_items_have_the_alpha_that_is_assumed(
    alpha: float, shares: tuple[float, ...]
) -> None:
    patterns = assumed_patterns(shares, alpha, 3, np.random.default_rng(1))
    sample = sample_for_measures(
        patterns, 3, categories=[*range(1, len(shares) + 1)], declared=True, values={},
        weighting="identity", by_rank=False, scale="nominal", several=False, ordered=False,
    )  # fmt: skip
    assert krippendorff_alpha(sample).value == pytest.approx(alpha, abs=0.02)
    assert sample.shares == pytest.approx(shares, abs=0.02)
