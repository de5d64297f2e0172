"""The answers that show a finding best."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.audit.crowds import always, mostly_right, seeded, simulate
from tracker.audit.findings import Evidence, audit
from tracker.audit.kind import Effect, Finding
from tracker.audit.kinds import KINDS
from tracker.audit.run import best_answers_for_finding
from tracker.core.tallies import AnnotatorTallies, make_pattern


def flag(kind, category=None, observed=0.9, expected=0.3, effect=None):
    effect = effect or Effect("odds ratio", 4.0)
    return Finding(
        kind=kind, annotator=1, category=category, observed=observed, expected=expected,
        peers=expected, n=50, informative=40, effect=effect, p_value=0.001, notable=True,
        suspicious=False, severity="low", q_value=0.01, significant=True, state="flagged",
    )  # fmt: skip


def score(flagged, own, others, points=None):
    counts = {1: {(own, make_pattern([own, *others])): 1}}
    evidence = Evidence(AnnotatorTallies(counts), points=points)
    return next((score for score, _, _ in KINDS[flagged.kind].examples(flagged, evidence)), 0.0)


def test_over_use_shows_where_few_others_gave_the_category():
    over = flag("category_bias", 1)
    assert score(over, (1,), [(0,), (0,), (2,)]) == 1.0
    assert score(over, (1,), [(0,), (1,), (1,)]) == pytest.approx(1 / 3)
    assert score(over, (1,), [(1,), (1,)]) == 0.0
    assert score(over, (0,), [(1,), (1,)]) == 0.0


def test_under_use_shows_where_most_others_gave_it():
    under = flag("category_bias", 1, observed=0.1)
    assert score(under, (0,), [(1,), (1,), (2,)]) == pytest.approx(2 / 3)
    assert score(under, (1,), [(1,), (1,), (2,)]) == 0.0
    assert score(under, (0, 2), [(1, 3), (1,)]) == 1.0


def test_severity_shows_on_its_own_side():
    points = {0: 1.0, 1: 2.0, 2: 5.0}
    above = flag("severity_bias", effect=Effect("points", 0.7))
    below = flag("severity_bias", effect=Effect("points", -0.7))
    assert score(above, (2,), [(0,), (0,)], points) == 1.0
    assert score(above, (1,), [(0,), (0,)], points) == pytest.approx(1 / 4)
    assert score(above, (0,), [(2,), (2,)], points) == 0.0
    assert score(below, (0,), [(2,), (1,)], points) == pytest.approx(2.5 / 4)


def test_copying_shows_in_what_the_others_did_not_give():
    pair = flag("copying")
    assert score(pair, (1,), [(1,), (0,), (0,), (0,)]) == pytest.approx(1 - 1 / 4)
    assert score(pair, (0,), [(0,), (0,), (1,)]) == 0.0
    assert score(pair, (1,), [(0,), (0,), (0,)]) == 0.0


@pytest.mark.parametrize("kind", ["low_agreement", "random_answers", "drift", "too_fast"])
def test_all_else_shows_in_disagreement(kind):
    assert score(flag(kind), (1,), [(0,), (2,), (1,), (0,)]) == pytest.approx(3 / 4)
    assert score(flag(kind), (1,), []) == 0.0


def test_the_best_come_first_and_as_many_as_are_asked_for():
    alone, half = make_pattern([(1,), (0,), (0,)]), make_pattern([(1,), (1,), (0,)])
    same = make_pattern([(1,)] * 3)
    counts = {((1,), half): 4, ((1,), same): 9, ((1,), alone): 2, ((0,), alone): 5}
    evidence = Evidence(AnnotatorTallies({1: counts}))
    over = flag("category_bias", 1)
    assert best_answers_for_finding(over, evidence, 2) == [((1,), alone)]
    assert best_answers_for_finding(over, evidence, 3) == [((1,), alone), ((1,), half)]
    assert best_answers_for_finding(over, evidence, 99) == [((1,), alone), ((1,), half)]
    assert best_answers_for_finding(over, evidence, 0) == []
    assert best_answers_for_finding(over, Evidence(AnnotatorTallies()), 5) == []


def test_of_gold_wrong_answers_that_most_others_had_right():
    easy = make_pattern([(1,), (0,), (0,), (0,)])
    hard = make_pattern([(1,), (1,), (1,), (0,)])
    right = make_pattern([(0,), (0,)])
    gold = {1: Counter({((0,), (1,), hard): 3, ((0,), (1,), easy): 2, ((0,), (0,), right): 9})}
    evidence = Evidence(AnnotatorTallies(), gold=gold)
    found = best_answers_for_finding(flag("low_gold_accuracy"), evidence, 99)
    assert found == [((1,), easy), ((1,), hard)]


def test_of_a_flag_in_a_crowd_every_answer_shown_is_one_that_was_given():
    voices = {who: mostly_right(0.8) for who in range(6)} | {0: always(2)}
    evidence = Evidence(simulate(seeded(1), voices, items=120, per_item=4).tallies())
    found = next(
        f for f in audit(evidence) if f.kind == "constant_category" and f.state == "flagged"
    )
    shown = best_answers_for_finding(found, evidence, 5)
    assert {*shown} <= evidence.tallies.counts[0].keys()
    assert all(own == (2,) for own, _ in shown)
    assert sum(evidence.tallies.counts[0][row] for row in shown) >= 5
