"""Decisions as answers: recorded, replaced, taken back; without a category they claim none."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.helpers import SEVERAL, SPANS, standing
from tests.profiles import both
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger

ROWS = [("i1", "ada", "x"), ("i1", "bo", "y"), ("i2", "ada", "x"), ("i2", "bo", "z")]


def fill(ledger: Ledger, rows: object = ROWS, project: str = "p", **how: Any) -> Ledger:
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, project, **how)
    return ledger


def decided(ledger: Ledger, item: str = "i1", project: str = "p") -> tuple[str, str] | None:
    decision = ledger.adjudication.show(project, item).decision
    return None if decision is None else (" ".join(decision.categories), decision.reason)


@both
def test_the_story_of_a_decision(ledger):
    before = standing(fill(ledger))
    adjudication, mia = ledger.adjudication, ledger.acting_for("mia").adjudication
    made = mia.decide("p", "i1", ["x"], reason="ambiguous", note=" say it ")
    first = made.decision
    assert set(standing(ledger)) - set(before) == {("i1", "decision", "x")}
    found = {listed.annotator.name: listed.annotator.kind for listed in ledger.annotators.list("p")}
    assert found == {"ada": "human", "bo": "human", "decision": "reference"}
    decision = adjudication.show("p", "i1").to_dict()["decision"]
    assert (decision["made_by"], decision["note"]) == ("mia", "say it")
    assert decided(ledger, "i2") is None
    # The second to decide sees the first, and nothing is overwritten.
    with pytest.raises(Refused, match=r"'i1' is decided by mia: x \(ambiguous\)"):
        adjudication.decide("p", "i1", ["y"], reason="annotator error")
    second = adjudication.decide("p", "i1", ["y"], reason="annotator error", replaces=first.id)
    assert second.before == first
    third = adjudication.decide("p", "i1", ["x"], reason="guideline gap", again=True)
    assert third.before == second.decision
    assert decided(ledger) == ("x", "guideline gap")
    labels = ledger.items.show("p", "i1").labels
    states = [label.state for label in labels if label.annotator == "decision"]
    assert sorted(states) == ["repeated", "stands", "superseded"]
    # Taken back one by one, the ledger is as if there had been none.
    for left in (("y", "annotator error"), ("x", "ambiguous"), None):
        adjudication.undo("p", "i1")
        assert decided(ledger) == left
    assert standing(ledger) == before
    with pytest.raises(NotFound, match="nothing was decided about 'i1'"):
        adjudication.undo("p", "i1")
    # Without a category no answer is claimed.
    adjudication.decide("p", "i1", ["x"], reason="ambiguous")
    adjudication.decide("p", "i1", reason="not in the scheme", again=True)
    assert decided(ledger) == ("", "not in the scheme")
    labels = ledger.items.show("p", "i1").labels
    states = [(label.answer, label.state) for label in labels if label.annotator == "decision"]
    assert ("skipped", "stands") in states
    assert [state for _, state in states].count("stands") == 1
    with ledger.consensus("p") as (_, rows):
        assert {row[4] for row in rows} == {"majority"}
    ledger.projects.delete("p")  # with its decisions
    assert decided(fill(ledger)) is None


def test_a_decision_about_several_categories_or_questions(ledger):
    fill(ledger, options=SEVERAL).adjudication.decide("p", "i1", ["y", "x"], reason="ambiguous")
    assert decided(ledger) == ("x y", "ambiguous")
    ledger.adjudication.decide("p", "i1", reason="not in the scheme", again=True)
    assert decided(ledger) == ("", "not in the scheme")
    (label,) = (label for label in ledger.items.show("p", "i1").labels
                if (label.annotator, label.state) == ("decision", "stands"))  # fmt: skip
    assert label.answer == "skipped"
    with ledger.consensus("p") as (_, rows):
        assert {row[4] for row in rows} == {"majority"}
    table = [("i1", "ada", "x", "a"), ("i1", "bo", "y", "b")]
    frame = pd.DataFrame(table, columns=["item", "annotator", "tone", "topic"])
    ledger.import_frame(frame, "q", questions=["tone=tone", "topic=topic"])
    ledger.adjudication.decide("q", "i1", ["x"], reason="ambiguous", question="tone")
    with pytest.raises(Refused, match=r"'i1' is decided: x \(ambiguous\)"):
        ledger.adjudication.decide("q", "i1", ["y"], reason="ambiguous", question="tone")
    for name, items in (("tone", 0), ("topic", 1)):
        assert len(ledger.adjudication.list("q", question=name).items) == items


BAD = [
    ("i9", ["x"], "ambiguous", NotFound, "no item 'i9'"),
    ("i1", ["w"], "ambiguous", NotFound, "no category 'w'.*\nit has: x, y, z"),
    ("i1", ["x"], "guideline", InvalidOption, "no reason\ndid you mean 'guideline gap'"),
    ("i1", ["x", "y"], "ambiguous", InvalidOption, "one category an answer"),
    ("i1", [], "guideline gap", InvalidOption, "needs a category"),
    ("i1", [], "annotator error", InvalidOption, "needs a category"),
]


def test_bad_decisions_store_nothing(ledger):
    before = standing(fill(ledger))
    for item, categories, reason, error, message in BAD:
        with pytest.raises(error, match=message):
            ledger.adjudication.decide("p", item, categories, reason=reason)
        assert (standing(ledger), decided(ledger)) == (before, None)


def test_spans_and_a_person_of_that_name_are_refused(ledger):
    columns = ["item", "annotator", "category", "start", "end"]
    frame = pd.DataFrame([("i1", "ada", "x", 0, 2)], columns=columns)
    ledger.import_frame(frame, "s", options=SPANS)
    with pytest.raises(InvalidOption, match="a project of spans"):
        ledger.adjudication.decide("s", "i1", ["x"], reason="ambiguous")
    fill(ledger, [*ROWS, ("i1", "decision", "x")])
    ledger.annotators.kind("p", "decision", "human")
    with pytest.raises(Refused, match="'decision' is a reference here, and a human in 'p'"):
        ledger.adjudication.decide("p", "i1", ["x"], reason="ambiguous")


def test_the_decision_of_an_erased_person_stays_and_its_note_is_listed(ledger):
    fill(ledger).acting_for("ada").adjudication.decide(
        "p", "i1", ["x"], reason="ambiguous", note="as ada said"
    )
    erased = ledger.annotators.erase("p", "ada")
    mentions = [(mention.what, mention.rows) for mention in erased.mentions]
    assert ("decisions and their notes", 1) in mentions
    decision = ledger.adjudication.show("p", "i1").decision
    assert decision is not None
    assert (decision.made_by, decision.categories) == ("(erased)", ("x",))
