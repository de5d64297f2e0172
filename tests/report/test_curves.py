"""A figure over time is drawn on the scale of its data, with what happened a mark a day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement.test_recent import collapse, year
from tests.report.test_charts import SVG, drawn_svg, texts
from tracker.ledger import Ledger
from tracker.measures.benchmarks import DEFINITE, TENTATIVE
from tracker.report.curves import (
    Course,
    Day,
    Event,
    draw_histories,
    draw_history,
    event_days,
    events_within,
    history_chart,
    joined_histories,
    place_labels,
    scale_of,
)
from tracker.report.sizes import NARROW_CURVE, PANEL, WIDE_CURVE

THRESHOLDS = (TENTATIVE, DEFINITE)
FIRST = datetime(2026, 1, 1)  # noqa: DTZ001 - a day


def points(*values: float | None, apart: int = 7) -> list[dict[str, Any]]:
    """Rows of a curve, a week apart, each with an interval of .1 to both sides."""
    return [
        {
            "as_of": f"{date(2026, 1, 11) + timedelta(apart * n)}T10:00:00Z",
            "snapshot": None,
            "value": value,
            "standard_error": 0.01,
            "ci_low": None if value is None else value - 0.1,
            "ci_high": None if value is None else value + 0.1,
            "items": 12,
        }
        for n, value in enumerate(values)
    ]


def noted(*days: int, noun: str = "note") -> list[Event]:
    return [
        Event(f"{date(2026, 1, 11) + timedelta(day)}T12:00:00Z", f"what {n}", noun)
        for n, day in enumerate(days)
    ]


def domain(chart: Any) -> list[float]:
    """The ends of the vertical axis; every layer has the same."""
    ends = {
        tuple(layer["encoding"]["y"]["scale"]["domain"])
        for layer in chart.spec["layer"]
        if "scale" in layer["encoding"].get("y", {})
    }
    (only,) = ends
    return list(only)


# -- The scale ------------------------------------------------------------------------------------

figures = st.floats(-3, 1, allow_nan=False)


@given(st.lists(figures | st.none(), max_size=8), st.lists(st.floats(0, 1), max_size=2))
def test_a_scale_has_all_values_round_ends_and_no_less_than_a_range(
    values: list[float | None], thresholds: list[float]
) -> None:
    scale = scale_of(values, thresholds)
    first, last = scale.ticks[0], scale.ticks[-1]
    on_it = [value for value in values if value is not None] + [*scale.thresholds]
    assert all(first - 1e-9 <= value <= last + 1e-9 for value in on_it)
    assert last <= 1, "no figure is above 1"
    assert last - first >= 0.2 - 1e-9
    assert 3 <= len(scale.ticks) <= 13
    steps = {round(after - before, 6) for before, after in pairwise(scale.ticks)}
    assert len(steps) == 1
    (step,) = steps
    assert all(abs(tick / step - round(tick / step)) < 1e-6 for tick in scale.ticks)
    assert {*scale.thresholds} <= {*thresholds}


def test_a_curve_is_on_the_scale_of_its_intervals_with_near_thresholds() -> None:
    def lines(*values: float) -> set[str]:
        chart = draw_history(Course("p", points(*values), thresholds=THRESHOLDS))
        return {text for text in texts(chart) if text.endswith(("tentative", "good enough"))}

    assert lines(0.5, 0.52) == {"0.667 tentative"}
    assert lines(0.7, 0.75) == {"0.667 tentative", "0.800 good enough"}
    assert lines(0.1, 0.15) == set()
    close = draw_history(Course("p", points(0.0, 0.9), thresholds=(0.8, 0.82)))
    assert "0.800 tentative" not in texts(close), "there is no room for both"
    assert "0.820 good enough" in texts(close)
    assert domain(draw_history(Course("p", points(0.51, 0.5)))) == [0.4, 0.65]
    assert domain(draw_history(Course("p", points(0.9, 0.2)))) == [0.0, 1.0]
    wide = domain(draw_history(Course("p", points(0.5, 0.505), thresholds=(0.9, 0.95))))
    assert wide == [0.4, 0.65], "thresholds that are far away do not flatten it"


# -- What happened --------------------------------------------------------------------------------

days = st.lists(st.integers(0, 200), max_size=12)


@given(days, days)
def test_a_day_has_one_mark(notes: list[int], findings: list[int]) -> None:
    events = noted(*notes) + noted(*findings, noun="finding")
    marks = event_days(events)
    assert [day.at[:10] for day in marks] == sorted({event.at[:10] for event in events})
    for day in marks:
        own = [event for event in events if event.at[:10] == day.at[:10]]
        assert all(event.text in day.text for event in own)


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(1, 28)), unique_by=lambda row: row[0]),
    st.sampled_from([PANEL, NARROW_CURVE, WIDE_CURVE]),
)
def test_no_label_lies_on_another_or_on_a_mark(rows: list[tuple[int, int]], width: int) -> None:
    moments = [(f"{FIRST + timedelta(day)}Z", length) for day, length in sorted(rows)]
    placed = place_labels(
        [Day(at, "x" * length, "") for at, length in moments],
        (f"{FIRST}Z", f"{FIRST + timedelta(200)}Z"),
        width,
    )
    assert [each.day.at for each in placed] == [at for at, _ in moments]
    places = {at: width * (datetime.fromisoformat(at[:10]) - FIRST).days / 200 for at, _ in moments}
    taken: dict[int, list[tuple[float, float]]] = {}
    for each in (each for each in placed if each.side):
        x, room = places[each.day.at], 6 * len(each.day.label) + 7
        ends = (x, x + room) if each.side == "right" else (x - room, x)
        assert ends[0] >= -5
        assert ends[1] <= width + 30
        taken.setdefault(each.lane, []).append(ends)
        others = [at for at, place in places.items() if ends[0] < place < ends[1]]
        assert each.lane > 0 or {*others} <= {each.day.at}
    for spans in taken.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans)))


def test_events_of_a_day_have_one_short_label() -> None:
    at = "2026-01-20T10:00:00Z"
    note, guideline = Event(at, "n\nm"), Event(at, "guideline v2: text", "guideline v2")
    for events, label in (
        ([note], "n m"), ([Event(at, "a" * 60)], "a" * 27 + "…"),
        ([note, guideline, note], "guideline v2, 2 notes"),
    ):  # fmt: skip
        assert [day.label for day in event_days(events)] == [label]


def test_a_guideline_has_its_label_first_and_events_lie_within_the_curve() -> None:
    names = ["mara was talked to", "guideline v3", "pilot"]
    days = [Day(f"2026-01-{day}T10:00:00Z", name, "") for day, name in enumerate(names, 14)]
    span = ("2026-01-01T00:00:00Z", "2026-03-31T00:00:00Z")
    sides = [each.side for each in place_labels(days, span, NARROW_CURVE)]
    assert sides[1]
    assert not all(sides)
    (event,) = events_within(noted(-5, 3, 90), points(0.5, 0.6))
    assert event.text == "what 1"
    assert events_within(noted(3), []) == []


# -- The drawing ----------------------------------------------------------------------------------


def test_questions_are_on_one_scale_and_over_one_time() -> None:
    courses = [
        Course("low", points(0.2, 0.3), thresholds=THRESHOLDS),
        Course("high", points(0.8, 0.9, 0.85), thresholds=THRESHOLDS),
    ]
    panels = draw_histories(courses)
    assert [domain(panel) for panel in panels] == [[0.0, 1.0]] * 2
    spans = {str(panel.spec["layer"][2]["encoding"]["x"]["scale"]) for panel in panels}
    assert len(spans) == 1
    joined = joined_histories("alpha", panels, across=2)
    assert {"low", "high"} <= {*texts(joined)}
    assert [row["question"] for row in joined.rows] == ["low"] * 2 + ["high"] * 3


@pytest.mark.parametrize(("width", "weeks"), [(NARROW_CURVE, 60), (WIDE_CURVE, 5)])
def test_labels_of_times_do_not_touch(width: int, weeks: int) -> None:
    chart = draw_history(Course("", points(*[0.5] * weeks)), width=width)
    labels = sorted(
        (float(one.get("transform", "")[len("translate(") :].split(",")[0]), one.text)
        for one in drawn_svg(chart).iter(f"{SVG}text")
        if one.text and not one.text.startswith("0.") and one.get("opacity") == "1"
    )
    assert labels
    half_a_letter = 3.6
    for (place, before), (other, after) in pairwise(labels):
        assert other - place > half_a_letter * len(before + after), (before, after)


def test_a_curve_is_of_its_own_items_and_gray_if_it_is_noise(
    sqlite_ledger: Ledger,
) -> None:
    for project, right in (("steady", lambda *_: 0.9), ("fell", collapse)):
        sqlite_ledger.import_frame(year(right), project)
        history = sqlite_ledger.history(project, "week")
        chart = history_chart(history, "krippendorff_alpha")
        own = [point.own.measure("krippendorff_alpha") for point in history]
        assert [(row["value"], row["ci_low"]) for row in chart.rows] == [
            (one.value, one.ci_low) for one in own
        ]
        assert chart.rows[-1]["so_far"] == history.points[-1].assessment.main.value
        assert ("no more than chance" in chart.description) == (project == "steady")
