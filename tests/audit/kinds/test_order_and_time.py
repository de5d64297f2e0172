"""Drift, runs of one answer, times, and places of a pair: each against its law."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from statsmodels.robust.scale import qn_scale

from tests.audit.crowds import results, seeded
from tests.audit.records import Person, recorded
from tracker.audit.kinds.drift import DRIFT, MINIMUM_IN_TIME
from tracker.audit.kinds.position_bias import POSITION_BIAS
from tracker.audit.kinds.straight_lining import MINIMUM_IN_ORDER, STRAIGHT_LINING
from tracker.audit.kinds.too_fast import TOO_FAST
from tracker.core.audit_tallies import AnswerTimes, Blocks
from tracker.core.tallies import make_pattern
from tracker.core.tally_columns import keyed_tallies_of
from tracker.measures.paired_comparisons import Row

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


def lazy(asked):
    again = asked.before is not None and asked.random.random() < 0.5
    return asked.before if again else asked.honest()


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
