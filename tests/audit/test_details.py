"""Findings that a minority who agree, or a relabeling, explains; bad answers are not explained."""

import pytest

from tests.audit.crowds import (
    Crowd,
    leaning,
    mostly_right,
    pair_patterns,
    seeded,
    sentence,
    simulate,
)
from tests.helpers import give
from tests.profiles import exhaustive
from tracker.audit.evidence import Evidence
from tracker.audit.findings import audit
from tracker.audit.relabeling import relabeling_details
from tracker.core.audit_tallies import TRUTH, audit_tally_of_pairs
from tracker.core.tallies import make_pattern

CROWDS = pytest.mark.parametrize("crowds", [4, pytest.param(20, marks=exhaustive)])


def right(share):
    return lambda random, truth, _: truth if random.random() < share else 1 - truth


def misled(random, truth, hard):
    """Right, but on two of five items, on which nearly all err alike."""
    return right(0.2 if hard else 0.9)(random, truth, hard)


def one_way(random, truth, hard):
    return 1 if random.random() < 0.45 else right(0.9)(random, truth, hard)


def answered(seed, odd, others, number=2):
    """Five of ten people answer each item; the first ones are those who may stand out."""
    random, items, truths = seeded(seed), [], []
    for _ in range(300):
        truth, hard = random.randrange(2), random.random() < 0.4
        who = random.sample(range(10), 5)
        items.append({one: (odd if one < number else others)(random, truth, hard) for one in who})
        truths.append(truth)
    return items, truths


def audited(items, truths=()):
    crowd = Crowd([{who: (own,) for who, own in held.items()} for held in items])
    known = [{TRUTH: (truth,)} for truth in truths] + [{}] * (len(items) - len(truths))
    judged = Crowd([held | truth for held, truth in zip(crowd.items, known, strict=True)])
    gold = {}
    for held, truth in zip(items, truths, strict=False):
        pattern = make_pattern((own,) for own in held.values())
        for who, own in held.items():
            mine, key = gold.setdefault(who, {}), ((truth,), (own,), pattern)
            mine[key] = mine.get(key, 0) + 1
    pairs = audit_tally_of_pairs(pair_patterns(items))
    evidence = Evidence(crowd.tallies(), pairs=pairs, gold=gold or None)
    flags = audit(evidence, consult=judged.consult)
    flagged = [f for f in flags if f.state == "flagged" and f.kind != "low_gold_accuracy"]
    return flags, flagged


def agreeing(flags):
    told = [flag for flag in flags if flag.details.get("minority")]
    assert all(flag.state == "insufficient" and flag.consensus.holds for flag in told)
    who = {who for flag in told for who in (flag.annotator, flag.other)} - {None}
    return who, len(told)


def accused(flagged):
    return {who for flag in flagged for who in (flag.annotator, flag.other)} - {None}


@CROWDS
def test_experts_who_agree_with_each_other_against_the_majority_are_not_flagged(crowds):
    found = told = 0
    for seed in range(3 * crowds):
        flags, flagged = audited(answered(seed, right(0.95), misled)[0])
        found += len(accused(flagged))
        assert agreeing(flags)[0] <= {0, 1}
        told += agreeing(flags)[1]
    assert found <= 0.03 * 30 * crowds
    assert told >= crowds


@CROWDS
@pytest.mark.parametrize("odd", [right(0.55), right(0.65), one_way], ids=["55", "65", "one way"])
def test_careless_annotators_who_are_flagged_do_not_agree(odd, crowds):
    found = 0
    for seed in range(crowds):
        flags, flagged = audited(answered(seed, odd, right(0.9))[0])
        found += len(flagged)
        assert agreeing(flags) == (set(), 0)
    assert found >= crowds


@CROWDS
@pytest.mark.parametrize("share", [0.85, 0.55])
def test_one_who_copies_is_no_expert(share, crowds):
    found = 0
    for seed in range(crowds):
        items, _ = answered(seed, right(share), right(0.85))
        for held in items:
            held.update({1: held[0]} if {0, 1} <= held.keys() else {})
        flags, flagged = audited(items)
        assert agreeing(flags) == (set(), 0)
        found += accused(flagged) == {0, 1}
    assert found >= crowds / 2


