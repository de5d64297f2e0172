"""The slope of a series, against weighted least squares in statsmodels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from statsmodels.api import WLS, add_constant

from tests.trend.series import FIRST, drawn, weekly
from tracker.errors import InvalidOption
from tracker.trend import Point, slope

WEEKS_A_MONTH = 30 / 7


def line(seed: int, dispersion: float, weeks: int = 20) -> tuple[list[Point], object]:
    """A falling series, and its line by statsmodels with time in weeks."""
    points = drawn(seed, weeks, unequal=0.6, dispersion=dispersion)
    points = [Point(p.at, p.value - 0.004 * week, p.error) for week, p in enumerate(points)]
    errors = np.array([point.error for point in points])
    weights = np.maximum(errors, np.median(errors)) ** -2
    model = WLS([p.value for p in points], add_constant(np.arange(float(weeks))), weights=weights)
    return points, model.fit()


@pytest.mark.parametrize("seed", range(4))
def test_where_periods_differ_by_more_than_sampling_it_is_the_line_of_statsmodels(
    seed: int,
) -> None:
    points, fitted = line(seed, dispersion=9.0)
    found = slope(points, confidence=0.9)
    assert fitted.scale > 1
    assert found.per_30_days == pytest.approx(fitted.params[1] * WEEKS_A_MONTH)
    assert found.standard_error == pytest.approx(fitted.bse[1] * WEEKS_A_MONTH)
    bounds = fitted.conf_int(0.1)[1] * WEEKS_A_MONTH
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(bounds))
    assert found.p_value == pytest.approx(fitted.pvalues[1])
    assert found.dispersion == pytest.approx(fitted.scale)
    assert (found.n, found.confidence, found.undefined) == (20, 0.9, None)


def test_where_they_differ_by_less_the_errors_are_taken_as_they_are() -> None:
    points, fitted = line(0, dispersion=0.2)
    found = slope(points)
    assert fitted.scale < 1
    assert found.dispersion == pytest.approx(fitted.scale)
    assert found.standard_error == pytest.approx(
        np.sqrt(fitted.normalized_cov_params[1, 1]) * WEEKS_A_MONTH
    )


def test_without_errors_it_is_ordinary_least_squares() -> None:
    values = [0.9, 0.8, 0.85, 0.7, 0.72]
    fitted = WLS(values, add_constant(np.arange(5.0))).fit()
    found = slope(weekly(values, 0.0))
    assert found.standard_error == pytest.approx(fitted.bse[1] * WEEKS_A_MONTH)
    assert found.p_value == pytest.approx(fitted.pvalues[1])
    assert found.dispersion is None


def test_one_unit_in_thirty_days() -> None:
    days = [0, 30, 45, 90]
    points = [Point(FIRST + day * 86_400_000_000, day / 30, 0.1) for day in days]
    found = slope(points)
    assert found.per_30_days == pytest.approx(1.0)
    assert found.dispersion == pytest.approx(0.0, abs=1e-12)
    assert found.standard_error == pytest.approx(0.1 / np.sqrt(np.var([0, 1, 1.5, 3]) * 4))


def test_shifted_scaled_and_mirrored() -> None:
    points = drawn(5, 12, unequal=0.4, dispersion=3.0)
    other = [Point(p.at + 10**12, 2 - 5 * p.value, 5 * p.error) for p in points]
    one, two = slope(points), slope(other)
    assert two.per_30_days == pytest.approx(-5 * one.per_30_days)
    assert two.standard_error == pytest.approx(5 * one.standard_error)
    assert (two.p_value, two.dispersion) == pytest.approx((one.p_value, one.dispersion))


def test_of_steady_series_one_in_twenty_has_a_small_p_value() -> None:
    found = [
        slope(drawn(seed, 15, unequal=0.3, dispersion=2.0)).p_value <= 0.05 for seed in range(1500)
    ]
    assert np.mean(found) == pytest.approx(0.05, abs=0.015)


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
