"""Higher or lower on a scale than the co-annotators of the same items."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.audit.crowds import one, seeded, sentence
from tests.audit.records import Asked, Person, recorded
from tracker.audit.findings import Evidence
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS


def found_in(items, points):
    evidence = Evidence(one(*items).tallies(), points=points)
    return {finding.annotator: finding for finding in SEVERITY_BIAS.find(evidence)}


def ragged(seed):
    random = seeded(seed)
    return [
        {who: random.choice([1, 2, 2, 3, 5]) for who in random.sample(range(6), 2 + n % 4)}
        for n in range(60)
    ]


def test_figures_are_those_of_plain_loops():
    items = ragged(1)
    for who, found in found_in(items, {c: float(c) for c in (1, 2, 3, 5)}).items():
        rows = [
            (held[who], [v for w, v in held.items() if w != who]) for held in items if who in held
        ]
        gaps = np.array([own - np.mean(others) for own, others in rows])
        assert found.n == len(rows)
        assert found.observed == pytest.approx(np.mean([own for own, _ in rows]))
        assert found.peers == pytest.approx(np.mean([np.mean(others) for _, others in rows]))
        assert found.effect.value == pytest.approx(gaps.mean())
        reach = 1.96 * gaps.std(ddof=1) / math.sqrt(len(gaps))
        assert found.effect.low == pytest.approx(gaps.mean() - reach, rel=1e-4)
        within = np.mean([np.var([own, *others], ddof=1) for own, others in rows])
        expected = abs(gaps.mean()) / math.sqrt(within)
        assert found.details["standard_deviations"] == pytest.approx(expected)
        assert found.informative == sum(len({own, *others}) > 1 for own, others in rows)


def test_the_p_value_is_that_of_answers_dealt_again():
    """Within each item any of its answers could have been the annotator's."""
    items, random = ragged(2), np.random.default_rng(3)
    found = found_in(items, {c: float(c) for c in (1, 2, 3, 5)})
    for who in (0, 3):
        rows = [[*held.values()] for held in items if who in held]
        seen = sum(held[who] for held in items if who in held)
        dealt = sum(random.choice(row, size=20_000) for row in rows)
        counted = 2 * min(np.mean(dealt <= seen), np.mean(dealt >= seen))
        assert found[who].p_value == pytest.approx(min(counted, 1.0), rel=0.1, abs=0.02)


def test_it_does_not_matter_which_end_is_up():
    items = ragged(4)
    found = found_in(items, {c: float(c) for c in (1, 2, 3, 5)})
    turned = found_in(items, {c: -float(c) for c in (1, 2, 3, 5)})
    for who, finding in found.items():
        assert turned[who].p_value == pytest.approx(finding.p_value)
        assert turned[who].effect.value == pytest.approx(-finding.effect.value)
        assert turned[who].notable == finding.notable


def higher(asked: Asked) -> int:
    return min(asked.honest() + (asked.random.random() < 0.6), 4)


def test_who_is_higher_is_told_as_above():
    record = recorded(1, {2: Person(higher)}, categories=5, ordinal=True)
    found = {f.annotator: f for f in SEVERITY_BIAS.find(record.evidence())}
    assert found[2].notable
    assert found[2].effect.value > 0.3
    assert " above " in sentence(found[2])
    assert not any(finding.notable for who, finding in found.items() if who != 2)


def test_few_items_have_no_test():
    points = {0: 0.0, 1: 1.0}
    assert found_in([{1: 0, 2: 1}] * 9, points)[1].p_value is None
    assert found_in([{1: 0, 2: 1}] * 10, points)[1].p_value == pytest.approx(2 / 2**10)
    assert not found_in([{1: 0, 2: 0}] * 30, points)[1].notable
    assert found_in([{1: 0}], points) == {}
