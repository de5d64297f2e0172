"""What is left of a person whose answers and names were erased: nothing, and a list of places."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tests.audit.flags.found import Seen, acted, record
from tests.helpers import Write
from tests.imports.tables import HEADER
from tests.profiles import both
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias
from tracker.projects.identities import erase_annotator, erase_annotator_everywhere
from tracker.projects.mentions import find_annotator_mentions
from tracker.projects.notes import add_note, remove_note
from tracker.storage.database import Database
from tracker.sync.events import tell_webhooks

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


def test_places_that_still_hold_the_name_are_listed(ledger, write):
    with_the_name(ledger, write)
    with_the_name(ledger, write, "q")
    with ledger.writing("p") as (connection, project):
        assert erase_annotator(connection, project, ALIAS) == 2
        mentions = find_annotator_mentions(connection, [NAME, ALIAS])
        acts = connection.execute(text("SELECT made_by FROM flag_changes ORDER BY number"))
        assert [act.made_by for act in acts] == [None, "(erased)"]
    places = ("notes", "changes in the log", "names and notes of snapshots",
              "names of imported files")  # fmt: skip
    assert {(mention.project, mention.what): mention.rows for mention in mentions} == {
        ("p", "notes on findings"): 1,
        **{(project, place): 1 for project in "pq" for place in places},
        ("q", "annotators of that name"): 2,
    }
    assert ledger.verify("p").passed
    with ledger.database.write() as connection:
        with pytest.raises(NotFound):
            erase_annotator_everywhere(connection, "no one")
        assert erase_annotator_everywhere(connection, NAME) == ({"q": 2}, [NAME, NAME, ALIAS])
    assert ledger.verify("q").passed
    assert ledger.database.check() == []
    with ledger.writing("p") as (connection, project):
        remove_note(connection, project, 1)
    with ledger.writing("p") as (connection, project):
        assert remove_note(connection, project, 1, erase=True).id == 1
        assert "(erased)" in connection.scalars(text("SELECT text FROM notes")).all()
        with pytest.raises(NotFound):
            remove_note(connection, project, 2, erase=True)
    assert ledger.verify("p").passed


@both
def test_only_an_erasure_changes_the_log_of_a_finding(ledger, write):
    with_the_name(ledger, write)
    for change in ("made_by = 'Eve'", "note = '(erased)', state = 'open'", "note = NULL"):
        with pytest.raises(DBAPIError, match="append-only"), ledger.database.engine.begin() as made:
            made.execute(text(f"UPDATE flag_changes SET {change} WHERE number = 2"))


def test_texts_that_may_hold_the_name_are_listed(ledger, write):
    rows = f"item,annotator,category,text,comment\n i,{NAME},x,by {NAME},\n i,B,y,,not as {NAME}"
    ledger.import_file(write(rows), "p")
    ledger.users.add(NAME, "viewer", password=None)
    mine = ledger.acting_for(NAME).adjudication
    mine.decide("p", "i", ["x"], reason="ambiguous", note=f"as {NAME} said")
    mentions = ledger.annotators.erase("p", NAME).to_dict()["mentions"]
    rows_of = {(mention["project"], mention["what"]): mention["rows"] for mention in mentions}
    for place in ((None, "users"), (None, "the log of users"), ("p", "keys and texts of items"),
                  ("p", "comments on answers"), ("p", "decisions and their notes")):  # fmt: skip
        assert rows_of[place] == 1
    decision = ledger.adjudication.show("p", "i").decision
    assert decision is not None
    assert (decision.made_by, decision.categories) == ("(erased)", ("x",))


def keep_for_programs(ledger: Ledger, *names: str) -> None:
    """Keep an answer and a message for other programs with each of some names."""
    ledger.webhooks.add("https://example.org/hook", ["gate_failed"])
    for name in names:
        ledger.requests.begin("program", name, "digest")
        ledger.requests.keep("program", name, 422, None, f'{{"detail": "{name} gave two answers"}}')
        with ledger.writing("p") as (connection, project):
            tell_webhooks(connection, project.id, "gate_failed", {"failed": [name]})


def kept_for_programs(ledger: Ledger) -> tuple[list[str], list[str]]:
    with ledger.database.read() as connection:
        keys, bodies = (
            list(connection.scalars(text(f"SELECT {column} FROM {table}")))
            for column, table in (("key", "keyed_requests"), ("body", "deliveries"))
        )
    return keys, bodies


def test_messages_go_if_they_hold_the_name(ledger, write):
    ledger.import_file(write(f"{HEADER}i,{NAME},x"), "p")
    keep_for_programs(ledger, NAME, f"not {NAME}s")
    ledger.annotators.erase_everywhere(NAME)
    keys, (body,) = kept_for_programs(ledger)
    assert keys == [f"not {NAME}s"]
    assert f"not {NAME}s" in body


def test_columns_named_after_an_annotator_are_blanked(ledger, write):
    ledger.import_file(write(f"item,{NAME},Bo\n i,x,y\n j,x,x"), "p", wide=True)
    ledger.annotators.erase("p", NAME)
    assert ledger.imports.show(1).to_dict()["read"]["columns"] == {
        "item": "item", "(erased)": "annotators", "Bo": "annotators",
    }  # fmt: skip
    assert ledger.verify("p").passed
    # A short name is blanked only as it is spelled.
    ledger.import_file(write("a,A,Bo\n i,x,y\n j,x,x", "a.csv"), "p", columns=["item=a"], wide=True)
    keep_for_programs(ledger, "a", "A")
    ledger.annotators.erase("p", "A")
    assert ledger.imports.show(2).to_dict()["read"]["columns"] == {
        "a": "item", "(erased)": "annotators", "Bo": "annotators",
    }  # fmt: skip
    keys, bodies = kept_for_programs(ledger)
    assert (keys, len(bodies)) == (["a"], 1)


def files_of(ledger: Ledger) -> list[Path]:
    """The files of a database: beside that of SQLite, or in the folder of the tests' server."""
    file = ledger.database.file
    if file is not None:
        return [*file.parent.glob(f"{file.name}*")]
    with ledger.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as made:
        made.execute(text("CHECKPOINT"))
        row = made.execute(
            text(
                "SELECT current_setting('data_directory'), oid FROM pg_database"
                " WHERE datname = current_database()"
            )
        ).one()
    folder = Path(row[0], "base", str(row[1]))
    if not folder.is_dir():
        pytest.skip("the server's files are on another machine")
    return [one for one in folder.iterdir() if one.is_file()]


