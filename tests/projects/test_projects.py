"""Projects: made, found, renamed, archived, purged."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select, text

from tests.helpers import fates, question_of, standing, stored
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger
from tracker.projects.annotators import rename_annotator
from tracker.projects.categories import category_names, rename_category
from tracker.projects.projects import (
    archive_project,
    find_project,
    list_projects,
    purge_project,
    rename_project,
)
from tracker.projects.questions import QuestionOptions, create_project
from tracker.storage.schema import Change, Project

Write = Callable[..., Path]
ANSWERS = "item,annotator,category,gold,text\n i,A,x,x,t\n i,B,y,x,t\n j,A,x,,\n j,B,x,,"


def changes(ledger: Ledger, project: str) -> list[tuple[str, dict[str, object]]]:
    """The project's change log: kinds and details, first to last."""
    with ledger.reading(project) as (connection, found):
        statement = select(Change.kind, Change.detail, Change.recorded_at, Change.id)
        rows = connection.execute(
            statement.where(Change.project_id == found.id).order_by(Change.id)
        ).all()
    assert [row.id for row in rows] == list(range(1, len(rows) + 1))
    assert [row.recorded_at for row in rows] == sorted({row.recorded_at for row in rows})
    return [(row.kind, json.loads(row.detail)) for row in rows]


def test_defaults_and_options(ledger: Ledger) -> None:
    options = QuestionOptions("several", "ordinal", "tokens", ("low", "high"), 3)
    with ledger.database.write() as connection:
        create_project(connection, "plain")
        create_project(connection, " full ", options)
    with ledger.database.read() as connection:
        plain, full = (question_of(connection, name).to_dict() for name in ("plain", "full"))
        categories = category_names(connection, question_of(connection, "full"))
    assert (plain["answers"], plain["scale"], plain["offsets"]) == ("one", "nominal", "characters")
    assert (plain["categories_closed"], plain["wanted"]) == (False, None)
    assert (full["answers"], full["scale"], full["offsets"]) == ("several", "ordinal", "tokens")
    assert (full["categories_closed"], full["wanted"]) == (True, 3)
    assert list(categories.values()) == ["low", "high"]
    assert changes(ledger, "full")[0][0] == "create"


NONE: list[tuple[str, dict[str, Any], str]] = [
    ("", {}, "name is empty"),
    ("  ", {}, "name is empty"),
    ("é" * 251, {}, "longer than 500 bytes"),
    ("a\0b", {}, "NUL"),
    ("there", {}, "'there' exists"),
    ("p", {"answers": "two"}, "one, several, spans"),
    ("p", {"scale": "musical"}, "nominal, ordinal, interval, ratio"),
    ("p", {"offsets": "bytes"}, "characters, tokens"),
    ("p", {"wanted": 0}, "is not a number of answers"),
    ("p", {"categories": ()}, "names no category"),
    ("p", {"categories": ("a", "a")}, "names a category twice"),
    ("p", {"categories": ("a", "")}, "name is empty"),
    ("p", {"categories": ("a", "x" * 501)}, "longer than 500 bytes"),
    ("p", {"categories": ("1", "b"), "scale": "interval"}, "'b' is not a number"),
]


def test_options_that_are_none(sqlite_ledger: Ledger) -> None:
    with sqlite_ledger.database.write() as connection:
        create_project(connection, "there")
    before = stored(sqlite_ledger)
    for name, options, sign in NONE:
        refused = pytest.raises(InvalidOption, match=sign)
        with refused, sqlite_ledger.database.write() as connection:
            create_project(connection, name, QuestionOptions(**options))
    assert stored(sqlite_ledger) == before


