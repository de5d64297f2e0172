"""The slope of a series, against weighted least squares in statsmodels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from statsmodels.api import GLS, OLS, add_constant

from tests.monitoring.series import FIRST, drawn, wandering, weekly
from tests.profiles import exhaustive
from tracker.core.errors import InvalidOption
from tracker.monitoring import Point, slope
from tracker.monitoring.series import series_of_points
from tracker.monitoring.slope import slope_line

WEEKS_A_MONTH = 30 / 7


def falling(seed: int, dispersion: float, weeks: int = 20) -> list[Point]:
    points = drawn(seed, weeks, unequal=0.6, dispersion=dispersion)
    return [Point(p.at, p.value - 0.004 * week, p.error) for week, p in enumerate(points)]


def fitted_by_statsmodels(points: list[Point], autocorrelation: float) -> object:
    """The line with time in weeks."""
    errors = np.array([point.error for point in points])
    errors = np.maximum(errors, np.median(errors))
    weeks = np.arange(float(len(points)))
    correlation = autocorrelation ** np.abs(np.subtract.outer(weeks, weeks))
    covariance = np.outer(errors, errors) * correlation
    return GLS([p.value for p in points], add_constant(weeks), covariance).fit()


@pytest.mark.parametrize("autocorrelation", [0.0, 0.3, 0.9])
def test_a_line_is_that_of_statsmodels(autocorrelation: float) -> None:
    for seed in range(3):
        points = falling(seed, dispersion=9.0)
        fitted = fitted_by_statsmodels(points, autocorrelation)
        found = slope_line(series_of_points(points), np.arange(20.0), autocorrelation)
        assert found.rise == pytest.approx(fitted.params[1])
        assert found.error == pytest.approx(fitted.bse[1])
        assert found.dispersion == pytest.approx(fitted.scale)


def test_lines_differ_by_what_restricted_likelihood_says() -> None:
    """Written out: log det of the covariance, of the information, and of what is left."""
    series, weeks = series_of_points(falling(4, dispersion=9.0)), np.arange(20.0)
    columns = add_constant(weeks)
    expected, found = [], []
    for autocorrelation in (0.0, 0.5, 0.9):
        correlation = autocorrelation ** np.abs(np.subtract.outer(weeks, weeks))
        covariance = np.outer(series.errors, series.errors) * correlation
        inverse = np.linalg.inv(covariance)
        information = columns.T @ inverse @ columns
        line = np.linalg.solve(information, columns.T @ inverse @ series.values)
        left = series.values - columns @ line
        parts = (np.linalg.slogdet(covariance)[1], np.linalg.slogdet(information)[1])
        expected.append(sum(parts) + 18 * np.log(left @ inverse @ left))
        found.append(slope_line(series, weeks, autocorrelation).misfit)
    assert np.diff(found) == pytest.approx(np.diff(expected))


def test_a_change_of_level_is_no_dependence() -> None:
    points = [
        Point(p.at, p.value - 0.1 * (week >= 13), p.error) for week, p in enumerate(drawn(3, 26))
    ]
    found = slope(points)
    assert found.autocorrelation is not None
    assert found.autocorrelation.value < 0.2
    assert found.ci_high < 0  # type: ignore[operator]


def test_where_they_differ_by_less_the_errors_are_taken_as_they_are() -> None:
    points = falling(0, dispersion=0.2)
    fitted = fitted_by_statsmodels(points, 0.0)
    found = slope_line(series_of_points(points), np.arange(20.0), 0.0)
    assert fitted.scale < 1
    assert found.dispersion == pytest.approx(fitted.scale)
    assert found.error == pytest.approx(np.sqrt(fitted.normalized_cov_params[1, 1]))


def test_of_many_weeks_that_do_not_depend_on_each_other_it_is_nearly_the_plain_line() -> None:
    points = falling(2, dispersion=4.0, weeks=300)
    fitted = fitted_by_statsmodels(points, 0.0)
    found = slope(points, confidence=0.9)
    assert found.autocorrelation is not None
    assert found.autocorrelation.value < 0.02
    assert found.per_30_days == pytest.approx(fitted.params[1] * WEEKS_A_MONTH, rel=0.01)
    assert found.standard_error == pytest.approx(fitted.bse[1] * WEEKS_A_MONTH, rel=0.02)
    bounds = fitted.conf_int(0.1)[1] * WEEKS_A_MONTH
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(bounds), rel=0.02)
    assert found.dispersion == pytest.approx(fitted.scale, rel=0.02)
    assert (found.n, found.confidence, found.undefined) == (300, 0.9, None)


def test_bounds_and_p_are_of_one_distribution() -> None:
    """A bound at a level at which p is left over lies at 0."""
    found = slope(falling(1, dispersion=2.0))
    assert found.p_value is not None
    at_zero = slope(falling(1, dispersion=2.0), confidence=1 - found.p_value)
    assert at_zero.ci_high == pytest.approx(0.0, abs=1e-9)
    assert at_zero.ci_low < found.per_30_days < 0  # type: ignore[operator]


def test_without_errors_it_is_ordinary_least_squares() -> None:
    values = [0.9, 0.8, 0.85, 0.7, 0.72]
    fitted = OLS(values, add_constant(np.arange(5.0))).fit()
    found = slope_line(series_of_points(weekly(values, 0.0)), np.arange(5.0), 0.0)
    assert found.error == pytest.approx(fitted.bse[1])
    assert slope(weekly(values, 0.0)).dispersion is None


def test_one_unit_in_thirty_days() -> None:
    days = [0, 30, 45, 90]
    points = [Point(FIRST + day * 86_400_000_000, day / 30, 0.1) for day in days]
    found = slope(points)
    assert found.per_30_days == pytest.approx(1.0)
    assert found.dispersion == pytest.approx(0.0, abs=1e-12)
    sampling = 0.1 / np.sqrt(np.var([0, 1, 1.5, 3]) * 4)
    assert sampling <= found.standard_error <= 1.5 * sampling  # type: ignore[operator]


def test_shifted_scaled_and_mirrored() -> None:
    points = drawn(5, 12, unequal=0.4, dispersion=3.0)
    other = [Point(p.at + 10**12, 2 - 5 * p.value, 5 * p.error) for p in points]
    one, two = slope(points), slope(other)
    assert two.per_30_days == pytest.approx(-5 * one.per_30_days)
    assert two.standard_error == pytest.approx(5 * one.standard_error)
    assert (two.p_value, two.dispersion) == pytest.approx((one.p_value, one.dispersion))


@exhaustive
@pytest.mark.parametrize(
    ("autocorrelation", "weeks", "least", "most"),
    # Taken for independent, 18 and 42 of 100 have a p below .05 with .5 and .8.
    [(0.0, 52, 1, 9), (0.5, 26, 0, 11)],
)
def test_of_steady_series_few_have_a_small_p_value(
    autocorrelation: float, weeks: int, least: int, most: int
) -> None:
    found = [
        slope(wandering(seed, weeks, autocorrelation, dispersion=2.0)).p_value <= 0.05  # type: ignore[operator]
        for seed in range(100)
    ]
    assert least / 100 <= np.mean(found) <= most / 100


def test_a_slope_of_a_year_is_found() -> None:
    """Of 3.2 standard errors; 87 of 100 if it were known that weeks are independent."""
    weeks = np.arange(52) - 25.5
    rise = 3.2 * 0.02 / np.sqrt((weeks**2).sum())
    found = [
        slope(
            [
                Point(p.at, p.value + rise * week, p.error)
                for p, week in zip(points, weeks, strict=True)
            ]
        )
        for points in (drawn(seed, 52) for seed in range(60))
    ]
    assert np.mean([one.p_value < 0.05 for one in found]) >= 0.75


@pytest.mark.parametrize("n", [0, 1, 2])
def test_two_points_are_too_few(n: int) -> None:
    found = slope(drawn(1, n))
    assert (found.n, found.undefined) == (n, "too_few_points")
    assert found.per_30_days is found.standard_error is found.p_value is found.ci_low is None


def test_points_without_errors_on_one_line() -> None:
    level = slope(weekly([0.9] * 5, 0.0))
    assert (level.per_30_days, level.standard_error, level.p_value) == (0.0, 0.0, 1.0)
    assert (level.ci_low, level.ci_high, level.undefined) == (0.0, 0.0, None)
    steep = slope(weekly([0.9, 0.8, 0.7, 0.6], 0.0))
    assert steep.per_30_days == pytest.approx(-0.1 * WEEKS_A_MONTH)
    assert (steep.standard_error, steep.p_value, steep.ci_low) == (0.0, None, None)
    assert steep.undefined == "no_spread"


def test_a_level_that_is_none() -> None:
    with pytest.raises(InvalidOption, match="confidence level of 1"):
        slope(drawn(1, 5), confidence=1)


def test_as_json() -> None:
    found = json.loads(json.dumps(slope(drawn(2, 8)).to_dict()))
    assert list(found)[:3] == ["per_30_days", "standard_error", "ci_low"]
    assert (found["n"], found["undefined"]) == (8, None)
