"""The level of agreement now: a collapse is found, with its day, and a steady project has none."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from random import Random

import pandas as pd
import pytest

from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

BEGIN = datetime(2024, 1, 1, 9)  # noqa: DTZ001 - a Monday; without a zone it is UTC
PEOPLE = ("ada", "bo", "cy", "di")
COLUMNS = ["item", "annotator", "category", "labeled_at"]
Right = Callable[[int, str], float]


def year(right: Right, *, weeks: int = 30, items: int = 20, seed: int = 1) -> pd.DataFrame:
    """Answers of three of four people to the items of each week; ``right`` by week and person."""
    chance = Random(seed)  # noqa: S311
    rows = []
    for week in range(weeks):
        for n in range(items):
            truth = chance.choice("xyz")
            for name in chance.sample(PEOPLE, 3):
                wrong = chance.choice([label for label in "xyz" if label != truth])
                label = truth if chance.random() < right(week, name) else wrong
                at = BEGIN + timedelta(weeks=week, hours=n)
                rows.append((f"{week} {n}", name, label, at.isoformat()))
    return pd.DataFrame(rows, columns=COLUMNS)


def collapse(week: int, _: str) -> float:
    return 0.93 if week < 25 else 0.5


def level(ledger: Ledger, answers, project="p", **options):
    ledger.import_frame(answers, project, **options)
    return ledger.agreement(project).recent


def began_near(day, week, weeks=2):
    began = datetime.fromisoformat(day).replace(tzinfo=None)
    return abs(began - (BEGIN + timedelta(weeks=week))) <= timedelta(weeks=weeks)


def test_a_collapse_of_the_last_weeks_has_its_day(ledger):
    recent = level(ledger, year(collapse))
    since = recent.to_dict()["since"]
    assert began_near(since, 25)
    # Items have all their answers within an hour, so the figures are those of a choice of times.
    assert recent.now.to_dict() == (
        ledger.agreement("p", since=since).measure("krippendorff_alpha").to_dict()
    )
    assert recent.now.value < 0.4 < recent.before
    assert recent.categories == ("x", "y", "z")
    assert recent.annotators == PEOPLE
    assert ledger.agreement("p").changes == (), "all changed alike"
    why = ledger.agreement("p").to_dict()["recent"]["why"]
    assert why.startswith(f"Since {recent.day} Krippendorff's alpha is")
    assert "hides it. 4 of 4 annotators agree less with the others." in why


@pytest.mark.parametrize("start", [0, 20])
def test_a_slow_slide_leads_with_its_newest_quarter(sqlite_ledger, start):
    def slide(week, _):
        return 0.95 - 0.25 * max(week - start, 0) / (40 - start)

    recent = level(sqlite_ledger, year(slide, weeks=40, items=40))
    told = recent.to_dict()
    assert (told["shape"], recent.now.value < recent.before - 0.2) == ("slide", True)
    assert began_near(told["slide_since"], start, weeks=4)
    assert began_near(told["since"], start + 0.75 * (40 - start))
    assert sqlite_ledger.agreement("p").changes == ()
    (headline,) = sqlite_ledger.verdict("p")["verdict"]
    assert f"it has been falling since {recent.slide_day}, from" in headline["why"]


def test_days_are_those_of_the_time_zone_of_the_project(sqlite_ledger):
    sqlite_ledger.projects.create("p", timezone="America/New_York")
    recent = level(sqlite_ledger, year(collapse, items=8))
    assert recent.to_dict()["since"][11:] in {"04:00:00Z", "05:00:00Z"}


def test_levels_after_a_dip_and_after_a_recovery(sqlite_ledger):
    def dip(week, name):
        return 0.6 if 12 <= week < 18 else collapse(week, name)

    assert began_near(level(sqlite_ledger, year(dip, items=40)).day, 25)
    recovery = year(lambda week, _: 0.55 if week < 20 else 0.95)
    recent = level(sqlite_ledger, recovery, "recovery")
    assert recent.now.value > recent.before
    assert "still counts the time before" in sqlite_ledger.agreement("recovery").recent_words


def test_a_steady_project_has_one_level_and_no_changes(sqlite_ledger):
    for seed in (0, 4):
        steady = year(lambda *_: 0.85, seed=seed)
        assert level(sqlite_ledger, steady, f"p{seed}") is None
        assert sqlite_ledger.agreement(f"p{seed}").changes == ()


def test_a_change_that_one_of_many_has_by_chance_is_not_named(sqlite_ledger):
    """A pair is apart on 20 of 100 items and not on 10: of one pair that is much, of five not."""
    rows = []
    for week, pair, n in product(range(20), ("ab", "cd", "ef", "gh", "ij"), range(10)):
        apart = {"ab": 10, "cd": 2}.get(pair, 1) if week >= 10 else 1
        labels = "xy"[n % 2], "z" if n < apart else "xy"[n % 2]
        at = (BEGIN + timedelta(weeks=week, hours=n)).isoformat()
        rows += [(f"{week} {pair} {n}", *answer, at) for answer in zip(pair, labels, strict=True)]
    recent = level(sqlite_ledger, pd.DataFrame(rows, columns=COLUMNS))
    assert recent.annotators == ("a", "b")


def test_answers_without_times_stand_in_the_order_of_their_imports(sqlite_ledger):
    answers = year(collapse).drop(columns="labeled_at")
    weeks = answers["item"].str.split().str[0].astype(int)
    for block in range(11):
        sqlite_ledger.import_frame(answers[(weeks + 2) // 3 == block], "p")
    assert sqlite_ledger.agreement("p").recent.now.items == pytest.approx(100, abs=25)


def test_projects_of_little_have_no_level(sqlite_ledger):
    for name, answers in {
        "one import without times": year(collapse).drop(columns="labeled_at"),
        "one item": pd.DataFrame({"item": "1", "annotator": ["a", "b"], "category": "x"}),
        "one category": year(lambda *_: 1.0).assign(category="x"),
        "three weeks": year(collapse, weeks=3),
        "one annotator": year(collapse, items=1)[lambda rows: rows["annotator"] == "ada"],
    }.items():
        assert level(sqlite_ledger, answers, name) is None, name


def test_numbers_and_several_categories_have_levels_too(sqlite_ledger):
    answers = year(collapse)
    numbers = answers.assign(category=answers["category"].map({"x": "1", "y": "2", "z": "3"}))
    for recent in (
        level(sqlite_ledger, numbers, "numbers", options=QuestionOptions(scale="interval")),
        level(sqlite_ledger, answers, "several", options=QuestionOptions("several")),
    ):
        assert recent.now.value < recent.before
