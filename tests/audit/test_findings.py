"""What is flagged, what is not, and what is said of it."""

from __future__ import annotations

import json

import pytest
from scipy import stats

from tests.audit.crowds import (
    Crowd,
    always,
    leaning,
    mostly_right,
    one,
    seeded,
    sentence,
    simulate,
    turk,
)
from tracker.audit.findings import Evidence, audit
from tracker.audit.sentences import finding_json_with_sentence
from tracker.audit.statistics.exact_tests import benjamini_hochberg
from tracker.core.errors import InvalidOption


def audited(crowd, **options):
    return audit(Evidence(crowd.tallies(), **options), consult=crowd.consult)


def in_state(flags, state):
    return {(f.annotator, f.kind, f.category) for f in flags if f.state == state}


def planted(seed, voice, *, categories=3):
    """Twelve annotators of about 40 answers, 4 an item; number 0 is planted."""
    voices = {who: mostly_right(0.8, categories) for who in range(12)} | {0: voice}
    return simulate(seeded(seed), voices, items=120, per_item=4, categories=categories)


def test_turk_is_too_thin_to_conclude():
    crowd, workers, categories = turk()
    flags = audited(crowd)
    positive = categories["positive"]
    assert in_state(flags, "flagged") == set()
    assert in_state(flags, "insufficient") == {
        (workers["Q"], "constant_category", positive),
        (workers["J"], "constant_category", positive),
    }
    found = next(f for f in flags if f.annotator == workers["Q"] and f.state == "insufficient")
    assert (found.n, found.observed, found.informative) == (4, 1.0, 3)
    assert found.expected == pytest.approx((2 / 5 + 2 / 5 + 1 + 3 / 5) / 4)
    assert found.peers == pytest.approx((1 / 4 + 1 / 4 + 1 + 2 / 4) / 4)
    assert (found.p_value, found.q_value, found.severity) == (None, None, None)
    assert sentence(found, "Q", "positive") == (
        "Q gave “positive” in 4 of 4 answers to items that others answered too (100%); on the "
        "same items the others gave it 50% of the time, but only 3 of the items could show a "
        "difference; 10 are needed."
    )


def test_an_annotator_of_one_category_is_found():
    found = 0
    for seed in range(20):
        flags = audited(planted(seed, always(1)))
        mine = {key for key in in_state(flags, "flagged") if key[0] == 0}
        found += mine == {(0, "constant_category", 1)}
        assert not any(f.kind == "category_bias" for f in flags if f.annotator == 0)
    assert found == 20


def test_two_categories_give_one_finding_not_its_mirror_image():
    voice = leaning(1, 0.7, mostly_right(0.8, 2))
    for seed in range(5):
        flags = audited(planted(seed, voice, categories=2))
        mine = in_state([f for f in flags if f.annotator == 0], "flagged")
        assert {key for key in mine if key[2] is not None} == {(0, "category_bias", 1)}


def test_two_biases_of_their_own_are_both_told():
    def voice(random, truth):
        return {0: 1, 2: 3}.get(truth, truth) if random.random() < 0.8 else truth

    voices = {who: mostly_right(0.8, 4) for who in range(6)} | {0: voice}
    flags = audited(simulate(seeded(3), voices, items=400, per_item=4, categories=4))
    mine = in_state([f for f in flags if f.annotator == 0], "flagged")
    mine = {key for key in mine if key[2] is not None}
    assert 2 <= len(mine) <= 3  # four shares that add up to 1 can differ in three ways
    assert {category for *_, category in mine} & {0, 1}
    assert {category for *_, category in mine} & {2, 3}


def test_honest_crowds_are_left_alone():
    accused = 0
    for seed in range(60):
        random = seeded(1000 + seed)
        voices = {w: mostly_right(random.uniform(0.6, 0.95)) for w in range(8)}
        flags = audited(simulate(random, voices, items=100, per_item=random.choice((2, 3, 4))))
        kinds = {kind for _, kind, _ in in_state(flags, "flagged")}
        accused += bool(kinds - {"low_agreement"})  # some are right much less often than others
    assert accused <= 4


