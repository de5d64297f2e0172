"""Seals: the same on both databases, at the cost of a few statements."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.helpers import count_rows, count_statements, csv_text, undo
from tests.storage.seals.furnished import furnished
from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.projects.identities import erase_annotator, merge_annotators, split_annotator
from tracker.projects.projects import lock_project, purge_project

Write = Callable[..., Path]


def seals(ledger: Ledger) -> list[dict[str, Any]]:
    with ledger.database.read() as connection:
        rows = connection.execute(text("SELECT * FROM seals ORDER BY project_id, id"))
        return [dict(row) for row in rows.mappings()]


def test_both_databases_give_the_same_seals(
    sqlite_ledger: Ledger,
    emptied_postgres_ledger: Ledger,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for ledger in (sqlite_ledger, emptied_postgres_ledger):
        moments = itertools.count(1_800_000_000_000_000, 1_000_000)
        monkeypatch.setattr(clock, "now", lambda moments=moments: next(moments))
        furnished(ledger, write)
        with ledger.writing("p") as (connection, project):
            merge_annotators(connection, project, "C", "B")
        with ledger.writing("p") as (connection, project):
            split_annotator(connection, project, "C")
            erase_annotator(connection, project, "B")
        found.append(seals(ledger))
        assert ledger.verify("p").passed
    for seal in itertools.chain(*found):
        del seal["digest"]
        seal["added"] = json.loads(seal["added"])
        for part in ("changes", "sources"):  # the names of files differ
            seal["added"].pop(part, None)
    assert found[0] == found[1]


def test_a_seal_is_made_by_what_changes_something(sqlite_ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n i,B,x")
    sqlite_ledger.import_file(file, "p", dry_run=True)
    assert seals(sqlite_ledger) == []
    sqlite_ledger.import_file(file, "p")
    sqlite_ledger.snapshot("p")
    before = seals(sqlite_ledger)
    assert [seal["id"] for seal in before] == [1, 2]
    assert [seal["last_change_id"] for seal in before] == [2, 2]
    sqlite_ledger.record_snapshot("p", if_changed=True)
    sqlite_ledger.verify("p")
    sqlite_ledger.audit("p")
    sqlite_ledger.prune("p", "last:5")
    assert seals(sqlite_ledger) == before


def test_items_after_an_undo_are_sealed_and_numbers_are_not_given_again(
    ledger: Ledger, write: Write
) -> None:
    numbers = [
        ledger.import_items(write(f"item,language\ni,{value}"), "p", keep=["language"]).id
        for value in ("nl", "de")
    ]
    for number in reversed(numbers):
        undo(ledger, number)
        assert ledger.verify("p").passed
    with ledger.writing("p") as (connection, project):
        purge_project(connection, project)
        with pytest.raises(NotFound) as caught:  # as if another program had, while this one waits
            lock_project(connection, project.id)
    assert caught.value.exit_code == 4
    assert ledger.import_file(write("item,annotator,category\n i,A,x"), "p").id == 3


def test_seal_and_verification_read_no_labels(sqlite_ledger: Ledger, write: Write) -> None:
    items = 300
    rows = [(f"i{n}", who, "x") for n in range(items) for who in "AB"]
    sqlite_ledger.import_file(write(csv_text([("item", "annotator", "category"), *rows])), "p")
    few = write("item,annotator,category\n i1,A,y\n new,A,y")
    with count_statements(sqlite_ledger.database.engine) as first:
        sqlite_ledger.import_file(few, "p")
    with (
        count_statements(sqlite_ledger.database.engine) as verified,
        count_rows(sqlite_ledger.database.engine) as read,
    ):
        sqlite_ledger.verify("p")
    assert first.number < 130
    assert verified.number < 50
    assert read.number < items + 200, "names of items, and no labels"


def test_names_of_new_items_are_sealed_as_they_come_in(sqlite_ledger: Ledger, write: Write) -> None:
    """They are not read again; and it is the same digest as that of what was stored."""

    def file(names: Iterable[str], name: str) -> Path:
        rows = ((one, "A", "x") for one in names)
        return write(csv_text([("item", "annotator", "category"), *rows]), name)

    one = file((f" {n} é\u2028" for n in range(400)), "one.csv")
    two = file((f"{n} é" for n in range(200, 600)), "two.csv")
    with count_rows(sqlite_ledger.database.engine) as read:
        sqlite_ledger.import_file([one, two], "p")
    assert read.number < 200
    sqlite_ledger.import_file(two, "p")
    sqlite_ledger.import_file(file(["1 é", "new", "newer"], "three.csv"), "p")
    assert sqlite_ledger.verify("p").passed
    assert [json.loads(seal["added"])["items"] for seal in seals(sqlite_ledger)] == [600, 600, 602]
    assert ["names" in json.loads(seal["added"]) for seal in seals(sqlite_ledger)] == [
        True,
        False,
        True,
    ]
