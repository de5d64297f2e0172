"""The truth as the yardstick of a category's use, where too few co-annotators are."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from tests.audit.crowds import mostly_right, one, seeded, sentence, simulate
from tracker.audit.findings import Evidence
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.statistics.mantel_haenszel import marginal_homogeneity_margins


def alone(truth, own, items):
    return {((truth,), (own,), (((own,), 1),)): items}


def found_in(crowd, gold):
    evidence = Evidence(crowd.tallies(), gold=gold)
    return {(f.annotator, f.category): f for f in CATEGORY_BIAS.find(evidence)}


GOLD = {1: alone(0, 1, 14) | alone(1, 0, 3) | alone(0, 0, 20) | alone(1, 1, 13)}


def test_without_co_annotators_it_is_mcnemar_s_test_on_gold():
    found = found_in(one(*[{1: 0}] * 4), GOLD)
    assert found.keys() == {(1, 0), (1, 1)}
    bias = found[1, 1]
    assert bias.p_value == pytest.approx(stats.binomtest(14, 17).pvalue)
    assert (bias.observed, bias.expected, bias.peers) == (27 / 50, 16 / 50, 16 / 50)
    assert (bias.n, bias.informative, bias.notable) == (50, 17, True)
    assert bias.effect.value == pytest.approx(14 / 3)
    assert bias.details["against"] == "gold"
    assert "whose answer is known" in sentence(bias)
    assert found[1, 0].effect.value == pytest.approx(3 / 14)


def test_few_shared_items_give_way_to_gold():
    shared = one(*[{1: 0, 2: 1}] * 9)
    assert found_in(shared, GOLD)[1, 1].details["against"] == "gold"
    assert found_in(shared, {})[1, 1].p_value is None
    assert found_in(shared, GOLD)[2, 1].p_value is None


def test_enough_shared_items_do_not_and_tell_of_gold_beside():
    shared = one(*[{1: 0, 2: 1}] * 10)
    found = found_in(shared, GOLD)[1, 1]
    margin = marginal_homogeneity_margins(GOLD[1])[1]
    assert "against" not in found.details
    assert found.p_value == pytest.approx(2 / 2**10)
    assert found.details["gold"] == {
        "items": 50,
        "over": 14,
        "under": 3,
        "mcnemar_p_value": margin.p_value,
        "stuart_maxwell_p_value": margin.overall_p_value,
    }


def test_gold_with_few_errors_is_no_yardstick():
    assert found_in(one({1: 0}), {1: alone(0, 1, 9) | alone(0, 0, 40)}) == {}


def test_each_annotator_and_category_is_found_once():
    crowd = simulate(seeded(1), {who: mostly_right(0.6) for who in range(5)}, items=60, per_item=3)
    gold = {}
    for number, held in enumerate(crowd.items):
        for who, own in held.items():
            key = ((number % 3,), own, tuple(sorted(Counter(held.values()).items())))
            gold.setdefault(who, Counter())[key] += 1
    findings = [*CATEGORY_BIAS.find(Evidence(crowd.tallies(), gold=gold))]
    assert len({finding.key for finding in findings}) == len(findings) == 15


def test_without_either_there_is_nothing_to_hold_a_use_against():
    lonely = one({1: 0}).tallies()
    assert Evidence(lonely).lacks(CATEGORY_BIAS.needs) == ["yardstick"]
    assert Evidence(lonely, gold=GOLD).lacks(CATEGORY_BIAS.needs) == []
    assert Evidence(one({1: 0, 2: 0}).tallies()).lacks(CATEGORY_BIAS.needs) == []
