"""Kinds of findings, each by its law: against gold and others, of order, times and places."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from statsmodels.robust.scale import qn_scale

from tests.audit.crowds import (
    Person,
    blindly,
    keyed_tallies_of,
    lazy,
    leaning,
    mostly_right,
    one,
    recorded,
    results,
    seeded,
    sentence,
    simulate,
)
from tracker.audit.findings import Evidence
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.drift import DRIFT, MINIMUM_IN_TIME
from tracker.audit.kinds.empty_answers import EMPTY_ANSWERS
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.audit.kinds.low_self_agreement import LOW_SELF_AGREEMENT
from tracker.audit.kinds.position_bias import POSITION_BIAS
from tracker.audit.kinds.random_answers import RANDOM_ANSWERS
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.audit.kinds.straight_lining import MINIMUM_IN_ORDER, STRAIGHT_LINING
from tracker.audit.kinds.too_fast import TOO_FAST
from tracker.audit.statistics.mantel_haenszel import marginal_homogeneity_margins
from tracker.audit.statistics.peer_agreement import majority_tables, spammer_scores
from tracker.core.audit_tallies import AnswerTimes, Blocks
from tracker.core.tallies import make_pattern
from tracker.measures.paired_comparisons import Row


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


def test_low_gold_accuracy_without_anything_to_compare_has_no_test():
    (single,) = results(LOW_GOLD_ACCURACY, gold={1: alone((0, 0, 5), (0, 1, 15))}).values()
    assert (single.p_value, single.peers, single.expected) == (None, None, None)
    assert not single.notable
    gold = {1: Counter(alone((0, 1, 5))), 2: alone((0, 0, 40))}
    assert results(LOW_GOLD_ACCURACY, gold=gold)[1].p_value is None


SINGLE, ALL = make_pattern([(0,)]), make_pattern([(0,)] * 3)
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
    for others in (SINGLE, MOST, FEW):
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


def crowd(seed, voice, items=300):
    voices = {who: mostly_right(0.8) for who in range(8)} | {0: voice}
    return simulate(seeded(seed), voices, items=items, per_item=4)


def score_of(table):
    return spammer_scores(np.asarray(table)[None])[0]


def randomness(crowd, **options):
    return results(RANDOM_ANSWERS, crowd.tallies(), **options)


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


DAY, START = 86_400_000_000, 1_700_000_000_000_000
AGREED = ((0,), make_pattern([(0,)] * 3 + [(1,)]))
ALONE = ((1,), make_pattern([(0,)] * 3 + [(1,)]))
SPLIT = ((0,), make_pattern([(0,), (1,), (2,), (3,)]))


def drift(*rows):
    """Return the finding about blocks: items by own answer, pattern, and truth if it is known."""
    counts = Counter()
    for block, row in enumerate(rows):
        for (own, pattern, *truth), items in row.items():
            counts[block, truth[0] if truth else None, own, pattern] += items
    began = {block: START + block * DAY for block in range(len(rows))}
    return results(DRIFT, blocks=Blocks(keyed_tallies_of({7: counts}), {7: began})).get(7)


def test_drift_names_the_block_from_which_agreement_fell():
    fall = drift(*[{AGREED: 9, ALONE: 1}] * 6, *[{AGREED: 2, ALONE: 8}] * 4)
    assert fall.details["since"].startswith("2023-11-20T22:13:20")
    assert fall.details["of"] == "agreement on contested items"
    assert fall.p_value < 1e-6
    assert (fall.n, fall.informative, fall.notable) == (100, 100, True)
    # Above the others' agreement: 2/3 - 1/3 where agreed with, 0 - 1 where alone.
    before, after = 0.9 / 3 - 0.1, 0.2 / 3 - 0.8
    level = 0.2 * 1 / 3 + 0.8 * 1  # what the others reach with each other, later on
    assert fall.effect.value == pytest.approx(after - before)
    assert fall.observed == pytest.approx(after + level)
    assert fall.observed == pytest.approx(0.2 * 2 / 3)
    assert fall.expected == pytest.approx(before + level)


def test_drift_is_not_found_on_hard_items_or_of_an_annotator_who_improves():
    easy = {AGREED: 9, ALONE: 1}
    hard = drift(*[easy] * 5, *[easy | {SPLIT: 30}] * 5)
    better = drift(*[{ALONE: 8, AGREED: 2}] * 5, *[easy] * 5)
    for finding in (hard, better):
        assert finding.p_value > 0.5
        assert not finding.notable
    assert hard.informative == 100, "an item on which no two agree cannot tell"
    even = make_pattern([(0,)] * 3 + [(1,)] * 3)
    contested = {((0,), even): 6, ((1,), even): 6}
    assert drift(*[{AGREED: 9, ALONE: 3}] * 5, *[contested] * 5).p_value > 0.05


def test_drift_is_of_gold_where_it_has_more_answers():
    early = {(*AGREED, (0,)): 6, ((2,), (((2,), 1),), (2,)): 6}
    late = {(*AGREED, (0,)): 6, ((1,), (((1,), 1),), (2,)): 6}
    fall = drift(*[early] * 3, *[late] * 3)
    assert fall.details["of"] == "accuracy on gold"
    assert (fall.observed, fall.expected, fall.effect.value) == (0.5, 1.0, -0.5)
    assert fall.informative == 72
    assert fall.p_value < 1e-4
    assert fall.details["since"].startswith("2023-11-17")
    rare = {(*SPLIT, (0,)): 1}
    agreement = drift(*[{AGREED: 9, ALONE: 1} | rare] * 5, *[{AGREED: 1, ALONE: 9} | rare] * 5)
    assert agreement.details["of"] == "agreement on contested items"


def test_drift_needs_enough_answers_that_vary():
    assert drift({AGREED: MINIMUM_IN_TIME - 2}, {ALONE: 1}).p_value is None
    assert drift({AGREED: MINIMUM_IN_TIME - 2}, {ALONE: 2}).p_value is not None
    for rows in ((), ({SPLIT: 9}, {SPLIT: 9}), ({AGREED: 9}, {AGREED: 9})):
        assert drift(*rows) is None
    for kind in (DRIFT, STRAIGHT_LINING, TOO_FAST):
        assert results(kind) == {}


def lining(record):
    return results(STRAIGHT_LINING, sequences=record.evidence().sequences)[3]


def lining_of(counts):
    return results(STRAIGHT_LINING, sequences=keyed_tallies_of({1: counts})).get(1)


def test_straight_lining_is_a_plain_sum_over_answers():
    for seed in range(5):
        record = recorded(seed, {3: Person(lazy)}, answers=100)
        rows = []
        for before, item in pairwise(record.order[3]):
            held = [*record.items[item].values()]
            if len(set(held)) > 1:
                rows.append((record.items[before][3], record.items[item][3], held))
        usual = Counter(previous for previous, _, _ in rows)
        excess = variance = 0.0
        for previous, own, held in rows:
            worth = [(answer == previous) - usual[answer] / len(rows) for answer in held]
            excess += (own == previous) - usual[own] / len(rows) - np.mean(worth)
            variance += np.var(worth)
        finding = lining(record)
        assert (finding.n, finding.informative) == (len(record.order[3]) - 1, len(rows))
        assert finding.effect.value == pytest.approx(excess / len(rows))
        assert finding.effect.value == pytest.approx(finding.observed - finding.expected)
        assert finding.observed == pytest.approx(np.mean([p == own for p, own, _ in rows]))
        assert finding.p_value == pytest.approx(stats.norm.sf(excess / np.sqrt(variance)))
        assert finding.p_value < 1e-3
        assert finding.notable


def test_straight_lining_is_not_found_of_a_constant_answer_or_where_items_explain_runs():
    constant = lining(recorded(1, {3: Person(lambda _: 1)}))
    assert (constant.observed, constant.p_value, constant.notable) == (1.0, None, False)
    assert constant.effect.value == pytest.approx(0.0)
    counts, random = Counter(), seeded(5)
    for _ in range(60):  # runs in the items: an answer that is always right is the majority's
        own = (random.randrange(2),)
        counts[own, own, make_pattern([own, own, (2,), (3,)])] += 1
    majority = lining_of(counts)
    assert majority.effect.value > 0.2
    assert majority.p_value < 1e-3
    assert not majority.notable


def test_straight_lining_needs_enough_answers_and_items_on_which_not_all_agree():
    pattern = make_pattern([(0,), (0,), (1,)])
    for number in (MINIMUM_IN_ORDER - 1, MINIMUM_IN_ORDER):
        finding = lining_of({((0,), (0,), pattern): number - 1, ((1,), (0,), pattern): 1})
        assert (finding.p_value is None) == (number < MINIMUM_IN_ORDER)
    assert lining_of({((0,), (0,), (((0,), 4),)): 50}) is None


RATIOS = [0.1, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6, 0.6]


def fast(ratios, compared=40):
    times = {who: AnswerTimes(50, 4.0, compared, ratio) for who, ratio in enumerate(ratios)}
    return results(TOO_FAST, times=times)


def test_too_fast_has_the_p_value_of_students_t():
    finding, others = fast(RATIOS)[0], np.log(RATIOS[1:])
    spread = qn_scale(others) * 0.669  # Croux and Rousseeuw's factor of eight values
    score = (math.log(0.1) - np.median(others)) / (spread * math.sqrt(1 + math.pi / 2 / 8))
    # The constant of statsmodels is 2.2191.
    assert finding.p_value == pytest.approx(stats.t.cdf(score, 0.82 * 7), rel=0.02)
    assert finding.effect.value == pytest.approx(0.1 / math.exp(np.median(others)))
    assert (finding.observed, finding.n, finding.informative) == (0.1, 50, 40)
    assert (finding.details, finding.notable) == ({"median_seconds": 4.0}, True)
    # Annotators who are alike by chance are not taken to be alike.
    score = math.log(0.8) / (0.2 * math.sqrt(1 + math.pi / 18))
    p_value = fast([0.8] + [1.0] * 9)[0].p_value
    assert p_value == pytest.approx(stats.t.cdf(score, 0.82 * 8))
    assert fast([0.0, *RATIOS[1:]])[0].p_value < finding.p_value, "rounded to nothing"
    slow = fast([10.0, *RATIOS[1:]])[0]
    assert slow.p_value > 0.99
    assert not slow.notable


def test_too_fast_needs_three_others_with_enough_times():
    for ratios, compared in (([0.1, 1.0, 1.1], 40), (RATIOS, 9)):
        found = fast(ratios, compared).values()
        assert {finding.p_value for finding in found} == {None}
        assert not any(finding.notable for finding in found if finding.annotator)
    assert fast([0.1, 1.0, 1.1, 0.9])[0].p_value is not None
    assert results(TOO_FAST, times={1: AnswerTimes(50, 4.0, 0, None)}) == {}


def places(orders):
    return results(POSITION_BIAS, orders=orders)


def test_position_bias_is_found_and_a_taste_is_not():
    """Of four annotators with tastes the last gives the first place in half of the answers."""
    wrong = found = 0
    for seed in range(30):
        random, rows = seeded(seed), {}
        tastes = {who: {name: random.gauss(0, 1) for name in "abcd"} for who in range(4)}
        for who, taste in tastes.items():
            for _ in range(80):
                one, other = random.sample("abcd", 2)
                better = taste[one] + random.gauss(0, 1) > taste[other]
                better |= who == 3 and random.random() < 0.5
                rows.setdefault(who, []).append(Row(one, other, int(better), 0, int(not better)))
        of_all = places(rows)
        found += (of_all[3].p_value or 1) < 0.01 and of_all[3].notable
        wrong += sum((of_all[who].p_value or 1) < 0.05 for who in range(3))
    assert found >= 24
    assert wrong <= 10  # of 90; the benchmark `preferences` measures more


def test_position_bias_needs_answers_to_pairs_in_both_orders():
    few = places({0: [Row("a", "b", 9, 0, 0), Row("b", "a", 9, 0, 0)]})[0]
    assert (few.p_value, few.suspicious, few.notable, few.informative) == (None, True, True, 18)
    assert places({0: [Row("a", "b", 0, 9, 0), Row("b", "a", 0, 9, 0)]}) == {}
    assert places({0: [Row("a", "b", 30, 0, 0)], 1: [Row("a", "b", 10, 0, 20)]}) == {}
    both = {0: [Row("a", "b", 10, 0, 10), Row("b", "a", 10, 0, 10), Row("c", "d", 30, 0, 0)]}
    assert places(both)[0].observed == pytest.approx(0.5)
