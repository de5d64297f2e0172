"""Category use, accuracy on gold, self-agreement and empty answers against exact laws."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tests.audit.crowds import mostly_right, one, results, seeded, sentence, simulate
from tests.audit.records import Person, recorded
from tracker.audit.findings import Evidence
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.empty_answers import EMPTY_ANSWERS
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.audit.kinds.low_self_agreement import LOW_SELF_AGREEMENT
from tracker.audit.statistics.mantel_haenszel import marginal_homogeneity_margins
from tracker.core.tallies import make_pattern


def alone(*counts):
    """Return answers to gold items that only one annotator answered: (truth, answer, items)."""
    return {((truth,), (own,), (((own,), 1),)): items for truth, own, items in counts}


GOLD = {1: alone((0, 1, 14), (1, 0, 3), (0, 0, 20), (1, 1, 13))}


def category_biases(crowd, gold):
    evidence = Evidence(crowd.tallies(), gold=gold)
    return {(result.annotator, result.category): result for result in CATEGORY_BIAS.find(evidence)}


def test_category_bias_without_co_annotators_is_mcnemars_test_on_gold():
    biases = category_biases(one(*[{1: 0}] * 4), GOLD)
    assert biases.keys() == {(1, 0), (1, 1)}
    bias = biases[1, 1]
    assert bias.p_value == pytest.approx(stats.binomtest(14, 17).pvalue)
    assert (bias.observed, bias.expected, bias.peers) == (27 / 50, 16 / 50, 16 / 50)
    assert (bias.n, bias.informative, bias.notable) == (50, 17, True)
    assert bias.effect.value == pytest.approx(14 / 3)
    assert bias.details["against"] == "gold"
    assert "whose answer is known" in sentence(bias)
    assert biases[1, 0].effect.value == pytest.approx(3 / 14)
    few_errors = {1: alone((0, 1, 9), (0, 0, 40))}
    assert category_biases(one({1: 0}), few_errors) == {}


def test_category_bias_takes_ten_shared_items_over_gold():
    nine, ten = one(*[{1: 0, 2: 1}] * 9), one(*[{1: 0, 2: 1}] * 10)
    assert category_biases(nine, GOLD)[1, 1].details["against"] == "gold"
    assert category_biases(nine, GOLD)[2, 1].p_value is None
    assert category_biases(nine, {})[1, 1].p_value is None
    bias, margin = category_biases(ten, GOLD)[1, 1], marginal_homogeneity_margins(GOLD[1])[1]
    assert "against" not in bias.details
    assert bias.p_value == pytest.approx(2 / 2**10)
    assert bias.details["gold"] == {
        "items": 50,
        "over": 14,
        "under": 3,
        "mcnemar_p_value": margin.p_value,
        "stuart_maxwell_p_value": margin.overall_p_value,
    }
    lonely = one({1: 0}).tallies()
    assert Evidence(lonely).lacks(CATEGORY_BIAS.needs) == ["yardstick"]
    assert Evidence(lonely, gold=GOLD).lacks(CATEGORY_BIAS.needs) == []
    assert Evidence(nine.tallies()).lacks(CATEGORY_BIAS.needs) == []


def test_category_bias_is_found_once_for_each_annotator_and_category():
    crowd = simulate(seeded(1), {who: mostly_right(0.6) for who in range(5)}, items=60, per_item=3)
    gold = {}
    for number, held in enumerate(crowd.items):
        for who, own in held.items():
            key = ((number % 3,), own, tuple(sorted(Counter(held.values()).items())))
            gold.setdefault(who, Counter())[key] += 1
    findings = [*CATEGORY_BIAS.find(Evidence(crowd.tallies(), gold=gold))]
    assert len({finding.key for finding in findings}) == len(findings) == 15


def test_low_gold_accuracy_is_the_law_of_as_many_right_among_the_answers_to_shared_items():
    record = recorded(1, {4: Person(lambda asked: asked.honest(0.45))}, people=6, gold=0.5)
    found = results(LOW_GOLD_ACCURACY, gold=record.evidence().gold)
    for who, result in found.items():
        rows = [
            (held[who] == truth, [answer == truth for answer in held.values()])
            for held, truth in zip(record.items, record.truths, strict=True)
            if truth is not None and who in held
        ]
        shared = [(own, right) for own, right in rows if len(right) > 1]
        law = stats.poisson_binom([np.mean(right) for _, right in shared])
        assert result.p_value == pytest.approx(law.cdf(sum(own for own, _ in shared)), rel=1e-6)
        right = sum(own for own, _ in rows)
        assert (result.n, result.details["right"]) == (len(rows), right)
        assert result.observed == pytest.approx(right / len(rows))
        others = [(sum(right) - own) / (len(right) - 1) for own, right in shared]
        assert result.peers == pytest.approx(np.mean(others))
        interval = stats.binomtest(right, len(rows)).proportion_ci()
        assert result.details["accuracy_low"] == pytest.approx(interval.low)
        assert result.details["accuracy_high"] == pytest.approx(interval.high)
    assert found[4].p_value == min(result.p_value for result in found.values())
    assert found[4].notable


def test_low_gold_accuracy_without_shared_items_compares_answers_to_the_same_truth():
    gold = {
        1: alone((0, 0, 8), (0, 1, 12), (1, 1, 15), (1, 0, 5)),
        2: alone((0, 0, 19), (0, 1, 1), (1, 1, 16), (1, 0, 4)),
        3: alone((0, 0, 18), (0, 2, 2), (1, 1, 14), (1, 0, 6)),
    }
    low = results(LOW_GOLD_ACCURACY, gold=gold)[1]
    law = stats.hypergeom(60, 45, 20)
    assert low.p_value == pytest.approx(sum(law.pmf(k) * law.cdf(23 - k) for k in range(21)))
    assert low.peers == pytest.approx((37 / 40 + 30 / 40) / 2)
    assert low.effect.value == pytest.approx(23 / 40 - 67 / 80)
    assert (low.n, low.informative, low.notable) == (40, 40, True)
    # On one truth all are seldom right: an annotator with many of these items is not worse.
    easy = alone((0, 0, 2), (0, 1, 18), (1, 1, 40))
    hard = results(LOW_GOLD_ACCURACY, gold={1: alone((0, 0, 4), (0, 1, 36)), 2: easy, 3: easy})[1]
    assert (hard.observed, hard.effect.value) == pytest.approx((0.1, 0.0))
    assert hard.p_value > 0.5
    assert not hard.notable
    right, half = results(
        LOW_GOLD_ACCURACY, gold={1: alone((0, 0, 30)), 2: alone((0, 0, 15), (0, 1, 15))}
    ).values()
    assert (right.p_value, right.effect.value) == pytest.approx((1.0, 0.5))
    assert half.p_value == pytest.approx(stats.hypergeom(60, 45, 30).cdf(15))
    assert half.severity == "high"


def test_low_gold_accuracy_without_anything_to_compare_has_no_test():
    (single,) = results(LOW_GOLD_ACCURACY, gold={1: alone((0, 0, 5), (0, 1, 15))}).values()
    assert (single.p_value, single.peers, single.expected) == (None, None, None)
    assert not single.notable
    gold = {1: Counter(alone((0, 1, 5))), 2: alone((0, 0, 40))}
    assert results(LOW_GOLD_ACCURACY, gold=gold)[1].p_value is None
    for kind in (LOW_GOLD_ACCURACY, LOW_SELF_AGREEMENT):
        assert results(kind) == {}


ALONE, ALL = make_pattern([(0,)]), make_pattern([(0,)] * 3)
MOST, FEW = make_pattern([(0,), (0,), (1,)]), make_pattern([(0,), (0,), (1,), (1,)])


def again(pattern, same, changed):
    return {((0,), (0,), pattern): same, ((0,), (1,), pattern): changed}


def test_low_self_agreement_compares_items_that_are_as_contested():
    repeats = {
        1: again(ALL, 5, 5) | again(FEW, 4, 8),
        2: again(ALL, 18, 2) | again(FEW, 6, 4),
        3: again(ALL, 9, 1) | again(MOST, 9, 0),
    }
    low = results(LOW_SELF_AGREEMENT, repeats=repeats)[1]
    easy, hard = stats.hypergeom(40, 32, 10), stats.hypergeom(22, 10, 12)
    tail = sum(easy.pmf(k) * hard.cdf(9 - k) for k in range(11))
    assert low.p_value == pytest.approx(tail)
    assert low.peers == pytest.approx((10 * 27 / 30 + 12 * 6 / 10) / 22)
    assert low.effect.value == pytest.approx(9 / 22 - low.peers)
    assert (low.n, low.informative, low.details["same"]) == (22, 22, 9)
    assert low.notable
    for others in (ALONE, MOST, FEW):
        apart = {1: again(ALL, 5, 15), 2: again(others, 19, 1)}
        found = results(LOW_SELF_AGREEMENT, repeats=apart).values()
        assert {result.p_value for result in found} == {None}
    # Items on which three and five agree are of one stratum.
    five = {1: again(ALL, 5, 15), 2: again(make_pattern([(0,)] * 5), 19, 1)}
    tail = stats.hypergeom(40, 24, 20).cdf(5)
    assert results(LOW_SELF_AGREEMENT, repeats=five)[1].p_value == pytest.approx(tail)
    # All change more on contested items: an annotator who repeats many of them is not worse.
    usual = again(FEW, 3, 7) | again(ALL, 29, 1)
    contested = results(LOW_SELF_AGREEMENT, repeats={1: again(FEW, 12, 28), 2: usual, 3: usual})[1]
    assert contested.p_value > 0.3
    assert not contested.notable


def test_low_self_agreement_of_few_repeats_has_an_interval_and_no_test():
    low = results(LOW_SELF_AGREEMENT, repeats={1: again(ALL, 2, 7), 2: again(ALL, 30, 2)})[1]
    assert low.p_value is None
    assert low.effect.low < low.effect.value < low.effect.high
    interval = stats.binomtest(2, 9).proportion_ci()
    assert low.effect.high - low.effect.low == pytest.approx(interval.high - interval.low)
    partly = Counter({((0,), (0, 1), ALL): 10, ((0, 1), (0, 1), ALL): 4})
    changed = results(LOW_SELF_AGREEMENT, repeats={1: partly, 2: again(ALL, 9, 1)})[1]
    assert changed.observed == pytest.approx(4 / 14), "any change counts"


def empty(skips):
    return results(EMPTY_ANSWERS, skips={3: skips})[3]


def test_empty_answers_have_the_upper_tail_of_items_that_others_saw():
    many = empty({(True, 1, 4): 9, (True, 2, 4): 2, (False, 1, 4): 12, (False, 0, 4): 77})
    assert many.p_value == pytest.approx(stats.poisson_binom([1 / 4] * 21 + [2 / 4] * 2).sf(10))
    assert (many.n, many.informative, many.category) == (100, 23, None)
    assert many.observed == pytest.approx(0.11)
    assert many.peers == pytest.approx((2 * 1 / 3 + 12 * 1 / 3) / 100)
    assert many.expected == pytest.approx((21 / 4 + 2 / 2) / 100)
    assert many.effect.value == pytest.approx((9 * 3 / 4 + 2 * 2 / 4) / (12 / 4))
    assert many.notable
    fewer = empty({(False, 1, 4): 60})
    assert fewer.p_value == pytest.approx(1.0)
    assert (fewer.effect.value, fewer.notable) == (0.0, False)


def test_empty_answers_need_ten_items_that_others_saw_and_not_all_left():
    unseen = empty({(True, 1, 1): 50, (True, 1, 3): 1, (False, 0, 3): 9})
    assert (unseen.n, unseen.informative, unseen.p_value) == (10, 1, None)
    assert results(EMPTY_ANSWERS, skips={3: {(True, 1, 1): 5}}) == {}
    same = empty({(True, 3, 3): 40, (False, 0, 3): 40})
    assert (same.informative, same.p_value, same.effect.value) == (0, None, None)
    assert not same.notable
    for items in (9, 10):
        assert (empty({(True, 1, 3): items}).p_value is None) == (items < 10)
