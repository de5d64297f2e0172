"""Watching a series: alarms after changes, and as many false ones as stated."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.monitoring.series import LIFTS, at, drawn, scaled, wandering, weekly
from tests.profiles import exhaustive
from tracker.core.errors import InvalidOption
from tracker.monitoring import DIRECTIONS, Point, watch


@pytest.mark.parametrize("seed", range(4))
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
    assert found == watch(weekly(values, 0.01), "drop", 50)
    (alarm,) = found.alarms
    assert (alarm.since, alarm.direction) == (at(8), "drop")
    assert at(8) < alarm.at <= at(10)
    assert (alarm.before, alarm.after) == pytest.approx((0.8025, 0.77))
    assert alarm.statistic > found.limit
    assert str(found.method) == (
        "Self-starting cumulative sum (Page 1954, Hawkins 1987), reference value 0.5, "
        f"limit {found.limit:.2f}: one alarm in about 50 periods on a steady project."
    )
    # Shares are judged as angles, and levels are of the figure.
    points = [Point(p.at, p.value, p.error, 400) for p in weekly([*values[:8], *[0.7] * 3], 0.01)]
    (alarm,) = watch(points, "drop", 50, bounds=(0.0, 1.0)).alarms
    assert (alarm.before, alarm.after) == pytest.approx((0.8025, 0.70))
    told = json.loads(json.dumps(watch(drawn(0, 52, LIFTS), "change").to_dict()))
    assert [*told] == [
        "direction", "run_length", "limit", "method", "n", "alarms", "undefined",
        "autocorrelation", "too_few", "needed",
    ]  # fmt: skip
    assert [*told["alarms"][0]][:3] == ["at", "since", "direction"]
    assert told["alarms"][0]["since"] == "2025-05-07T00:00:00Z"


def test_two_sums_have_twice_the_run_length_of_one():
    limits = {name: watch([], name, 500).limit for name in DIRECTIONS}
    assert limits["drop"] == limits["rise"] == pytest.approx(4.389, abs=0.001)
    assert limits["change"] == watch([], "drop", 1000).limit == pytest.approx(5.071, abs=0.001)


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


@exhaustive
@pytest.mark.parametrize("autocorrelation", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("dispersion", [1.0, 2.25])
def test_weeks_that_depend_on_each_other_raise_few_more(autocorrelation, dispersion):
    """Taken for independent they raised 16 and 33 in 1,000 weeks with .5 and .8, of 2 stated."""
    series = [wandering(seed, 100, autocorrelation, dispersion=dispersion) for seed in range(50)]
    number = sum(len(watch(points, "change").alarms) for points in series)
    assert number <= 25
    said = [watch(points, "change").autocorrelation for points in series[:20]]
    assert np.mean([one.value for one in said if one is not None]) > autocorrelation / 3


@exhaustive
@pytest.mark.parametrize(
    ("least", "most", "agreement"), [(10, 10, 0.9), (10, 30, 0.8), (10, 30, 0.9)]
)
def test_shares_of_few_items_raise_no_more_than_stated(least, most, agreement):
    """Taken as they are, 3.1 to 3.5 drops and 0.3 to 1.4 rises in 1,000 weeks."""
    number = {"drop": 0, "rise": 0}
    for seed in range(30):
        random = np.random.default_rng(seed)
        items = random.integers(least, most + 1, 250)
        shares = random.binomial(items, agreement) / items
        errors = np.sqrt(shares * (1 - shares) / (items - 1))
        rows = enumerate(zip(shares.tolist(), errors.tolist(), items.tolist(), strict=True))
        points = [Point(at(week), *row) for week, row in rows]
        for direction in number:
            number[direction] += len(watch(points, direction, bounds=(0.0, 1.0)).alarms)
    # 15 are stated; three of their errors more is 26.
    assert number["drop"] <= 23
    assert 4 <= number["rise"] <= 26


figures = st.integers(-20, 20).map(lambda tenths: tenths / 8)
rows = st.lists(st.tuples(figures, st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])), max_size=25)


@given(rows, st.integers(0, 25))
def test_alarms_go_forward_and_stay(rows, n):
    points = [Point(at(0), 0.0, 0.5), *(Point(at(k), *row) for k, row in enumerate(rows, 1))]
    whole, part = watch(points, "change", 20).alarms, watch(points[:n], "change", 20).alarms
    assert part == whole[: len(part)]
    assert all(alarm.at > points[:n][-1].at for alarm in whole[len(part) :] if n >= 4)
    alarms = watch(points[1:], "change", 4).alarms
    assert all(alarm.since <= alarm.at for alarm in alarms)
    assert all(one.at < other.since for one, other in pairwise(alarms))
    assert all((alarm.after > alarm.before) == (alarm.direction == "rise") for alarm in alarms)


@pytest.mark.parametrize("seed", range(2))
def test_alarms_of_a_mirrored_shifted_and_scaled_series(seed):
    def alarms(points, direction="change"):
        return [(alarm.at, alarm.since) for alarm in watch(points, direction, 20).alarms]

    points = drawn(seed, 52, LIFTS, unequal=0.5, dispersion=1.5)
    mirrored = scaled(points, 0, -1)
    assert alarms(points, "drop") == alarms(mirrored, "rise") != []
    assert alarms(points, "rise") == alarms(mirrored, "drop") != []
    assert alarms(points) == alarms(scaled(points, 3, 7)) != []


def test_a_watch_needs_four_points_a_direction_and_a_run_length():
    for n in range(4):
        found = watch(drawn(1, n))
        assert (found.n, found.alarms, found.undefined) == (n, (), "too_few_points")
        assert (found.direction, found.run_length) == ("drop", 500)
    assert watch(drawn(1, 4)).undefined is None
    with pytest.raises(InvalidOption) as raised:
        watch(drawn(1), "fall")
    assert raised.value.message == "--watch-for 'fall' is no direction"
    assert raised.value.mend == "one of drop, rise, change"
    for run_length in (1, 0, -5, 1.99, float("nan"), 1_000_001, float("inf")):
        with pytest.raises(InvalidOption, match=f"a run length of {run_length} is not from 2 to"):
            watch(drawn(1), "drop", run_length)
    for run_length in (2, 1_000_000):
        assert watch(drawn(1, 9), "change", run_length).run_length == run_length
