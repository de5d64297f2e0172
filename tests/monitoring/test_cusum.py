"""Watching a series: alarms after changes, and as many false ones as stated."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.monitoring.series import at, drawn, wandering, weekly
from tests.profiles import exhaustive
from tracker.core.errors import InvalidOption
from tracker.monitoring import DIRECTIONS, Point, watch

LIFTS = [(18, 0.08), (31, -0.06), (40, 0.06)]


# -- changes -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_an_alarm_after_each_change_and_no_other(seed: int) -> None:
    alarms = watch(drawn(seed, 52, LIFTS, unequal=0.2), "change").alarms
    assert [alarm.direction for alarm in alarms] == ["rise", "drop", "rise"]
    for alarm, (week, _) in zip(alarms, LIFTS, strict=True):
        assert at(week) <= alarm.at <= at(week + 12)
        assert abs(alarm.since - at(week)) <= at(2) - at(0)
        assert (alarm.after > alarm.before) == (alarm.direction == "rise")


@pytest.mark.parametrize("seed", range(8))
def test_a_drop_is_seen_though_a_rise_before_it_was_none_of_the_watch(seed: int) -> None:
    # Measured from the level of all points before, the drop would only undo the rise.
    (alarm,) = watch(drawn(seed, 40, LIFTS[:2]), "drop").alarms
    assert at(31) <= alarm.at <= at(39)
    assert alarm.before == pytest.approx(0.78, abs=0.03)


def test_what_an_alarm_says() -> None:
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


def test_the_sums_of_a_change_have_twice_the_run_length() -> None:
    limits = {name: watch([], name, 500).limit for name in DIRECTIONS}
    assert limits["drop"] == limits["rise"] == pytest.approx(4.389, abs=0.001)
    assert limits["change"] == watch([], "drop", 1000).limit == pytest.approx(5.071, abs=0.001)


# -- false alarms --------------------------------------------------------------------------


@exhaustive
@pytest.mark.parametrize("direction", ["drop", "change"])
@pytest.mark.parametrize(
    ("dispersion", "unequal", "rarer"),
    # Where sampling is all, or errors far below the median are raised to it, alarms are rarer.
    [(2.0, 0.0, 1.0), (1.0, 0.5, 1.25)],
)
def test_on_a_steady_project_alarms_are_as_rare_as_stated(
    direction: str, dispersion: float, unequal: float, rarer: float
) -> None:
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
def test_weeks_that_depend_on_each_other_raise_few_more(
    autocorrelation: float, dispersion: float
) -> None:
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
def test_shares_of_few_items_raise_no_more_than_stated(
    least: int, most: int, agreement: float
) -> None:
    """Taken as they are, 3.1 to 3.5 drops and 0.3 to 1.4 rises in 1,000 weeks."""
    number = {"drop": 0, "rise": 0}
    for seed in range(30):
        random = np.random.default_rng(seed)
        items = random.integers(least, most + 1, 250)
        shares = random.binomial(items, agreement) / items
        errors = np.sqrt(shares * (1 - shares) / (items - 1))
        points = [
            Point(at(week), float(v), float(e), int(n))
            for week, (v, e, n) in enumerate(zip(shares, errors, items, strict=True))
        ]
        for direction in number:
            number[direction] += len(watch(points, direction, bounds=(0.0, 1.0)).alarms)
    # 15 are stated; three of their errors more is 26.
    assert number["drop"] <= 23
    assert 4 <= number["rise"] <= 26


def test_levels_are_of_the_figure_though_angles_are_judged() -> None:
    values = [0.80, 0.82, 0.81, 0.79, 0.80, 0.81, 0.79, 0.80, 0.70, 0.70, 0.70]
    points = [Point(p.at, p.value, p.error, 400) for p in weekly(values, 0.01)]
    (alarm,) = watch(points, "drop", 50, bounds=(0.0, 1.0)).alarms
    assert (alarm.before, alarm.after) == pytest.approx((0.8025, 0.70))


def test_weeks_in_which_all_agree_raise_no_alarm_when_one_disagrees() -> None:
    points = weekly([1.0] * 12 + [0.97] + [1.0] * 6, [0.0] * 12 + [0.03] + [0.0] * 6)
    assert watch(points, "change", 50).alarms == ()


@pytest.mark.parametrize("value", [1.0, 0.3])
def test_points_that_are_all_the_same_raise_none(value: float) -> None:
    for error in (0.0, 0.05):
        found = watch(weekly([value] * 30, error), "change", 10)
        assert (found.alarms, found.undefined) == ((), None)


def test_without_errors_the_spread_of_the_points_is_all_there_is() -> None:
    values = np.random.default_rng(3).normal(0, 1, 30) + np.repeat([0, -4], [20, 10])
    (alarm,) = watch(weekly(values, 0.0), "change").alarms
    assert (alarm.direction, alarm.since) == ("drop", at(20))


# -- what never changes --------------------------------------------------------------------

figures = st.integers(-20, 20).map(lambda tenths: tenths / 8)
rows = st.lists(st.tuples(figures, st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])), max_size=25)


def said(points: list[Point], direction: str = "change") -> list[tuple[int, int]]:
    return [(alarm.at, alarm.since) for alarm in watch(points, direction, 20).alarms]


@given(rows, st.integers(0, 25))
def test_an_alarm_stays_whatever_comes_later(rows: list[tuple[float, float]], n: int) -> None:
    points = [Point(at(0), 0.0, 0.5), *(Point(at(k), *row) for k, row in enumerate(rows, 1))]
    whole, part = watch(points, "change", 20).alarms, watch(points[:n], "change", 20).alarms
    assert part == whole[: len(part)]
    assert all(alarm.at > points[:n][-1].at for alarm in whole[len(part) :] if n >= 4)


@given(rows)
def test_alarms_go_forward(rows: list[tuple[float, float]]) -> None:
    points = [Point(at(k), *row) for k, row in enumerate(rows)]
    alarms = watch(points, "change", 4).alarms
    assert all(alarm.since <= alarm.at for alarm in alarms)
    assert all(one.at < other.since for one, other in pairwise(alarms))
    assert all((alarm.after > alarm.before) == (alarm.direction == "rise") for alarm in alarms)


@pytest.mark.parametrize("seed", range(5))
def test_a_drop_is_a_rise_of_the_mirrored_series(seed: int) -> None:
    points = drawn(seed, 52, LIFTS, unequal=0.5, dispersion=1.5)
    mirrored = [Point(p.at, -p.value, p.error) for p in points]
    assert said(points, "drop") == said(mirrored, "rise") != []
    assert said(points, "rise") == said(mirrored, "drop") != []


@pytest.mark.parametrize("seed", range(5))
def test_shifted_and_scaled(seed: int) -> None:
    points = drawn(seed, 52, LIFTS, unequal=0.5, dispersion=1.5)
    other = [Point(p.at, 3 + 7 * p.value, 7 * p.error) for p in points]
    assert said(points) == said(other) != []


# -- guards --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_three_points_are_too_few(n: int) -> None:
    found = watch(drawn(1, n))
    assert (found.n, found.alarms, found.undefined) == (n, (), "too_few_points")
    assert (found.direction, found.run_length) == ("drop", 500)


def test_four_points_are_watched() -> None:
    assert watch(drawn(1, 4)).undefined is None


def test_no_such_direction() -> None:
    with pytest.raises(InvalidOption) as raised:
        watch(drawn(1), "fall")
    assert raised.value.message == "--watch-for 'fall' is no direction"
    assert raised.value.mend == "one of drop, rise, change"


@pytest.mark.parametrize("run_length", [1, 0, -5, 1.99, float("nan"), 1_000_001, float("inf")])
def test_no_such_run_length(run_length: float) -> None:
    with pytest.raises(InvalidOption, match=f"a run length of {run_length} is not from 2 to"):
        watch(drawn(1), "drop", run_length)


@pytest.mark.parametrize("run_length", [2, 1_000_000])
def test_run_lengths_at_the_ends(run_length: int) -> None:
    assert watch(drawn(1), "change", run_length).run_length == run_length


def test_as_json() -> None:
    found = json.loads(json.dumps(watch(drawn(0, 52, LIFTS), "change").to_dict()))
    assert list(found) == [
        "direction", "run_length", "limit", "method", "n", "alarms", "undefined",
        "autocorrelation", "too_few", "needed",
    ]  # fmt: skip
    assert list(found["alarms"][0])[:3] == ["at", "since", "direction"]
    assert found["alarms"][0]["since"] == "2025-05-07T00:00:00Z"
