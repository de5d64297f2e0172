"""The sequential test: what Wald (1945) gives, one verdict at most, and a plain loop."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples, exhaustive
from tracker.audit.statistics.sequential_test import NEEDS_MORE, NOT_READY, READY, SequentialTest

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
