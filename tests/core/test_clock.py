"""Moments as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from tracker.core import clock

NOW = clock.parse_timestamp("2026-03-20T12:00:00Z")

MOMENTS = [
    ("2026-03-01T14:30", "2026-03-01T14:30:00Z"),
    ("2026-03-01 14:30:05.25", "2026-03-01T14:30:05.250000Z"),
    ("2026-03-01T14:30+02:00", "2026-03-01T12:30:00Z"),
    ("2026-03-01T14:30Z", "2026-03-01T14:30:00Z"),
    ("20260301T1430", "2026-03-01T14:30:00Z"),
    (" 2026-03-01T14 ", "2026-03-01T14:00:00Z"),
    ("7d", "2026-03-13T12:00:00Z"),
    ("0d", "2026-03-20T12:00:00Z"),
    ("36h", "2026-03-19T00:00:00Z"),
    ("2W", "2026-03-06T12:00:00Z"),
    ("3 weeks ago", "2026-02-27T12:00:00Z"),
    ("1 week", "2026-03-13T12:00:00Z"),
    ("1  day  ago", "2026-03-19T12:00:00Z"),
    ("90 minutes ago", "2026-03-20T10:30:00Z"),
    ("1 Hour Ago", "2026-03-20T11:00:00Z"),
]


@pytest.mark.parametrize(("text", "moment"), MOMENTS)
@pytest.mark.parametrize("end_of_day", [False, True])
def test_a_moment_is_the_same_from_either_side(text: str, moment: str, end_of_day: bool) -> None:
    assert clock.iso(clock.parse_human_time(text, now=NOW, end_of_day=end_of_day)) == moment


@pytest.mark.parametrize("text", ["2026-03-01", "20260301", "2026-W09-7", " 2026-03-01 "])
def test_a_date_is_its_whole_day(text: str) -> None:
    first, last = (clock.parse_human_time(text, now=NOW, end_of_day=end) for end in (False, True))
    assert clock.iso(first) == "2026-03-01T00:00:00Z"
    assert clock.iso(last) == "2026-03-01T23:59:59.999999Z"


BAD = [
    "",
    "yesterday",
    "7",
    "7 m",  # minutes or months
    "d",
    "-7d",
    "7 days before",
    "3 weeks ago ago",
    "2026-13-01",
    "2026-02-30",
    "2026-03",
    "03/01/2026",
    "1772323200",
    "2026-03-01T25:00",
    "\u0667d",
    "0001-01-01T00:00+14:00",
    "9999-12-31T23:59-14:00",
    "999999999w",
    "99999999999999999999d",
    "2026-03-01; DROP TABLE labels",
    "\0",
]


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("end_of_day", [False, True])
def test_what_is_no_time_is_refused(text: str, end_of_day: bool) -> None:
    with pytest.raises(ValueError, match=r"is no time|outside the years"):
        clock.parse_human_time(text, now=NOW, end_of_day=end_of_day)


def test_objects_instead_of_words() -> None:
    east = timezone(timedelta(hours=2))
    for value, moment in (
        (datetime(2026, 3, 1, 14, 30), "2026-03-01T14:30:00Z"),  # noqa: DTZ001 - no zone is UTC
        (datetime(2026, 3, 1, 14, 30, tzinfo=UTC), "2026-03-01T14:30:00Z"),
        (datetime(2026, 3, 1, 14, 30, tzinfo=east), "2026-03-01T12:30:00Z"),
        (date(2026, 3, 1), "2026-03-01T23:59:59.999999Z"),
    ):
        assert clock.iso(clock.moment_of_datetime(value, end_of_day=True)) == moment
    assert (
        clock.iso(clock.moment_of_datetime(date.max, end_of_day=True))
        == "9999-12-31T23:59:59.999999Z"
    )


@pytest.mark.parametrize("text", ["0000-12-31", "1e300", "-1e17", "9999-12-31T23:00-05:00"])
def test_a_time_outside_the_years_1_to_9999_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="neither ISO 8601 nor epoch seconds"):
        clock.parse_timestamp(text)


def test_now_is_a_moment() -> None:
    assert clock.parse_human_time(" now ", now=NOW, end_of_day=True) == NOW
