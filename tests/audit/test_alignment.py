"""Agreement with the co-annotators, against loops over the answers themselves."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from tests.audit.crowds import Crowd, mostly_right, one, seeded, simulate
from tracker.audit.findings import Evidence
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.statistics.peer_agreement import (
    peer_agreement,
    peer_agreement_alignments,
    peer_agreement_draws,
)
from tracker.core.tallies import make_pattern
from tracker.core.tally_columns import tally_columns_of


def ragged(seed):
    """Items of one to six answers of up to three categories each."""
    random = seeded(seed)
    answers = [(), (1,), (1, 2), (3,)]
    return Crowd(
        [
            {who: random.choice(answers) for who in random.sample(range(7), random.randrange(1, 7))}
            for _ in range(90)
        ]
    )


def plain(crowd, who):
    """Per shared item: own agreement, that of all, that of the others (None below three)."""
    for held in crowd.items:
        if who in held and len(held) > 1:
            others = [answer for other, answer in held.items() if other != who]
            own = sum(answer == held[who] for answer in others) / len(others)
            every = [a == b for a, b in permutations(held.values(), 2)]
            peers = [a == b for a, b in permutations(others, 2)]
            yield own, np.mean(every), np.mean(peers) if peers else None


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_plain_loops(seed):
    crowd = ragged(seed)
    for who, found in peer_agreement_alignments(tally_columns_of(crowd.tallies()).shared).items():
        rows = [*plain(crowd, who)]
        own, every = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        assert found.n == len(rows)
        assert found.observed == pytest.approx(own.mean())
        assert found.deviation == pytest.approx(own.std(ddof=1))
        assert found.expected == pytest.approx(every.mean())
        assert found.excess == pytest.approx((own - every).sum())
        gaps = np.array([own - peers for own, _, peers in rows if peers is not None])
        assert found.compared == len(gaps)
        assert found.gap == pytest.approx(gaps.mean())
        assert found.peers == pytest.approx(np.mean([row[2] for row in rows if row[2] is not None]))
        error = gaps.std(ddof=1) / math.sqrt(len(gaps))
        assert found.error == pytest.approx(error)
        assert found.gap_interval == pytest.approx(
            (gaps.mean() - 1.96 * error, gaps.mean() + 1.96 * error), abs=1e-4
        )
        low, high = found.observed_interval
        assert 0.0 <= low < found.observed < high <= 1.0


def test_items_that_could_tell_are_those_where_another_answer_had_agreed_more_or_less():
    crowd = one({1: 0, 2: 1}, {1: 0, 2: 0, 3: 0}, {1: 0, 2: 1, 3: 2}, {1: 0, 2: 0, 3: 2})
    found = peer_agreement_alignments(tally_columns_of(crowd.tallies()).shared)[1]
    assert (found.n, found.compared, found.informative) == (4, 3, 1)


def test_what_an_answer_may_agree_with_is_every_annotator_of_the_item():
    pattern = make_pattern([(1,), (1,), (1,), (2,), ()])
    draws = peer_agreement_draws([pattern])
    agreed = [0.5, 0.5, 0.5, 0.0, 0.0]
    assert draws.mean[0] == pytest.approx(np.mean(agreed))
    assert draws.variance[0] == pytest.approx(np.var(agreed))
    assert draws.step([0]) == 0.5  # agreeing with two of the four others, or with none


def test_the_others_agreement_with_each_other():
    pattern = make_pattern([(1,), (1,), (1,), (2,)])
    assert peer_agreement((1,), pattern) == pytest.approx(1 / 3)
    assert peer_agreement((2,), pattern) == 1.0
    assert peer_agreement((1,), make_pattern([(1,), (2,)])) is None


def test_two_answers_cannot_tell_which_is_off():
    crowd = simulate(seeded(1), {who: mostly_right(0.6) for who in range(4)}, items=80, per_item=2)
    for finding in LOW_AGREEMENT.find(Evidence(crowd.tallies())):
        assert (finding.informative, finding.p_value, finding.peers) == (0, None, None)
        assert not finding.notable
        assert finding.effect.value is None


def test_nothing_shared_is_nothing_found():
    assert peer_agreement_alignments(tally_columns_of(one({1: 0}, {2: 0}).tallies()).shared) == {}
    found = peer_agreement_alignments(tally_columns_of(one({1: 0, 2: 0}, {3: 0}).tallies()).shared)
    assert found.keys() == {1, 2}
    assert (found[1].deviation, found[1].error, found[1].gap_interval) == (None, None, None)


def test_who_agrees_less_is_told_by_a_small_lower_tail():
    voices = {who: mostly_right(0.85) for who in range(6)} | {0: mostly_right(0.45)}
    crowd = simulate(seeded(2), voices, items=150, per_item=4)
    found = {f.annotator: f for f in LOW_AGREEMENT.find(Evidence(crowd.tallies()))}
    assert found[0].p_value < 1e-4
    assert found[0].notable
    assert found[0].effect.value < -0.15
    assert all(f.p_value > 0.01 for who, f in found.items() if who)
