"""What follows from decisions: consensus, gold figures, reasons, the gaps of the guideline."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.helpers import give, stored
from tests.profiles import both
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger

ROWS = [
    ("i1", "ada", "x"), ("i1", "bo", "y"), ("i1", "cy", "y"), ("i2", "ada", "x"), ("i2", "bo", "y"),
    ("i3", "ada", "x"), ("i3", "bo", "z"), ("i4", "ada", "x"), ("i4", "bo", "x"),
]  # fmt: skip


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    give(ledger, ROWS)
    return ledger


def consensus(ledger: Ledger, **choice: Any) -> dict[str, tuple[str | None, str]]:
    with ledger.consensus("p", **choice) as (columns, rows):
        places = [columns.index(name) for name in ("item", "category", "method")]
        cells = [[row[place] for place in places] for row in rows]
    return {item: (category, method) for item, category, method in cells}


def right(ledger: Ledger) -> dict[str, tuple[int, int]]:
    payload = ledger.against_gold("p").to_dict()
    return {row["annotator"]: (round(row["observed"] * row["answers"]), row["answers"])
            for row in payload["annotators"]}  # fmt: skip


@both
def test_what_was_decided_is_the_consensus_whatever_the_method(filled: Ledger) -> None:
    filled.adjudication.decide("p", "i1", ["x"], reason="annotator error")
    filled.adjudication.decide("p", "i2", reason="not in the scheme")
    for method in ("majority", "weighted", "dawid-skene"):
        found = consensus(filled, method=method)
        assert found["i1"] == ("x", "decision")
        assert found["i2"][1] == method
    assert consensus(filled, exclude_annotators="decision")["i1"] == ("y", "majority")


def test_a_decision_goes_before_other_truths_and_a_skipped_one_leaves_them(filled: Ledger) -> None:
    truths = pd.DataFrame([("i1", "y"), ("i2", "y")], columns=["item", "gold"])
    filled.import_frame(truths, "p")
    assert right(filled) == {"ada": (0, 2), "bo": (2, 2), "cy": (1, 1)}
    filled.adjudication.decide("p", "i1", ["x"], reason="annotator error")
    assert right(filled) == {"ada": (1, 2), "bo": (1, 2), "cy": (0, 1)}
    filled.adjudication.decide("p", "i2", reason="ambiguous")
    assert right(filled) == {"ada": (1, 2), "bo": (1, 2), "cy": (0, 1)}
    filled.annotators.rename("p", "decision", "the board")
    assert right(filled) == {"ada": (1, 2), "bo": (1, 2), "cy": (0, 1)}
    assert consensus(filled)["i1"] == ("x", "decision")


def test_reasons_are_counted_by_category_pair_and_annotator(filled: Ledger) -> None:
    filled.adjudication.decide("p", "i1", ["x"], reason="annotator error")
    filled.adjudication.decide("p", "i2", ["y"], reason="annotator error")
    filled.adjudication.decide("p", "i3", ["x"], reason="guideline gap")
    filled.adjudication.decide("p", "i3", ["z"], reason="guideline gap", again=True)
    payload = filled.adjudication.reasons("p").to_dict()
    by_reason = {row.pop("reason"): row for row in payload["reasons"]}
    assert payload["decisions"] == 3
    assert by_reason["annotator error"] == {
        "decisions": 2, "categories": {"x": 2, "y": 2},
        "pairs": [{"categories": ["x", "y"], "decisions": 2}],
        "annotators": [{"annotator": name, "errors": 1, "answers": answers}
                       for name, answers in (("ada", 2), ("bo", 2), ("cy", 1))],
    }  # fmt: skip
    assert by_reason["guideline gap"]["decisions"] == 1
    assert by_reason["guideline gap"]["annotators"] == []
    assert by_reason["ambiguous"]["decisions"] == 0


def test_gaps_are_open_until_a_version_of_the_guideline_settles_them(filled: Ledger) -> None:
    filled.adjudication.decide("p", "i1", ["x"], reason="guideline gap", note="say what x is")
    filled.adjudication.decide("p", "i2", ["x"], reason="ambiguous", note="no gap")
    (gap,) = filled.adjudication.gaps("p").to_dict()["gaps"]
    assert gap == {"item": "i1", "text": None, "note": "say what x is", "categories": ["x"],
                   "conflict": ["x", "y"], "made_by": None}  # fmt: skip
    with pytest.raises(InvalidOption, match="settled by a version of the guideline"):
        filled.notes.add("p", "v3", settles_gaps=True)
    note = filled.notes.add("p", "v3", guideline="v3", settles_gaps=True)
    assert note.to_dict()["settled_gaps"] == 1
    assert filled.adjudication.gaps("p").gaps == ()
    decision = filled.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.settled_by == note.id
    filled.notes.remove("p", note.id)
    assert len(filled.adjudication.gaps("p").gaps) == 1


def test_earlier_decisions_of_the_same_confusion_stand_beside_an_item(filled: Ledger) -> None:
    filled.adjudication.decide("p", "i1", ["x"], reason="guideline gap", note="so it is")
    filled.adjudication.decide("p", "i3", ["x"], reason="ambiguous")
    shown = filled.adjudication.show("p", "i2")
    assert [(one.item, one.note) for one in shown.alike] == [("i1", "so it is")]
    assert [(one.annotator, one.answer) for one in shown.answers] == [("ada", "x"), ("bo", "y")]
    assert dict(shown.votes) == {"x": 1, "y": 1}
    assert filled.adjudication.show("p", "i4").alike == []


def test_refused_method_and_a_dry_run_store_nothing(filled: Ledger) -> None:
    before = stored(filled)
    for method in (
        lambda: filled.projects.set("p", wanted=2, scale="interval"),
        lambda: filled.annotators.erase("p", "dan"),
        lambda: filled.categories.merge("p", "x", "q"),
    ):
        with pytest.raises((NotFound, Refused)):
            method()
    assert filled.categories.merge("p", "z", "x", dry_run=True).labels == 1
    assert filled.projects.set("p", wanted=2, dry_run=True).question.target_answers == 2
    assert stored(filled) == before
