"""Recursive residuals and their scores, and how long their sums run, by published tables."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import GLS, OLS
from statsmodels.stats.diagnostic import recursive_olsresiduals

from tests.monitoring.series import drawn, weekly
from tracker.monitoring.autocorrelation import GRID, PRIOR, Autocorrelation
from tracker.monitoring.cusum_state import (
    Known,
    Sum,
    average_run_length,
    cusum_change_start,
    cusum_limit,
)
from tracker.monitoring.series import series_of_points

INDEPENDENT = 0
"""The place of no autocorrelation at all."""
CERTAIN = np.where(GRID == 0, 0.0, -np.inf)
"""What is believed of it if there is none."""


def columns(points):
    return np.array([(point.value, point.error) for point in points]).T


def test_residuals_are_those_of_statsmodels():
    for seed in range(3):
        points = drawn(seed, 25, unequal=0.7)
        values, errors = columns(points)
        # Weighted least squares are ordinary ones of columns divided by the errors.
        fitted = OLS(values / errors, 1 / errors[:, None]).fit()
        expected = recursive_olsresiduals(fitted, skip=1)[4]
        known = Known(0, 0.0)
        residuals = [known.take(point.value, point.error)[0][INDEPENDENT] for point in points]
        assert residuals[1:] == pytest.approx(list(expected[-24:]))
        assert residuals[0] == 0.0
        mean, squares = known.mean[INDEPENDENT], known.squares[INDEPENDENT]
        assert mean == pytest.approx(float(np.average(values, weights=errors**-2)))
        # Together they are all that the mean leaves over.
        assert squares == pytest.approx(float((((values - mean) / errors) ** 2).sum()))


@pytest.mark.parametrize("place", [4, 16])
def test_residuals_of_dependent_points_are_those_of_generalized_least_squares(place):
    points = drawn(1, 25, unequal=0.7)
    values, errors = columns(points)
    correlation = GRID[place] ** np.abs(np.subtract.outer(np.arange(25), np.arange(25)))
    fitted = GLS(values, np.ones(25), np.outer(errors, errors) * correlation).fit()
    known = Known(0, 0.0)
    for point in points:
        known.take(point.value, point.error)
    scale = 1 - GRID[place] ** 2
    assert known.mean[place] == pytest.approx(fitted.params[0])
    assert known.weight[place] / scale == pytest.approx(fitted.scale / fitted.bse[0] ** 2)
    assert known.squares[place] / scale == pytest.approx(fitted.ssr)


def test_an_autocorrelation_is_believed_by_its_likelihood():
    found = {}
    for autocorrelation in (0.0, 0.8):
        known, value = Known(0, 0.0), 0.0
        for step in np.random.default_rng(5).normal(size=200):
            value = autocorrelation * value + step
            known.scored(value, 1.0)
        found[autocorrelation] = Autocorrelation.of(known.belief)
    assert found[0.0].value < 0.1
    assert found[0.8].value == pytest.approx(0.8, abs=0.12)
    assert found[0.8].ci_low > 0.5
    assert found[0.0].ci_high < 0.4


def test_scores_are_those_of_t():
    points = drawn(4, 12, unequal=0.3)
    one, other = Known(0, 0.0), Known(0, 0.0, CERTAIN)
    residuals = [one.take(point.value, point.error)[0][INDEPENDENT] for point in points]
    scores = [other.scored(point.value, point.error) for point in points]
    for k in range(2, 12):
        t = residuals[k] / np.sqrt(np.mean(np.square(residuals[1:k])))
        assert scores[k] == pytest.approx(stats.norm.ppf(stats.t.cdf(t, k - 1)))
    assert scores[:2] == [0.0, 0.0]
    # A dispersion far below one is not believed.
    known = Known(0, 0.5, CERTAIN)
    for _ in range(10):
        known.take(1.0, 0.02)
    t = -0.02 / (0.02 * np.sqrt(1.1)) / np.sqrt(0.5)
    assert known.scored(0.98, 0.02) == pytest.approx(stats.norm.ppf(stats.t.cdf(t, 9)))


def test_scores_at_the_ends():
    known = Known(0, 0.0)
    scores = [known.scored(value, 1.0) for value in (*[1.0] * 5, 0.5, 0.5)]
    assert scores[:6] == [0.0] * 6, "where nothing has ever differed nothing can be judged"
    assert scores[6] < -1
    known = Known(0, 0.5)
    for _ in range(400):
        known.take(1.0, 0.02)
    assert known.scored(1e9, 0.02) == pytest.approx(37.05, abs=0.01)


def test_points_chosen_for_lying_far_out_count_half():
    known = Known.of(series_of_points(weekly([0.5, 0.7, 0.9], [0.1, 0.1, 0.2])), 1, 3, PRIOR)
    assert known.weight[INDEPENDENT] == pytest.approx((1 / 0.01 + 1 / 0.04) / 2)
    assert known.mean[INDEPENDENT] == pytest.approx((0.7 * 4 + 0.9) / 5)
    assert (known.start, known.freedom, known.floor) == (1, 1, 0.5)
    assert known.squares[INDEPENDENT] == pytest.approx(0.04 / 0.05)
    assert Known.of(series_of_points(weekly([1.0], 0.0)), 0, 1, PRIOR).floor == 0.0


def test_a_sum_remembers_where_it_last_stood_at_zero():
    up, down = Sum(1), Sum(-1)
    heights = [(up.add(score, k), up.zero) for k, score in enumerate([0.2, 1.5, 0.7, -3.0, 2.0])]
    assert heights == [(0, 0), (1.0, 0), (pytest.approx(1.2), 0), (0, 3), (1.5, 3)]
    assert [down.add(score, k) for k, score in enumerate([-2.0, 1.0])] == [1.5, 0.0]
    assert down.zero == 1
    # The likeliest place of a change is after the sum left zero.
    series = series_of_points(weekly([0.0, 0.1, 0.0, 0.1, 0.1, 0.0, 0.9, 1.0, 0.9], 0.1))
    mirrored = series_of_points(weekly([-value for value in series.values], 0.1))
    assert [cusum_change_start(series, *at, 8, 1) for at in ((0, 2), (0, 6), (4, 4))] == [6, 7, 6]
    assert cusum_change_start(mirrored, 0, 2, 8, -1) == 6


def test_published_run_lengths():
    # Lucas and Crosier (1982), Technometrics 24, 199, and Montgomery, Introduction to Statistical
    # Quality Control, 6th ed., tables 9.3 and 9.4. Rates of alarms add up, so that of two sums the
    # run length is half.
    for limit, two_sided in ((4, 168), (5, 465), (4.77, 370)):
        assert average_run_length(limit) / 2 == pytest.approx(two_sided, rel=0.004)
    # Brook and Evans (1972), Biometrika 59, 539, section 4.3, by a Markov chain.
    assert average_run_length(3) == pytest.approx(117.59, abs=0.01)
    assert average_run_length(0.0) == pytest.approx(1 / 0.3085375387), "a score above a half"


def test_a_limit_gives_the_run_length():
    for run_length in (4, 10, 370, 500, 1000, 100_000, 2_000_000):
        assert average_run_length(cusum_limit(run_length)) == pytest.approx(run_length, rel=1e-6)
    assert cusum_limit(2) == cusum_limit(3) == 0.0
