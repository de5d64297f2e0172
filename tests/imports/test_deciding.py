"""Decisions as answers: recorded, replaced, taken back, claiming nothing if nothing is right."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.helpers import SEVERAL, SPANS, standing
from tests.profiles import both
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

ROWS = [("i1", "ada", "x"), ("i1", "bo", "y"), ("i2", "ada", "x"), ("i2", "bo", "z")]


def filled(ledger: Ledger, rows: object = ROWS, **options: object) -> Ledger:
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, "p", **options)  # type: ignore[arg-type]
    return ledger


def decided(ledger: Ledger, item: str = "i1") -> tuple[tuple[str, ...], str] | None:
    decision = ledger.adjudication.show("p", item).decision
    return None if decision is None else (decision.categories, decision.reason)


@both
def test_a_decision_is_an_answer_of_the_reference_decision(ledger: Ledger) -> None:
    filled(ledger).acting_for("mia").adjudication.decide(
        "p", "i1", ["x"], reason="guideline gap", note=" say it "
    )
    assert [row for row in standing(ledger) if row[1] == "decision"] == [("i1", "decision", "x")]
    (info,) = (one.annotator for one in ledger.annotators.list("p")
               if one.annotator.name == "decision")  # fmt: skip
    assert info.kind == "reference"
    decision = ledger.adjudication.show("p", "i1").to_dict()["decision"]
    assert (decision["made_by"], decision["note"]) == ("mia", "say it")
    assert ledger.adjudication.show("p", "i2").decision is None


@both
def test_the_second_to_decide_sees_the_first_and_nothing_is_overwritten(ledger: Ledger) -> None:
    filled(ledger)
    first = ledger.adjudication.decide("p", "i1", ["x"], reason="ambiguous").decision
    with pytest.raises(Refused, match=r"'i1' is decided: x \(ambiguous\)"):
        ledger.adjudication.decide("p", "i1", ["y"], reason="annotator error")
    second = ledger.adjudication.decide(
        "p", "i1", ["y"], reason="annotator error", replaces=first.id
    )
    assert second.before == first
    third = ledger.adjudication.decide("p", "i1", ["x"], reason="guideline gap", again=True)
    assert third.before == second.decision
    assert decided(ledger) == (("x",), "guideline gap")
    states = [one.state for one in ledger.items.show("p", "i1").labels
              if one.annotator == "decision"]  # fmt: skip
    assert sorted(states) == ["repeated", "stands", "superseded"]


@both
def test_a_decision_taken_back_leaves_the_ledger_as_if_it_had_never_been(ledger: Ledger) -> None:
    before = standing(filled(ledger))
    for reason, category in (("ambiguous", "x"), ("annotator error", "y")):
        ledger.adjudication.decide("p", "i1", [category], reason=reason, again=True)
    ledger.adjudication.undo("p", "i1")
    assert decided(ledger) == (("x",), "ambiguous")
    ledger.adjudication.undo("p", "i1")
    assert (standing(ledger), decided(ledger)) == (before, None)
    with pytest.raises(NotFound, match="nothing was decided about 'i1'"):
        ledger.adjudication.undo("p", "i1")


@both
@pytest.mark.parametrize("options", [QuestionOptions(), SEVERAL])
def test_without_a_category_no_answer_is_claimed(ledger: Ledger, options: QuestionOptions) -> None:
    filled(ledger, options=options).adjudication.decide("p", "i1", ["x"], reason="ambiguous")
    ledger.adjudication.decide("p", "i1", reason="not in the scheme", again=True)
    assert decided(ledger) == ((), "not in the scheme")
    (label,) = (one for one in ledger.items.show("p", "i1").labels
                if (one.annotator, one.state) == ("decision", "stands"))  # fmt: skip
    assert label.answer == "skipped"
    with ledger.consensus("p") as (_, rows):
        assert {row[4] for row in rows} == {"majority"}


def test_several_categories_are_one_answer(ledger: Ledger) -> None:
    filled(ledger, options=SEVERAL).adjudication.decide("p", "i1", ["y", "x"], reason="ambiguous")
    assert decided(ledger) == (("x", "y"), "ambiguous")


@pytest.mark.parametrize(
    ("item", "categories", "reason", "error", "words"),
    [
        ("i9", ["x"], "ambiguous", NotFound, "no item 'i9'"),
        ("i1", ["w"], "ambiguous", NotFound, "no category 'w'.*\nit has: x, y, z"),
        ("i1", ["x"], "guideline", InvalidOption, "no reason\ndid you mean 'guideline gap'"),
        ("i1", ["x", "y"], "ambiguous", InvalidOption, "one category an answer"),
        ("i1", [], "guideline gap", InvalidOption, "needs a category"),
        ("i1", [], "annotator error", InvalidOption, "needs a category"),
    ],
)
def test_what_is_no_decision_stores_nothing(
    ledger: Ledger, item: str, categories: list[str], reason: str, error: type, words: str
) -> None:
    before = standing(filled(ledger))
    with pytest.raises(error, match=words):
        ledger.adjudication.decide("p", item, categories, reason=reason)
    assert (standing(ledger), decided(ledger)) == (before, None)


def test_spans_and_a_person_of_that_name_are_refused(ledger: Ledger) -> None:
    frame = pd.DataFrame([("i1", "ada", "x", 0, 2)],
                         columns=["item", "annotator", "category", "start", "end"])  # fmt: skip
    ledger.import_frame(frame, "s", options=SPANS)
    with pytest.raises(InvalidOption, match="a project of spans"):
        ledger.adjudication.decide("s", "i1", ["x"], reason="ambiguous")
    filled(ledger, [*ROWS, ("i1", "decision", "x")])
    ledger.annotators.kind("p", "decision", "human")
    with pytest.raises(Refused, match="'decision' is a reference here, and a human in 'p'"):
        ledger.adjudication.decide("p", "i1", ["x"], reason="ambiguous")


@both
def test_a_question_of_several_is_decided_by_itself(ledger: Ledger) -> None:
    rows = [("i1", "ada", "x", "a"), ("i1", "bo", "y", "b")]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "tone", "topic"])
    ledger.import_frame(frame, "p", questions=["tone=tone", "topic=topic"])
    ledger.adjudication.decide("p", "i1", ["x"], reason="ambiguous", question="tone")
    listed = {name: len(ledger.adjudication.list("p", question=name).items)
              for name in ("tone", "topic")}  # fmt: skip
    assert listed == {"tone": 0, "topic": 1}


def test_erasing_who_decided_leaves_the_decision_and_tells_of_its_note(ledger: Ledger) -> None:
    filled(ledger).acting_for("ada").adjudication.decide(
        "p", "i1", ["x"], reason="ambiguous", note="as ada said"
    )
    erased = ledger.annotators.erase("p", "ada")
    assert ("decisions and their notes", 1) in [(one.what, one.rows) for one in erased.mentions]
    decision = ledger.adjudication.show("p", "i1").decision
    assert decision is not None
    assert (decision.made_by, decision.categories) == ("(erased)", ("x",))


@both
def test_decisions_go_with_their_project(ledger: Ledger) -> None:
    filled(ledger).adjudication.decide("p", "i1", ["x"], reason="ambiguous")
    ledger.projects.delete("p")
    filled(ledger)
    assert decided(ledger) is None
