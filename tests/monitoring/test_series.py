"""What the points of a series weigh, and figures that differ by no more than chance."""

import math
from random import Random

import numpy as np
import pytest
from scipy.stats import chi2

from tests.monitoring.series import weekly
from tracker.monitoring import Point, are_within_noise
from tracker.monitoring.series import series_as_angles, series_of_points


def test_errors_are_raised_to_the_median_of_those_above_zero():
    series = series_of_points(weekly([1.0, 0.8, 0.7, 0.9], [0.0, 0.01, 0.03, 0.08]))
    assert series.errors.tolist() == [0.03, 0.03, 0.03, 0.08]
    assert series.weights.tolist() == pytest.approx([1 / 0.0009] * 3 + [1 / 0.0064])
    assert series.known
    # So far the median is of the points up to each.
    errors = [0.0, 0.0, 0.04, 0.01, 0.0, 0.02, 0.5]
    series = series_of_points(weekly([0.5] * 7, errors), so_far=True)
    assert series.errors.tolist() == [0.04, 0.04, 0.04, 0.025, 0.025, 0.02, 0.5]
    errors = np.random.default_rng(4).lognormal(-4.0, 1.0, 60)
    series = series_of_points(weekly([0.0] * 60, errors), so_far=True)
    expected = [max(error, np.median(errors[: k + 1])) for k, error in enumerate(errors)]
    assert series.errors.tolist() == pytest.approx(expected)
    for so_far in (False, True):  # an error that small is the rounding of a zero
        series = series_of_points(weekly([1.0, 0.9], [0.0, 1e-17]), so_far=so_far)
        assert (series.errors.tolist(), series.known) == ([1.0, 1.0], False)
    series = series_of_points([])
    assert (series.at, len(series.values), len(series.errors)) == ((), 0, 0)


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
        ([(1, math.inf, 0.1)], "a point has a value"),
        ([(1, 0.5, -0.1)], "an error of -0.1 is not 0 or more"),
        ([(1, 0.5, math.nan)], "an error of nan"),
        ([(1, 0.5, math.inf)], "an error of inf"),
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
        (True, [(1.0, 0.0), (1.0, None)]),
        (False, [(1.0, 0.0), (0.9, None)]),
        (True, []),
    ],
)
def test_noise_of_few_figures(within, figures):
    assert are_within_noise(figures) == within
