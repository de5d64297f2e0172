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
from tracker.storage.schema import Change

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
    ("p", {"categories": ("a", "a ")}, "names a category twice"),
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


def test_projects_are_found_renamed_and_archived(ledger: Ledger, write: Write) -> None:
    with ledger.database.read() as connection, pytest.raises(NotFound, match="no project yet"):
        find_project(connection, None)
    ledger.import_file(write(ANSWERS), "reviews")
    before = standing(ledger, "reviews")
    with ledger.database.write() as connection:
        assert find_project(connection, None).name == "reviews"
        create_project(connection, "Reviews")
        assert find_project(connection, " reviews ").name == "reviews"
        with pytest.raises(InvalidOption, match="which project"):
            find_project(connection, None)
        with pytest.raises(NotFound) as caught:
            find_project(connection, "revews")
    assert "did you mean 'reviews' or 'Reviews'?" in str(caught.value)
    assert caught.value.exit_code == 4
    with ledger.writing("reviews") as (connection, project):
        rename_project(connection, project, " r ")
    assert standing(ledger, "r") == before
    with pytest.raises(NotFound):
        ledger.agreement("reviews")
    refused = pytest.raises(InvalidOption, match="the project 'Reviews' exists")
    with refused, ledger.writing("r") as (connection, project):
        rename_project(connection, project, "Reviews")
    assert changes(ledger, "r")[-1] == ("rename", {"from": "reviews", "to": "r"})
    with ledger.writing("r") as (connection, project):
        archive_project(connection, project, archived=True)
        assert [row.name for row in list_projects(connection)] == ["Reviews"]
        assert len(list_projects(connection, archived=True)) == 2
    assert ledger.agreement("r").counts.answers == 4, "it is still there by its name"
    with ledger.writing("r") as (connection, project):
        assert project.archived_at is not None
        archive_project(connection, project, archived=False)
        assert len(list_projects(connection)) == 2
    assert [kind for kind, _ in changes(ledger, "r")][-2:] == ["archive", "restore"]


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
    ledger.import_file(write(ANSWERS), "p")
    ledger.snapshot("p")
    with ledger.reading("p") as (_, project):
        assert project.id == 4, "no number is given again"
    # Its append-only rows are not open to deletion by the old tombstones.
    with pytest.raises(Exception, match="append-only"), ledger.database.write() as connection:
        connection.execute(text("DELETE FROM snapshots WHERE project_id = 4"))


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
    file = write("item,annotator,category\n i,A,1")
    ledger.import_file(file, "numbers", options=QuestionOptions(scale="ratio"))
    refused = pytest.raises((Refused, InvalidOption), match="'one' is not a number")
    with refused, ledger.changing("numbers") as (connection, question):
        rename_category(connection, question, "1", "one")
    options = QuestionOptions(categories=(" x ", "y"))
    result = ledger.import_file(write("item,annotator,category\n i,A,x"), "q", options=options)
    assert fates(result) == {"inserted": 1}, "space around a name is left out"


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


def constant_and_others() -> pd.DataFrame:
    rows = [
        (f"i{n}", who, "yes" if who == "always" or (n + turn) % 3 else "no")
        for n in range(60)
        for turn, who in enumerate(("always", "a", "b", "c"))
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "category"])


def test_the_revision_differs_after_whatever_is_recorded(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.projects.create("other")
    other, seen = ledger.revision("other"), [ledger.revision("p")]

    def is_new() -> bool:
        seen.append(ledger.revision("p"))
        return seen[-1] not in seen[:-1] and ledger.revisions()["p"] == seen[-1]

    ledger.import_frame(constant_and_others(), "p")
    assert is_new()
    ledger.snapshot("p")
    assert is_new()
    ledger.audit("p", record=True)
    assert is_new()
    ledger.flags.dismiss("p", [1], by="ada", note="was told to")
    assert is_new()
    ledger.imports.undo(1)
    assert is_new()
    ledger.snapshot("p")
    assert is_new()
    ledger.agreement("p")
    ledger.status("p")
    assert not is_new()
    assert ledger.revision("other") == other
