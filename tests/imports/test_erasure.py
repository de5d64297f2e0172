"""What is left of a person whose answers and names were erased: nothing, and a list of places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tests.flags.found import Seen, acted, record
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.projects.annotator_merge import erase_annotator, erase_annotator_everywhere
from tracker.projects.annotators import add_annotator_alias, find_annotator_mentions
from tracker.projects.notes import add_note, remove_note

Write = Callable[..., Path]
NAME, ALIAS = "Wilhelmina Zuiderzee", "w.zuiderzee@example.org"


def with_the_name(ledger: Ledger, write: Write, project: str = "p") -> None:
    """A project in which the name stands wherever one can."""
    rows = f"item,annotator,category\n i,{NAME},x\n i,B,y\n j,{NAME},x\n j,B,x"
    ledger.import_file(write(rows, f"{NAME}.csv"), project)
    with ledger.writing(project) as (connection, found):
        add_annotator_alias(connection, found, NAME, ALIAS)
        add_note(connection, found, f"spoke with {NAME.upper()}")
    if project == "p":
        record(ledger, Seen(2))
        acted(ledger, "dismiss", 1, by=NAME, note=f"says {NAME}")
    ledger.snapshot(project, name=f"before {NAME} left")


def test_what_is_left_is_listed(ledger: Ledger, write: Write) -> None:
    with_the_name(ledger, write)
    with_the_name(ledger, write, "q")
    with ledger.writing("p") as (connection, project):
        assert erase_annotator(connection, project, ALIAS) == 2
        left = {
            (one.project, one.what): one.rows
            for one in find_annotator_mentions(connection, [NAME, ALIAS])
        }
        acts = connection.execute(text("SELECT made_by FROM flag_changes ORDER BY number"))
        assert [row.made_by for row in acts] == [None, "(erased)"]
    both = (
        "notes",
        "changes in the log",
        "names and notes of snapshots",
        "names of imported files",
    )
    assert left == {
        ("p", "notes on findings"): 1,
        **{(project, what): 1 for project in "pq" for what in both},
        ("q", "annotators of that name"): 2,
    }
    assert ledger.verify("p").passed
    with ledger.database.write() as connection:
        with pytest.raises(NotFound):
            erase_annotator_everywhere(connection, "nobody")
        assert erase_annotator_everywhere(connection, NAME) == {"q": 2}
    assert ledger.verify("q").passed
    assert ledger.database.check() == []


def test_a_note_is_erased(ledger: Ledger, write: Write) -> None:
    with_the_name(ledger, write)
    with ledger.writing("p") as (connection, project):
        remove_note(connection, project, 1)
    with ledger.writing("p") as (connection, project):
        assert remove_note(connection, project, 1, erase=True).id == 1
        assert connection.scalar(text("SELECT text FROM notes")) == "(erased)"
        with pytest.raises(NotFound):
            remove_note(connection, project, 2, erase=True)
    assert ledger.verify("p").passed


def test_only_an_erasure_changes_what_was_done_about_a_finding(
    ledger: Ledger, write: Write
) -> None:
    with_the_name(ledger, write)
    for change in ("made_by = 'Eve'", "note = '(erased)', state = 'open'", "note = NULL"):
        with pytest.raises(DBAPIError, match="append-only"), ledger.database.engine.begin() as made:
            made.execute(text(f"UPDATE flag_changes SET {change} WHERE number = 2"))


def test_no_byte_of_a_name_stays_in_the_file(sqlite_file: Path, tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    names = [f"annotator to be erased {n:03}" for n in range(60)]
    file = tmp_path / "answers.csv"
    rows = "".join(f"i{n % 7},{name},x\n" for n, name in enumerate(names))
    file.write_text(f"item,annotator,category\n{rows}")
    ledger.import_file(file, "p")
    gone = [name for name in names if name not in names[::4]]
    for name in gone:
        with ledger.writing("p") as (connection, project):
            erase_annotator(connection, project, name)
    content = sqlite_file.read_bytes()
    assert [name for name in gone if name.encode() in content] == []
    assert all(name.encode() in content for name in names[::4])