def test_who_saw_only_positive_items_is_not_flagged():
    random = seeded(5)
    voices = {who: mostly_right(0.85) for who in range(8)}
    crowd = simulate(random, voices, items=300, per_item=3)
    for _ in range(40):
        others = random.sample(range(8), 3)
        seen = {who: (mostly_right(0.98)(random, 1),) for who in [*others, 99]}
        crowd.items.append(seen)
    answers = [a[0] for item in crowd.items for who, a in item.items() if who != 99]
    own = [item[99][0] for item in crowd.items if 99 in item]
    share = answers.count(1) / len(answers)
    assert stats.binomtest(own.count(1), len(own), share).pvalue < 1e-6
    mine = [f for f in audited(crowd) if f.annotator == 99]
    assert mine
    assert {f.state for f in mine} == {"clear"}


def test_q_values_are_one_correction_over_all_tests():
    flags = audited(
        simulate(seeded(2), dict.fromkeys(range(5), mostly_right(0.8)), items=90, per_item=3)
    )
    made = [f for f in flags if f.p_value is not None]
    assert {f.kind for f in made} == {
        "constant_category",
        "category_bias",
        "low_agreement",
        "random_answers",
    }
    expected = benjamini_hochberg([f.p_value for f in made])
    assert [f.q_value for f in made] == pytest.approx(expected)
    assert len(flags) == 5 * (3 * 2 + 2)


def test_a_small_effect_is_not_flagged_however_sure():
    voices = {who: mostly_right(0.8, 2) for who in range(5)}
    voices[0] = leaning(1, 0.14, mostly_right(0.8, 2))
    crowd = simulate(seeded(1), voices, items=4000, per_item=3, categories=2)
    bias = next(
        f
        for f in audit(Evidence(crowd.tallies()))
        if (f.annotator, f.kind, f.category) == (0, "category_bias", 1)
    )
    assert bias.q_value < 0.001
    assert 1 < bias.effect.value < 2
    assert bias.state == "clear"


def test_several_categories_an_answer_are_judged_one_by_one():
    random = seeded(4)
    items = []
    for _ in range(80):
        truth = {c for c in (1, 2) if random.random() < 0.5}
        item = {}
        for who in range(4):
            answer = {c for c in (1, 2) if (c in truth) == (random.random() < 0.85)}
            item[who] = tuple(sorted(answer | {1} if who == 0 else answer))
        items.append(item)
    flags = audited(Crowd(items), several=True)
    assert in_state(flags, "flagged") == {(0, "constant_category", 1)}
    assert (0, "category_bias", 2) in in_state(flags, "clear")
    assert not any(f.kind == "category_bias" and f.category == 1 for f in flags if not f.annotator)


def test_json_has_the_contract_order_and_no_infinity():
    flag = next(f for f in audited(planted(0, always(1))) if f.state == "flagged")
    made = finding_json_with_sentence(flag.to_dict({0: "A {odd} name"}, "positive"), "A {odd} name")
    head = ["kind", "category", "state", "severity", "observed", "expected", "n", "p_value"]
    assert [*made][:10] == [*head, "q_value", "why"]
    assert (made["effect"], made["effect_measure"]) == (None, "odds ratio")
    assert made["severity"] == "high"
    assert made["why"].startswith("A {odd} name gave “positive” in ")
    json.dumps(made, allow_nan=False)


def test_clear_flags_say_nothing():
    flag = audited(one({1: 0, 2: 0}))[0]
    assert (flag.state, flag.severity, flag.refit) == ("clear", None, None)
    assert sentence(flag) is None


def test_nobody_and_nothing():
    assert audited(one()) == []


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, 5.0])
def test_alpha_is_a_rate(alpha):
    with pytest.raises(InvalidOption, match="alpha"):
        audited(one(), alpha=alpha)
