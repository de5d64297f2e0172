"""Answers that say nothing of the items, and such as do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.audit.crowds import leaning, mostly_right, one, seeded, sentence, simulate
from tracker.audit.findings import Evidence
from tracker.audit.kinds.random_answers import RANDOM_ANSWERS
from tracker.audit.statistics.peer_agreement import majority_tables, spammer_scores


def score_of(table):
    """The score of one table."""
    return spammer_scores(np.asarray(table)[None])[0]


def crowd(seed, voice, items=300):
    voices = {who: mostly_right(0.8) for who in range(8)} | {0: voice}
    return simulate(seeded(seed), voices, items=items, per_item=4)


def found_in(crowd, **options):
    evidence = Evidence(crowd.tallies(), **options)
    return {finding.annotator: finding for finding in RANDOM_ANSWERS.find(evidence)}


def blindly(random, _truth):
    return random.randrange(3)


@pytest.mark.parametrize("seed", range(4))
def test_blind_answers_are_found_whatever_their_shares(seed):
    for voice in (blindly, lambda random, _: 0 if random.random() < 0.7 else 2):
        found = found_in(crowd(seed, voice))
        assert found[0].notable
        assert found[0].p_value < 1e-6
        assert found[0].severity == "high"
        assert not any(f.notable for who, f in found.items() if who)


@pytest.mark.parametrize("voice", [mostly_right(0.65), leaning(1, 0.4, mostly_right(0.8))])
def test_careless_or_leaning_answers_still_say_something(voice):
    assert sum(found_in(crowd(seed, voice))[0].notable for seed in range(5)) == 0


def test_always_wrong_is_not_blind():
    """Who takes 0 for 1, 1 for 2 and 2 for 0 tells the items apart as well as anybody."""
    found = found_in(crowd(1, lambda random, truth: (mostly_right(0.9)(random, truth) + 1) % 3))[0]
    assert found.p_value < 1e-9
    assert not found.notable


def test_figures_are_the_scores_and_their_bound():
    evidence = Evidence(crowd(2, blindly).tallies())
    counts = majority_tables(evidence.shared_columns)
    place = evidence.shared_columns.annotators.tolist().index(0)
    own = score_of(counts[place])
    others = score_of(counts.sum(axis=0) - counts[place])
    [found] = [f for f in RANDOM_ANSWERS.find(evidence) if f.annotator == 0]
    assert found.observed == pytest.approx(max(own.value, 0.0))
    assert found.peers == pytest.approx(others.value)
    bound = (max(own.value, 0.0) + 1.6449 * own.error) / others.value
    assert found.effect.high == pytest.approx(bound, rel=1e-4)
    assert "look random" in sentence(found)


def test_the_bound_must_lie_under_the_floor():
    blind = crowd(3, blindly)
    bound = found_in(blind)[0].effect.high
    over, under = {"information_share": bound + 0.01}, {"information_share": bound - 0.01}
    assert found_in(blind, floors=over)[0].notable
    assert not found_in(blind, floors=under)[0].notable


def test_few_items_are_never_enough():
    assert found_in(one({0: 1, 1: 1})) == {}
    assert not any(f.notable for f in found_in(crowd(4, blindly, items=12)).values())
