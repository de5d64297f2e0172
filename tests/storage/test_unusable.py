"""Databases that cannot be used, or are not there yet, and what is said of them."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import psycopg
import pytest
from sqlalchemy import inspect, make_url, text
from sqlalchemy.exc import OperationalError

from tests.helpers import stored
from tests.profiles import on_sqlite
from tests.storage.rows import fill
from tracker.core.errors import DatabaseUnusable, NotFound
from tracker.ledger import Ledger
from tracker.storage import backends
from tracker.storage import database as database_module
from tracker.storage.database import HEAD, REVISIONS, Database


def refused(database: Database, *signs: str) -> DatabaseUnusable:
    """Try every way to a connection; each must raise an error with these words."""

    def read() -> None:
        with database.read():
            pass

    def write() -> None:
        with database.write():
            pass

    for use in (read, write, database.check):
        with pytest.raises(DatabaseUnusable) as caught:
            use()
        error = caught.value
        assert error.exit_code == 5
        for sign in signs:
            assert sign in str(error)
        assert "s3cret" not in str(error)
        assert "psycopg" not in str(error)
    return error


def test_another_programs_tables_are_left_alone(empty_url: str) -> None:
    database = Database(empty_url)
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE invoices (id INTEGER PRIMARY KEY)"))
    refused(database, "another program", "--database")
    assert inspect(database.engine).get_table_names() == ["invoices"]


def test_other_revisions_name_what_to_upgrade(
    sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(str(sqlite_file))
    for revision, said in (("0023", "older, unreleased"), ("r0", "newer")):
        with database.engine.begin() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
        refused(database, said)
        copy = sqlite_file.parent / f"{revision}.db"
        database.backup(copy)
        assert Database(str(copy)).revision() == revision
    monkeypatch.setattr(database_module, "REVISIONS", ("r0", *REVISIONS))
    refused(database, "r0", HEAD, "tracker database upgrade")


def test_paths_that_are_no_ledger_are_named(tmp_path: Path) -> None:
    refused(Database(f"sqlite:///{tmp_path}/nowhere/x.db"), f"{tmp_path}/nowhere", "--database")
    refused(Database(f"sqlite:///{tmp_path}/{'a' * 300}.db"), "cannot be used")
    refused(Database(str(tmp_path)), "is a folder")
    path = tmp_path / "answers.csv"
    for content in (b"item,annotator\n" * 200, b"\x7fELF" + bytes(5000)):
        path.write_bytes(content)
        refused(Database(str(path)), "not a SQLite database")
        assert path.read_bytes() == content
    path.write_bytes(b"")
    database = Database(str(path))
    assert stored(Ledger(str(database))) == {}
    assert path.stat().st_size == 0
    with database.write():
        pass
    assert database.revision() == HEAD


def test_a_lock_is_waited_for_as_long_as_was_said(url: str) -> None:
    holder, other = Database(url), Database(url)
    other.wait = 0
    fill(holder)
    locks = "SELECT id FROM projects" + (" FOR UPDATE" if "postgres" in url else "")
    with holder.write() as connection:
        connection.execute(text(locks))
        with pytest.raises(DatabaseUnusable, match="locked") as caught, other.write() as second:
            second.execute(text(locks))
    assert "--wait" in str(caught.value)


def test_servers_that_cannot_be_reached_are_named_without_the_password(admin_url: str) -> None:
    for url in (
        "postgresql://someone:s3cret@127.0.0.1:1/ledger",
        "postgres://someone:s3cret@127.0.0.1:1/ledger",
        "postgresql://someone:s3cret@/ledger?host=/no/such/folder",
        "postgresql://someone@/ledger?host=/no/such/folder&password=s3cret",
    ):
        assert "ledger" in refused(Database(url), "no server answers", "check the URL").message
        assert "s3cret" not in f"{Database(url)} {Ledger(url)!r}"
    there = make_url(admin_url)
    for changed in (there.set(database="nowhere"), there.set(username="nobody_at_all")):
        url = changed.set(password="s3cret").render_as_string(hide_password=False)
        refused(Database(url), "no such database or role")
    refusal = 'connection failed: FATAL:  password authentication failed for user "someone"'
    explained = backends.explain_database_error(
        OperationalError("", {}, psycopg.OperationalError(refusal)),
        make_url("postgresql+psycopg://someone:s3cret@db.example/ledger"),
    )
    assert explained is not None
    assert "refused the user or password" in explained.message
    assert "someone:***@db.example/ledger" in explained.message


MANY = 4
ANSWERS = pd.DataFrame({"item": ["i", "j"], "annotator": ["A", "A"], "category": ["x", "y"]})


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What calls return that are made at the same time."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


@pytest.mark.usefixtures("migrated_each_time")
def test_threads_make_a_ledger_once_while_others_read(empty_url: str) -> None:
    ledger = Ledger(empty_url)

    def ask() -> str:
        with pytest.raises(NotFound, match="there is no project 'p'"):
            ledger.agreement("p")
        inserted = ledger.import_frame(ANSWERS, "p", dry_run=True).inserted
        return f"{ledger.projects.list()} {inserted}"

    assert at_once(*[ask] * MANY) == ["[] 2"] * MANY
    assert ledger.database.revision() is None
    assert ledger.database.file is None or not ledger.database.file.exists()
    calls: list[Callable[[], object]] = []
    for n in range(MANY):
        other = Ledger(empty_url)
        calls += [
            lambda other=other, n=n: other.import_frame(ANSWERS, f"p{n}").inserted,  # type: ignore[misc]
            lambda other=other: len(other.projects.list()) <= MANY,  # type: ignore[misc]
        ]
    with Ledger(empty_url).database.keep_connections():
        assert at_once(*calls) == [2, True] * MANY
    assert len(Ledger(empty_url).projects.list()) == MANY


@on_sqlite
@pytest.mark.usefixtures("migrated_each_time")
def test_several_programs_make_a_ledger_at_once(empty_url: str) -> None:
    code = "from sys import argv; from tracker.storage.database import Database as D; "
    code += "print(D(argv[1]).make_ledger())"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, empty_url], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    ended = [one.communicate() for one in started]
    assert [errors for _, errors in ended] == [b""] * 2
    assert b"True\n" in {told for told, _ in ended}
    assert Database(empty_url).check() == []


@pytest.mark.usefixtures("migrated_each_time")
def test_a_database_that_is_migrated_while_it_is_looked_at_is_no_other_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.db").touch()
    database = Database(str(tmp_path / "new.db"))

    def migrate_and_inspect(connection: object) -> object:
        database.upgrade()
        return inspect(connection)

    monkeypatch.setattr("tracker.storage.database.inspect", migrate_and_inspect)
    assert database.revision() == HEAD


@pytest.mark.usefixtures("migrated_each_time")
def test_a_new_file_is_its_owners_only_and_lets_many_read(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    ledger = Ledger(str(path))
    with ledger.database.keep_connections():
        ledger.projects.create("p")
        with ledger.database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}