def test_a_category_with_space_around_it_is_the_one_without(ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(categories=(" x ", "y"))
    result = ledger.import_file(write("item,annotator,category\n i,A,x"), "p", options=options)
    assert fates(result) == {"inserted": 1}
    refused = pytest.raises(InvalidOption, match="names a category twice")
    with refused, ledger.database.write() as connection:
        create_project(connection, "q", QuestionOptions(categories=("x", "x ")))


def test_found_by_name_or_as_the_only_one(ledger: Ledger) -> None:
    with ledger.database.read() as connection, pytest.raises(NotFound, match="no project yet"):
        find_project(connection, None)
    with ledger.database.write() as connection:
        create_project(connection, "reviews")
        assert find_project(connection, None).name == "reviews"
        create_project(connection, "Reviews")
        assert find_project(connection, " reviews ").name == "reviews"
        with pytest.raises(InvalidOption, match="which project"):
            find_project(connection, None)
        with pytest.raises(NotFound) as caught:
            find_project(connection, "revews")
    assert "did you mean 'reviews' or 'Reviews'?" in str(caught.value)
    assert caught.value.exit_code == 4


def test_renamed(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "p")
    ledger.import_file(write(ANSWERS), "q")
    before = standing(ledger, "p")
    with ledger.writing("p") as (connection, project):
        rename_project(connection, project, " r ")
    assert standing(ledger, "r") == before
    with pytest.raises(NotFound):
        ledger.agreement("p")
    refused = pytest.raises(InvalidOption, match="the project 'q' exists")
    with refused, ledger.writing("r") as (connection, project):
        rename_project(connection, project, "q")
    assert changes(ledger, "r")[-1] == ("rename", {"from": "p", "to": "r"})


def test_archived_and_restored(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "p")
    with ledger.writing("p") as (connection, project):
        archive_project(connection, project, archived=True)
        assert list_projects(connection) == []
        assert [one.name for one in list_projects(connection, archived=True)] == ["p"]
    assert ledger.agreement("p").counts.answers == 4  # what is named is still there
    with ledger.writing("p") as (connection, project):
        assert project.archived_at is not None
        archive_project(connection, project, archived=False)
        assert [one.name for one in list_projects(connection)] == ["p"]
    assert [kind for kind, _ in changes(ledger, "p")][-2:] == ["archive", "restore"]


def test_a_purge_leaves_a_tombstone_and_nothing_else(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "kept", keep=["text"])
    ledger.audit("kept", record=True)
    ledger.snapshot("kept")
    before = stored(ledger)
    figures = ledger.agreement("kept").to_dict()
    for _ in range(2):
        ledger.import_file(write(ANSWERS), "p", keep=["text"])
        ledger.import_file(write("item,annotator,category\n i,A,y"), "p")
        ledger.snapshot("p", name="s")
        with ledger.writing("p") as (connection, project):
            rename_annotator(connection, project, "A", "Ann")
        with ledger.writing("p") as (connection, project):
            purge_project(connection, project)
    assert stored(ledger) == before | {"purges": 2}
    assert ledger.agreement("kept").to_dict() == figures
    assert ledger.database.check() == []
    with pytest.raises(NotFound):
        ledger.agreement("p")


def test_a_purged_projects_number_is_not_given_again(ledger: Ledger, write: Write) -> None:
    file = write(ANSWERS)
    ledger.import_file(file, "p")
    with ledger.writing("p") as (connection, project):
        first = project.id
        purge_project(connection, project)
    ledger.import_file(file, "p")
    ledger.snapshot("p")
    with ledger.reading("p") as (_, project):
        assert project.id > first
    # Its append-only rows are not open to deletion by the old tombstone.
    with pytest.raises(Exception, match="append-only"), ledger.database.write() as connection:
        connection.execute(text("DELETE FROM snapshots"))
    with ledger.database.read() as connection:
        assert connection.scalars(select(Project.id)).all() == [project.id]


def test_categories_are_renamed_with_their_labels(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "p")
    with ledger.changing("p") as (connection, question):
        rename_category(connection, question, "x", " good ")
    people = [row for row in standing(ledger, "p") if row[1] != "gold"]
    assert people == [("i", "A", "good"), ("i", "B", "y"), ("j", "A", "good"), ("j", "B", "good")]
    kind, detail = changes(ledger, "p")[-1]
    assert kind == "rename category"
    assert (detail["from"], detail["to"]) == ("x", "good")
    for old, new, error, sign in (
        ("god", "z", NotFound, "did you mean 'good'"),
        ("good", "y", InvalidOption, "the category 'y' exists"),
        ("good", " ", InvalidOption, "name is empty"),
    ):
        refused = pytest.raises(error, match=sign)
        with refused, ledger.changing("p") as (connection, question):
            rename_category(connection, question, old, new)


def test_categories_of_numbers_stay_numbers(ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(scale="ratio")
    ledger.import_file(write("item,annotator,category\n i,A,1"), "p", options=options)
    refused = pytest.raises((Refused, InvalidOption), match="'one' is not a number")
    with refused, ledger.changing("p") as (connection, question):
        rename_category(connection, question, "1", "one")


def test_days_are_those_of_the_projects_time_zone(ledger: Ledger) -> None:
    ledger.projects.create("p", timezone="Europe/Berlin")
    # In Berlin the days begin at 22:00 UTC, and from 2026-10-25 on at 23:00.
    rows = [("i", "a", "2026-10-18T21:59"), ("i", "b", "2026-10-18T22:00"),
            ("j", "a", "2026-10-25T22:59"), ("j", "b", "2026-10-25T23:00")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "labeled_at"])
    ledger.import_frame(frame.assign(category="x"), "p")

    def answers(**chosen: Any) -> int:
        return int(ledger.agreement("p", **chosen).to_dict()["counts"]["answers"])

    def curve() -> list[tuple[str, int]]:
        points = ledger.history("p", every="day").to_dict()["snapshots"]
        told = [(one["as_of"][:16], one["counts"]["answers"]) for one in points]
        return [told[0], *(b for a, b in pairwise(told) if a[1] != b[1])]

    assert answers(since="2026-10-19") == answers(since="2026-10-18T22:00") == 3
    assert answers(until="2026-10-18") == answers(as_of="2026-10-18") == 1
    assert curve() == [
        ("2026-10-18T21:59", 1), ("2026-10-19T21:59", 2), ("2026-10-25T22:59", 3),
        ("2026-10-26T22:59", 4),
    ]  # fmt: skip
    note = ledger.notes.add("p", "v2", "2026-10-19", guideline="v2")
    assert clock.iso(note.at) == "2026-10-18T22:00:00Z"
    assert answers(guideline="v2") == 3
    assert ledger.moments("p", 9)[0] == "2026-10-18"
    ledger.projects.set("p", timezone="UTC")
    assert answers(until="2026-10-18") == 2
    assert curve() == [("2026-10-18T23:59", 2), ("2026-10-25T23:59", 4)]
    with pytest.raises(InvalidOption, match="'Europe/Berlin'"):
        ledger.projects.set("p", timezone="Europe/Berln")
    assert ledger.projects.settings("p").to_dict()["timezone"] == "UTC"
