"""What is plainly wrong is told first by every face, and sound data are still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.agreement.test_recent import collapse, year
from tests.audit.crowds import seeded
from tests.audit.test_definitions import school, sliced
from tests.audit.test_odd_import import answers, shift
from tests.helpers import count_statements
from tracker.audit.sentences import nothing
from tracker.ledger import Ledger
from tracker.report.document import Acts, Paragraph, plain_line
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.report.verdict import verdict_section

GATE = '[[check]]\nflags = ["{}"]\n'


def swapped(ledger: Ledger, project: str) -> None:
    random, rows = seeded(9), []
    for item in range(300):
        truth = random.choice("abcd")
        for who in range(8):
            given = truth if random.random() < 0.9 else random.choice("abcd")
            given = {"b": "c", "c": "b"}.get(given, given) if who == 3 else given
            rows.append((f"i{item}", f"p{who}", given))
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), project)


def dutch(ledger: Ledger, project: str) -> None:
    frame = sliced(seeded(1), 800, {"nl": 0.7, "en": 0.1, "de": 0.1})
    ledger.import_frame(frame, project, keep=["language"])


def slipped(ledger: Ledger, project: str) -> None:
    for week, frame in enumerate(answers(seeded(3))):
        ledger.import_frame(shift(frame, "p3", 1) if week == 5 else frame, project)


def schools(ledger: Ledger, project: str) -> None:
    ledger.import_frame(school(seeded(1), "schools", 8, 500), project)


def collapsed(ledger: Ledger, project: str) -> None:
    ledger.import_frame(year(collapse), project)


def apart(ledger: Ledger, project: str) -> None:
    """Two groups of people who share no item."""
    rows = [
        (f"{group}{item}", f"{group}{who}", "xyz"[item % 3])
        for group in "ab"
        for item in range(60)
        for who in range(3)
    ]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), project)


def pasted(ledger: Ledger, project: str) -> None:
    """One of eight people gives a model's answers, who errs as often as people do."""
    random, rows = seeded(4), []
    for item in range(400):
        truth = random.choice("abcd")
        model = truth if random.random() < 0.85 else random.choice("abcd")
        rows.append((f"i{item}", "gpt", model))
        for who in range(8):
            own = truth if random.random() < 0.87 else random.choice("abcd")
            given = model if who == 5 and random.random() < 0.97 else own
            rows.append((f"i{item}", f"p{who}", given))
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), project)
    ledger.annotators.kind(project, "gpt", "model")


def sound(ledger: Ledger, project: str) -> None:
    for frame in answers(seeded(5), per_item=4):
        ledger.import_frame(frame, project)


WRONG = {
    swapped: ("annotator", "p3", "--value b=c --value c=b"),
    dutch: ("slice", "language", "Where language is nl"),
    slipped: ("import", "p3", "tracker imports undo"),
    schools: ("category", "b", "is read in two ways"),
    collapsed: ("period", None, "hides it"),
    apart: ("project", None, "share no item"),
    pasted: ("pair", "gpt", "gpt"),
}


@pytest.mark.parametrize("fill", WRONG, ids=lambda fill: fill.__name__)
def test_what_is_wrong_is_the_first_of_the_verdict_the_status_and_the_report(
    ledger: Ledger, fill: Callable[[Ledger, str], None]
) -> None:
    fill(ledger, "p")
    subject, name, words = WRONG[fill]
    first = ledger.verdict("p")["verdict"][0]
    assert first["subject"] == subject
    assert name is None or first["names"][0] == name
    assert words in first["why"]
    assert first["command"].startswith("tracker ")
    lead = next(
        block for block in verdict_section(gather_report(ledger, Asked("p"))).blocks
        if isinstance(block, Paragraph)
    )  # fmt: skip
    assert lead.tone == "lead"
    assert plain_line(lead.text).startswith(first["why"])


def test_sound_data_are_still_and_what_could_be_missed_is_told(ledger: Ledger) -> None:
    sound(ledger, "p")
    told = ledger.verdict("p")
    assert told["verdict"] == []
    assert told["detectable_gap"] == pytest.approx(0.13)
    (whom,) = [
        act
        for block in verdict_section(gather_report(ledger, Asked("p"))).blocks
        if isinstance(block, Acts)
        for act in block.acts
        if "Nobody" in plain_line(act.answer)
    ]
    assert "0.130 less than they do with each other would be found" in plain_line(whom.answer)


def test_of_pairs_only_it_is_told_that_somebody_could_be_missed(sqlite_ledger: Ledger) -> None:
    for frame in answers(seeded(5), per_item=2):
        sqlite_ledger.import_frame(frame, "p")
    told = sqlite_ledger.verdict("p")
    assert (told["verdict"], told["detectable_gap"]) == ([], None)
    assert "could be missed" in nothing(8, None)


def test_what_a_person_explains_is_counted_again_without_them(ledger: Ledger) -> None:
    swapped(ledger, "p")

    def disagreement(**choice: Any) -> float:
        rows = ledger.agreement("p", measures=["krippendorff_alpha"], **choice).to_dict()
        return 1 - float(rows["measures"][0]["observed"])

    [first] = ledger.verdict("p")["verdict"]
    without = disagreement(exclude_annotators=["p3"])
    assert first["explained"] == pytest.approx(1 - without / disagreement())


def test_findings_about_a_divided_category_are_left_to_its_definition(ledger: Ledger) -> None:
    schools(ledger, "p")
    biased = [
        flag
        for row in ledger.audit("p").to_dict()["annotators"]
        for flag in row["flags"]
        if flag["state"] == "flagged" and flag["details"].get("divided")
    ]
    assert biased
    assert all(concern["kind"] != "category_bias" for concern in ledger.verdict("p")["verdict"])


@pytest.mark.parametrize(
    ("fill", "kind"),
    [(dutch, "weak_slice"), (schools, "divided_definition"), (slipped, "odd_import")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_gate_fails_on_what_is_about_nobody_and_says_it_first(
    ledger: Ledger, fill: Callable[[Ledger, str], None], kind: str
) -> None:
    fill(ledger, "p")
    judged = ledger.gate_text("p", GATE.format(kind)).to_dict()
    assert not judged["passed"]
    assert judged["verdict"] == ledger.verdict("p")["verdict"]
    assert ledger.gate_text("p", GATE.format("constant_category")).passed


def test_a_gate_names_the_model_that_is_copied(ledger: Ledger) -> None:
    pasted(ledger, "p")
    [result] = ledger.gate_text("p", GATE.format("copying")).to_dict()["checks"]
    assert not result["passed"]
    assert result["annotators"] == ["gpt", "p5"]


def test_a_gate_that_is_made_of_a_project_asks_for_all_of_it(ledger: Ledger) -> None:
    sound(ledger, "p")
    text = ledger.gate_config("p")
    assert all(kind in text for kind in ("weak_slice", "divided_definition", "odd_import"))
    assert ledger.gate_text("p", text).passed
    dutch(ledger, "q")
    assert "the audit finds weak_slice of language nl" in ledger.gate_config("q").lower()


def test_the_number_of_statements_does_not_depend_on_the_answers(ledger: Ledger) -> None:
    numbers = []
    for people, items in ((4, 60), (9, 300)):
        rows = [(f"i{n}", f"p{who}", "abc"[n % 3]) for n in range(items) for who in range(people)]
        frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
        ledger.import_frame(frame, f"p{people}")
        with count_statements(ledger.database.engine) as counted:
            assert ledger.verdict(f"p{people}")["verdict"] == []
        numbers.append(counted.number)
    assert numbers[0] == numbers[1]
