"""Who prefers a place, and who only has a taste."""

from __future__ import annotations

from random import Random

import pytest

from tracker.audit.evidence import Evidence
from tracker.audit.kind import TestResult
from tracker.audit.kinds.position_bias import POSITION_BIAS
from tracker.core.tallies import AnnotatorTallies
from tracker.measures.paired_comparisons import Row

FIRST = 3


def shown(seed: int, answers: int, first: float) -> dict[int, list[Row]]:
    """Answers of four people whose tastes differ; one takes the first place in a share of them."""
    random = Random(seed)  # noqa: S311 - no secret is made with it
    tastes = {who: {name: random.gauss(0, 1) for name in "abcd"} for who in range(4)}
    rows: dict[int, list[Row]] = {}
    for who, taste in tastes.items():
        for _ in range(answers):
            one, other = random.sample("abcd", 2)
            better = taste[one] + random.gauss(0, 1) > taste[other]
            if who == FIRST and random.random() < first:
                better = True
            rows.setdefault(who, []).append(Row(one, other, int(better), 0, int(not better)))
    return rows


def results(orders: dict[int, list[Row]]) -> dict[int, TestResult]:
    found = POSITION_BIAS.find(Evidence(AnnotatorTallies(), orders=orders))
    return {one.annotator: one for one in found if isinstance(one, TestResult)}


def test_a_planted_place_is_found_and_a_taste_is_not():
    wrong = found = 0
    for seed in range(30):
        of_all = results(shown(seed, 80, 0.5))
        found += (of_all[FIRST].p_value or 1) < 0.01 and of_all[FIRST].notable
        wrong += sum((of_all[who].p_value or 1) < 0.05 for who in range(3))
    assert found >= 24
    assert wrong <= 10  # of 90; the benchmark `preferences` measures more


def test_too_few_answers_are_no_test():
    few = results({0: [Row("a", "b", 9, 0, 0), Row("b", "a", 9, 0, 0)]})[0]
    assert (few.p_value, few.suspicious, few.notable) == (None, True, True)
    assert few.informative == 18


def test_ties_and_pairs_in_one_order_tell_nothing():
    assert results({0: [Row("a", "b", 0, 9, 0), Row("b", "a", 0, 9, 0)]}) == {}
    assert results({0: [Row("a", "b", 30, 0, 0)], 1: [Row("a", "b", 10, 0, 20)]}) == {}
    both = {0: [Row("a", "b", 10, 0, 10), Row("b", "a", 10, 0, 10), Row("c", "d", 30, 0, 0)]}
    assert results(both)[0].observed == pytest.approx(0.5)
