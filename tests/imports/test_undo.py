"""Imports taken back: as if they had never been, in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import SEVERAL, SPANS, fates, standing, undo
from tracker.core.errors import InvalidOption, NotFound
from tracker.imports.undo import find_import, list_imports
from tracker.ledger import Ledger

Write = Callable[..., Path]

HEADER = "item,annotator,category,labeled_at\n"
FILES = (
    HEADER + "i,A,x,2024-03-02\n j,A,x,\n i,B,y,2024-03-05",
    HEADER + "i,A,y,2024-03-01\n j,A,y,\n k,A,x,",
    HEADER + "i,A,z,2024-03-03\n j,A,x,\n i,B,y,2024-03-05\n i,B,x,2024-03-04",
)


@pytest.mark.parametrize("undone", [(0,), (2,), (2, 1), (0, 2), (1, 2, 0)])
def test_undo_in_any_order_equals_never_having_imported(
    ledger: Ledger, write: Write, undone: tuple[int, ...]
) -> None:
    files = [write(text, f"{n}.csv") for n, text in enumerate(FILES)]
    imports = [ledger.import_file(file, "undone").id for file in files]
    for number in undone:
        undo(ledger, imports[number])
    left = [file for n, file in enumerate(files) if n not in undone]
    if not left:
        assert standing(ledger, "undone") == []
        return
    for file in left:
        ledger.import_file(file, "never")
    columns = ("item", "annotator", "category", "pass", "labeled_at", "seconds")
    assert standing(ledger, "undone", *columns) == standing(ledger, "never", *columns)
    figures = [ledger.agreement(name).to_dict() for name in ("undone", "never")]
    assert figures[0]["measures"] == figures[1]["measures"]
    assert figures[0]["counts"] == figures[1]["counts"]
    assert ledger.database.check() == []


def test_undone_labels_stay_undone_when_others_go(ledger: Ledger, write: Write) -> None:
    first = ledger.import_file(write(HEADER + "i,A,x,2024-03-03"), "p").id
    second = ledger.import_file(write(HEADER + "i,A,y,2024-03-04"), "p").id
    undo(ledger, first)
    undo(ledger, second)
    assert standing(ledger) == []
    third = ledger.import_file(write(HEADER + "i,A,z,2024-03-01"), "p")
    assert fates(third) == {"inserted": 1}
    assert standing(ledger) == [("i", "A", "z")]


def test_what_was_undone_can_be_imported_again(ledger: Ledger, write: Write) -> None:
    mistake = write("item,annotator,category\n i,A,x")
    first = ledger.import_file(mistake, "p").id
    ledger.import_file(write("item,annotator,category\n i,A,y"), "p")
    undo(ledger, first)
    # It is labelled when it is recorded now, not when it was in vain.
    assert fates(ledger.import_file(mistake, "p")) == {"changed": 1}
    assert standing(ledger) == [("i", "A", "x")]


def test_repetitions_survive_the_undo_of_what_they_repeat(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n j,A,y")
    first = ledger.import_file(file, "p").id
    ledger.import_file(file, "p")
    undo(ledger, first)
    assert standing(ledger) == [("i", "A", "x"), ("j", "A", "y")]


def test_whole_answers_come_back(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category\n"
    ledger.import_file(write(header + "i,A,x\n i,A,y\n j,A,"), "p", options=SEVERAL)
    second = ledger.import_file(write(header + "i,A,z\n j,A,x\n j,A,y"), "p").id
    undo(ledger, second)
    assert standing(ledger) == [("i", "A", "x"), ("i", "A", "y"), ("j", "A", None)]


def test_spans_come_back(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,start,end\n"
    ledger.import_file(write(header + "i,A,x,0,3\n i,A,x,5,9"), "p", options=SPANS)
    before = ledger.export_frame("p")
    second = ledger.import_file(write(header + "i,A,,,"), "p").id
    assert standing(ledger, "p", "item", "category") == [("i", None)]
    undo(ledger, second)
    assert ledger.export_frame("p").equals(before)


def test_truths_are_taken_back_too(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category,gold\n i,A,x,x\n j,A,y,x"), "p")
    second = ledger.import_file(write("item,gold\n i,y\n j,y"), "p").id
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert gold.observed == 0.5
    before = ledger.export_frame("p").query("annotator == 'gold'").category.tolist()
    assert before == ["y", "y"]
    undo(ledger, second)
    assert ledger.export_frame("p").query("annotator == 'gold'").category.tolist() == ["x", "x"]


def test_an_undo_leaves_other_projects_alone(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x")
    ledger.import_file(file, "p")
    other = ledger.import_file(file, "q").id
    undo(ledger, other)
    assert standing(ledger, "p") == [("i", "A", "x")]
    assert standing(ledger, "q") == []


def test_an_import_is_undone_once(ledger: Ledger, write: Write) -> None:
    number = ledger.import_file(write("item,annotator,category\n i,A,x"), "p").id
    undo(ledger, number)
    with pytest.raises(InvalidOption, match=f"import {number} was undone on "):
        undo(ledger, number)
    with pytest.raises(NotFound, match="there is no import 77"):
        undo(ledger, 77)


def test_imports_are_listed_with_their_fates_and_sources(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n j,A,x", "weird 'name' é.csv")
    first = ledger.import_file([file, write("item,annotator,category\n i,A,y")], "p").id
    ledger.import_file(file, "q")
    assert first is not None
    undo(ledger, first)
    with ledger.database.read() as connection:
        listed = list_imports(connection)
        shown = find_import(connection, first).to_dict()
        assert [one.id for one in list_imports(connection, listed[0].project_id)] == [first]
        assert list_imports(connection, limit=1) == listed[:1]
        assert list_imports(connection, after=first, limit=1) == listed[1:]
    assert [one.project for one in listed] == ["p", "q"]
    assert shown["import"] == first
    assert (shown["rows"], shown["inserted"], shown["changed"]) == (3, 2, 1)
    assert shown["sources"][0]["name"] == str(file)
    assert {len(source["sha256"]) for source in shown["sources"]} == {64}
    assert shown["undone_at"] >= shown["recorded_at"]
    assert listed[1].to_dict()["undone_at"] is None
