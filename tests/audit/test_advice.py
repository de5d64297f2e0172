"""Advice on definitions does not follow those who answer blindly; figures are of all answers."""

import pandas as pd
import pytest

from tests.audit.test_models import report_text
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked

WHO = ("anna", "bernd", "clara", "dirk")
CATEGORIES = ("Preis", "Lieferung", "Service", "Ware")


def said(who, n, question):
    """Two of the honest confuse price and delivery of the topic; luca always says the same."""
    if who == "luca":
        return "Service" if question == "tone" else CATEGORIES[n % 4]
    slip = n % 11 == WHO.index(who)
    if question == "topic" and n % 4 < 2:
        slip = n // 4 % 4 == WHO.index(who)
        return CATEGORIES[(n + slip) % 2]
    return CATEGORIES[(n + slip) % 4]


def answers():
    return pd.DataFrame(
        [
            {"item": f"t{n}", "annotator": who} | {q: said(who, n, q) for q in ("tone", "topic")}
            for n in range(80)
            for who in (*WHO, "luca")
        ]
    )


def fill(ledger):
    ledger.import_frame(answers(), "p", questions=["tone=tone", "topic=topic"])


def test_a_report_gives_advice_without_the_flagged_and_figures_of_all(ledger, fill_once):
    project = fill_once(ledger, fill)
    shown = report_text(project)
    assert "The weakest of 2 questions is “tone” (without those flagged “topic”): 5 " in shown
    assert "Of “topic”: Lieferung / Preis: 160 of 224 disagreements" in shown
    of = {one.name: one for one in gather_report(project, Asked("p")).questions}
    assert of["topic"].without is None
    without = of["tone"].without
    assert without.annotators == ["luca"]
    excluded = project.agreement("p", question="tone", exclude_annotators=["luca"])
    assert without.agreement["measures"][0]["value"] == excluded.main.value
    assert of["tone"].agreement["counts"]["annotators"] == 5


@pytest.mark.parametrize("merges", [False, True])
def test_confusions_and_merges_are_told_both_ways(ledger, fill_once, merges):
    project = fill_once(ledger, fill)
    ask = project.best_merges if merges else project.confusions
    told = project.advice("p", merges=merges, question="tone").to_dict()
    assert told.pop("annotators") == ["luca"]
    others = ask("p", exclude_annotators=["luca"], question="tone").to_dict()
    assert told == {key: others[key] for key in told}
    everybody = ask("p", question="tone").to_dict()
    assert told != {key: everybody[key] for key in told}
    assert project.advice("p", question="topic", merges=merges) is None
    assert project.advice("p", question="tone", flagged=WHO) is None, "nothing is left to compare"
