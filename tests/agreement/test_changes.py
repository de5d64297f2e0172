"""Annotators, categories and shares that changed, with the day; unchanged others are not named."""

from datetime import datetime
from itertools import combinations
from random import Random
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement.test_recent import COLUMNS, began_near, year
from tests.counts.test_kept_counts import kept_rows_of
from tracker.agreement.coefficients import study
from tracker.agreement.levels import LEAST_ITEMS, course_of_items, cut_course
from tracker.agreement.query import Query
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.core.tallies import ItemPatterns
from tracker.counts import kept_counts
from tracker.projects import touched

LATE = 22  # of 30 weeks


def changes_of(ledger, answers, project="p", **options):
    ledger.import_frame(answers, project, **options)
    return ledger.agreement(project).changes


def subjects(changes):
    return [(change.subject, change.name) for change in changes]


def is_near(change):
    return began_near(change.to_dict()["since"], LATE)


def late(answers: pd.DataFrame) -> pd.Series:
    return answers["item"].str.split().str[0].astype(int) >= LATE


def one_falls() -> pd.DataFrame:
    return year(lambda week, who: 0.5 if week >= LATE and who == "bo" else 0.93, items=40)


def mixed(answers: pd.DataFrame, names: str) -> pd.DataFrame:
    """The same, in the last weeks with these categories chosen as if by chance."""
    chance = Random(3)  # noqa: S311
    some = late(answers) & answers["category"].isin([*names])
    answers.loc[some, "category"] = [chance.choice(names) for _ in range(some.sum())]
    return answers


def more_of_x(share: float) -> pd.DataFrame:
    """Items of the last weeks are more often about x: some that were not are all answered so."""
    answers, chance = year(lambda *_: 0.93, items=40), Random(5)  # noqa: S311
    chosen = {item for item in answers[late(answers)]["item"] if chance.random() < share}
    answers.loc[answers["item"].isin(chosen), "category"] = "x"
    return answers


def test_an_annotator_who_changed_is_named_and_the_others_are_not(ledger):
    answers = one_falls()
    (change,) = changes_of(ledger, answers)
    assert subjects([change]) == [("annotator", "bo")]
    assert is_near(change)
    shares = []  # the plain count: of each item that bo answered, how many others said the same
    for _, rows in answers[answers["labeled_at"] >= change.day].groupby("item"):
        own = rows[rows["annotator"] == "bo"]["category"]
        others = rows[rows["annotator"] != "bo"]["category"]
        if len(own):
            shares.append((others == own.iloc[0]).mean())
    assert change.items == len(shares)
    assert change.value == pytest.approx(sum(shares) / len(shares))
    assert change.ci_low < change.value < change.ci_high < 0.7 < change.before
    (row,) = ledger.agreement("p").to_dict()["changes"]
    assert row["why"].startswith(f"Since {change.day} bo agrees with the others 0.")
    assert row["why"].endswith(f"before, {change.before:.3f}.")
    of_two = changes_of(ledger, answers[answers["annotator"].isin(["ada", "bo"])], "two")
    assert "annotator" not in dict(subjects(of_two)), "either may have changed"


def test_a_category_that_is_read_otherwise_is_named(ledger):
    answers = mixed(year(lambda *_: 0.93, items=40), "xy")
    changes = changes_of(ledger, answers)
    assert sorted(subjects(changes)) == [("category", "x"), ("category", "y")]
    assert all(is_near(change) for change in changes)
    change = next(change for change in changes if change.name == "x")
    agreed = possible = 0
    for _, rows in answers[answers["labeled_at"] >= change.day].groupby("item"):
        for a, b in combinations(rows["category"], 2):
            agreed += a == b == "x"
            possible += "x" in {a, b}
    assert change.value == pytest.approx(agreed / possible)
    assert "of the pairs where either annotator gives “x”, both do in 0." in change.to_dict()["why"]


def test_a_share_that_changed_is_no_change_of_agreement(ledger):
    answers = more_of_x(0.1)
    changes = changes_of(ledger, answers)
    assert {change.subject for change in changes} == {"share"}
    x = next(change for change in changes if change.name == "x")
    assert is_near(x)
    since = answers[answers["labeled_at"] >= x.day]
    assert x.value == pytest.approx((since["category"] == "x").mean())
    assert x.value > x.before + 0.1
    assert f"% of the answers are “x” ({x.ci_low:.1%} to " in x.to_dict()["why"]
    two = answers.assign(category=answers["category"].replace("z", "y"))
    assert subjects(changes_of(ledger, two, "two")) == [("share", "x")], "the one that rose"


def test_newcomers_are_no_change(sqlite_ledger):
    answers = year(lambda _, who: 0.4 if who == "bo" else 0.93, items=40)
    came = answers[late(answers) | (answers["annotator"] != "bo")]
    assert "annotator" not in dict(subjects(changes_of(sqlite_ledger, came, "q")))


# Stretches of time: they stay while answers are added, and cut a project where its answers lie.

BEGIN = 20_000 * DAY


def course(items):
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