def holding(ledger: Ledger, names: list[str]) -> set[str]:
    """The names of which a file of a database has the bytes."""
    contents = [one.read_bytes() for one in files_of(ledger)]
    return {name for name in names if any(name.encode() in content for content in contents)}


@both
def test_no_byte_of_a_name_stays_while_a_server_runs(url, write):
    ledger, server = Ledger(url), Ledger(url)
    names = [f"person to be erased {n:03} {'z' * (1 + n % 250)}" for n in range(150)]
    more = names[::10]
    with server.database.keep_connections():
        server.projects.create("other")
        rows = "".join(f"i{n % 7},{name},x\n" for n, name in enumerate([*names, NAME]))
        server.import_file(write(f"item,annotator,category\n{rows}"), "p")
        keep_for_programs(server, NAME)
        assert server.status("p").answers == len(names) + 1
        with ledger.writing("p") as (connection, project):
            for name in more:  # pages are rearranged
                erase_annotator(connection, project, name)
        erased = ledger.annotators.erase("p", NAME)
        assert (erased.labels, erased.unfinished) == ({"p": 1}, None)
        assert holding(ledger, [NAME]) == set()
        ledger.database.vacuum()
        assert holding(ledger, names) == {*names} - {*more}
        assert server.status("p").answers == len(names) - len(more)


@both
def test_an_erasure_that_ended_early_is_finished_by_the_next_one(url, write, monkeypatch):
    """It ends before the files are clean."""
    ledger = Ledger(url)
    with ledger.database.keep_connections():  # SQLite keeps its log as long as it is open
        ledger.import_file(write(f"{HEADER}i,{NAME},x\n i,B,x"), "p")
        with monkeypatch.context() as patch:
            patch.setattr(Database, "forget_deleted", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                ledger.annotators.erase("p", NAME)
        annotators = [listed.annotator.name for listed in ledger.annotators.list("p")]
        assert annotators == ["B", "erased 1"]
        assert holding(ledger, [NAME]) == {NAME}
        with pytest.raises(NotFound):
            ledger.annotators.erase("p", NAME)
        assert holding(ledger, [NAME]) == set()


@both
def test_an_erasure_that_readers_hold_up_says_what_is_left_to_do(url, write, monkeypatch):
    monkeypatch.setattr("tracker.storage.backends.postgres.monotonic", count(step=20).__next__)
    ledger, server = Ledger(url), Ledger(url)
    ledger.database.wait = 0
    with server.database.keep_connections():
        server.import_file(write(f"item,annotator,category\n i,{NAME},x"), "p")
        with server.reading("p"):
            erased = ledger.annotators.erase("p", NAME)
            assert erased.labels == {"p": 1}
            assert "tracker database vacuum" in str(erased.unfinished)
            assert holding(ledger, [NAME]) == {NAME}
        ledger.database.vacuum()
        assert holding(ledger, [NAME]) == set()
