"""What stands out is flagged only if a consensus of all answers confirms it."""

import re

import pytest

from tests.audit.crowds import (
    always,
    blindly,
    leaning,
    mostly_right,
    one,
    pair_patterns,
    seeded,
    sentence,
    simulate,
)
from tests.profiles import exhaustive
from tracker.audit.findings import Evidence, audit
from tracker.audit.joint_tallies import annotator_tallies_without
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.audit.second_opinion import second_opinion_consensus
from tracker.core.audit_tallies import (
    TRUTH,
    Given,
    audit_tally_of_pairs,
    joint_answers_tally,
)


def flags_of(crowd, *, pairs=False):
    items = [{w: a[0] for w, a in i.items()} for i in crowd.items]
    shared = audit_tally_of_pairs(pair_patterns(items)) if pairs else None
    return audit(Evidence(crowd.tallies(), pairs=shared), consult=crowd.consult)


def alone(crowd):
    """Return the flags by the test against co-annotators alone."""
    return audit(Evidence(crowd.tallies()))


def flagged(flags):
    return {who for f in flags if f.state == "flagged" for who in (f.annotator, f.other)} - {None}


def crowd_of(seed, people, accuracy, **options):
    return simulate(seeded(seed), dict.fromkeys(people, mostly_right(accuracy)), **options)


def copied(crowd, who, whom):
    """Return the crowd in which one annotator gives what the other gives to the same item."""
    for item in crowd.items:
        if who in item and whom in item:
            item[who] = item[whom]
    return crowd


def mixed(seed):
    """Six honest annotators and four that are not, 5 answers an item."""
    honest = mostly_right(0.85)
    voices = dict.fromkeys(range(10), honest)
    voices |= {0: always(1), 1: always(1), 2: leaning(2, 0.5, honest), 3: always(0)}
    return simulate(seeded(seed), voices, items=300, per_item=5)


@pytest.mark.parametrize("bot", [always(2), blindly], ids=["constant", "random"])
def test_the_honest_in_a_team_of_three_with_a_bot_are_not_accused(bot):
    for seed in range(6):
        voices = {1: mostly_right(0.9), 2: mostly_right(0.9), 3: bot}
        crowd = simulate(seeded(seed), voices, items=200, per_item=3)
        assert flagged(flags_of(crowd, pairs=True)) == {3}


def test_the_honest_who_stand_out_because_of_others_are_cleared():
    before = after = 0
    for seed in range(5):
        crowd = mixed(seed)
        before += len(flagged(alone(crowd)) - {0, 1, 2, 3})
        found = flagged(flags_of(crowd))
        assert found >= {0, 1, 2, 3}
        after += len(found - {0, 1, 2, 3})
    assert before >= 8  # of 30, by the test against co-annotators alone
    assert after == 0


def test_an_annotator_who_shares_items_with_a_constant_one_alone_is_not_accused():
    """What stands out and is not confirmed is insufficient, and says so."""
    random, honest = seeded(8), mostly_right(0.9, 2)
    items = [{0: 1, 1: honest(random, i % 2)} for i in range(40)]
    items += [{0: 1, 2: honest(random, i % 2), 3: honest(random, i % 2)} for i in range(60)]
    crowd = one(*items)
    assert {0, 1} <= flagged(alone(crowd))
    flags = flags_of(crowd)
    assert flagged(flags) == {0}
    unsure = [flag for flag in flags if flag.annotator == 1 and flag.state == "insufficient"]
    assert unsure
    for flag in unsure:
        assert flag.unconfirmed
        assert "but the consensus model does not agree: " in sentence(flag)
    own = {who: tuple(flag for flag in flags if flag.annotator == who) for who in range(4)}
    people = (AuditedAnnotator(who, "a", {"answers": 100}, some) for who, some in own.items())
    found = Audit("p", tuple(people), {})
    assert (found.lost, found.standing_out) == (0.25, 1.0)


def test_two_who_share_many_answers_are_not_clear_where_nothing_confirms_it():
    """44 of 45 answers are the same; 9 are against most of the others, where 3.5 are expected."""
    random = seeded(1)
    items = [
        {who: i % 2 if random.random() < 0.8 else 1 - i % 2 for who in range(5)} for i in range(45)
    ]
    for item in items:
        item[1] = item[0]
    items[0][1] = 1 - items[0][0]
    flags = flags_of(one(*items), pairs=True)
    (found,) = [flag for flag in flags if flag.kind == "copying" and (flag.q_value or 1) < 0.01]
    assert (found.details["shared_minority_answers"], found.state) == (9, "insufficient")
    words = "but they agree on 98% of these items; answering independently, they would"
    assert words in sentence(found)
    # Of three annotators one may copy another, or both are excellent and the third is not.
    for seed in range(5):
        crowd = copied(crowd_of(seed, (1, 2, 3), 0.8, items=250, per_item=3), 2, 1)
        flags = flags_of(crowd, pairs=True)
        assert flagged(flags) == set()
        (copying,) = [f for f in flags if f.kind == "copying"]
        assert (copying.state, copying.p_value is None) == ("insufficient", False)
        # A small p would be read as an accusation of two who are honest.
        assert re.search(r"\bp [=<]", sentence(copying)) is None


