"""Cross-replication reliability against its authors' program, and against a plain count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.tallies import ItemPatterns, Pattern, make_pattern
from tracker.measures.estimate import Estimate
from tracker.measures.krippendorff import (
    cross_replication_reliability,
    krippendorff_alpha,
    pool_two_patterns,
)
from tracker.measures.sample import Sample, sample_for_measures

Item = tuple[list[int], list[int]]
"""The answers of either group to one item."""

PUBLISHED: list[Item] = [
    ([2, 2], [2, 2]),
    ([2, 2, 2], [1, 2]),
    ([1, 1], [1, 2]),
    ([1, 1, 1], [1, 2]),
    ([1, 2], [1, 1]),
]
"""The data of the test that its authors' program has, and its value (google-research, 2021)."""


def estimate(items: list[Item], scale: str = "nominal") -> Estimate:
    counts = Counter()
    for one, other in items:
        if one and other:
            counts[patterns(one), patterns(other)] += 1
    return cross_replication_reliability(
        [*counts.items()], sample(pool_two_patterns(counts), scale)
    )


def patterns(answers: list[int]) -> Pattern:
    return make_pattern((answer,) for answer in answers)


def sample(found: ItemPatterns, scale: str) -> Sample:
    values = {n: float(n) for n in range(1, 5)}
    return sample_for_measures(found, 9, categories=[1, 2, 3, 4], values=values, scale=scale)


def plain(items: list[Item], scale: str) -> float | None:
    """The definition, pair by pair."""
    shared = [(one, other) for one, other in items if one and other]

    def apart(x, y):
        return float(x != y) if scale == "nominal" else float((x - y) ** 2)

    whole = sum(len(one) + len(other) for one, other in shared)
    observed = sum(
        (len(one) + len(other)) / whole * np.mean([apart(x, y) for x in one for y in other])
        for one, other in shared
    )
    pairs = [apart(x, y) for one, _ in shared for x in one for _, other in shared for y in other]
    expected = np.mean(pairs) if pairs else 0.0
    return None if not expected else float(1 - observed / expected)


def test_the_published_value():
    found = estimate(PUBLISHED)
    assert found.value == pytest.approx(0.1818182, abs=1e-7)
    assert found.parts.observed == pytest.approx(1 - 9 / 22)
    assert found.parts.expected == pytest.approx(0.5)
    assert found.items == 5


def test_items_of_one_group_alone_do_not_count():
    more = [*PUBLISHED, ([1, 1, 1], []), ([1, 1, 2], [])]
    assert estimate(more).value == estimate(PUBLISHED).value


answers = st.lists(st.integers(1, 4), max_size=3)
some_items = st.lists(st.tuples(answers, answers), max_size=8)


@given(some_items, st.sampled_from(["nominal", "interval"]))
def test_it_is_what_a_plain_count_gives(items, scale):
    found, wanted = estimate(items, scale), plain(items, scale)
    assert found.value == (None if wanted is None else pytest.approx(wanted))
    assert (found.value is None) == (found.undefined in {"no_overlap", "single_category"})


@given(some_items)
def test_it_is_symmetric(items):
    found, turned = estimate(items), estimate([(other, one) for one, other in items])
    assert found.value == (None if turned.value is None else pytest.approx(turned.value))
    assert found.standard_error == (
        None if turned.standard_error is None else pytest.approx(turned.standard_error)
    )


def test_the_error_is_that_of_a_jackknife():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 4, 300)
    items = []
    for true in truth.tolist():
        drawn = [true if rng.random() < 0.8 else int(rng.integers(1, 4)) for _ in range(5)]
        items.append((drawn[:2], drawn[2 : 4 + int(rng.integers(0, 2))]))
    left = np.array([estimate(items[:n] + items[n + 1 :]).value for n in range(len(items))], float)
    jackknife = float(np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum()))
    assert estimate(items).standard_error == pytest.approx(jackknife, rel=0.02)


def test_two_halves_of_one_crowd_agree_as_well_as_the_crowd_within():
    rng = np.random.default_rng(2)
    items = []
    for true in rng.integers(1, 4, 4000).tolist():
        drawn = [true if rng.random() < 0.7 else int(rng.integers(1, 4)) for _ in range(4)]
        items.append((drawn[:2], drawn[2:]))
    within = krippendorff_alpha(
        sample(ItemPatterns(Counter(patterns(one) for one, _ in items)), "nominal")
    )
    assert estimate(items).value == pytest.approx(within.value, abs=0.04)
