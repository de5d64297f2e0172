"""The level of agreement now: a collapse is told, with its day, and a steady project is not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import combinations, product
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.helpers import count_statements
from tracker.agreement.recent import Recent
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

BEGIN = datetime(2024, 1, 1, 9)  # noqa: DTZ001 - a Monday; without a zone it is UTC
PEOPLE = ("ada", "bo", "cy", "di")
Right = Callable[[int, str], float]


def year(right: Right, *, weeks: int = 30, items: int = 20, seed: int = 1) -> pd.DataFrame:
    """Answers of three of four people to the items of each week; ``right`` by week and person."""
    chance = Random(seed)  # noqa: S311
    rows = []
    for week in range(weeks):
        for n in range(items):
            truth = chance.choice("xyz")
            for who in chance.sample(PEOPLE, 3):
                wrong = chance.choice([one for one in "xyz" if one != truth])
                given = truth if chance.random() < right(week, who) else wrong
                at = BEGIN + timedelta(weeks=week, hours=n)
                rows.append((f"{week} {n}", who, given, at.isoformat()))
    return pd.DataFrame(rows, columns=["item", "annotator", "category", "labeled_at"])


def recent_of(ledger: Ledger, answers: pd.DataFrame, **asking: Any) -> Recent | None:
    ledger.import_frame(answers, "p")
    return ledger.agreement("p", **asking).recent


def collapse(week: int, _: str) -> float:
    return 0.93 if week < 25 else 0.5


def test_a_collapse_of_the_last_weeks_is_told_with_its_day(ledger):
    recent = recent_of(ledger, year(collapse))
    assert recent is not None
    began = datetime.fromisoformat(recent.to_dict()["since"]).replace(tzinfo=None)
    assert abs(began - (BEGIN + timedelta(weeks=25))) <= timedelta(weeks=2)
    # Items have all their answers within an hour, so the figures are those of a choice of times.
    since = ledger.agreement("p", since=recent.to_dict()["since"]).measure("krippendorff_alpha")
    assert recent.now.to_dict() == since.to_dict()
    assert recent.now.value is not None
    assert recent.now.value < 0.4 < recent.before
    assert recent.categories == ("x", "y", "z")
    assert recent.annotators == PEOPLE
    told = ledger.agreement("p").to_dict()["recent"]
    assert told["why"].startswith(f"Since {recent.day} Krippendorff's alpha is")
    assert "hides it. 4 of 4 annotators agree less with the others." in told["why"]


def test_a_collapse_is_told_although_there_was_a_dip_before(sqlite_ledger):
    def right(week, who):
        return 0.6 if 12 <= week < 18 else collapse(week, who)

    recent = recent_of(sqlite_ledger, year(right, items=60))
    assert recent is not None
    assert abs(datetime.fromisoformat(recent.day) - (BEGIN + timedelta(weeks=25))) <= timedelta(14)


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_project_has_one_level(sqlite_ledger, seed):
    assert recent_of(sqlite_ledger, year(lambda *_: 0.85, seed=seed)) is None


def test_a_level_that_recovered_is_higher_than_before(sqlite_ledger):
    recent = recent_of(sqlite_ledger, year(lambda week, _: 0.55 if week < 20 else 0.95))
    assert recent is not None
    assert recent.now.value is not None
    assert recent.now.value > recent.before
    assert "still counts the time before" in sqlite_ledger.agreement("p").recent_words


def test_one_person_who_changed_is_named(sqlite_ledger):
    answers = year(lambda week, who: 0.3 if week >= 20 and who == "bo" else 0.95, items=40)
    recent = recent_of(sqlite_ledger, answers)
    assert recent is not None
    lost = {}
    for who in PEOPLE:  # the plain count: how often two agree, before and since
        shares = []
        for late in (False, True):
            days = answers["labeled_at"] >= recent.day
            part = answers[days == late].groupby("item")
            same = [
                (a[2] == b[2])
                for _, rows in part
                for a, b in combinations(rows.itertuples(index=False), 2)
                if who in {a[1], b[1]}
            ]
            shares.append(sum(same) / len(same))
        lost[who] = shares[0] - shares[1]
    assert max(lost, key=lambda who: lost[who]) == "bo"
    assert "bo" in recent.annotators


def test_a_change_that_one_of_many_has_by_chance_is_not_named(sqlite_ledger):
    """A pair is apart on 20 of 100 items and not on 10: of one pair that is much, of five not."""
    rows = []
    for week, pair, n in product(range(20), ("ab", "cd", "ef", "gh", "ij"), range(10)):
        apart = {"ab": 10, "cd": 2}.get(pair, 1) if week >= 10 else 1
        given = "xy"[n % 2], "z" if n < apart else "xy"[n % 2]
        at = (BEGIN + timedelta(weeks=week, hours=n)).isoformat()
        rows += [(f"{week} {pair} {n}", *answer, at) for answer in zip(pair, given, strict=True)]
    columns = ["item", "annotator", "category", "labeled_at"]
    recent = recent_of(sqlite_ledger, pd.DataFrame(rows, columns=columns))
    assert recent is not None
    assert recent.annotators == ("a", "b")


def test_answers_without_times_stand_in_the_order_of_their_imports(sqlite_ledger):
    answers = year(collapse).drop(columns="labeled_at")
    weeks = answers["item"].str.split().str[0].astype(int)
    for week in range(30):
        sqlite_ledger.import_frame(answers[weeks == week], "p")
    recent = sqlite_ledger.agreement("p").recent
    assert recent is not None
    assert recent.now.items == pytest.approx(100, abs=25)


def test_one_import_without_times_has_no_course(sqlite_ledger):
    assert recent_of(sqlite_ledger, year(collapse).drop(columns="labeled_at")) is None


def test_days_are_those_of_the_projects_time_zone(sqlite_ledger):
    sqlite_ledger.import_frame(year(collapse), "p")
    sqlite_ledger.projects.set("p", timezone="America/New_York")
    recent = sqlite_ledger.agreement("p").recent
    assert recent is not None
    assert recent.to_dict()["since"][11:] in {"04:00:00Z", "05:00:00Z"}


@pytest.mark.parametrize(
    "answers",
    [
        pd.DataFrame({"item": ["1", "1"], "annotator": ["a", "b"], "category": ["x", "x"]}),
        year(lambda *_: 1.0).assign(category="x"),
        year(collapse, weeks=3),
        year(collapse, items=1)[lambda rows: rows["annotator"] == "ada"],
    ],
    ids=["one item", "one category", "three weeks", "one annotator"],
)
def test_too_little_tells_nothing(sqlite_ledger, answers):
    assert recent_of(sqlite_ledger, answers) is None


def test_numbers_and_several_categories_have_levels_too(sqlite_ledger):
    numbers = year(collapse)
    numbers["category"] = numbers["category"].map({"x": "1", "y": "2", "z": "3"})
    sqlite_ledger.import_frame(numbers, "numbers", options=QuestionOptions(scale="interval"))
    sqlite_ledger.import_frame(year(collapse), "several", options=QuestionOptions("several"))
    for project in ("numbers", "several"):
        recent = sqlite_ledger.agreement(project).recent
        assert recent is not None
        assert recent.now.value is not None
        assert recent.now.value < recent.before


def test_as_many_statements_whatever_the_answers(ledger):
    numbers = []
    for weeks in (26, 60):
        ledger.import_frame(year(lambda *_: 0.9, weeks=weeks), f"p{weeks}")
        with count_statements(ledger.database.engine) as statements:
            ledger.agreement(f"p{weeks}")
        numbers.append(statements.number)
    assert numbers[0] == numbers[1]
