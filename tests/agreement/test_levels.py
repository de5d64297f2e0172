"""Stretches of time: they stay while answers are added, and cut a project where its answers lie."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement.test_recent import COLUMNS, year
from tests.counts.test_kept_counts import kept_rows_of
from tracker.agreement.coefficients import study
from tracker.agreement.levels import LEAST_ITEMS, course_of_items, cut_course
from tracker.agreement.query import Query
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.core.tallies import ItemPatterns
from tracker.counts import kept_counts
from tracker.projects import touched

BEGIN = 20_000 * DAY


def course(items):
    """The course of a number of items at each moment, all answered alike by two."""
    patterns = {at: ItemPatterns({(((1,), 2),): number}) for at, number in sorted(items.items())}
    return cut_course(patterns, None)


def days(*items):
    return {BEGIN + day * DAY: number for day, number in enumerate(items)}


@given(st.dictionaries(st.integers(BEGIN, BEGIN + 900 * DAY), st.integers(1, 300), min_size=1))
def test_every_item_lies_in_a_period_that_begins_with_a_stretch(items):
    cut = course(items)
    numbers = [period.patterns.items_compared for period in cut.periods]
    assert sum(numbers) == (sum(items.values()) if numbers else 0)
    assert len(numbers) <= 40
    assert all(number >= LEAST_ITEMS for number in numbers)
    begins = [period.stretch for period in cut.periods]
    assert begins == sorted({*begins})
    for moment in items:
        assert cut.stretches.number(moment) < 1 << cut.stretches.bits
        assert cut.stretches.number(moment) <= cut.stretches.number(max(items))


def test_stretches_follow_where_the_answers_lie():
    month = days(*[30] * 30)
    assert [period.first for period in course(month).periods] == [*month]
    old = {BEGIN - month * 60 * DAY: 3 for month in range(1, 80)}  # a few answers of years ago
    assert len(course(old | days(*[100] * 300)).periods) >= 20
    for apart in (60_000_000, 2_000_000, 40_000):  # imports that follow each other quickly
        moments = {BEGIN + 123_456 + number * apart: 50 for number in range(30)}
        assert len(course(moments).periods) == 30


def test_a_day_on_which_clocks_are_set_is_one_day(sqlite_ledger):
    zone = ZoneInfo("Europe/Berlin")
    for day in (datetime(2024, 3, 31, tzinfo=zone), datetime(2024, 10, 27, tzinfo=zone)):
        rows = [(f"{day.month} {hour} {n}", name, "xy"[n % 2], day.replace(hour=hour).isoformat())
                for hour in (1, 10) for n in range(30) for name in ("ada", "bo")]  # fmt: skip
        sqlite_ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    sqlite_ledger.projects.set("p", timezone="Europe/Berlin")
    with sqlite_ledger.asking("p") as (connection, question):
        periods = course_of_items(study(connection, question, Query())).periods
    firsts = [clock.iso(period.first) for period in periods]
    assert firsts == ["2024-03-30T23:00:00Z", "2024-10-26T22:00:00Z"]
    assert [period.patterns.items_compared for period in periods] == [60, 60]


def test_an_import_of_a_week_counts_no_week_before(ledger, monkeypatch):
    monkeypatch.setattr(kept_counts, "LEAST_ITEMS", 1)
    monkeypatch.setattr(touched, "_WORTH_IT", 0)
    answers = year(lambda *_: 0.9, weeks=41, items=10)
    week = answers["item"].str.split().str[0].astype(int)
    ledger.import_frame(answers[week < 40], "p")
    ledger.agreement("p")
    before = kept_rows_of(ledger)
    ledger.import_frame(answers[week == 40], "p")
    ledger.agreement("p")
    assert {*kept_rows_of(ledger)} == {*before}
