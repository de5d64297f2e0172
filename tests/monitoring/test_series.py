"""Points of a series: what they weigh, noise, and the slope against statsmodels."""

import math
from random import Random

import numpy as np
import pytest
from scipy.stats import chi2
from statsmodels.api import GLS, OLS, add_constant

from tests.monitoring.series import FIRST, drawn, weekly
from tracker.core.errors import InvalidOption
from tracker.monitoring import Point, are_within_noise, slope
from tracker.monitoring.series import series_as_angles, series_of_points
from tracker.monitoring.slope import slope_line


def test_errors_are_raised_to_the_median_of_those_above_zero():
    series = series_of_points(weekly([1.0, 0.8, 0.7, 0.9], [0.0, 0.01, 0.03, 0.08]))
    assert series.errors.tolist() == [0.03, 0.03, 0.03, 0.08]
    assert series.weights.tolist() == pytest.approx([1 / 0.0009] * 3 + [1 / 0.0064])
    assert series.known
    # So far the median is of the points up to each.
    errors = [0.0, 0.0, 0.04, 0.01, 0.0, 0.02, 0.5]
    series = series_of_points(weekly([0.5] * 7, errors), so_far=True)
    assert series.errors.tolist() == [0.04, 0.04, 0.04, 0.025, 0.025, 0.02, 0.5]
    for so_far in (False, True):  # an error that small is the rounding of a zero
        series = series_of_points(weekly([1.0, 0.9], [0.0, 1e-17]), so_far=so_far)
        assert (series.errors.tolist(), series.known) == ([1.0, 1.0], False)


def test_means_are_weighted_and_shares_are_angles_short_of_the_end():
    """Anscombe (1948): three eighths of an item on either side."""
    series = series_of_points(weekly([1.0, 2.0, 5.0, 9.0], [0.1, 0.1, 0.2, 0.1]))
    assert series.mean(1, 3) == pytest.approx((4 * 2.0 + 5.0) / 5)
    points = [Point(n, 1.0, 0.0, items) for n, items in enumerate((6, 600))]
    few, many = (point.value for point in series_as_angles(points, (-1.0, 1.0)))
    assert few == pytest.approx(math.asin(2 * 6.375 / 6.75 - 1))
    assert few < many < math.pi / 2


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ([(2, 0.5, 0.1), (1, 0.5, 0.1)], "in order of time"),
        ([(1, 0.5, 0.1), (1, 0.6, 0.1)], "one a period"),
        ([(1, math.nan, 0.1)], "a point has a value"),
        ([(1, 0.5, -0.1)], "an error of -0.1 is not 0 or more"),
        ([(1, 0.5, math.nan)], "an error of nan"),
    ],
)
def test_points_that_are_not_a_series_are_refused(points, fault):
    with pytest.raises(ValueError, match=fault):
        series_of_points([Point(*row) for row in points])


def test_noise_is_the_chi_square_of_homogeneity():
    for number in (2, 5, 30):
        chance = Random(number)  # noqa: S311 - no secret is made with it
        for _ in range(100):
            figures = [(chance.gauss(0.7, 0.06), chance.uniform(0.04, 0.06)) for _ in range(number)]
            values, weights = np.array([(value, error**-2) for value, error in figures]).T
            square = (weights * (values - np.average(values, weights=weights)) ** 2).sum()
            p_value = chi2.sf(square, number - 1)
            if abs(p_value - 0.05) > 0.004:
                assert are_within_noise(figures) == (p_value > 0.05)


@pytest.mark.parametrize(
    ("within", "figures"),
    [
        (True, [(0.8, 0.02)] * 10),
        (False, [*[(0.8, 0.02)] * 10, (0.6, 0.03)]),
        # Errors that are missing or zero are the usual one.
        (True, [(0.8, 0.05), (0.82, None), (0.84, 0.0)]),
        (False, [(0.8, 0.05), (0.82, 0.05), (1.4, 0.0)]),
        (False, [(1.0, 0.0), (0.9, None)]),
        (True, []),
    ],
)
def test_noise_of_few_figures(within, figures):
    assert are_within_noise(figures) == within


WEEKS_A_MONTH = 30 / 7


def inclined(points, rise):
    return [Point(p.at, p.value + rise * week, p.error) for week, p in enumerate(points)]


def falling(seed, dispersion, weeks=20):
    return inclined(drawn(seed, weeks, unequal=0.6, dispersion=dispersion), -0.004)


def covariance_of(errors, autocorrelation):
    weeks = np.arange(float(len(errors)))
    return np.outer(errors, errors) * autocorrelation ** np.abs(np.subtract.outer(weeks, weeks))


def fitted_by_statsmodels(points, autocorrelation):
    errors = np.array([point.error for point in points])
    covariance = covariance_of(np.maximum(errors, np.median(errors)), autocorrelation)
    return GLS([p.value for p in points], add_constant(np.arange(len(points))), covariance).fit()


def line(points, autocorrelation):
    return slope_line(series_of_points(points), np.arange(float(len(points))), autocorrelation)


