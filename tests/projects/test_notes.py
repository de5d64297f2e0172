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


def test_they_are_listed_by_their_moments(noted: Ledger) -> None:
    assert texts(noted) == ["guideline v2", "two joined", "guideline v3"]
    assert texts(noted, "q") == ["elsewhere"]
    with noted.reading("p") as (connection, project):
        notes = list_notes(connection, project)
    assert [note.id for note in notes] == [2, 1, 3]
    assert notes[0].to_dict() == {
        "at": "2026-03-01T00:00:00Z",
        "note": 2,
        "text": "guideline v2",
    }
    assert abs(notes[2].at - clock.now()) < 60_000_000


def test_two_of_one_moment_are_in_the_order_they_were_made(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        project = create_project(connection, "p").project
        for text in "cab":
            add_note(connection, project, text, MARCH)
    assert texts(ledger) == ["c", "a", "b"]


def test_each_is_a_change_of_the_project(noted: Ledger) -> None:
    with noted.writing("p") as (connection, project):
        assert remove_note(connection, project, 1).text == "two joined"
        rows = connection.execute(
            select(Change.id, Change.kind, Change.detail)
            .where(Change.project_id == project.id)
            .order_by(Change.id)
        ).all()
        removed_by = connection.scalar(
            select(Note.removed_by).where(Note.project_id == project.id, Note.id == 1)
        )
    told = [(row.kind, json.loads(row.detail)) for row in rows[1:]]
    assert told == [
        ("note", {"note": 1}),
        ("note", {"note": 2}),
        ("note", {"note": 3}),
        ("remove note", {"note": 1}),
    ]
    assert removed_by == rows[-1].id


def test_one_removed_is_not_shown_and_its_number_not_given_again(noted: Ledger) -> None:
    with noted.writing("p") as (connection, project):
        remove_note(connection, project, 3)
        assert add_note(connection, project, "x").id == 4
    assert texts(noted) == ["guideline v2", "two joined", "x"]
    for number in (3, 99):
        with (
            pytest.raises(NotFound, match=f"'p' has no note {number}\nsee: tracker project notes"),
            noted.writing("p") as (connection, project),
        ):
            remove_note(connection, project, number)


def test_where_there_is_none_one_is_told_how_to_make_one(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        project = create_project(connection, "p").project
        assert list_notes(connection, project) == []
        with pytest.raises(NotFound, match='make one: tracker project note p "what happened"'):
            remove_note(connection, project, 1)


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


def test_they_go_with_the_project(noted: Ledger) -> None:
    with noted.writing("p") as (connection, project):
        purge_project(connection, project)
    assert stored(noted)["notes"] == 1
