"""Two who share answers against the others: counts, bounds, exact tails, intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.audit.crowds import one, seeded
from tests.audit.records import Asked, Person, pair_patterns, recorded
from tracker.audit.findings import Evidence
from tracker.audit.habits import copying_habits, joint_copying_chance
from tracker.audit.kind import TestResult
from tracker.audit.kinds.copying import COPYING, copying_in_minority_answers
from tracker.audit.statistics.exact_tests import benjamini_hochberg, poisson_binomial_tails
from tracker.core.audit_tallies import audit_tally_of_pairs
from tracker.core.tallies import (
    chance_of_sharing,
    distinct_answers,
    make_pattern,
    minority_answers,
)


def copier(asked: Asked) -> int:
    return asked.others.get(0, asked.honest())


def findings(record):
    """The findings told; of pairs that do not stand out there are p-values alone."""
    found = COPYING.find(record.evidence())
    return {(f.annotator, f.other): f for f in found if isinstance(f, TestResult)}


def minorities(record):
    """Of every pair: shared items, those that could tell, seen and expected, and the bound."""
    pairs = record.evidence().pairs
    sums = copying_in_minority_answers(pairs)
    columns = (sums.items, sums.telling, sums.seen, sums.expected, sums.bounds())
    return dict(zip(pairs.pairs, zip(*columns, strict=True), strict=True))


def shared(record, pair):
    """The items that both answered: the pattern, and whether they shared a minority answer."""
    for held in record.items:
        if {*pair} <= held.keys():
            mine, yours = (held[who] for who in pair)
            rest = [answer for who, answer in held.items() if who not in pair]
            alike = mine == yours and 2 * rest.count(mine) < len(rest)
            yield make_pattern((answer,) for answer in held.values()), alike


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_plain_loop(seed):
    record = recorded(seed, people=6, answers=60)
    for pair, (number, telling, seen, expected, _) in minorities(record).items():
        rows = [*shared(record, pair)]
        assert number == len(rows)
        assert seen == sum(alike for _, alike in rows)
        assert telling == sum(
            chance_of_sharing(pattern, minority_answers(pattern)) > 0 for pattern, _ in rows
        )
        assert expected == pytest.approx(
            sum(chance_of_sharing(p, minority_answers(p)) for p, _ in rows)
        )


def test_a_bound_where_no_pair_stands_out_is_never_below_the_exact_tail():
    """Hoeffding 1956, theorem 5."""
    compared = 0
    for seed in range(8):
        record = recorded(seed, people=5, answers=40 + 5 * seed, accuracy=0.6)
        for pair, (*_, bound) in minorities(record).items():
            rows = [*shared(record, pair)]
            patterns = [
                pattern
                for pattern, _ in rows
                if chance_of_sharing(pattern, minority_answers(pattern)) > 0
            ]
            chances = [
                (chance_of_sharing(pattern, minority_answers(pattern)), 1, 1)
                for pattern in patterns
            ]
            exact = poisson_binomial_tails(sum(alike for _, alike in rows), chances).upper
            assert bound >= exact * (1 - 1e-9)
            compared += bound < 1
    assert compared > 20


def leaning(asked: Asked) -> int:
    return 1 if asked.random.random() < 0.6 else asked.honest()


def tails(record, pair, which, known=None):
    """Shared answers, their expectation, and the tail: of equal chances, or from habits."""
    seen, chances = 0, []
    for held in record.items:
        if {*pair} <= held.keys():
            pattern = make_pattern((answer,) for answer in held.values())
            answers = which(pattern)
            if not 0 < chance_of_sharing(pattern, answers) < 1:
                continue
            seen += held[pair[0]] == held[pair[1]] and (held[pair[0]],) in answers
            own = known and joint_copying_chance(known[pair[0]], known[pair[1]], pattern, answers)
            chances.append(own if known else chance_of_sharing(pattern, answers))
    if known:
        return seen, sum(chances), poisson_binomial_tails(seen, [(c, 1, 1) for c in chances]).upper
    bound = stats.binom.sf(seen - 1, len(chances), np.mean(chances))
    return seen, sum(chances), bound if seen >= sum(chances) + 1 else 1.0


@pytest.mark.parametrize(
    ("voice", "options"),
    [
        (copier, {"accuracy": 0.7, "answers": 60, "spread": 0.05}),
        (leaning, {"people": 8, "answers": 100}),
    ],
)
def test_a_pair_that_stands_out_is_tested_again_with_its_own_habits(voice, options):
    planted = {4: Person(voice)} | ({0: Person(voice)} if voice is leaning else {})
    record = recorded(5, planted, **{"people": 6, "together": (0, 4)} | options)
    found = findings(record)[0, 4]
    known = copying_habits(record.evidence())
    plain, own = (
        [tails(record, (0, 4), which, by) for which in (minority_answers, distinct_answers)]
        for by in (None, known)
    )
    both = [min(1.0, 2 * min(tail for *_, tail in rows)) for rows in (plain, own)]
    assert found.p_value == pytest.approx(max(both), rel=1e-6, abs=0)
    seen, expected, _ = own[0]
    assert found.details == {
        "shared_minority_answers": seen,
        "expected_minority_answers": pytest.approx(expected),
    }
    # Garwood 1936: chi-square quantiles
    low = stats.chi2.ppf(0.025, 2 * seen) / 2 / expected
    high = stats.chi2.ppf(0.975, 2 * seen + 2) / 2 / expected
    if voice is copier:
        assert found.p_value < 1e-6
        assert found.notable
        assert (found.effect.low, found.effect.high) == pytest.approx((low, high))
    assert found.effect.value == pytest.approx(seen / expected)


def test_only_the_copier_and_the_copied_stand_out():
    record = recorded(2, {4: Person(copier)}, people=6, answers=100, together=(0, 4))
    found = findings(record)
    q_values = benjamini_hochberg([f.p_value for f in found.values()])
    standing = {pair for pair, q in zip(found, q_values, strict=True) if q <= 0.05}
    assert standing == {(0, 4)}


def test_two_careless_annotators_share_errors_without_copying():
    """Where errors go one way, two who err much share many: their own odds explain it."""

    def careless(asked: Asked) -> int:
        return asked.truth if asked.random.random() < 0.45 else (asked.truth + 1) % 4

    accused = 0
    for seed in range(12):
        planted = {0: Person(careless), 5: Person(careless)}
        record = recorded(seed, planted, answers=100, categories=4, together=(0, 5))
        found = findings(record)[0, 5]
        accused += found.p_value <= 0.001 and found.notable
    assert accused <= 1


def test_who_shares_too_few_items_is_no_pair():
    random = seeded(4)
    items = [{who: random.randrange(3) for who in (0, 1, 2)} for _ in range(19)]
    evidence = Evidence(one(*items).tallies(), pairs=audit_tally_of_pairs(pair_patterns(items)))
    assert [*COPYING.find(evidence)] == []


def test_no_minority_answer_has_no_ratio():
    items = [{0: i % 2, 1: i % 2, 2: i % 2, 3: i % 2} for i in range(30)]
    pairs = audit_tally_of_pairs(pair_patterns(items))
    (p_values,) = COPYING.find(Evidence(one(*items).tallies(), pairs=pairs))
    assert p_values.tolist() == [1.0] * 6
