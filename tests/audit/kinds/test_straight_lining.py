"""Runs of the same answer that the items do not explain."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from tests.audit.crowds import seeded
from tests.audit.records import Asked, Person, recorded
from tracker.audit.findings import Evidence
from tracker.audit.kinds.straight_lining import MINIMUM_IN_ORDER, STRAIGHT_LINING
from tracker.core.tallies import AnnotatorTallies, make_pattern
from tracker.core.tally_columns import keyed_tallies_of


def found_in(record, who=3):
    found = {f.annotator: f for f in STRAIGHT_LINING.find(record.evidence())}
    return found[who]


def lazy(asked: Asked) -> int:
    again = asked.before is not None and asked.random.random() < 0.5
    return asked.before if again else asked.honest()


def leaning(asked: Asked) -> int:
    return 1 if asked.random.random() < 0.5 else asked.honest()


def in_order(record, who, key):
    """The record with one annotator's answers in another order."""
    record.order[who].sort(key=key)
    return record


def of_sequences(counts):
    """What is found of one annotator's answers with the one before."""
    evidence = Evidence(AnnotatorTallies(), sequences=keyed_tallies_of({1: counts}))
    return [*STRAIGHT_LINING.find(evidence)]


def test_runs_are_found():
    for seed in range(5):
        found = found_in(recorded(seed, {3: Person(lazy)}, answers=100))
        assert found.p_value < 1e-3
        assert found.notable
        assert found.effect.value == pytest.approx(found.observed - found.expected)


@pytest.mark.parametrize("seed", range(3))
def test_items_sorted_by_their_truth_explain_runs(seed):
    record = recorded(seed, answers=100, gold=1.0)
    found = found_in(in_order(record, 3, lambda item: record.truths[item]))
    assert found.observed > 0.45
    assert found.p_value > 0.01
    assert not found.notable


def test_who_gives_an_answer_too_often_does_not_line_up():
    """A leaning repeats itself in any order, the items' own or one by truth."""
    low = []
    for seed in range(20):
        found = found_in(recorded(seed, {3: Person(leaning)}, people=6, answers=80))
        assert not found.notable
        low.append(found.p_value <= 0.05)
    assert sum(low) <= 4


def test_one_answer_only_has_no_test():
    found = found_in(recorded(1, {3: Person(lambda _: 1)}))
    assert (found.observed, found.p_value, found.notable) == (1.0, None, False)
    assert found.effect.value == pytest.approx(0.0)


def test_agreeing_with_the_others_is_no_straight_lining():
    """Runs in the items themselves: who is right on all of them is always with the majority."""
    counts = Counter()
    random = seeded(5)
    for _ in range(60):
        own = (random.randrange(2),)
        counts[own, own, make_pattern([own, own, (2,), (3,)])] += 1
    [found] = of_sequences(counts)
    assert found.effect.value > 0.2
    assert found.p_value < 1e-3
    assert not found.notable


def test_the_excess_is_a_plain_sum_over_answers():
    record = recorded(6, {3: Person(lazy)}, answers=60)
    order, rows = record.order[3], []
    for before, item in pairwise(order):
        held = [*record.items[item].values()]
        if len(set(held)) > 1:
            rows.append((record.items[before][3], record.items[item][3], held))
    usual = Counter(previous for previous, _, _ in rows)
    excess, variance = 0.0, 0.0
    for previous, own, held in rows:
        worth = [(answer == previous) - usual[answer] / len(rows) for answer in held]
        excess += (own == previous) - usual[own] / len(rows) - np.mean(worth)
        variance += np.var(worth)
    found = found_in(record)
    assert found.informative == len(rows)
    assert found.n == len(order) - 1
    assert found.effect.value == pytest.approx(excess / len(rows))
    assert found.observed == pytest.approx(np.mean([p == own for p, own, _ in rows]))
    assert found.p_value == pytest.approx(stats.norm.sf(excess / np.sqrt(variance)))


def test_few_answers_have_no_test():
    pattern = make_pattern([(0,), (0,), (1,)])
    for number, tested in ((MINIMUM_IN_ORDER - 1, False), (MINIMUM_IN_ORDER, True)):
        counts = {((0,), (0,), pattern): number - 1, ((1,), (0,), pattern): 1}
        [found] = of_sequences(counts)
        assert (found.p_value is not None) == tested


def test_items_on_which_all_agree_are_not_looked_at():
    counts = {((0,), (0,), (((0,), 4),)): 50}
    assert of_sequences(counts) == []
    assert [*STRAIGHT_LINING.find(Evidence(AnnotatorTallies()))] == []
