"""Counts per annotator and category, against sums typed from their definitions."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from tests.audit.crowds import Crowd, leaning, mostly_right, one, seeded, simulate
from tracker.audit.statistics.mantel_haenszel import mantel_haenszel_usages
from tracker.core.tallies import AnnotatorTallies
from tracker.core.tally_columns import tally_columns_of


def tables(crowd, annotator, category):
    """For each shared item the 2 by 2 table (a, b, c, d): own row, then co-annotators'."""
    for answers in crowd.items:
        if annotator in answers and len(answers) > 1:
            own = int(category in answers[annotator])
            others = [category in a for who, a in answers.items() if who != annotator]
            yield own, 1 - own, sum(others), len(others) - sum(others)


def ragged(seed, *, several):
    random = seeded(seed)
    items = []
    for _ in range(120):
        who = random.sample(range(6), random.randrange(1, 6))
        if several:
            items.append({w: tuple(c for c in (3, 8, 9) if random.random() < 0.4) for w in who})
        else:
            items.append({w: (random.choice((3, 8, 9)),) for w in who})
    return Crowd(items)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_tables(seed, several):
    crowd = ragged(seed, several=several)
    found = mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared)
    assert len(found) == 6 * 3
    for usage in found:
        rows = [*tables(crowd, usage.annotator, usage.category)]
        size = [sum(row) for row in rows]
        held = [a + c for a, _, c, _ in rows]
        chance = [t / n for t, n in zip(held, size, strict=True)]
        assert usage.n == len(rows)
        assert usage.own == sum(a for a, *_ in rows)
        assert usage.expected_share == pytest.approx(sum(chance) / len(rows))
        peers = sum(c / (c + d) for _, _, c, d in rows) / len(rows)
        assert usage.peer_share == pytest.approx(peers)
        assert usage.informative == sum(0 < p < 1 for p in chance)
        assert usage.informative == sum(items for *_, items in usage.chances)
        # Mantel and Haenszel 1959: the hypergeometric variance with the annotator's row total 1
        variance = sum(
            (a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))
            for (a, b, c, d), n in zip(rows, size, strict=True)
        )
        assert usage.variance == pytest.approx(variance)
        more = sum(a * d / n for (a, _, _, d), n in zip(rows, size, strict=True))
        less = sum(b * c / n for (_, b, c, _), n in zip(rows, size, strict=True))
        assert usage.odds_ratio == pytest.approx(more / less)


def test_beyond_the_exact_bound_the_p_value_is_that_of_mantel_and_haenszel():
    random = seeded(7)
    voices = {i: mostly_right(0.7) for i in range(4)} | {4: leaning(0, 0.1, mostly_right(0.7))}
    crowd = simulate(random, voices, items=1500, per_item=4)
    usage = next(
        u
        for u in mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared)
        if (u.annotator, u.category) == (4, 0)
    )
    assert usage.informative > 500
    assert not usage.chances
    rows = [*tables(crowd, 4, 0)]
    expected = sum((a + c) / (a + b + c + d) for a, b, c, d in rows)
    statistic = (abs(usage.own - expected) - 0.5) ** 2 / usage.variance
    assert usage.tails.two_sided == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-9)


def test_items_with_one_answer_never_enter():
    crowd = one({1: 0}, {1: 0}, {1: 0, 2: 1})
    first = next(
        u
        for u in mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared)
        if (u.annotator, u.category) == (1, 0)
    )
    assert (first.n, first.own, first.expected, first.peers) == (1, 1, 0.5, 0.0)


def test_odds_ratio_without_a_bound_and_undefined():
    crowd = one({1: 0, 2: 1}, {1: 5, 2: 5})
    ratios = {
        (u.annotator, u.category): u.odds_ratio
        for u in mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared)
    }
    assert ratios[1, 0] == math.inf
    assert ratios[1, 1] == 0.0
    assert ratios[1, 5] is None


@pytest.mark.parametrize("crowd", [one(), one({1: 0}), Crowd([{1: (), 2: ()}])])
def test_nothing_to_compare(crowd):
    assert mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared) == []


def test_no_annotators():
    assert mantel_haenszel_usages(tally_columns_of(AnnotatorTallies()).shared) == []
