"""How far a project is: answers to items, what is wanted, the pace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import undo
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

WANTED = QuestionOptions(wanted=2)


def test_coverage_of_the_wanted_answers(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n i,B,x\n i,C,y\n j,A,x\n k,A,\n k,B,x\n l,A,")
    number = ledger.import_file(file, "p", options=WANTED).id
    told = ledger.status("p").to_dict()
    assert told["items"] == 4
    assert told["items_unanswered"] == 1  # l was skipped by everyone
    assert told["answers"] == 5
    assert told["annotators"] == 3
    assert told["answers_per_item"] == {"0": 1, "1": 2, "3": 1}
    assert (told["wanted"], told["items_complete"], told["answers_missing"]) == (2, 1, 4)
    assert told["coverage"] == pytest.approx(1 / 4)
    assert told["last_import"]["import"] == number
    ledger.import_file(write("item,annotator,category\n i,A,y"), "p")
    undo(ledger, 2)
    assert ledger.status("p").to_dict()["last_import"]["import"] == number


def test_pace_and_completion(ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category", "labeled_at")]
    rows += [(f"i{day}", "A", "x", f"2024-03-{day:02}T12:00Z") for day in range(1, 12)]
    rows.append(("old", "A", "x", "2023-01-01"))  # the pace of late does not heed it
    ledger.import_file(write(rows), "p", options=WANTED)
    status = ledger.status("p")
    assert status.per_day == pytest.approx(1.1)
    told = status.to_dict()
    assert told["answers_missing"] == 12
    assert (told["pace_from"], told["pace_to"]) == ("2024-03-01T12:00:00Z", "2024-03-11T12:00:00Z")
    # Months later: at no pace of now.
    assert told["estimated_completion"] is None
    # 12 answers at 1.1 a day, from the day that is asked about on.
    then = ledger.status("p", as_of="2024-03-15T12:00").to_dict()
    assert then["estimated_completion"].startswith("2024-03-26T09:49:05")
    assert ledger.status("p", as_of="2024-04-09").done_at is None
    header = "item,annotator,category,labeled_at\n"
    file = write(header + "i,A,x,2024-03-01T10:00\n j,A,x,2024-03-01T20:00")
    ledger.import_file(file, "q", options=WANTED)
    assert ledger.status("q").per_day is None, "less than a day tells of no pace"


def test_passes_models_and_references_are_no_further_answers(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,pass,gold\n i,A,x,1,x\n i,A,x,2,x\n i,B,x,1,x")
    ledger.import_file(file, "p", options=WANTED)
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "B", "model")

    told = ledger.status("p").to_dict()
    assert (told["answers_per_item"], told["annotators"]) == ({"1": 1}, 1)
