"""The audit repeated without the answers of flagged annotators."""

from __future__ import annotations

import pytest

from tracker.audit import Evidence, audit
from tracker.audit.rounds import MAXIMUM_REFITS

from .crowds import always, leaning, mostly_right, one, seeded, simulate


def flagged(flags):
    return {f.annotator for f in flags if f.state == "flagged"}


def mixed(seed):
    """Six sound annotators and four that are not, 5 answers an item."""
    sound = mostly_right(0.85)
    voices = dict.fromkeys(range(10), sound)
    voices |= {0: always(1), 1: always(1), 2: leaning(2, 0.5, sound), 3: always(0)}
    return simulate(seeded(seed), voices, items=300, per_item=5)


def test_sound_annotators_are_cleared_by_the_refit():
    before = after = 0
    for seed in range(10):
        crowd = mixed(seed)
        before += len(flagged(audit(Evidence(crowd.tallies()))) - {0, 1, 2, 3})
        flags = audit(Evidence(crowd.tallies()), crowd.regather)
        after += len(flagged(flags) - {0, 1, 2, 3})
        assert flagged(flags) >= {0, 1, 2, 3}
    assert before >= 15  # of 60: without a refit, accused because of the others
    assert after <= 3


def test_main_figures_are_those_before_the_refit():
    crowd = mixed(1)
    first = {(f.annotator, f.kind, f.category): f for f in audit(Evidence(crowd.tallies()))}
    for flag in audit(Evidence(crowd.tallies()), crowd.regather):
        same = first.get((flag.annotator, flag.kind, flag.category))
        if same:
            assert (flag.observed, flag.expected, flag.p_value, flag.q_value) == (
                (same.observed, same.expected, same.p_value, same.q_value)
            )
            assert {"observed", "expected", "peers", "n", "p_value"} <= flag.refit.keys()


def test_one_hidden_by_others_is_found():
    """0 and 1 always answer 1; 3 answers it too often, which does not show beside them."""
    random = seeded(2)
    items = []
    for _ in range(60):
        truth = random.randrange(2)
        item = dict.fromkeys((0, 1), 1)
        items.append(item | {who: mostly_right(0.9, 2)(random, truth) for who in (2, 4, 5, 6)})
        items[-1][3] = leaning(1, 0.45, mostly_right(0.9, 2))(random, truth)
    crowd = one(*items)
    assert 3 not in flagged(audit(Evidence(crowd.tallies())))
    flags = audit(Evidence(crowd.tallies()), crowd.regather)
    assert flagged(flags) == {0, 1, 3}
    found = next(f for f in flags if f.annotator == 3 and f.state == "flagged")
    assert found.q_value > 0.05
    assert found.refit["q_value"] <= 0.05
    assert found.severity is not None
    assert "leaving out answers of other flagged annotators" in found.why


def test_compared_only_with_flagged_answers_is_not_enough():
    """Number 1 shares items with number 0 alone, whose answers are all 1."""
    random = seeded(8)
    sound = mostly_right(0.9, 2)
    items = [{0: 1, 1: sound(random, i % 2)} for i in range(40)]
    items += [{0: 1, 2: sound(random, i % 2), 3: sound(random, i % 2)} for i in range(60)]
    crowd = one(*items)
    assert {0, 1} <= flagged(audit(Evidence(crowd.tallies())))
    flags = audit(Evidence(crowd.tallies()), crowd.regather)
    assert flagged(flags) == {0}
    mine = [f for f in flags if f.annotator == 1 and f.state == "insufficient"]
    assert len(mine) == 1
    assert "none of the items could tell" in mine[0].why


def test_one_left_out_sees_the_sound_ones_and_themself():
    crowd = one(*[{0: 1, 1: i % 2, 2: i % 2} for i in range(40)])
    flags = audit(Evidence(crowd.tallies()), crowd.regather)
    assert flagged(flags) == {0}
    found = next(f for f in flags if f.state == "flagged")
    assert found.refit["expected"] == pytest.approx(found.expected)
    assert found.refit["n"] == 40


@pytest.mark.parametrize("seed", range(4))
def test_refits_are_few_and_none_is_made_without_a_flag(seed):
    calls = []
    crowd = mixed(seed)

    def regather(excluded):
        calls.append(excluded)
        return crowd.regather(excluded)

    audit(Evidence(crowd.tallies()), regather)
    assert 1 <= len(calls) <= MAXIMUM_REFITS
    assert all(calls)
    calls.clear()
    quiet = one(*[{0: i % 2, 1: i % 2, 2: i % 2} for i in range(40)])
    audit(Evidence(quiet.tallies()), calls.append)
    assert calls == []
