"""Two annotators who share answers: counts, bounds, exact tails, intervals, and habits."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.audit.crowds import (
    Person,
    leaning,
    mostly_right,
    one,
    pair_patterns,
    recorded,
    seeded,
    simulate,
)
from tracker.audit.findings import Evidence
from tracker.audit.habits import Habits, copying_habits, joint_copying_chance
from tracker.audit.kind import TestResult
from tracker.audit.kinds.copying import COPYING, copying_in_minority_answers
from tracker.audit.statistics.exact_tests import poisson_binomial_tails
from tracker.core.audit_tallies import audit_tally_of_pairs
from tracker.core.tallies import chance_of_sharing, distinct_answers, make_pattern, minority_answers


def copier(asked):
    return asked.others.get(0, asked.honest())


def partial(asked):
    return 1 if asked.random.random() < 0.6 else asked.honest()


def findings(record):
    """Return the findings; of pairs that do not stand out there are p-values alone."""
    found = COPYING.find(record.evidence())
    return {(f.annotator, f.other): f for f in found if isinstance(f, TestResult)}


def shared(record, pair, which):
    """Yield the pattern of each shared item, the chance of sharing, and whether they did."""
    for held in record.items:
        if {*pair} <= held.keys():
            mine, yours = (held[who] for who in pair)
            rest = [answer for who, answer in held.items() if who not in pair]
            few = which is distinct_answers or 2 * rest.count(mine) < len(rest)
            pattern = make_pattern((answer,) for answer in held.values())
            yield pattern, chance_of_sharing(pattern, which(pattern)), mine == yours and few


def test_counts_and_bounds_of_pairs_against_a_plain_loop():
    """Hoeffding 1956, theorem 5: a bound is never below the exact tail."""
    compared = 0
    for seed in range(8):
        record = recorded(seed, people=5, answers=40 + 5 * seed, accuracy=0.6)
        pairs = record.evidence().pairs
        sums = copying_in_minority_answers(pairs)
        columns = sums.items, sums.telling, sums.seen, sums.expected, sums.bounds()
        for pair, number, telling, seen, expected, bound in zip(pairs.pairs, *columns, strict=True):
            rows = [*shared(record, pair, minority_answers)]
            chances = [chance for _, chance, _ in rows if chance > 0]
            alike = sum(alike for *_, alike in rows)
            assert (number, telling, seen) == (len(rows), len(chances), alike)
            assert expected == pytest.approx(sum(chances))
            exact = poisson_binomial_tails(alike, [(chance, 1, 1) for chance in chances]).upper
            assert bound >= exact * (1 - 1e-9)
            compared += bound < 1
    assert compared > 20


def tail(record, pair, which, habits=None):
    """Return shared answers, their expectation, and the tail: of equal chances, or from habits."""
    rows = [row for row in shared(record, pair, which) if 0 < row[1] < 1]
    seen = sum(alike for *_, alike in rows)
    if habits:
        own = [habits[who] for who in pair]
        chances = [joint_copying_chance(*own, pattern, which(pattern)) for pattern, *_ in rows]
        exact = poisson_binomial_tails(seen, [(chance, 1, 1) for chance in chances])
        return seen, sum(chances), exact.upper
    chances = [chance for _, chance, _ in rows]
    bound = stats.binom.sf(seen - 1, len(chances), np.mean(chances))
    return seen, sum(chances), bound if seen >= sum(chances) + 1 else 1.0


@pytest.mark.parametrize("voice", [copier, partial])
def test_a_pair_that_stands_out_is_tested_again_with_its_habits(voice):
    options = {"people": 8, "answers": 100}
    if voice is copier:
        options = {"people": 6, "accuracy": 0.7, "answers": 60, "spread": 0.05}
    planted = {4: Person(voice)} | ({} if voice is copier else {0: Person(voice)})
    record = recorded(5, planted, together=(0, 4), **options)
    finding, habits = findings(record)[0, 4], copying_habits(record.evidence())
    plain, own = (
        [tail(record, (0, 4), which, by) for which in (minority_answers, distinct_answers)]
        for by in (None, habits)
    )
    p_values = [min(1.0, 2 * min(row[2] for row in rows)) for rows in (plain, own)]
    assert finding.p_value == pytest.approx(max(p_values), rel=1e-6, abs=0)
    seen, expected, _ = own[0]
    assert finding.details == {
        "shared_minority_answers": seen,
        "expected_minority_answers": pytest.approx(expected),
    }
    assert finding.effect.value == pytest.approx(seen / expected)
    if voice is copier:
        # Garwood 1936: chi-square quantiles
        low = stats.chi2.ppf(0.025, 2 * seen) / 2 / expected
        high = stats.chi2.ppf(0.975, 2 * seen + 2) / 2 / expected
        assert (finding.effect.low, finding.effect.high) == pytest.approx((low, high))
        assert finding.p_value < 1e-6
        assert finding.notable


def test_pairs_of_few_items_have_no_test_and_those_without_minority_answers_no_ratio():
    random = seeded(4)
    few = [{who: random.randrange(3) for who in (0, 1, 2)} for _ in range(19)]
    same = [dict.fromkeys(range(4), i % 2) for i in range(30)]
    for items, p_values in ((few, []), (same, [[1.0] * 6])):
        pairs = audit_tally_of_pairs(pair_patterns(items))
        found = COPYING.find(Evidence(one(*items).tallies(), pairs=pairs))
        assert [result.tolist() for result in found] == p_values


NEUTRAL = Habits({}, 1.0)
answers = st.lists(st.sampled_from([(), (1,), (2,), (3,), (1, 2)]), min_size=2, max_size=7)
odds = st.floats(0.05, 20.0)
people = st.builds(Habits, st.fixed_dictionaries({1: odds, 2: odds}), odds)


@given(answers, people, people)
def test_the_chance_weighs_every_way_to_have_answered(given_answers, one, other):
    """All assignments of the answers to the annotators, the first two having habits."""
    pattern = make_pattern(given_answers)
    most, few = max(count for _, count in pattern), minority_answers(pattern)
    chance = weight = 0.0
    seats = [*permutations(range(len(given_answers)), 2)]
    for truth, number in pattern:
        together = every = hits = 0.0
        for a, b in seats:
            mine, yours = given_answers[a], given_answers[b]
            rest = [answer for seat, answer in enumerate(given_answers) if seat not in {a, b}]
            ways = 1.0
            for person, answer in ((one, mine), (other, yours)):
                ways *= person.right if answer == truth else 1.0
                for category in answer:
                    ways *= person.leaning.get(category, 1.0)
            alike = mine == yours and 2 * rest.count(mine) < len(rest)
            every += ways
            together += ways * alike
            hits += alike
        likely = 3.0 ** (number - most)
        chance += likely * together / every
        weight += likely
    joint = joint_copying_chance(one, other, pattern, few)
    assert joint == pytest.approx(chance / weight)
    assert joint == pytest.approx(joint_copying_chance(other, one, pattern, few))
    assert 0.0 <= joint <= 1.0
    plain = pytest.approx(hits / len(seats))
    assert chance_of_sharing(pattern, few) == plain
    assert joint_copying_chance(NEUTRAL, NEUTRAL, pattern, few) == plain


def test_habits_are_odds_against_the_others_of_the_same_items():
    voices = {who: mostly_right(0.8) for who in range(8)}
    voices |= {0: leaning(1, 0.5, mostly_right(0.8)), 1: mostly_right(0.4)}
    found = copying_habits(Evidence(simulate(seeded(2), voices, items=300, per_item=4).tallies()))
    assert found[0].leaning[1] > 3
    assert found[0].leaning[0] < 0.7
    assert found[1].right < 0.4
    for who in range(2, 8):
        assert found[who].right > 2 * found[1].right
        assert found[who].leaning[1] < found[0].leaning[1] / 2
    tiny = simulate(seeded(3), {0: mostly_right(1), 1: mostly_right(0)}, items=1, per_item=2)
    for habits in copying_habits(Evidence(tiny.tallies())).values():
        assert all(1 / 3 <= ratio <= 3 for ratio in (habits.right, *habits.leaning.values()))
