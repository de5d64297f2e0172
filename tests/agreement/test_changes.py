"""Who, what and which share changed: named with the day; who only answers beside it is not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from io import StringIO
from itertools import combinations
from random import Random

import pandas as pd
import pytest
from rich.console import Console

from tests.agreement.test_recent import BEGIN, PEOPLE, collapse, year
from tests.helpers import count_statements
from tracker.agreement.changes import Changed
from tracker.agreement.tables import agreement_view
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

LATE = 22  # of 30 weeks


def changes_of(ledger: Ledger, answers: pd.DataFrame) -> Sequence[Changed]:
    ledger.import_frame(answers, "p")
    return ledger.agreement("p").changes


def late(answers: pd.DataFrame) -> pd.Series[bool]:
    return answers["item"].str.split().str[0].astype(int) >= LATE


def one_falls() -> pd.DataFrame:
    return year(lambda week, who: 0.5 if week >= LATE and who == "bo" else 0.93, items=40)


def mixed(answers: pd.DataFrame, names: str) -> pd.DataFrame:
    """The same, in the last weeks with these categories given as if by chance."""
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


def is_near(found: Changed) -> bool:
    began = datetime.fromisoformat(found.to_dict()["since"]).replace(tzinfo=None)
    return abs(began - (BEGIN + timedelta(weeks=LATE))) <= timedelta(weeks=2)


def test_an_annotator_who_changed_is_named_and_the_others_are_not(ledger):
    answers = one_falls()
    (found,) = changes_of(ledger, answers)
    assert (found.subject, found.name) == ("annotator", "bo")
    assert is_near(found)
    since = answers[answers["labeled_at"] >= found.day]
    shares = []  # the plain count: of each item that bo answered, how many others said the same
    for _, rows in since.groupby("item"):
        own = rows[rows["annotator"] == "bo"]["category"]
        others = rows[rows["annotator"] != "bo"]["category"]
        if len(own):
            shares.append((others == own.iloc[0]).mean())
    assert found.items == len(shares)
    assert found.value == pytest.approx(sum(shares) / len(shares))
    assert found.ci_low < found.value < found.ci_high < 0.7 < found.before
    (told,) = ledger.agreement("p").to_dict()["changes"]
    assert told["why"].startswith(f"Since {found.day} bo agrees with the others 0.")
    assert told["why"].endswith(f"before, {found.before:.3f}.")
    page = StringIO()
    shown = Console(width=200, file=page)
    shown.print(*agreement_view(ledger.agreement("p")))
    assert told["why"] in page.getvalue()


def test_a_category_that_is_read_otherwise_is_named(ledger):
    answers = mixed(year(lambda *_: 0.93, items=40), "xy")
    found = changes_of(ledger, answers)
    assert [(one.subject, one.name) for one in found] in (
        [("category", "x"), ("category", "y")],
        [("category", "y"), ("category", "x")],
    )
    assert all(is_near(one) for one in found)
    one = next(one for one in found if one.name == "x")
    agreed = possible = 0
    for _, rows in answers[answers["labeled_at"] >= one.day].groupby("item"):
        for a, b in combinations(rows["category"], 2):
            agreed += a == b == "x"
            possible += "x" in {a, b}
    assert one.value == pytest.approx(agreed / possible)
    assert "if one annotator gives “x”, another does too 0." in one.to_dict()["why"]


def test_a_share_that_changed_is_none_of_agreement(ledger):
    answers = more_of_x(0.1)
    found = changes_of(ledger, answers)
    shares = {one.name: one for one in found if one.subject == "share"}
    assert {one.subject for one in found} == {"share"}
    x = shares["x"]
    assert is_near(x)
    since = answers[answers["labeled_at"] >= x.day]
    assert x.value == pytest.approx((since["category"] == "x").mean())
    assert x.value > x.before + 0.1
    assert f"% of the answers are “x” ({x.ci_low:.1%} to " in x.to_dict()["why"]


def test_of_two_categories_the_one_that_rose_is_told(sqlite_ledger):
    answers = more_of_x(0.1)
    answers["category"] = answers["category"].replace("z", "y")
    found = changes_of(sqlite_ledger, answers)
    assert [(one.subject, one.name) for one in found] == [("share", "x")]


def test_a_collapse_of_all_is_nobodys_own(sqlite_ledger):
    assert changes_of(sqlite_ledger, year(collapse, items=40)) == ()
    assert sqlite_ledger.agreement("p").recent is not None


def test_who_answers_beside_a_careless_newcomer_is_not_named(sqlite_ledger):
    answers = year(lambda _, who: 0.4 if who == "bo" else 0.93, items=40)
    came = answers[late(answers) | (answers["annotator"] != "bo")]
    assert [one for one in changes_of(sqlite_ledger, came) if one.subject == "annotator"] == []


def test_of_two_annotators_nobody_knows_who_changed(sqlite_ledger):
    answers = one_falls()
    found = changes_of(sqlite_ledger, answers[answers["annotator"].isin(["ada", "bo"])])
    assert [one for one in found if one.subject == "annotator"] == []


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_project_has_no_changes(sqlite_ledger, seed):
    assert changes_of(sqlite_ledger, year(lambda *_: 0.85, items=40, seed=seed)) == ()


def test_too_little_has_no_changes(sqlite_ledger):
    assert changes_of(sqlite_ledger, year(collapse, weeks=3)) == ()


def test_several_categories_have_changes_too(ledger):
    ledger.import_frame(one_falls(), "p", options=QuestionOptions("several"))
    found = ledger.agreement("p").changes
    assert [(one.subject, one.name) for one in found] == [("annotator", "bo")]


def test_answers_without_times_stand_in_the_order_of_their_imports(sqlite_ledger):
    answers = one_falls()
    weeks = answers["item"].str.split().str[0].astype(int)
    untimed = answers.drop(columns="labeled_at")
    for week in range(30):
        sqlite_ledger.import_frame(untimed[weeks == week], "p")
    found = sqlite_ledger.agreement("p").changes
    assert [(one.subject, one.name) for one in found] == [("annotator", "bo")]


def test_the_number_of_statements_is_that_of_no_annotators(ledger):
    numbers = []
    for weeks, people in ((30, PEOPLE), (40, PEOPLE[:3])):
        answers = year(lambda week, who: 0.4 if week >= 22 and who == "bo" else 0.93, items=40)
        ledger.import_frame(answers[answers["annotator"].isin(people)], f"p{weeks}")
        with count_statements(ledger.database.engine) as statements:
            assert ledger.agreement(f"p{weeks}").changes
        numbers.append(statements.number)
    assert numbers[0] == numbers[1]
