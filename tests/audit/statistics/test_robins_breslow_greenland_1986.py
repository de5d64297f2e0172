"""The interval of a common odds ratio against statsmodels, a table for each item."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from tests.audit.crowds import leaning, mostly_right, seeded, simulate
from tracker.audit.statistics.mantel_haenszel import (
    mantel_haenszel_of_chances,
    mantel_haenszel_usages,
)
from tracker.core.tally_columns import tally_columns_of


def stratified(rows):
    """Own, held and size of each item as statsmodels' tables."""
    tables = [
        np.array([[own, 1 - own], [held - own, size - 1 - held + own]], dtype=float)
        for own, held, size, items in rows
        for _ in range(items)
    ]
    return StratifiedTable(tables)


def rows_of(crowd, annotator, category):
    for held in crowd.items:
        if annotator in held and len(held) > 1:
            given = [category in answer for answer in held.values()]
            yield int(category in held[annotator]), sum(given), len(given), 1


@pytest.mark.parametrize("seed", range(3))
def test_against_statsmodels(seed):
    voices = {who: mostly_right(0.7) for who in range(6)}
    voices[0] = leaning(1, 0.3, mostly_right(0.7))
    crowd = simulate(seeded(seed), voices, items=80, per_item=2 + seed)
    for usage in mantel_haenszel_usages(tally_columns_of(crowd.tallies()).shared):
        expected = stratified(rows_of(crowd, usage.annotator, usage.category))
        assert usage.odds_ratio == pytest.approx(expected.oddsratio_pooled)
        assert usage.odds_interval == pytest.approx(expected.oddsratio_pooled_confint(), rel=1e-6)


def test_of_chances_it_is_the_same():
    rows = [(1, 1, 4, 6), (0, 2, 3, 5), (1, 3, 5, 4), (0, 0, 4, 9), (1, 1, 1, 7)]
    expected = stratified([row for row in rows if row[2] > 1])
    usage = mantel_haenszel_of_chances(7, 0, rows)
    assert (usage.n, usage.own, usage.informative) == (24, 10, 15)
    assert usage.odds_interval == pytest.approx(expected.oddsratio_pooled_confint(), rel=1e-6)


def test_it_covers_the_odds_that_answers_were_drawn_with():
    """Given that T of n hold the category, one whose odds are threefold is among them so often."""
    random, covered = np.random.default_rng(6), 0
    held, size = np.tile([1, 2, 2, 3], 15), np.tile([3, 4, 5, 6], 15)
    chance = 3 * held / (3 * held + size - held)
    for _ in range(400):
        own = (random.random(60) < chance).astype(int)
        rows = zip(own.tolist(), held.tolist(), size.tolist(), [1] * 60, strict=True)
        low, high = mantel_haenszel_of_chances(0, 0, rows).odds_interval
        covered += low <= 3 <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_of_always_and_never_one_bound_is_exact():
    always = mantel_haenszel_of_chances(0, 0, [(1, 1, 4, 12)]).odds_interval
    never = mantel_haenszel_of_chances(0, 0, [(0, 3, 4, 12)]).odds_interval
    odds = always[0]
    assert (odds / (odds + 3)) ** 12 == pytest.approx(0.025)  # odds to 1 against three others
    assert always[1] == math.inf
    assert never == pytest.approx((0.0, 1 / odds))


def test_nothing_that_could_tell_has_no_interval():
    assert mantel_haenszel_of_chances(0, 0, [(1, 4, 4, 12), (0, 0, 3, 5)]).odds_interval is None
    assert mantel_haenszel_of_chances(0, 0, [(1, 1, 1, 12)]) is None
