"""Categories that are one: figures as if the answers had been, and back again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.helpers import ONE, SEVERAL, SPANS, fates, standing, undo
from tests.profiles import both
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.categories import project_labels_by_category
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import Change

Write = Callable[..., Path]

HEADER = "item,annotator,category,labeled_at\n"
FILES = (
    HEADER + "i,A,Pos,2024-01-01\n i,B,pos,2024-01-01\n j,A,neg,2024-01-01\n j,B,Pos,2024-01-01",
    HEADER + "i,A,neg,2024-01-02\n k,A,Pos,2024-01-02\n k,B,Pos,2024-01-02\n j,B,pos,2024-01-03",
    HEADER + "l,A,Pos,2024-01-04\n l,B,pos,2024-01-04\n i,A,Pos,2024-01-05",
)


def seen(ledger: Ledger, project: str = "p", **asked: Any) -> tuple[Any, ...]:
    with ledger.asking(project) as (connection, question):
        listed = project_labels_by_category(connection, question)
    measures = ["percent_agreement", "krippendorff_alpha"]
    found_figures = ledger.agreement(project, measures=measures, **asked)
    figures = {one.measure: one.value and round(one.value, 9) for one in found_figures.measures}
    rates = {found_figures.categories[one.category]: one.rate for one in found_figures.rates}
    return standing(ledger, project), None if asked else listed, figures, rates


def moment(ledger: Ledger) -> str:
    with ledger.database.read() as connection:
        last = connection.scalar(select(func.max(Change.recorded_at))) or 0
    return datetime.fromtimestamp(last / 1e6, UTC).isoformat()


@pytest.mark.parametrize(
    "options", [pytest.param(ONE, marks=both), SEVERAL], ids=["one", "several"]
)
def test_figures_are_as_if_the_answers_had_been_the_other(
    ledger: Ledger, write: Write, options: QuestionOptions
) -> None:
    imports = [ledger.import_file(write(text), "p", options=options).id for text in FILES[:2]]
    ledger.snapshot("p")
    apart, before = seen(ledger), moment(ledger)
    assert ledger.categories.merge("p", "Pos", " pos ").labels == 2
    for text in FILES[:2]:
        ledger.import_file(write(text.replace("Pos", "pos")), "merged", options=options)
    assert seen(ledger) == seen(ledger, "merged")
    ledger.snapshot("p")
    assert seen(ledger, known_at=before)[2:] == apart[2:]
    last = ledger.import_file(write(FILES[2]), "p").id
    ledger.import_file(write(FILES[2].replace("Pos", "pos")), "merged")
    assert seen(ledger) == seen(ledger, "merged")
    merged, during = seen(ledger), moment(ledger)
    ledger.snapshot("p")
    assert ledger.categories.split("p", "Pos").whose == "pos"
    for text in FILES:
        ledger.import_file(write(text), "never", options=options)
    assert seen(ledger) == seen(ledger, "never")
    assert seen(ledger, known_at=during)[2:] == merged[2:]
    assert seen(ledger, known_at=before)[2:] == apart[2:]
    ledger.record_snapshot("p", check=True)
    assert ledger.verify("p").faults == ()
    undo(ledger, last)
    assert seen(ledger) == apart
    undo(ledger, imports[1])
    ledger.import_file(write(FILES[0]), "first", options=options)
    assert seen(ledger) == seen(ledger, "first")
    assert ledger.database.check() == []


def test_an_answer_that_held_both_holds_both_again(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,start,end\n"
    rows = "i,A,x,0,3\n i,A,X,0,3\n i,A,X,5,9\n i,B,x,0,3"
    ledger.import_file(write(header + rows), "p", options=SPANS)
    before = standing(ledger, "p", "annotator", "category", "start")
    ledger.categories.merge("p", "X", "x")
    assert standing(ledger, "p", "annotator", "category", "start") == [
        ("A", "x", 0),
        ("A", "x", 5),
        ("B", "x", 0),
    ]
    ledger.import_file(write(header + "j,A,x,0,3\n j,A,X,0,3"), "p")
    assert [row for row in standing(ledger) if row[0] == "j"] == [("j", "A", "x")]
    ledger.categories.split("p", "X")
    after = standing(ledger, "p", "item", "annotator", "category", "start")
    assert [row[1:] for row in after if row[0] == "i"] == before
    assert [row[2] for row in after if row[0] == "j"] == ["X", "x"]


def test_a_merged_name_in_a_closed_list_is_still_read(ledger: Ledger, write: Write) -> None:
    closed = QuestionOptions(categories=("a", "b", "c"))
    ledger.import_file(write("item,annotator,category\n i,A,a\n i,B,b"), "p", options=closed)
    ledger.categories.merge("p", "a", "b")
    done = ledger.import_file(write("item,annotator,category\n i,A,b\n j,A,a"), "p")
    assert fates(done) == {"unchanged": 1, "inserted": 1}
    ledger.categories.merge("p", "b", "c")
    assert {row[2] for row in standing(ledger)} == {"c"}
    with pytest.raises(InvalidOption, match=r"(?s)'b', of which 'a' is a part.*split p b"):
        ledger.categories.split("p", "a")
    ledger.categories.split("p", "b")
    ledger.categories.split("p", "a")
    assert {row[2] for row in standing(ledger)} == {"a", "b"}


def test_what_cannot_be_merged(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n i,B,y"), "p")
    with pytest.raises(NotFound, match="there is no category 'z'"):
        ledger.categories.merge("p", "z", "x")
    with pytest.raises(InvalidOption, match="one category"):
        ledger.categories.merge("p", "x", "x")
    with pytest.raises(NotFound, match="not merged"):
        ledger.categories.split("p", "x")


def test_import_warns_of_new_categories_that_look_alike(ledger: Ledger, write: Write) -> None:
    rows = "item,annotator,category\n i,A,very good\n i,B,Very  good\n j,A,ﬁne\n j,B,bad"
    ledger.import_file(write(rows), "p")
    (warning,) = ledger.import_file(write("item,annotator,category\n k,A,fine"), "p").warnings
    assert warning.endswith("tracker category merge p fine 'ﬁne'")
    again = ledger.import_file(write("item,annotator,category\n m,A,fine"), "p")
    assert again.warnings == (), "both are established"
    ledger.categories.merge("p", "ﬁne", "fine")
    quiet = ledger.import_file(write("item,annotator,category\n l,A,fine\n l,B,bad"), "p")
    assert "warnings" not in quiet.to_dict()
