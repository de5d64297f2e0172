"""Annotators, categories and shares that changed, with the day; unchanged others are not named."""

from itertools import combinations
from random import Random

import pandas as pd
import pytest

from tests.agreement.test_recent import began_near, year

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
    assert "if one annotator gives “x”, another does too 0." in change.to_dict()["why"]


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


def test_answers_without_times_stand_in_the_order_of_their_imports(sqlite_ledger):
    answers = one_falls()
    weeks = answers["item"].str.split().str[0].astype(int)
    for week in range(2, 30, 5):
        part = answers[(weeks + 3) // 5 * 5 == week + 3].drop(columns="labeled_at")
        sqlite_ledger.import_frame(part, "p")
    assert subjects(sqlite_ledger.agreement("p").changes) == [("annotator", "bo")]