@pytest.mark.parametrize("crowds", [10, pytest.param(30, marks=exhaustive)])
def test_better_annotators_are_not_flagged_for_agreeing_less_than_the_others(crowds):
    """Skills differ by 7 points (one standard deviation), and none answers badly."""
    accused = 0
    for seed in range(crowds):
        random = seeded(seed)
        skill = {who: min(0.98, random.gauss(0.8, 0.07)) for who in range(12)}
        voices = {who: mostly_right(value) for who, value in skill.items()}
        found = flagged(flags_of(simulate(random, voices, items=400, per_item=3), pairs=True))
        accused += len(found)
        assert all(skill[who] <= sum(skill.values()) / 12 for who in found)
    assert accused <= 0.02 * 12 * crowds


def test_two_who_copy_are_found():
    """Of twenty people, with four answers an item, each of the others meets the two on ten."""
    found = 0
    for seed in range(6):
        crowd = crowd_of(seed, range(20), 0.8, items=400, per_item=4)
        for item in crowd.items:
            if 1 in item and 10 not in item:
                item[10] = item.pop(next(who for who in item if who != 1))
        flags = [f for f in flags_of(copied(crowd, 10, 1), pairs=True) if f.state == "flagged"]
        assert {(f.kind, f.annotator, f.other) for f in flags} <= {("copying", 1, 10)}
        found += bool(flags)
        assert all(flag.consensus.expected < flag.consensus.observed == 1.0 for flag in flags)
    assert found >= 5


def test_known_answers_are_taken_as_true_and_show_which_annotator_to_believe():
    """Two annotators give independent answers; the first is right on every item that is known."""
    items = [(Given(1, (i % 2,)), Given(2, (i // 2 % 2,))) for i in range(80)]

    def believed(known):
        """Return how often the first is believed where both differ and the answer is unknown."""
        rows = [(Given(TRUTH, items[i][0].answer), *items[i]) for i in range(known)]
        joint = joint_answers_tally((row, 1) for row in [*rows, *items[known:]])
        consensus = second_opinion_consensus(joint)
        first = joint.annotators[joint.annotator] == 1
        truth = consensus.fitted.truth[joint.item[first]]
        own = truth[range(len(truth)), joint.answer[first]]
        unknown = joint.truth[joint.item[first]] < 0
        return float((own[unknown] * joint.items[joint.item[first]][unknown]).sum())

    assert believed(0) < 75
    assert believed(40) > 39  # of forty


def test_figures_are_of_all_answers_and_the_refit_is_without_the_others():
    crowd = mixed(1)
    first, flags = {f.key: f for f in alone(crowd)}, flags_of(crowd)
    for flag in flags:
        same = first.get(flag.key)  # a duplicate of another finding is not among them
        for name in ("observed", "expected", "p_value", "q_value") if same else ():
            assert getattr(flag, name) == getattr(same, name)
        assert flag.refit is None or flag.refit.key == flag.key
    bias = next(f for f in flags if f.annotator == 2 and f.state == "flagged")
    # Without those who always answer 0 or 1, the others give 2 more often.
    assert bias.refit.expected > bias.expected
    assert "the consensus model agrees: " in sentence(bias)
    assert bias.to_dict({2: "ann"}, "2")["consensus"]["p_value"] <= 0.05
    for excluded in ((), (0,), (0, 2, 5), range(10)):
        found = annotator_tallies_without(crowd.consult(), excluded)
        assert found.counts == crowd.tallies(excluded).counts


def test_a_consensus_is_asked_only_where_a_finding_stands_out_and_may_be_unable_to_tell():
    calls = []
    same = one(*[dict.fromkeys(range(3), i % 2) for i in range(40)])
    audit(Evidence(same.tallies()), consult=calls.append)
    assert calls == []
    crowd = one(*[{0: 1, 1: i % 2, 2: i % 2} for i in range(40)])
    nothing = joint_answers_tally([((Given(7, (1,)),), 1)])
    flags = audit(Evidence(crowd.tallies()), consult=lambda _: nothing)
    key = (0, "constant_category", 1)
    (mine,) = [f for f in flags if (f.annotator, f.kind, f.category) == key]
    assert mine.state == "insufficient"
    assert "too few" in sentence(mine)