@CROWDS
def test_known_truths_decide_whether_one_who_differs_from_most_is_an_expert(crowds):
    kept = {True: 0, False: 0}
    for seed in range(crowds):
        for expert in kept:
            odd, others = (right(0.95), misled) if expert else (right(0.6), right(0.9))
            items, truths = answered(seed, odd, others, 1)
            flags, flagged = audited(items, truths[:90])
            kept[expert] += 0 not in accused(flagged)
            known = [flag for flag in flags if "known" in flag.details]
            assert all(expert and "the truth is theirs" in sentence(flag) for flag in known)
    assert kept == {True: crowds, False: 0}


def test_a_finding_says_what_settles_a_minority(ledger):
    crowds = (answered(seed, right(0.95), misled)[0] for seed in range(20))
    items = next(items for items in crowds if agreeing(audited(items)[0])[1])
    rows = [(f"i{n}", f"p{who}", own) for n, held in enumerate(items) for who, own in held.items()]
    give(ledger, rows)
    said = [
        (flag["with"], flag["why"])
        for row in ledger.audit("p").to_dict()["annotators"]
        for flag in row["flags"]
        if flag["details"].get("minority")
    ]
    assert said
    for other, why in said:
        assert ("both may be the experts" if other else "1 other agrees with p") in why
        assert "30% of the items" in why


RIGHT = mostly_right(0.9, 5)
SEEDS = pytest.mark.parametrize("seeds", [2, pytest.param(10, marks=exhaustive)])


def relabelings_of(voice, seed):
    """Return the details of the one annotator of eight who answers so; the others have none."""
    voices = {1: voice} | dict.fromkeys(range(2, 9), RIGHT)
    crowd = simulate(seeded(seed), voices, items=800, per_item=4, categories=5)
    evidence = Evidence(crowd.tallies())
    flags = audit(evidence, consult=crowd.consult)
    names = {category: str(category) for category in range(5)}
    details = [(flag.annotator, relabeling_details(flag, evidence, names)) for flag in flags]
    assert not [who for who, detail in details if who != 1 and detail.get("relabeling")]
    return [detail for who, detail in details if who == 1 and detail]


@SEEDS
@pytest.mark.parametrize(
    ("meaning", "relabeling"),
    [
        (lambda c: {1: 2, 2: 1}.get(c, c), {"1": "2", "2": "1"}),
        (lambda c: 4 - c, {"0": "4", "1": "3", "3": "1", "4": "0"}),
    ],
    ids=["swapped", "reversed"],
)
def test_a_relabeling_is_found_with_its_agreement(meaning, relabeling, seeds):
    """Answers as right as the others', but written down otherwise."""
    for seed in range(seeds):
        found = relabelings_of(lambda random, truth: meaning(RIGHT(random, truth)), seed)
        told = [one for one in found if one["relabeling"]]
        assert told
        for one in told:
            assert one["relabeling"] == relabeling
            assert one["agreement_before"] < 0.6
            assert one["agreement_after"] > 0.75


def test_a_scale_off_by_one_whose_end_was_cut_off_is_found():
    found = relabelings_of(lambda random, truth: min(RIGHT(random, truth) + 1, 4), 1)
    (relabeling,) = [one["relabeling"] for one in found if one["relabeling"] is not None]
    relabeling.pop("4", None)
    assert relabeling == {"1": "0", "2": "1", "3": "2"}


@SEEDS
@pytest.mark.parametrize(
    "voice",
    [lambda random, _: random.randrange(5), leaning(2, 0.5, RIGHT), mostly_right(0.45, 5)],
    ids=["random", "leaning", "careless"],
)
def test_bad_answers_are_not_explained(voice, seeds):
    for seed in range(seeds):
        found = relabelings_of(voice, seed)
        assert found
        assert all(one == {"relabeling": None} for one in found)
