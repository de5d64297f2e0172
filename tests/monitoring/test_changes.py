"""Alarms, with the scores and sums that raise them, and changes of level; few of them false.

Hawkins 1987: recursive residuals. Goel and Wu 1971: how long a sum runs. Zhang and Siegmund 2007:
the price of a change.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import GLS, OLS
from statsmodels.stats.diagnostic import recursive_olsresiduals

from tests.monitoring.series import LIFTS, at, drawn, scaled, weekly
from tests.profiles import exhaustive
from tracker.core.errors import InvalidOption
from tracker.monitoring import Point, change_points, watch
from tracker.monitoring.autocorrelation import GRID, PRIOR, Autocorrelation
from tracker.monitoring.change_points import change_point_partition, series_neighbour_spread
from tracker.monitoring.cusum_state import (
    Known,
    Sum,
    average_run_length,
    cusum_change_start,
    cusum_limit,
)
from tracker.monitoring.series import series_of_points


@pytest.mark.parametrize("seed", range(2))
def test_an_alarm_follows_each_change_and_nothing_else(seed):
    alarms = watch(drawn(seed, 52, LIFTS, unequal=0.2), "change").alarms
    assert [alarm.direction for alarm in alarms] == ["rise", "drop", "rise"]
    for alarm, (week, _) in zip(alarms, LIFTS, strict=True):
        assert at(week) <= alarm.at <= at(week + 12)
        assert abs(alarm.since - at(week)) <= at(2) - at(0)
        assert (alarm.after > alarm.before) == (alarm.direction == "rise")
    # Measured from the level of all points before, the drop would only undo the rise.
    (alarm,) = watch(drawn(seed, 40, LIFTS[:2]), "drop").alarms
    assert at(31) <= alarm.at <= at(39)
    assert alarm.before == pytest.approx(0.78, abs=0.03)


def test_an_alarm_has_its_weeks_and_levels():
    values = [0.80, 0.82, 0.81, 0.79, 0.80, 0.81, 0.79, 0.80, 0.77, 0.77, 0.77]
    found = watch(weekly(values, 0.01), "drop", 50)
    (alarm,) = found.alarms
    assert (alarm.since, alarm.direction) == (at(8), "drop")
    assert at(8) < alarm.at <= at(10)
    assert (alarm.before, alarm.after) == pytest.approx((0.8025, 0.77))
    assert alarm.statistic > found.limit
    # Shares are judged as angles, and levels are of the figure.
    points = [Point(p.at, p.value, p.error, 400) for p in weekly([*values[:8], *[0.7] * 3], 0.01)]
    (alarm,) = watch(points, "drop", 50, bounds=(0.0, 1.0)).alarms
    assert (alarm.before, alarm.after) == pytest.approx((0.8025, 0.70))


def test_series_without_a_change_raise_no_alarm():
    for value in (1.0, 0.3):
        for error in (0.0, 0.05):
            found = watch(weekly([value] * 30, error), "change", 10)
            assert (found.alarms, found.undefined) == ((), None)
    one_disagrees = weekly([1.0] * 12 + [0.97] + [1.0] * 6, [0.0] * 12 + [0.03] + [0.0] * 6)
    assert watch(one_disagrees, "change", 50).alarms == ()
    # Without errors the spread of the points is all there is.
    values = np.random.default_rng(3).normal(0, 1, 30) + np.repeat([0, -4], [20, 10])
    (alarm,) = watch(weekly(values, 0.0), "change").alarms
    assert (alarm.direction, alarm.since) == ("drop", at(20))


@exhaustive
@pytest.mark.parametrize("direction", ["drop", "change"])
@pytest.mark.parametrize(
    ("dispersion", "unequal", "rarer"),
    # Where sampling is all, or errors far below the median are raised to it, alarms are rarer.
    [(2.0, 0.0, 1.0), (1.0, 0.5, 1.25)],
)
def test_alarms_on_a_steady_project_are_as_rare_as_stated(direction, dispersion, unequal, rarer):
    series = [drawn(seed, 250, unequal=unequal, dispersion=dispersion) for seed in range(70)]
    alarms = [watch(points, direction, 50).alarms for points in series]
    # Three errors of the simulation on either side; that weeks might depend on each other
    # makes alarms a little rarer.
    assert 50 * 0.83 <= 70 * 250 / sum(map(len, alarms)) <= 50 * 1.3 * rarer
    # The first score is that of the third point.
    first = [found[0].at if found else at(249) for found in alarms]
    waited = sum((moment - at(1)) / (at(1) - at(0)) for moment in first)
    assert 50 * 0.65 <= waited / sum(map(bool, alarms)) <= 50 * 1.6 * rarer


figures = st.integers(-20, 20).map(lambda tenths: tenths / 8)
rows = st.lists(st.tuples(figures, st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])), max_size=25)


@given(rows, st.integers(0, 25))
def test_alarms_go_forward_and_stay(rows, n):
    points = [Point(at(0), 0.0, 0.5), *(Point(at(k), *row) for k, row in enumerate(rows, 1))]
    whole, part = watch(points, "change", 20).alarms, watch(points[:n], "change", 20).alarms
    assert part == whole[: len(part)]
    assert all(alarm.at > points[:n][-1].at for alarm in whole[len(part) :] if n >= 4)
    rises, mirrored = (
        watch(points, "rise", 20).alarms,
        watch(scaled(points, 3, -1), "drop", 20).alarms,
    )
    assert [(one.at, one.since) for one in rises] == [(one.at, one.since) for one in mirrored]
    alarms = watch(points[1:], "change", 4).alarms
    assert all(alarm.since <= alarm.at for alarm in alarms)
    assert all(one.at < other.since for one, other in pairwise(alarms))
    assert all((alarm.after > alarm.before) == (alarm.direction == "rise") for alarm in alarms)


def test_a_watch_needs_four_points_a_direction_and_a_run_length():
    for n in range(4):
        found = watch(drawn(1, n))
        assert (found.n, found.alarms, found.undefined) == (n, (), "too_few_points")
        assert (found.direction, found.run_length) == ("drop", 500)
    assert watch(drawn(1, 4)).undefined is None
    for run_length in (1, 0, -5, 1.99, float("nan"), 1_000_001, float("inf")):
        with pytest.raises(InvalidOption, match=f"a run length of {run_length} is not from 2 to"):
            watch(drawn(1), "drop", run_length)
    for run_length in (2, 1_000_000):
        assert watch(drawn(1, 9), "change", run_length).run_length == run_length


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


@pytest.mark.parametrize("place", [INDEPENDENT, 4, 16])
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


def test_a_score_far_out_is_finite():
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


def test_a_limit_gives_the_run_length_and_two_sums_twice_that_of_one():
    assert watch([], "drop", 1000).limit == watch([], "change", 500).limit == cusum_limit(1000)
    for run_length in (4, 10, 370, 500, 1000, 100_000, 2_000_000):
        assert average_run_length(cusum_limit(run_length)) == pytest.approx(run_length, rel=1e-6)
    assert cusum_limit(2) == cusum_limit(3) == 0.0


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
    # The errors are raised to their median, so that the ratio is a little below the 4 drawn.
    steps = [(week, 0.3 * (-1) ** k) for k, week in enumerate(range(20, 400, 40))]
    found = change_points(drawn(3, 400, steps, unequal=0.3, dispersion=4.0)).dispersion
    assert 2.6 < found < 4.6, "changes do not inflate it"
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