@pytest.mark.parametrize("autocorrelation", [0.0, 0.3, 0.9])
def test_a_line_is_that_of_statsmodels(autocorrelation):
    for seed in range(3):
        points = falling(seed, dispersion=9.0)
        fitted, found = (
            fitted_by_statsmodels(points, autocorrelation),
            line(points, autocorrelation),
        )
        assert found.rise == pytest.approx(fitted.params[1])
        assert found.error == pytest.approx(fitted.bse[1])
        assert found.dispersion == pytest.approx(fitted.scale)
    # Where points differ by less than their errors, the errors are taken as they are.
    points = falling(0, dispersion=0.2)
    fitted, found = fitted_by_statsmodels(points, 0.0), line(points, 0.0)
    assert fitted.scale < 1
    assert found.dispersion == pytest.approx(fitted.scale)
    assert found.error == pytest.approx(np.sqrt(fitted.normalized_cov_params[1, 1]))


def test_lines_differ_by_what_restricted_likelihood_says():
    """Written out: log det of the covariance, of the information, and of what is left."""
    points = falling(4, dispersion=9.0)
    series, columns = series_of_points(points), add_constant(np.arange(20.0))
    expected, found = [], []
    for autocorrelation in (0.0, 0.5, 0.9):
        covariance = covariance_of(series.errors, autocorrelation)
        inverse = np.linalg.inv(covariance)
        information = columns.T @ inverse @ columns
        left = series.values - columns @ np.linalg.solve(
            information, columns.T @ inverse @ series.values
        )
        parts = (np.linalg.slogdet(covariance)[1], np.linalg.slogdet(information)[1])
        expected.append(sum(parts) + 18 * np.log(left @ inverse @ left))
        found.append(line(points, autocorrelation).misfit)
    assert np.diff(found) == pytest.approx(np.diff(expected))


def test_a_slope_of_many_independent_weeks_is_nearly_the_plain_line():
    points = falling(2, dispersion=4.0, weeks=300)
    fitted, found = fitted_by_statsmodels(points, 0.0), slope(points, confidence=0.9)
    assert found.autocorrelation.value < 0.02
    assert found.per_30_days == pytest.approx(fitted.params[1] * WEEKS_A_MONTH, rel=0.01)
    assert found.standard_error == pytest.approx(fitted.bse[1] * WEEKS_A_MONTH, rel=0.02)
    bounds = fitted.conf_int(0.1)[1] * WEEKS_A_MONTH
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(bounds), rel=0.02)
    assert found.dispersion == pytest.approx(fitted.scale, rel=0.02)
    assert (found.n, found.confidence, found.undefined) == (300, 0.9, None)
    # A change of level is not taken for dependence.
    points = [
        Point(p.at, p.value - 0.1 * (week >= 13), p.error) for week, p in enumerate(drawn(3, 26))
    ]
    found = slope(points)
    assert found.autocorrelation.value < 0.2
    assert found.ci_high < 0


def test_bounds_and_p_are_of_one_distribution():
    """A bound at a level at which p is left over lies at 0."""
    found = slope(falling(1, dispersion=2.0))
    at_zero = slope(falling(1, dispersion=2.0), confidence=1 - found.p_value)
    assert at_zero.ci_high == pytest.approx(0.0, abs=1e-9)
    assert at_zero.ci_low < found.per_30_days < 0


def test_a_slope_is_per_thirty_days():
    points = [Point(FIRST + day * 86_400_000_000, day / 30, 0.1) for day in (0, 30, 45, 90)]
    found = slope(points)
    assert found.per_30_days == pytest.approx(1.0)
    assert found.dispersion == pytest.approx(0.0, abs=1e-12)
    sampling = 0.1 / np.sqrt(np.var([0, 1, 1.5, 3]) * 4)
    assert sampling <= found.standard_error <= 1.5 * sampling


def test_slopes_of_few_points():
    for n in range(3):
        found = slope(drawn(1, n))
        assert (found.n, found.undefined) == (n, "too_few_points")
        assert found.per_30_days is found.standard_error is found.p_value is found.ci_low is None
    with pytest.raises(InvalidOption, match="confidence level of 1"):
        slope(drawn(1, 5), confidence=1)


def test_slopes_without_errors():
    points = weekly([0.9, 0.8, 0.85, 0.7, 0.72], 0.0)
    fitted = OLS([p.value for p in points], add_constant(np.arange(5.0))).fit()
    assert line(points, 0.0).error == pytest.approx(fitted.bse[1])
    assert slope(points).dispersion is None
    level = slope(weekly([0.9] * 5, 0.0))
    assert (level.per_30_days, level.standard_error, level.p_value) == (0.0, 0.0, 1.0)
    assert (level.ci_low, level.ci_high, level.undefined) == (0.0, 0.0, None)
    steep = slope(weekly([0.9, 0.8, 0.7, 0.6], 0.0))
    assert steep.per_30_days == pytest.approx(-0.1 * WEEKS_A_MONTH)
    assert (steep.standard_error, steep.p_value, steep.ci_low) == (0.0, None, None)
    assert steep.undefined == "no_spread"
