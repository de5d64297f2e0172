"""Advice on definitions does not follow those who answer blindly; figures are of all answers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.helpers import count_statements
from tests.report.test_pages import page_of
from tracker.ledger import Ledger
from tracker.report.document import plain_line
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.report.verdict import acts

WHO = ("anna", "bernd", "clara", "dirk")
CATEGORIES = ("Preis", "Lieferung", "Service", "Ware")


def said(who: str, n: int, question: str) -> str:
    """Two of the honest confuse price and delivery of the topic; luca always says the same."""
    if who == "luca" and question == "tone":
        return "Service"
    if who == "luca":
        return CATEGORIES[n % 4]
    slip = n % 11 == WHO.index(who)
    if question == "topic" and n % 4 < 2:
        slip = n // 4 % 4 == WHO.index(who)
        return CATEGORIES[(n + slip) % 2]
    return CATEGORIES[(n + slip) % 4]


def answers(items: int = 80) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"item": f"t{n}", "annotator": who} | {q: said(who, n, q) for q in ("tone", "topic")}
            for n in range(items)
            for who in (*WHO, "luca")
        ]
    )


@pytest.fixture
def project(ledger: Ledger) -> Ledger:
    ledger.import_frame(answers(), "p", questions=["tone=tone", "topic=topic"])
    return ledger


def test_advice_is_of_the_others_and_the_figures_of_all(project: Ledger) -> None:
    shown = page_of(project).text
    assert "The weakest of 2 questions is “tone” (without those flagged “topic”): 5 " in shown
    gathered = gather_report(project, Asked("p"))
    of = {one.name: one for one in gathered.questions}
    assert of["topic"].without is None
    without = of["tone"].without
    assert without is not None
    assert without.annotators == ["luca"]
    excluded = project.agreement("p", question="tone", exclude_annotators=["luca"])
    assert without.agreement["measures"][0]["value"] == excluded.main.value
    assert of["tone"].agreement["counts"]["annotators"] == 5
    assert "Of “topic”: Lieferung / Preis: 160 of 224 disagreements" in shown


def test_both_ways_are_said_of_one_question(project: Ledger) -> None:
    definition = acts(gather_report(project, Asked("p", ["tone"]))).acts[1]
    text = plain_line(definition.answer)
    assert text.startswith(
        "Without the answers of luca, who is flagged, Krippendorff's alpha is 0."
    )
    everybody = project.agreement("p", question="tone").main.value
    assert f"With all answers, Krippendorff's alpha is {everybody:.3f}" in text
    assert "the weakest category is “Service”" in text


@pytest.mark.parametrize("merges", [False, True])
def test_confusions_and_merges_are_told_both_ways(project: Ledger, *, merges: bool) -> None:
    ask = project.best_merges if merges else project.confusions
    asked: dict[str, Any] = {"question": "tone"}
    advice = project.advice("p", merges=merges, **asked)
    assert advice is not None
    told = advice.to_dict()
    assert told.pop("annotators") == ["luca"]
    others = ask("p", exclude_annotators=["luca"], **asked).to_dict()
    assert told == {key: others[key] for key in told}
    assert told != {key: ask("p", **asked).to_dict()[key] for key in told}
    assert project.advice("p", question="topic", merges=merges) is None


def test_one_count_more_and_no_statement_for_each_answer(sqlite_ledger: Ledger) -> None:
    numbers = []
    for name, items in (("few", 40), ("many", 120)):
        sqlite_ledger.import_frame(answers(items), name, questions=["tone=tone"])
        with count_statements(sqlite_ledger.database.engine) as counted:
            assert sqlite_ledger.advice(name, flagged=["luca"]) is not None
        numbers.append(counted.number)
    assert numbers[0] == numbers[1]


def test_what_leaves_nothing_to_compare_is_no_advice(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.import_frame(answers(), "p", questions=["tone=tone"])
    assert sqlite_ledger.advice("p", flagged=WHO) is None
