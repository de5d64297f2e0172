"""Random answers, severity and low agreement, against co-annotators of the same items."""

import math

import numpy as np
import pytest

from tests.audit.crowds import leaning, mostly_right, one, results, seeded, sentence, simulate
from tests.audit.records import Person, recorded
from tracker.audit.findings import Evidence
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.random_answers import RANDOM_ANSWERS
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.audit.statistics.peer_agreement import majority_tables, spammer_scores


def crowd(seed, voice, items=300):
    voices = {who: mostly_right(0.8) for who in range(8)} | {0: voice}
    return simulate(seeded(seed), voices, items=items, per_item=4)


def score_of(table):
    return spammer_scores(np.asarray(table)[None])[0]


def randomness(crowd, **options):
    return results(RANDOM_ANSWERS, crowd.tallies(), **options)


def blindly(random, _truth):
    return random.randrange(3)


def test_random_answers_are_found_in_any_shares():
    for voice in (blindly, lambda random, _: 0 if random.random() < 0.7 else 2):
        found = randomness(crowd(1, voice))
        assert {who for who, result in found.items() if result.notable} == {0}
        assert found[0].p_value < 1e-6
        assert found[0].severity == "high"
    # 0 for 1, 1 for 2 and 2 for 0 tell the items apart as well as the truth.
    wrong = crowd(1, lambda random, truth: (mostly_right(0.9)(random, truth) + 1) % 3)
    careless = crowd(1, leaning(1, 0.4, mostly_right(0.8)))
    for others in (wrong, careless, crowd(4, blindly, items=12)):
        assert not any(result.notable for result in randomness(others).values())
    assert randomness(one({0: 1, 1: 1})) == {}


def test_random_answers_have_the_score_and_its_bound():
    evidence = Evidence(crowd(2, blindly).tallies())
    counts = majority_tables(evidence.shared_columns)
    place = evidence.shared_columns.annotators.tolist().index(0)
    own, others = score_of(counts[place]), score_of(counts.sum(axis=0) - counts[place])
    [result] = [result for result in RANDOM_ANSWERS.find(evidence) if result.annotator == 0]
    assert result.observed == pytest.approx(max(own.value, 0.0))
    assert result.peers == pytest.approx(others.value)
    bound = (max(own.value, 0.0) + 1.6449 * own.error) / others.value
    assert result.effect.high == pytest.approx(bound, rel=1e-4)
    assert "look random" in sentence(result)
    blind = crowd(3, blindly)
    bound = randomness(blind)[0].effect.high
    for floor in (bound + 0.01, bound - 0.01):
        again = randomness(blind, floors={"information_share": floor})[0]
        assert again.notable == (bound < floor)


POINTS = {category: float(category) for category in (1, 2, 3, 5)}


def severity(items, points):
    return results(SEVERITY_BIAS, one(*items).tallies(), points=points)


def ragged(seed):
    random = seeded(seed)
    return [
        {who: random.choice([1, 2, 2, 3, 5]) for who in random.sample(range(6), 2 + n % 4)}
        for n in range(60)
    ]


def test_severity_bias_against_plain_loops():
    items = ragged(1)
    for who, found in severity(items, POINTS).items():
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


def test_severity_bias_has_the_p_value_of_answers_dealt_again():
    """Within each item any of its answers could have been the annotator's."""
    items, random = ragged(2), np.random.default_rng(3)
    found = severity(items, POINTS)
    for who in (0, 3):
        rows = [[*held.values()] for held in items if who in held]
        seen = sum(held[who] for held in items if who in held)
        dealt = sum(random.choice(row, size=20_000) for row in rows)
        counted = 2 * min(np.mean(dealt <= seen), np.mean(dealt >= seen))
        assert found[who].p_value == pytest.approx(min(counted, 1.0), rel=0.1, abs=0.02)


def test_severity_bias_of_a_higher_annotator_is_above():
    higher = Person(lambda asked: min(asked.honest() + (asked.random.random() < 0.6), 4))
    evidence = recorded(1, {2: higher}, categories=5, ordinal=True).evidence()
    found = {result.annotator: result for result in SEVERITY_BIAS.find(evidence)}
    assert {who for who, result in found.items() if result.notable} == {2}
    assert found[2].effect.value > 0.3
    assert " above " in sentence(found[2])
    points = {0: 0.0, 1: 1.0}
    assert severity([{1: 0, 2: 1}] * 9, points)[1].p_value is None
    assert severity([{1: 0, 2: 1}] * 10, points)[1].p_value == pytest.approx(2 / 2**10)
    assert not severity([{1: 0, 2: 0}] * 30, points)[1].notable
    assert severity([{1: 0}], points) == {}


def test_low_agreement_cannot_be_told_of_two_answers_an_item():
    voices = {who: mostly_right(0.6) for who in range(4)}
    tallies = simulate(seeded(1), voices, items=80, per_item=2).tallies()
    for result in results(LOW_AGREEMENT, tallies).values():
        assert (result.informative, result.p_value, result.peers) == (0, None, None)
        assert (result.notable, result.effect.value) == (False, None)
