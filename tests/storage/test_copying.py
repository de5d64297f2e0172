"""A copy of a ledger in another database is the ledger: rows, numbers, seals, figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.storage.schema import Base

Write = Callable[[str], Path]
WIDE = "item,annotator,tone,marks,team,confidence\n"
ROWS = (
    "i,A,good,3,x,.5\ni,B,bad,,x,\nj,A,good,1,y,.25\nj,B,good,2,y,1\n"
    "k,A,bad,2.5,x,\nk,B,'naïve \"😀\"',3,x,.125\n"
)
QUESTIONS = ["tone=tone", "marks=marks:interval"]


def fill(ledger: Ledger, write: Write) -> None:
    """Answers to two questions, revised, undone and erased; snapshots; flags; texts."""
    ledger.import_file(write(WIDE + ROWS), "p", questions=QUESTIONS, keep=["team"])
    ledger.snapshot_by_question("p", name="first")
    again = ledger.import_file(write(WIDE + ROWS.replace("i,A,good", "i,A,bad")), "p",
                               questions=QUESTIONS)  # fmt: skip
    ledger.import_file(write("item,annotator,category\nq,C,x\n"), "gone")
    ledger.imports.undo(again.id or 0)
    ledger.snapshot_by_question("p")
    ledger.notes.add("p", "a note")
    ledger.items.alias("p", "i", "4711")
    ledger.questions.add("p", "later", answers="spans")


def rows(ledger: Ledger) -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    with ledger.database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(
                select(table).order_by(*table.primary_key.columns))]
            for table in Base.metadata.sorted_tables
        }  # fmt: skip


def copy(ledger: Ledger, url: str) -> Ledger:
    made = Ledger(url)
    told = ledger.database.copy_to(made.database, lambda _name, _number: None)
    copied = {name: len(found) for name, found in rows(made).items() if not _stays(name)}
    assert told == copied
    return made


def _stays(table: str) -> bool:
    return not {"secret", "droppable"}.isdisjoint(Base.metadata.tables[table].info)


def test_a_copy_holds_all_there_was_and_goes_on_as_it_would(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path, empty_postgres_url: str
) -> None:
    fill(sqlite_ledger, write)
    there = copy(sqlite_ledger, empty_postgres_url)
    back = copy(there, f"sqlite:///{tmp_path / 'back.db'}")
    everywhere = (sqlite_ledger, there, back)
    for one in (there, back):
        assert rows(one) == rows(sqlite_ledger)
        assert one.database.check() == []
        assert one.verify("p").passed
    assert len({one.import_file(write(WIDE + ROWS), "p", questions=QUESTIONS).id
                for one in everywhere}) == 1  # fmt: skip
    assert len({one.projects.create("r").to_dict()["project"] for one in everywhere}) == 1
    assert len({one.agreement("p", question="tone").to_dict()["measures"][0]["value"]
                for one in everywhere}) == 1  # fmt: skip


def test_a_ledger_is_not_copied_onto_itself_or_another(
    ledger: Ledger, write: Write, tmp_path: Path
) -> None:
    ledger.projects.create("p")
    with pytest.raises(InvalidOption, match="is the database to copy"):
        ledger.database.copy_to(ledger.database, print)
    other = Ledger(f"sqlite:///{tmp_path / 'other.db'}")
    other.import_file(write("item,annotator,category\nq,C,x\n"), "p")
    before = rows(other)
    with pytest.raises(InvalidOption, match="holds projects"):
        ledger.database.copy_to(other.database, print)
    assert rows(other) == before
