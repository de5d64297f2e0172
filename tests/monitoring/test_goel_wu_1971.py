"""How long a cumulative sum runs, against published tables."""

from __future__ import annotations

import numpy as np
import pytest

from tracker.monitoring.cusum_state import average_run_length, cusum_limit


@pytest.mark.parametrize(
    ("limit", "two_sided"),
    # Lucas and Crosier (1982), Technometrics 24, 199, and Montgomery, Introduction to Statistical
    # Quality Control, 6th ed., tables 9.3 and 9.4.
    [(4, 168), (5, 465), (4.77, 370)],
)
def test_published_run_lengths_of_two_sums(limit: float, two_sided: float) -> None:
    # Rates of alarms add up, so that of two sums the run length is half.
    assert average_run_length(limit) / 2 == pytest.approx(two_sided, rel=0.004)


def test_the_published_run_length_of_one_sum() -> None:
    # Brook and Evans (1972), Biometrika 59, 539, section 4.3, by a Markov chain.
    assert average_run_length(3) == pytest.approx(117.59, abs=0.01)


def test_of_a_limit_of_zero_the_first_score_above_a_half_is_an_alarm() -> None:
    assert average_run_length(0.0) == pytest.approx(1 / 0.3085375387)


def test_a_simulated_sum() -> None:
    random = np.random.default_rng(5)
    sums, alive, lengths = np.zeros(4000), np.ones(4000, dtype=bool), np.zeros(4000)
    while alive.any():
        sums = np.maximum(0.0, sums + random.normal(0, 1, 4000) - 0.5)
        lengths += alive
        alive &= sums <= 2.0
    assert lengths.mean() == pytest.approx(average_run_length(2.0), rel=0.05)


@pytest.mark.parametrize("run_length", [4, 10, 370, 500, 1000, 100_000, 2_000_000])
def test_the_limit_gives_the_run_length_that_was_asked_for(run_length: int) -> None:
    assert average_run_length(cusum_limit(run_length)) == pytest.approx(run_length, rel=1e-6)


def test_below_what_a_limit_of_zero_gives_it_stays_zero() -> None:
    assert cusum_limit(2) == cusum_limit(3) == 0.0
