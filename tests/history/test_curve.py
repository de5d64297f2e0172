"""The curve from the labels: where its periods end, what it is of, and what it cannot be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import SEVERAL, SPANS, undo
from tracker.core import clock
from tracker.core.errors import InvalidOption, TrackerError
from tracker.counts.valid_periods import Window
from tracker.history.curve import Curve, parse_curve_window
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind

Write = Callable[..., Path]
HEADER = "item,annotator,category,labeled_at\n"


def dates(curve: Curve) -> list[str]:
    """The days at whose ends the points are."""
    ends = [clock.iso(point.moment) for point in curve]
    assert all(end.endswith("T23:59:59.999999Z") for end in ends)
    return [end[:10] for end in ends]


def answered_on(ledger: Ledger, write: Write, *days: str, project: str = "p") -> None:
    """Two annotators agree on an item on each of the days."""
    rows = [f"i{day},{who},x,{day}" for day in days for who in "AB"]
    ledger.import_file(write(HEADER + "\n".join(rows)), project)


# -- periods -------------------------------------------------------------------------------


def test_weeks_end_on_sundays_and_months_on_their_last_day(
    sqlite_ledger: Ledger, write: Write
) -> None:
    # A Monday and a Sunday of 2024, and the Wednesday on which 2025 begins.
    answered_on(sqlite_ledger, write, "2024-12-09", "2024-12-22", "2025-01-01")
    curve = sqlite_ledger.history("p", "week")
    assert dates(curve) == ["2024-12-15", "2024-12-22", "2024-12-29", "2025-01-05"]
    assert [point.assessment.counts.items for point in curve] == [1, 2, 2, 3]
    past = sqlite_ledger.history("p", "week", as_of="2024-12-23")
    assert [point.assessment.counts.items for point in past] == [1, 2]
    answered_on(sqlite_ledger, write, "2023-11-30", "2024-04-01", project="months")
    ends = ["2023-11-30", "2023-12-31", "2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]
    assert dates(sqlite_ledger.history("months", "month")) == ends
    answered_on(sqlite_ledger, write, "2023-02-28", project="no leap year")
    assert dates(sqlite_ledger.history("no leap year", "month")) == ["2023-02-28"]


def test_since_and_until_bound_the_curve_and_its_notes_and_leave_no_answer_out(
    sqlite_ledger: Ledger, write: Write
) -> None:
    answered_on(sqlite_ledger, write, "2024-01-01", "2024-01-10", "2024-01-31")
    for day in ("2024-01-01", "2024-01-05", "2024-01-20"):
        sqlite_ledger.notes.add("p", f"note of {day}", day)
    curve = sqlite_ledger.history("p", "week", since="2024-01-09", until="2024-01-24")
    assert dates(curve) == ["2024-01-14", "2024-01-21", "2024-01-24"]
    assert [point.assessment.counts.items for point in curve] == [2, 2, 2]
    assert {point.to_dict()["selection"] for point in curve} == {None}
    assert [note.text[-2:] for note in curve.notes] == ["20"]
    notes = sqlite_ledger.history("p", "day").to_dict()["notes"]
    assert [note["text"][-2:] for note in notes] == ["01", "05", "20"]
    assert dates(sqlite_ledger.history("p", "month", until="2023-12-31")) == []
    assert dates(sqlite_ledger.history("p", "month", since="2024-02-01")) == []
    before = sqlite_ledger.history("p", "day", since="2023-01-01", until="2024-01-02")
    assert dates(before) == ["2024-01-01", "2024-01-02"], "there is nothing to say before the first"


def test_days_have_a_point_each_also_those_without_an_answer(ledger: Ledger, write: Write) -> None:
    answered_on(ledger, write, "2024-02-27", "2024-03-01")
    curve = ledger.history("p", "day")
    assert dates(curve) == ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01"]
    assert curve.points[1].assessment.figures() == curve.points[0].assessment.figures()
    alone = ledger.history("p", "day", window="1d")
    assert [point.assessment.counts.items for point in alone] == [1, 0, 0, 1]
    assert alone.points[1].assessment.measure("percent_agreement").undefined == "too_few_items"
    assert alone.points[3].assessment.counts.annotators == 2


def test_it_is_from_the_first_answer_that_counts_to_the_last(ledger: Ledger, write: Write) -> None:
    """Truths without a time are labelled as they are recorded, months after the work."""
    answered_on(ledger, write, "2024-12-09", "2024-12-22")
    truth = "item,annotator,category,gold,labeled_at\ni2024-12-09,A,x,x,2024-12-09\n"
    ledger.import_file(write(truth), "p")
    ledger.import_file(write(HEADER + "i2024-12-09,gpt,x,2023-01-01\nj,gpt,x,2025-06-01"), "p")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "gpt", "model")
    assert dates(ledger.history("p", "week")) == ["2024-12-15", "2024-12-22"]
    assert dates(ledger.history("p", "week", annotators=["A"])) == ["2024-12-15", "2024-12-22"]
    everyone = dates(ledger.history("p", "month", annotators=["A", "gpt"]))
    assert (everyone[0], everyone[-1]) == ("2023-01-31", "2025-06-30")


def test_the_last_point_is_not_later_than_now(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.parse_timestamp("2024-01-10T12:00")
    monkeypatch.setattr(clock, "now", lambda: now)
    answered_on(sqlite_ledger, write, "2024-01-02", "2024-01-09")
    for every, number in (("day", 8), ("week", 2), ("month", 1)):
        points = sqlite_ledger.history("p", every).points
        assert len(points) == number
        assert points[-1].moment == (now if every != "day" else now - 43_200_000_001)
        assert all(one.moment < other.moment for one, other in pairwise(points))


# -- what it is of -------------------------------------------------------------------------


def test_some_annotators_and_some_items(ledger: Ledger, write: Write) -> None:
    rows = [
        f"i{n},{who},{'x' if who != 'C' else 'y'},2024-01-0{n},{'nl' if n % 2 else 'de'}"
        for n in range(1, 7)
        for who in "ABC"
    ]
    header = "item,annotator,category,labeled_at,language\n"
    ledger.import_file(write(header + "\n".join(rows)), "p", keep=["language"])
    every = ledger.history("p", "day")
    chosen: dict[str, Any] = {"exclude_annotators": "C", "where": {"language": "nl"}}
    some = ledger.history("p", "day", **chosen)
    assert [point.assessment.counts.items for point in every] == [1, 2, 3, 4, 5, 6]
    assert [point.assessment.counts.items for point in some] == [1, 1, 2, 2, 3, 3]
    assert {point.assessment.counts.annotators for point in some} == {2}
    for point in some:
        measures = [one.measure for one in point.assessment.measures]
        as_of = clock.iso(point.moment)
        then = ledger.agreement("p", measures=measures, as_of=as_of, **chosen)
        assert point.assessment.figures() == then.figures()
        selection = point.to_dict()["selection"]
        assert (selection["excluded"], selection["where"]) == (["C"], {"language": ["nl"]})
    only = ledger.history("p", "day", annotators=["A", "B"])
    assert only.points[-1].assessment.measure("percent_agreement").value == 1.0


# -- what it cannot be ---------------------------------------------------------------------


def test_windows() -> None:
    for words, window in (
        ("all", Window()),
        (" all ", Window()),
        ("7d", Window(days=7)),
        ("1 day", Window(days=1)),
        ("4w", Window(days=28)),
        ("1  Week", Window(days=7)),
        ("LAST-1-items", Window(items=1)),
    ):
        assert parse_curve_window(words) == window, words
    for words in ("", "0d", "7", "7h", "-7d", "1.5d", "last-0-items", "last-items", "last 5 items"):
        with pytest.raises(InvalidOption) as raised:
            parse_curve_window(words)
        assert raised.value.message == f"--window {words!r} is not a window"
        assert raised.value.mend == "all, whole days such as 7d, or last-500-items"


REFUSED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"every": "year"}, "--every 'year' is not a period", "one of: day, week, month"),
    ({"window": "7h"}, "--window '7h' is not a window", "last-500-items"),
    (
        {"measures": ["scott_pi", "conger_kappa"]},
        "conger_kappa needs to know who answered what, which a rebuilt curve does not",
        "these do not: percent_agreement, scott_pi, fleiss_kappa, krippendorff_alpha",
    ),
    ({"measures": ["cohen_kappa"]}, "cohen_kappa needs to know who answered what", ""),
    ({"measures": ["scot_pi"]}, "there is no measure 'scot_pi'", "did you mean 'scott_pi'"),
    ({"measures": ["token_f1"]}, "token_f1 does not fit 'p'", "these do"),
    ({"annotators": "Z"}, "annotator", ""),
    ({"where": {"language": "nl"}}, "language", ""),
    ({"since": "2024-02-01", "until": "2024-01-01"}, "is later than --until", ""),
)


def test_what_cannot_be_asked(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.projects.create("p")
    assert sqlite_ledger.history("p", "day").to_dict()["snapshots"] == []
    answered_on(sqlite_ledger, write, "2024-01-02")
    for asked, message, mend in REFUSED:
        with pytest.raises(TrackerError) as raised:
            sqlite_ledger.history("p", **({"every": "day"} | asked))
        assert message in raised.value.message
        assert mend in (raised.value.mend or "")
    recorded: dict[str, Any]
    for recorded in ({"window": "7d"}, {"since": "7d"}, {"annotators": "A"}):
        with pytest.raises(InvalidOption, match="recorded snapshots keep the selection") as raised:
            sqlite_ledger.history("p", **recorded)
        assert "add --every week" in str(raised.value)
    undo(sqlite_ledger, 1)
    assert sqlite_ledger.history("p", "day", window="last-3-items").points == ()
    spans = write("item,annotator,category,start,end\nd,A,x,0,4\n d,B,x,0,4")
    sqlite_ledger.import_file(spans, "spans", options=SPANS)
    with pytest.raises(InvalidOption) as raised:
        sqlite_ledger.history("spans", "day")
    assert raised.value.message == "the curve of 'spans', a project of spans, cannot be rebuilt"
    assert raised.value.mend == "record it: tracker snapshot spans"
    rows = [f"i{n},{who},{c},2024-01-02" for n in range(5) for who in "AB" for c in "xyz"[: 1 + n]]
    sqlite_ledger.import_file(write(HEADER + "\n".join(rows)), "several", options=SEVERAL)
    (point,) = sqlite_ledger.history("several", "month")
    assert point.assessment.measure("krippendorff_alpha").value == 1.0
    assert "gwet_ac1" not in {measure.measure for measure in point.assessment.measures}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_weeks_of_a_time_zone_are_over_at_its_midnight(
    sqlite_ledger: Ledger, write: Write, zone: str
) -> None:
    rows = [
        f"{week} {n},{who},{'x' if n % 3 or who == 'A' else 'y'},2026-{month:02}-{day:02}T12:00"
        for week, (month, day) in enumerate([(3, 18), (3, 25), (4, 1), (4, 8), (4, 15)])
        for n in range(9)
        for who in "AB"
    ]
    sqlite_ledger.import_file(write(HEADER + "\n".join(rows)), "p")
    sqlite_ledger.projects.set("p", timezone=zone)
    assert len(sqlite_ledger.monitor("p", "percent_agreement").points) == 5


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_each_period_has_the_figures_of_its_own_items(
    ledger: Ledger, write: Write, zone: str
) -> None:
    rows = [
        f"{month} {n},{who},{'y' if who == 'B' and n % 3 == 0 else 'x'},2026-{month:02}-{n + 1:02}"
        for month in (1, 2, 3)
        for n in range(20)
        for who in "AB"
    ]
    late = "1 0,C,x,2026-03-05"  # the item moves into the month of its last answer
    ledger.import_file(write(HEADER + "\n".join([*rows, late])), "p")
    ledger.projects.set("p", timezone=zone)
    told = ledger.history("p", every="month", measures=["percent_agreement"]).to_dict()
    own = [point["own"] for point in told["snapshots"]]
    if zone == "UTC":
        assert [one["items"] for one in own] == [19, 20, 21]
        assert [one["answers"] for one in own] == [38, 40, 43]
        february = ledger.agreement("p", since="2026-02-01", until="2026-02-28")
        assert own[1]["measures"][0] == february.measure("percent_agreement").to_dict()
    assert sum(one["items"] for one in own) == 60
    since = ledger.history("p", every="month", since="2026-02-10").to_dict()["snapshots"]
    assert since[0]["own"]["items"] < 20
