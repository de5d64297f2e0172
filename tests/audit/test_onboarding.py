"""Readiness: by gold if there is enough, otherwise by the others; the test of Wald (1945).

First answers alone count.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audit.crowds import seeded
from tests.helpers import give
from tests.profiles import examples, exhaustive
from tracker.audit.onboarding import peer_outcomes
from tracker.audit.statistics.sequential_test import NEEDS_MORE, NOT_READY, READY, SequentialTest
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.tallies import make_pattern

PEOPLE = {"ada": 0.95, "bob": 0.93, "carl": 0.94, "dora": 0.97, "eve": 0.4}


def rows_of(items=200, *, gold=200):
    draw, rows = seeded(3), []
    for n in range(items):
        truth = draw.choice("xyz")
        if n < gold:
            rows.append((f"i{n:03}", "gold", truth, "2026-01-01T00:00"))
        for who, right in PEOPLE.items():
            answer = truth if draw.random() < right else draw.choice("xyz".replace(truth, ""))
            rows.append((f"i{n:03}", who, answer, f"2026-02-{1 + n // 24:02}T{n % 24:02}:00"))
    return rows


def fill(ledger, rows):
    of_sets = [(*row, "exam" if row[0] < "i050" else "work") for row in rows]
    give(ledger, of_sets, "p", "labeled_at", "set", keep=["set"])
    ledger.annotators.kind("p", "gold", "reference")
    return ledger


def test_readiness_by_gold(ledger):
    fill(ledger, rows_of())
    ready = ledger.annotators.ready("p", "dora").to_dict()
    assert (ready["verdict"], ready["against"], ready["more"]) == ("ready", "gold", 0)
    assert (ready["answers"], ready["gold_items"], ready["error_rate"]) == (200, 200, 0.05)
    assert (ready["at_least"], ready["at_most"]) == (0.8, 0.7)
    assert 23 <= ready["after"] < 60
    guessing = ledger.annotators.ready("p", "eve")
    assert (guessing.verdict, guessing.against) == ("not_ready", "gold")
    assert next(iter(guessing.view())).startswith("eve is not ready, after ")
    # An exam is the items of a set, and training begins anew.
    exam = ledger.annotators.ready("p", "dora", where={"set": "exam"})
    assert (exam.answers, exam.gold_items, exam.verdict) == (50, 50, "ready")
    assert ledger.annotators.ready("p", "dora", since="2026-02-03").answers == 200 - 48


def test_a_newcomer_needs_about_as_many_more_answers_as_it_says(ledger):
    rows = rows_of()
    few = [row for row in rows if row[1] != "dora" or row[0] < "i010"]
    more = fill(ledger, few).annotators.ready("p", "dora")
    assert (more.verdict, more.answers, more.after) == ("needs_more", 10, None)
    assert 10 <= more.more <= 40
    assert more.sentence == f"dora needs more answers to gold items: about {more.more}"
    give(ledger, [("i", "a", "x")], "alone")
    alone = ledger.annotators.ready("alone", "a").to_dict()
    assert (alone["verdict"], alone["against"], alone["answers"]) == ("needs_more", "peers", 0)
    assert alone["share"] is None
    assert alone["more"] > 20


def test_the_others_are_the_bar_where_there_is_too_little_gold(ledger):
    ask = fill(ledger, rows_of(gold=22)).annotators.ready
    ready, not_ready = ask("p", "dora"), ask("p", "eve")
    assert (ready.verdict, ready.against, ready.gold_items) == ("ready", "peers", 22)
    assert (not_ready.verdict, not_ready.against) == ("not_ready", "peers")
    assert not_ready.at_least > 0.85, "what the others reach, not what was asked"
    ledger.annotators.pause("p", "eve")
    assert ask("p", "dora").at_least > ready.at_least, "without an annotator who is paused"
    # With 23 items, all right, there could be a verdict: it is by gold then.
    truth = [("i022", "gold", "x", "2026-01-01T00:00")]
    give(ledger, truth, "p", "labeled_at")
    assert ask("p", "dora").against == "gold"


def test_revised_answers_count_as_they_were_first_and_mistakes_are_refused(ledger):
    rows = rows_of(60)
    ask = fill(ledger, rows).annotators.ready
    before = ask("p", "eve")
    better = [(i, "eve", truth, "2026-03-01T00:00") for i, who, truth, _ in rows if who == "gold"]
    give(ledger, better, "p", "labeled_at")
    assert ledger.agreement("p", annotators=["eve", "gold"]).to_dict()["counts"]["items"] == 60
    assert ask("p", "eve") == before
    for options in ({"at_least": 0.05}, {"at_least": 1.0}, {"margin": 0.0}):
        with pytest.raises(InvalidOption, match="leaves no share between 0 and 1"):
            ask("p", "dora", **options)
    with pytest.raises(InvalidOption, match="is a reference, whose answers count as true"):
        ask("p", "gold")
    with pytest.raises(NotFound, match="no annotator 'dor'"):
        ask("p", "dor")
    ledger.projects.create("n", scale="interval")
    give(ledger, [("i", "a", "1")], "n")
    with pytest.raises(InvalidOption, match="numbers, which are rarely the very same"):
        ask("n", "a")


def test_outcomes_are_against_a_majority_of_as_many_others():
    x, y = (1,), (2,)
    rows = [
        (x, make_pattern([x, x, y])),  # the first is left out: x and y, no majority
        (y, make_pattern([x, x, x])),  # three x, one left out: x
        (x, make_pattern([x, x, y])),  # y is left out: x
        (x, make_pattern([x])),  # nobody is left to be compared with
    ]
    peers = peer_outcomes(rows)
    assert peers.outcomes == [False, True]
    # Of the first and third only y, one of three, has a majority, and is not with it.
    assert peers.bar == pytest.approx(1 / (1 / 3 + 1 + 1 / 3))
    assert peer_outcomes([]).outcomes == []


MIRRORED = {READY: NOT_READY, NOT_READY: READY, NEEDS_MORE: NEEDS_MORE}


@st.composite
def sequential_tests(draw):
    bad = draw(st.floats(0.05, 0.9))
    good = draw(st.floats(bad + 0.02, 0.98))
    return SequentialTest(good, bad, draw(st.sampled_from([0.01, 0.05, 0.2])))


answers_given = st.lists(st.booleans(), max_size=300)


def plain_outcome(test, answers):
    """Return the verdict by the ratio of the two likelihoods itself, answer by answer."""
    for_good = for_bad = 0.0
    for number, right in enumerate(answers, start=1):
        for_good += math.log(test.good if right else 1 - test.good)
        for_bad += math.log(test.bad if right else 1 - test.bad)
        if for_good - for_bad >= test.bound:
            return READY, number
        if for_bad - for_good >= test.bound:
            return NOT_READY, number
    return NEEDS_MORE, None


@examples(200)
@given(sequential_tests(), answers_given, answers_given)
def test_a_verdict_is_that_of_a_plain_loop_and_stays(test, answers, later):
    outcome = test.outcome(answers)
    assert outcome == plain_outcome(test, answers)
    assert test.more(answers) >= 1
    if outcome.after is not None:
        assert test.outcome([*answers, *later]) == outcome
        assert test.outcome(answers[: outcome.after]) == outcome
        assert test.outcome(answers[: outcome.after - 1]).verdict == NEEDS_MORE
    mirror = SequentialTest(1 - test.bad, 1 - test.good, test.error_rate)
    assert mirror.outcome([not right for right in answers]).verdict == MIRRORED[outcome.verdict]
    assert test.outcome([True] * test.least).verdict == READY
    assert test.outcome([True] * (test.least - 1)).verdict == NEEDS_MORE


def test_the_average_sample_number_is_walds():
    """Equation 4:8 for a normal mean of the same drift and variance is close: 8.99 / variance."""
    test = SequentialTest(0.8, 0.7)
    assert (test.right, test.wrong) == pytest.approx((0.133531, -0.405465), abs=1e-6)
    assert test.bound == pytest.approx(2.995732, abs=1e-6)
    assert test.least == 23
    middle = [True] * 6 + [False] * 2  # at 0.75 the steps cancel out, nearly
    variance = 0.75 * test.right**2 + 0.25 * test.wrong**2
    assert test.more(middle) == pytest.approx(test.bound**2 / variance, rel=0.1)
    # An annotator right in 0.9 gains 0.0797 an answer: 2.9957 / 0.0797 = 37.6.
    sure = SequentialTest(0.9, 0.8)
    expected = 0.9 * sure.bound / (0.9 * sure.right + 0.1 * sure.wrong)
    assert sure.more([]) == pytest.approx(expected, rel=0.02)


@exhaustive
@pytest.mark.parametrize("good", [0.7, 0.8, 0.9, 0.95])
def test_wrong_verdicts_are_as_rare_as_stated(good):
    draw, people = np.random.default_rng(1), 4_000
    test = SequentialTest(good, good - 0.1)
    for share, wrong in ((good, NOT_READY), (good - 0.1, READY)):
        answers = draw.random((people, 1_500)) < share
        rate = np.mean([test.outcome(row.tolist()).verdict == wrong for row in answers])
        assert rate < 0.05 + 2 * math.sqrt(0.05 * 0.95 / people)
