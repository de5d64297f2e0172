"""What the points of a series weigh."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.monitoring.series import weekly
from tracker.monitoring import Point
from tracker.monitoring.series import series_as_angles, series_of_points


def test_no_error_counts_as_less_than_the_median_of_those_above_zero() -> None:
    series = series_of_points(weekly([1.0, 0.8, 0.7, 0.9], [0.0, 0.01, 0.03, 0.08]))
    assert series.errors.tolist() == [0.03, 0.03, 0.03, 0.08]
    assert series.weights.tolist() == pytest.approx([1 / 0.0009] * 3 + [1 / 0.0064])
    assert series.known


def test_so_far_the_median_is_of_the_points_up_to_each() -> None:
    errors = [0.0, 0.0, 0.04, 0.01, 0.0, 0.02, 0.5]
    series = series_of_points(weekly([0.5] * 7, errors), so_far=True)
    assert series.errors.tolist() == [0.04, 0.04, 0.04, 0.025, 0.025, 0.02, 0.5]


@pytest.mark.parametrize("so_far", [False, True])
def test_without_any_error_all_weigh_the_same(so_far: bool) -> None:
    # An error that small is the rounding of a zero.
    series = series_of_points(weekly([1.0, 0.9], [0.0, 1e-17]), so_far=so_far)
    assert (series.errors.tolist(), series.known) == ([1.0, 1.0], False)


def test_the_mean_of_a_stretch_is_weighted() -> None:
    series = series_of_points(weekly([1.0, 2.0, 5.0, 9.0], [0.1, 0.1, 0.2, 0.1]))
    assert series.mean(1, 3) == pytest.approx((4 * 2.0 + 5.0) / 5)


def test_a_share_of_few_items_is_an_angle_short_of_the_end() -> None:
    """Anscombe (1948): three eighths of an item on either side."""
    points = [Point(n, 1.0, 0.0, items) for n, items in enumerate((6, 600))]
    few, many = (point.value for point in series_as_angles(points, (-1.0, 1.0)))
    assert few == pytest.approx(math.asin(2 * 6.375 / 6.75 - 1))
    assert few < many < math.pi / 2


def test_no_points() -> None:
    series = series_of_points([])
    assert (series.at, len(series.values), len(series.errors)) == ((), 0, 0)


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ([Point(2, 0.5, 0.1), Point(1, 0.5, 0.1)], "in order of time"),
        ([Point(1, 0.5, 0.1), Point(1, 0.6, 0.1)], "one a period"),
        ([Point(1, math.nan, 0.1)], "a point has a value"),
        ([Point(1, math.inf, 0.1)], "a point has a value"),
        ([Point(1, 0.5, -0.1)], "an error of -0.1 is not 0 or more"),
        ([Point(1, 0.5, math.nan)], "an error of nan"),
        ([Point(1, 0.5, math.inf)], "an error of inf"),
    ],
)
def test_what_is_no_series_is_refused(points: list[Point], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        series_of_points(points)


def test_the_running_median_is_that_of_numpy() -> None:
    errors = np.random.default_rng(4).lognormal(-4.0, 1.0, 60)
    found = series_of_points(weekly([0.0] * 60, errors), so_far=True).errors
    expected = [max(error, np.median(errors[: k + 1])) for k, error in enumerate(errors)]
    assert found.tolist() == pytest.approx(expected)
