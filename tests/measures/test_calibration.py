"""The Brier score, the expected calibration error and the reliability table, by hand."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.measures.accuracy import ConfidenceTally, calibration

Given = list[tuple[float, bool]]
"""Confidences, and whether the answer is right."""


def bin_of(confidence: float) -> int:
    return next(n for n in range(10) if confidence <= (n + 1) / 10)


def tallies(answers: Given) -> list[ConfidenceTally]:
    found = defaultdict(list)
    for confidence, right in answers:
        found[bin_of(confidence), right].append(confidence)
    return [
        ConfidenceTally(number, right, len(held), sum(held), sum(c * c for c in held))
        for (number, right), held in found.items()
    ]


def test_a_forecast_that_is_known():
    """Ten answers of 0.8, seven of them right, and ten of 0.6, all right."""
    found = calibration(tallies([(0.8, n < 7) for n in range(10)] + [(0.6, True)] * 10))
    assert found.brier_score == pytest.approx((7 * 0.04 + 3 * 0.64 + 10 * 0.16) / 20)
    assert found.expected_calibration_error == pytest.approx((10 * 0.1 + 10 * 0.4) / 20)
    assert (found.answers, found.accuracy, found.confidence) == (20, 17 / 20, pytest.approx(0.7))
    assert [(one.low, one.high, one.answers, one.accuracy) for one in found.bins] == [
        (0.5, 0.6, 10, 1.0),
        (0.7, 0.8, 10, 0.7),
    ]


def test_nothing_to_compare():
    found = calibration([])
    assert (found.answers, found.brier_score, found.expected_calibration_error) == (0, None, None)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_it_is_what_the_definitions_give(answers):
    found = calibration(tallies(answers))
    brier = sum((confidence - right) ** 2 for confidence, right in answers) / len(answers)
    assert found.brier_score == pytest.approx(brier, abs=1e-12)
    error = 0.0
    for number in range(10):
        held = [one for one in answers if bin_of(one[0]) == number]
        if held:
            apart = sum(right for _, right in held) - sum(confidence for confidence, _ in held)
            error += abs(apart) / len(answers)
    assert found.expected_calibration_error == pytest.approx(error, abs=1e-12)
    assert 0 <= (found.expected_calibration_error or 0) <= 1
