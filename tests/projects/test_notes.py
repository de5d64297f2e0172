"""Notes on the time line: made, listed, found, taken off."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from tests.helpers import stored
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.notes import add_note, list_notes, remove_note
from tracker.projects.projects import purge_project
from tracker.projects.questions import create_project
from tracker.storage.schema import Change, Note

MARCH, APRIL = 1_772_323_200_000_000, 1_775_001_600_000_000  # 2026-03-01, 2026-04-01


@pytest.fixture
def noted(ledger: Ledger) -> Ledger:
    """Notes of April, of March, of now; and one of another project."""
    with ledger.database.write() as connection:
        p, q = (create_project(connection, name).project for name in "pq")
        add_note(connection, p, "two joined", APRIL)
        add_note(connection, p, " guideline v2 ", MARCH)
        add_note(connection, p, "guideline v3")
        add_note(connection, q, "elsewhere", MARCH)
    return ledger


def texts(ledger: Ledger, project: str = "p") -> list[str]:
    with ledger.reading(project) as (connection, found):
        return [note.text for note in list_notes(connection, found)]


def test_notes_are_listed_by_their_moments_and_logged(noted: Ledger) -> None:
    assert texts(noted) == ["guideline v2", "two joined", "guideline v3"]
    assert texts(noted, "q") == ["elsewhere"]
    with noted.reading("p") as (connection, project):
        notes = list_notes(connection, project)
    assert [note.id for note in notes] == [2, 1, 3]
    assert notes[0].to_dict() == {"at": "2026-03-01T00:00:00Z", "note": 2, "text": "guideline v2"}
    assert abs(notes[2].at - clock.now()) < 60_000_000
    with noted.writing("p") as (connection, project):
        assert remove_note(connection, project, 3).text == "guideline v3"
        of_project = select(Change.id, Change.kind, Change.detail).where(
            Change.project_id == project.id
        )
        rows = connection.execute(of_project.order_by(Change.id)).all()
        removed = select(Note.removed_by).where(Note.project_id == project.id, Note.id == 3)
        assert connection.scalar(removed) == rows[-1].id
        # Two of one moment are in the order they were made; no number is given again.
        assert [add_note(connection, project, text, MARCH).id for text in "cab"] == [4, 5, 6]
    assert [(row.kind, json.loads(row.detail)) for row in rows[1:]] == [
        ("note", {"note": 1}), ("note", {"note": 2}), ("note", {"note": 3}),
        ("remove note", {"note": 3}),
    ]  # fmt: skip
    assert texts(noted) == ["guideline v2", "c", "a", "b", "two joined"]
    for number in (3, 99):
        with (
            pytest.raises(NotFound, match=f"'p' has no note {number}\nsee: tracker project notes"),
            noted.writing("p") as (connection, project),
        ):
            remove_note(connection, project, number)
    with noted.writing("p") as (connection, project):
        purge_project(connection, project)
    assert stored(noted)["notes"] == 1
    with (
        pytest.raises(NotFound, match='make one: tracker project note r "what happened"'),
        noted.database.write() as connection,
    ):
        remove_note(connection, create_project(connection, "r").project, 1)


def test_what_is_no_text(ledger: Ledger) -> None:
    for text, told in (
        ("", "is empty"),
        (" \n ", "is empty"),
        ("a\0b", "not a character"),
        ("\udcff", "not a character"),
        ("x" * 10_001, "longer than 10,000 bytes"),
    ):
        with pytest.raises(InvalidOption, match=told), ledger.database.write() as connection:
            add_note(connection, create_project(connection, "p").project, text)
    assert stored(ledger) == {}
