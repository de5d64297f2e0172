"""Recursive residuals and their scores: what a chart makes of points before it knows a level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import GLS, OLS
from statsmodels.stats.diagnostic import recursive_olsresiduals

from tests.monitoring.series import drawn, weekly
from tracker.monitoring.autocorrelation import GRID, PRIOR, Autocorrelation
from tracker.monitoring.cusum_state import Known, Sum, cusum_change_start
from tracker.monitoring.series import series_of_points

INDEPENDENT = 0
"""The place of no autocorrelation at all."""
CERTAIN = np.where(GRID == 0, 0.0, -np.inf)
"""What is believed of it if there is none."""


@pytest.mark.parametrize("seed", range(3))
def test_residuals_are_those_of_statsmodels(seed: int) -> None:
    points = drawn(seed, 25, unequal=0.7)
    # Weighted least squares are ordinary ones of columns divided by the errors.
    errors = np.array([point.error for point in points])
    values = np.array([point.value for point in points])
    fitted = OLS(values / errors, 1 / errors[:, None]).fit()
    expected = recursive_olsresiduals(fitted, skip=1)[4]
    known = Known(0, 0.0)
    found = [known.take(point.value, point.error)[0][INDEPENDENT] for point in points]
    assert found[1:] == pytest.approx(list(expected[-24:]))
    assert found[0] == 0.0
    mean, squares = known.mean[INDEPENDENT], known.squares[INDEPENDENT]
    assert mean == pytest.approx(float(np.average(values, weights=errors**-2)))
    # Together they are all that the mean leaves over.
    assert squares == pytest.approx(float((((values - mean) / errors) ** 2).sum()))


@pytest.mark.parametrize("place", [4, 16])
def test_residuals_of_points_that_depend_on_each_other(place: int) -> None:
    """All together they are what generalised least squares leaves over."""
    points = drawn(1, 25, unequal=0.7)
    errors = np.array([point.error for point in points])
    values = np.array([point.value for point in points])
    correlation = GRID[place] ** np.abs(np.subtract.outer(np.arange(25), np.arange(25)))
    fitted = GLS(values, np.ones(25), np.outer(errors, errors) * correlation).fit()
    known = Known(0, 0.0)
    for point in points:
        known.take(point.value, point.error)
    assert known.mean[place] == pytest.approx(fitted.params[0])
    assert known.weight[place] / (1 - GRID[place] ** 2) == pytest.approx(
        fitted.scale / fitted.bse[0] ** 2
    )
    assert known.squares[place] / (1 - GRID[place] ** 2) == pytest.approx(fitted.ssr)


def test_what_points_say_of_their_dependence() -> None:
    """The belief is the likelihood of each autocorrelation, level and spread integrated out."""
    found = {}
    for autocorrelation in (0.0, 0.8):
        known = Known(0, 0.0)
        random = np.random.default_rng(5)
        value = 0.0
        for step in random.normal(size=200):
            value = autocorrelation * value + step
            known.scored(value, 1.0)
        found[autocorrelation] = Autocorrelation.of(known.belief)
    assert found[0.0].value < 0.1
    assert found[0.8].value == pytest.approx(0.8, abs=0.12)
    assert found[0.8].ci_low > 0.5
    assert found[0.0].ci_high < 0.4


def test_scores_are_those_of_t() -> None:
    points = drawn(4, 12, unequal=0.3)
    one, other = Known(0, 0.0), Known(0, 0.0, CERTAIN)
    residuals = [one.take(point.value, point.error)[0][INDEPENDENT] for point in points]
    scores = [other.scored(point.value, point.error) for point in points]
    for k in range(2, 12):
        t = residuals[k] / np.sqrt(np.mean(np.square(residuals[1:k])))
        assert scores[k] == pytest.approx(stats.norm.ppf(stats.t.cdf(t, k - 1)))
    assert scores[:2] == [0.0, 0.0]


@pytest.mark.parametrize("dispersion", [1.0, 4.0])
def test_scores_are_standard_normal_and_independent_from_the_first(dispersion: float) -> None:
    rows = []
    for seed in range(1500):
        known = Known(0, 0.0, CERTAIN)
        points = drawn(seed, 8, unequal=0.5, dispersion=dispersion)
        rows.append([known.scored(point.value, point.error) for point in points][2:])
    scores = np.array(rows)
    assert stats.kstest(scores.ravel(), "norm").pvalue > 0.01
    assert np.abs(np.corrcoef(scores.T) - np.eye(6)).max() < 0.1


def test_a_dispersion_far_below_one_is_not_believed() -> None:
    known = Known(0, 0.5, CERTAIN)
    for _ in range(10):
        known.take(1.0, 0.02)
    t = -0.02 / (0.02 * np.sqrt(1.1)) / np.sqrt(0.5)
    assert known.scored(0.98, 0.02) == pytest.approx(stats.norm.ppf(stats.t.cdf(t, 9)))


def test_where_nothing_has_ever_differed_nothing_can_be_judged() -> None:
    known = Known(0, 0.0)
    assert [known.scored(1.0, 1.0) for _ in range(5)] == [0.0] * 5
    assert known.scored(0.5, 1.0) == 0.0
    assert known.scored(0.5, 1.0) < -1


def test_a_score_beyond_all_probability_is_still_a_number() -> None:
    known = Known(0, 0.5)
    for _ in range(400):
        known.take(1.0, 0.02)
    assert known.scored(1e9, 0.02) == pytest.approx(37.05, abs=0.01)


def test_points_chosen_for_lying_far_out_count_half() -> None:
    series = series_of_points(weekly([0.5, 0.7, 0.9], [0.1, 0.1, 0.2]))
    known = Known.of(series, 1, 3, PRIOR)
    assert known.weight[INDEPENDENT] == pytest.approx((1 / 0.01 + 1 / 0.04) / 2)
    assert known.mean[INDEPENDENT] == pytest.approx((0.7 * 4 + 0.9) / 5)
    assert (known.start, known.freedom, known.floor) == (1, 1, 0.5)
    assert known.squares[INDEPENDENT] == pytest.approx(0.04 / 0.05)
    assert Known.of(series_of_points(weekly([1.0], 0.0)), 0, 1, PRIOR).floor == 0.0


def test_a_sum_remembers_where_it_last_stood_at_zero() -> None:
    up, down = Sum(1), Sum(-1)
    heights = [(up.add(score, k), up.zero) for k, score in enumerate([0.2, 1.5, 0.7, -3.0, 2.0])]
    assert heights == [(0, 0), (1.0, 0), (pytest.approx(1.2), 0), (0, 3), (1.5, 3)]
    assert [down.add(score, k) for k, score in enumerate([-2.0, 1.0])] == [1.5, 0.0]
    assert down.zero == 1


def test_the_likeliest_place_is_looked_for_since_the_sum_left_zero() -> None:
    series = series_of_points(weekly([0.0, 0.1, 0.0, 0.1, 0.1, 0.0, 0.9, 1.0, 0.9], 0.1))
    assert cusum_change_start(series, 0, 2, 8, 1) == 6
    assert cusum_change_start(series, 0, 6, 8, 1) == 7
    assert cusum_change_start(series, 4, 4, 8, 1) == 6
    mirrored = series_of_points(weekly([-value for value in series.values], 0.1))
    assert cusum_change_start(mirrored, 0, 2, 8, -1) == 6
