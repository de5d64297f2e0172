"""Imports taken back: as if they had never been, in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import SPANS, standing, undo
from tracker.core.errors import InvalidOption, NotFound
from tracker.imports.undo import find_import, list_imports
from tracker.ledger import Ledger

Write = Callable[..., Path]


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
