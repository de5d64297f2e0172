"""Shares of the disagreement, and cross-replication reliability, by plain counts."""

from collections import Counter
from itertools import permutations

import numpy as np
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
from tracker.measures.krippendorff import (
    cross_replication_reliability,
    pool_two_patterns,
)
from tracker.measures.sample import sample_for_measures

ITEMS = st.lists(st.dictionaries(st.integers(1, 5), st.integers(1, 3), max_size=4), max_size=12)


def pattern(answers):
    return make_pattern((answer,) for answer in answers)


def disagreement(items):
    """Disagreement by its definition: of each answer, the share of others that are different."""
    within, answers = 0.0, 0
    for item in items:
        if len(item) > 1:
            answers += len(item)
            differ = sum(item[a] != item[b] for a, b in permutations(item, 2))
            within += differ / (len(item) - 1)
    return within, answers


@given(ITEMS)
@examples(100)
def test_disagreement_of_items_and_the_share_that_an_annotator_explains(items):
    within, answers = disagreement(items)
    patterns = ItemPatterns(Counter(pattern(item.values()) for item in items))
    assert total_disagreement(patterns) == (pytest.approx(within), answers)
    counts = {}
    for item in items:
        for name, own in item.items():
            counts.setdefault(name, Counter())[(own,), pattern(item.values())] += 1
    shares = explained_by_owners(tally_columns_of(AnnotatorTallies(counts)))
    assert shares.keys() == counts.keys()
    for name, share in shares.items():
        rest = [{n: own for n, own in item.items() if n != name} for item in items]
        less, fewer = disagreement(rest)
        expected = 1 - (less / fewer) / (within / answers) if within and fewer else 0
        assert share == pytest.approx(expected)


def test_items_explain_what_would_be_gone_if_they_were_like_the_others():
    assert item_disagreement(pattern([1])) == (0.0, 0)
    alike, apart = pattern([1, 1]), pattern([1, 2])
    better, worse = ItemPatterns({alike: 90, apart: 10}), ItemPatterns({alike: 10, apart: 10})
    assert explained_by_items(better + worse, worse, better) == pytest.approx(0.4)
    assert explained_by_items(better + worse, better, worse) < 0
    assert explained_by_items(better, ItemPatterns(), better) == 0


# Cross-replication reliability. Items are the answers of either group. The data of the test of its
# authors' program (google-research, 2021), which gives 0.1818182:
PUBLISHED = [([2, 2], [2, 2]), ([2, 2, 2], [1, 2]), ([1, 1], [1, 2]), ([1, 1, 1], [1, 2]),
             ([1, 2], [1, 1])]  # fmt: skip


def estimate(items, scale="nominal"):
    counts = Counter((pattern(one), pattern(other)) for one, other in items if one and other)
    return cross_replication_reliability(
        [*counts.items()], sample(pool_two_patterns(counts), scale)
    )


def sample(patterns, scale="nominal"):
    values = {n: float(n) for n in range(1, 5)}
    return sample_for_measures(patterns, 9, categories=[1, 2, 3, 4], values=values, scale=scale)


def plain(items, scale):
    """The definition, pair by pair."""
    shared = [(one, other) for one, other in items if one and other]

    def apart(x, y):
        return float(x != y) if scale == "nominal" else float((x - y) ** 2)

    total = sum(len(one) + len(other) for one, other in shared)
    observed = sum(
        (len(one) + len(other)) / total * np.mean([apart(x, y) for x in one for y in other])
        for one, other in shared
    )
    pairs = [apart(x, y) for one, _ in shared for x in one for _, other in shared for y in other]
    expected = np.mean(pairs) if pairs else 0.0
    return None if not expected else float(1 - observed / expected)


def test_the_published_value_of_cross_replication_reliability():
    result = estimate(PUBLISHED)
    assert result.value == pytest.approx(0.1818182, abs=1e-7)
    assert result.parts.observed == pytest.approx(1 - 9 / 22)
    assert result.parts.expected == pytest.approx(0.5)
    assert result.items == 5
    alone = [([1, 1, 1], []), ([1, 1, 2], [])]  # items of one group do not count
    assert estimate([*PUBLISHED, *alone]).value == result.value


answers = st.lists(st.integers(1, 4), max_size=3)


@given(st.lists(st.tuples(answers, answers), max_size=8), st.sampled_from(["nominal", "interval"]))
def test_cross_replication_reliability_is_a_plain_count_and_symmetric(items, scale):
    result, wanted = estimate(items, scale), plain(items, scale)
    assert result.value == (None if wanted is None else pytest.approx(wanted))
    assert (result.value is None) == (result.undefined in {"no_overlap", "single_category"})
    turned = estimate([(other, one) for one, other in items], scale)
    for part in ("value", "standard_error"):
        value = getattr(turned, part)
        assert getattr(result, part) == (None if value is None else pytest.approx(value))


def two_groups(seed, number, right, second):
    """Answers of two and of ``second`` members of one crowd."""
    draw = np.random.default_rng(seed)
    items = []
    for true in draw.integers(1, 4, number).tolist():
        drawn = [true if draw.random() < right else int(draw.integers(1, 4)) for _ in range(5)]
        items.append((drawn[:2], drawn[2 : 2 + second(draw)]))
    return items


def test_the_error_of_cross_replication_reliability_is_that_of_a_jackknife():
    items = two_groups(1, 200, 0.8, lambda draw: 2 + int(draw.integers(0, 2)))
    left = np.array([estimate(items[:n] + items[n + 1 :]).value for n in range(len(items))], float)
    jackknife = float(np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum()))
    assert estimate(items).standard_error == pytest.approx(jackknife, rel=0.02)
