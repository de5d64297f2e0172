"""Charts hold the figures of the ledger, and say them in words."""

from __future__ import annotations

import re
import struct
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.ledger import Ledger
from tracker.measures.benchmarks import DEFINITE, TENTATIVE
from tracker.render.charts import MOST, Chart
from tracker.report import curves
from tracker.report.charts import (
    annotators_chart,
    categories_chart,
    draw_categories,
    pairs_chart,
)
from tracker.report.sizes import NARROW_CURVE, PANEL, WIDE_CURVE

BAD = '<i>alert("x")</i> & \\1 "'
SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = ["item", "annotator", "category"]
ROW = {"question": "q", "rate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "potential_agreements": 3}


def drawn_svg(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.svg())  # noqa: S314 - it is our own


def texts(chart: Chart) -> list[str]:
    return [one.text or "" for one in drawn_svg(chart).iter(f"{SVG}text")]


def test_categories_and_pairs_are_drawn_as_counted(sqlite_ledger: Ledger) -> None:
    """Of two blocks of annotators who agree within; one of them has a bad name."""
    rows = [(n, who, n % 2) for n in range(12) for who in ("zoe", "ada")]
    rows += [(n, who, n % 3 == 0) for n in range(12) for who in (BAD, "max")]
    sqlite_ledger.import_frame(pd.DataFrame(sorted(rows), columns=COLUMNS, dtype=object), "p")
    agreement = sqlite_ledger.agreement_by_question("p")
    chart = categories_chart(agreement)
    rates = {
        one["category"]: one["rate"] for one in agreement.to_dict()["questions"][0]["categories"]
    }
    weakest = min(rates, key=lambda name: rates[name])
    assert next(text for text in texts(chart) if text in rates) == weakest
    png, width = chart.png(), float(drawn_svg(chart).get("width", 0))
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", png[16:20])[0] == pytest.approx(2 * width, abs=2)
    chart = pairs_chart("p", sqlite_ledger.by_pair("p"))
    order = chart.spec["layer"][0]["encoding"]["x"]["sort"]
    blocks = {frozenset({"zoe", "ada"}), frozenset({BAD, "max"})}
    assert {frozenset(order[:2]), frozenset(order[2:])} == blocks
    for drawing in (chart, annotators_chart("p", sqlite_ledger.audit("p"))):
        drawn = drawn_svg(drawing)
        assert drawn.get("role") == "img"
        assert [drawn.findtext(SVG + name) for name in ("title", "desc")] == [
            drawing.title, drawing.description,
        ]  # fmt: skip
        assert not list(drawn.iter(f"{SVG}script"))
        assert BAD in {row.get(name) for row in drawing.rows for name in ("annotator", "other")}


def test_categories_without_a_figure_and_too_many() -> None:
    rows = [ROW | {"category": f"c{number:03}"} for number in range(MOST + 5)]
    chart = draw_categories("p", [*rows, ROW | {"category": "alone", "rate": None}])
    assert "5 stronger categories are not drawn" in chart.description
    assert "1 has no figure" in chart.description
    assert sum(re.fullmatch(r"c\d{3}", text) is not None for text in texts(chart)) == MOST


def test_strange_and_long_names_are_drawn_apart() -> None:
    for name in ("\u202egnp.exe", "\x1b[31mred", "\u2028", "\ufffe", "\U0001f600",
                 "\U0001f600" * 40, "a\x00b"):  # fmt: skip
        drawn = texts(draw_categories(f"title {name}", [ROW | {"category": name}]))
        assert not {*"".join(drawn)} & {"\u202e", "\x1b", "\u2028", "\ufffe", "\x00"}
        assert len([text for text in drawn if text.startswith(("\\", "a\\", "\U0001f600"))]) == 1
    long = "a category that is explained in its name: "
    drawn = texts(draw_categories("p", [ROW | {"category": long + end} for end in ("yes", "no")]))
    assert {text for text in drawn if text.startswith("a cat")} == {
        "a category that is expla…", "a category that is expla… 2",
    }  # fmt: skip


THRESHOLDS = (TENTATIVE, DEFINITE)
FIRST = datetime(2026, 1, 1)  # noqa: DTZ001 - a day


def points(*values: float | None) -> list[dict[str, Any]]:
    """Rows of a curve, a week apart, each with an interval of .1 to both sides."""
    return [
        {
            "as_of": f"{date(2026, 1, 11) + timedelta(7 * n)}T10:00:00Z",
            "snapshot": None,
            "value": value,
            "standard_error": 0.01,
            "ci_low": None if value is None else value - 0.1,
            "ci_high": None if value is None else value + 0.1,
            "items": 12,
        }
        for n, value in enumerate(values)
    ]


def noted(*days: int, noun: str = "note") -> list[curves.Event]:
    return [
        curves.Event(f"{date(2026, 1, 11) + timedelta(day)}T12:00:00Z", f"what {n}", noun)
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


figures = st.floats(-3, 1, allow_nan=False)


@given(st.lists(figures | st.none(), max_size=8), st.lists(st.floats(0, 1), max_size=2))
def test_a_scale_has_all_values_round_ends_and_no_less_than_a_range(
    values: list[float | None], thresholds: list[float]
) -> None:
    scale = curves.scale_of(values, thresholds)
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
        chart = curves.draw_history(curves.Course("p", points(*values), thresholds=THRESHOLDS))
        return {text for text in texts(chart) if text.endswith(("tentative", "good enough"))}

    assert lines(0.5, 0.52) == {"0.667 tentative"}
    assert lines(0.7, 0.75) == {"0.667 tentative", "0.800 good enough"}
    assert lines(0.1, 0.15) == set()
    close = curves.draw_history(curves.Course("p", points(0.0, 0.9), thresholds=(0.8, 0.82)))
    assert "0.800 tentative" not in texts(close), "there is no room for both"
    assert "0.820 good enough" in texts(close)
    for last, steady in ((0.505, True), (0.7, False)):
        words = curves.draw_history(curves.Course("p", points(0.5, last))).description
        assert ("no more than chance" in words) == steady
    assert domain(curves.draw_history(curves.Course("p", points(0.51, 0.5)))) == [0.4, 0.65]
    assert domain(curves.draw_history(curves.Course("p", points(0.9, 0.2)))) == [0.0, 1.0]


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(1, 28)), unique_by=lambda row: row[0]),
    st.sampled_from([PANEL, NARROW_CURVE, WIDE_CURVE]),
)
def test_no_label_lies_on_another_or_on_a_mark(rows: list[tuple[int, int]], width: int) -> None:
    moments = [(f"{FIRST + timedelta(day)}Z", length) for day, length in sorted(rows)]
    placed = curves.place_labels(
        [curves.Day(at, "x" * length, "") for at, length in moments],
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
    note, guideline = (
        curves.Event(at, "n\nm"),
        curves.Event(at, "guideline v2: text", "guideline v2"),
    )
    for events, label in (
        ([note], "n m"), ([curves.Event(at, "a" * 60)], "a" * 27 + "…"),
        ([note, guideline, note], "guideline v2, 2 notes"),
    ):  # fmt: skip
        assert [day.label for day in curves.event_days(events)] == [label]


def test_a_guideline_has_its_label_first_and_events_lie_within_the_curve() -> None:
    names = ["mara was talked to", "guideline v3", "pilot"]
    days = [curves.Day(f"2026-01-{day}T10:00:00Z", name, "") for day, name in enumerate(names, 14)]
    span = ("2026-01-01T00:00:00Z", "2026-03-31T00:00:00Z")
    sides = [each.side for each in curves.place_labels(days, span, NARROW_CURVE)]
    assert sides[1]
    assert not all(sides)
    (event,) = curves.events_within(noted(-5, 3, 90), points(0.5, 0.6))
    assert event.text == "what 1"
    assert curves.events_within(noted(3), []) == []


def test_questions_are_on_one_scale_and_over_one_time() -> None:
    courses = [
        curves.Course("low", points(0.2, 0.3), thresholds=THRESHOLDS),
        curves.Course("high", points(0.8, 0.9, 0.85), thresholds=THRESHOLDS),
    ]
    panels = curves.draw_histories(courses)
    assert [domain(panel) for panel in panels] == [[0.0, 1.0]] * 2
    spans = {str(panel.spec["layer"][2]["encoding"]["x"]["scale"]) for panel in panels}
    assert len(spans) == 1
    joined = curves.joined_histories("alpha", panels, across=2)
    assert {"low", "high"} <= {*texts(joined)}
    assert [row["question"] for row in joined.rows] == ["low"] * 2 + ["high"] * 3


def test_labels_of_times_do_not_touch() -> None:
    chart = curves.draw_history(curves.Course("", points(*[0.5] * 60)), width=NARROW_CURVE)
    labels = sorted(
        (float(one.get("transform", "")[len("translate(") :].split(",")[0]), one.text)
        for one in drawn_svg(chart).iter(f"{SVG}text")
        if one.text and not one.text.startswith("0.") and one.get("opacity") == "1"
    )
    assert labels
    half_a_letter = 3.6
    for (place, before), (other, after) in pairwise(labels):
        assert other - place > half_a_letter * len(before + after), (before, after)
