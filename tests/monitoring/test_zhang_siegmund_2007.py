"""Levels and changes: the division is the best of all, and its price holds false changes down."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.monitoring.series import LIFTS, at, drawn, scaled, weekly
from tests.profiles import exhaustive
from tracker.monitoring import Point, change_points
from tracker.monitoring.change_points import change_point_partition, series_neighbour_spread
from tracker.monitoring.series import series_of_points


def divisions(n):
    """Yield the starts of all divisions of n points into stretches of two or more."""
    yield [0]
    for last in range(2, n - 1):
        yield from ([*starts, last] for starts in divisions(last))


def price(starts, values, variances):
    """Return minus twice the criterion, written out point by point."""
    n, total = len(values), 3 * (len(starts) - 1) * math.log(len(values))
    for start, stop in pairwise([*starts, n]):
        weights, own = [1 / variance for variance in variances[start:stop]], values[start:stop]
        mean = sum(w * x for w, x in zip(weights, own, strict=True)) / sum(weights)
        total += sum(w * (x - mean) ** 2 for w, x in zip(weights, own, strict=True))
        total += math.log((stop - start) / n)
    return total


figures = st.integers(-40, 40).map(lambda tenths: tenths / 8)


@given(
    st.lists(st.tuples(figures, st.sampled_from([0.05, 0.3, 1.0, 4.0])), min_size=1, max_size=11)
)
def test_a_partition_is_the_best_of_all_divisions(rows):
    values, variances = zip(*rows, strict=True)
    found = change_point_partition(np.array(values), np.array(variances))
    best = min(price(starts, values, variances) for starts in divisions(len(rows)))
    assert price(found, values, variances) == pytest.approx(best, abs=1e-8)
    assert all(stop - start >= 2 for start, stop in pairwise([*found, max(len(rows), 2)]))


def test_a_partition_has_no_level_of_a_single_point_and_is_the_same_far_from_zero():
    def partition(values):
        return change_point_partition(np.array(values), np.ones(len(values)))

    assert partition([]) == partition([0.0, 0.0, 9.0]) == [0]
    assert partition([0.0] * 6 + [9.0] + [0.0] * 6) != [0, 6, 7]
    assert partition([0.0, 0.0, 9.0, 9.0]) == [0, 2]
    values = np.random.default_rng(2).normal(0, 1, 60) + np.repeat([0, 3, 1], 20)
    assert partition(values + 1e6) == partition(values)


def test_a_dispersion_is_the_ratio_of_the_spread_to_what_errors_say():
    values = np.random.default_rng(8).normal(0, 0.02, 20_000)
    series = series_of_points(weekly(values, 0.01))
    assert series_neighbour_spread(series) == pytest.approx(4.0, rel=0.04)
    steps = [(week, 0.3 * (-1) ** k) for k, week in enumerate(range(20, 400, 40))]
    one, two = (
        change_points(drawn(3, 400, changes, unequal=0.3, dispersion=4.0)).dispersion
        for changes in ([], steps)
    )
    # The errors are raised to their median, so that the ratio is a little below the 4 drawn.
    assert 2.6 < one < 4.6
    assert two == pytest.approx(one, rel=0.2), "changes do not inflate it"
    # Where neighbors are alike by chance the levels tell the dispersion.
    found = change_points(weekly([0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0], 0.4))
    assert len(found.levels) == 1
    # Neighbors are a little more alike than not, which makes it a little more.
    assert found.dispersion == pytest.approx(np.var([0] * 8 + [1] * 6, ddof=1) / 0.16, rel=0.01)
    assert found.dispersion > 1
    never_below_one = change_points(drawn(1, 40, dispersion=0.1))
    assert never_below_one.dispersion == 1.0
    assert never_below_one.levels[0].standard_error == pytest.approx(0.02 / math.sqrt(40))


@pytest.mark.parametrize("seed", range(2))
def test_a_lift_a_drop_and_a_lift_are_found_and_nothing_else(seed):
    found = change_points(drawn(seed, 52, LIFTS, unequal=0.2))
    assert len(found.changes) == 3
    for change, (week, by) in zip(found.changes, LIFTS, strict=True):
        assert abs(change.from_at - at(week)) <= at(2) - at(0)
        assert change.difference == pytest.approx(by, abs=3.5 * change.standard_error)


def test_a_change_has_its_weeks_levels_and_errors():
    found = change_points(weekly([0.9, 0.9, 0.9, 0.6, 0.6], [0.03, 0.03, 0.06, 0.04, 0.04]))
    first, second = found.levels
    (change,) = found.changes
    # The median error is 0.04, and none counts as less.
    assert first.standard_error == pytest.approx((2 / 0.04**2 + 1 / 0.06**2) ** -0.5)
    assert second.standard_error == pytest.approx(0.04 / math.sqrt(2))
    assert [(level.from_at, level.until) for level in found.levels] == [
        (at(0), at(2)), (at(3), at(4)),
    ]  # fmt: skip
    assert (change.at, change.from_at) == (at(2), at(3))
    assert (change.before, change.after, change.difference) == pytest.approx((0.9, 0.6, -0.3))
    error = math.hypot(first.standard_error, second.standard_error)
    assert change.standard_error == pytest.approx(error)
    assert (change.n_before, change.n_after, found.n) == (3, 2, 5)


@exhaustive
@pytest.mark.parametrize(("dispersion", "weeks", "most"), [(1, 52, 0.03), (4, 26, 0.13)])
def test_steady_series_seldom_show_a_change(dispersion, weeks, most):
    series = [drawn(seed, weeks, unequal=0.3, dispersion=dispersion) for seed in range(60)]
    assert np.mean([bool(change_points(points).changes) for points in series]) <= most + 0.03


def test_changes_of_a_shifted_scaled_and_mirrored_series():
    points = drawn(6, 52, LIFTS, unequal=0.4, dispersion=1.5)
    one, two = change_points(points), change_points(scaled(points, 3, -7))
    assert [c.at for c in one.changes] == [c.at for c in two.changes]
    differences = [-7 * c.difference for c in one.changes]
    assert differences == pytest.approx([c.difference for c in two.changes])
    assert one.dispersion == pytest.approx(two.dispersion)
    points = drawn(12, 30, unequal=0.3)
    for week in (10, 20):  # weeks in which all agree
        points[week] = Point(points[week].at, 0.74, 0.0)
    assert change_points(points).changes == ()


def test_changes_of_few_points_and_of_points_without_errors():
    for n in range(4):
        few = change_points(drawn(1, n))
        assert (few.n, few.undefined, few.dispersion) == (n, "too_few_points", None)
        assert few.levels == few.changes == ()
    (level,) = change_points(weekly([1.0] * 6, 0.0)).levels
    assert (level.value, level.standard_error, level.n) == (1.0, 0.0, 6)
    found = change_points(weekly([1, 1, 1, 1, 0.5, 0.5, 0.5], 0.0))
    assert [change.at for change in found.changes] == [at(3)]
    assert found.dispersion is None
    steps, random = np.repeat([0, 5], 20), np.random.default_rng(1)
    noisy = [change_points(weekly(steps + random.normal(0, 1, 40), 0.0)) for _ in range(16)]
    assert np.mean([[change.at for change in one.changes] == [at(19)] for one in noisy]) > 0.85
