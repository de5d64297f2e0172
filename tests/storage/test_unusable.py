"""Databases that cannot be used, or are not there yet, and what is said of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from tests.helpers import standing, stored
from tests.storage.rows import fill, sample
from tracker.core.errors import DatabaseUnusable, NotFound
from tracker.ledger import Ledger
from tracker.storage import backends
from tracker.storage import database as database_module
from tracker.storage.database import HEAD, REVISIONS, Database
from tracker.storage.schema import Base

PASSWORD = "s3cret"


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
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'r0'"))
    refused(database, "r0", "newer")
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


def test_a_file_that_cannot_be_written_to(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    # Permissions would not hold root back; the pragma fails as they do.
    event.listen(database.engine, "connect", lambda made, _: made.execute("PRAGMA query_only = 1"))
    refusal = pytest.raises(DatabaseUnusable, match="cannot be written to")
    with refusal as caught, database.write() as connection:
        connection.execute(text("DELETE FROM projects"))
    assert caught.value.exit_code == 5
    assert stored(Ledger(str(sqlite_file))) == {}


def test_a_file_that_another_program_has_locked(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    event.listen(
        database.engine,
        "connect",
        lambda made, _: made.execute("PRAGMA busy_timeout = 0"),  # or it waits for ten seconds
        insert=True,
    )
    holder = sqlite3.connect(sqlite_file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        refused(database, "locked", "try again")
    finally:
        holder.close()
    assert database.check() == []


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
    there = make_url(admin_url)
    for changed in (there.set(database="nowhere"), there.set(username="nobody_at_all")):
        url = changed.set(password=PASSWORD).render_as_string(hide_password=False)
        refused(Database(url), "no such database or role")
    refusal = 'connection failed: FATAL:  password authentication failed for user "someone"'
    explained = backends.explain_database_error(
        OperationalError("", {}, psycopg.OperationalError(refusal)),
        make_url("postgresql+psycopg://someone:s3cret@db.example/ledger"),
    )
    assert explained is not None
    assert "refused the user or password" in explained.message
    assert "someone:***@db.example/ledger" in explained.message


def test_shown_name_has_no_password() -> None:
    for url, shown in (
        ("postgresql://u:s3cret@host/ledger", "postgresql://u:***@host/ledger"),
        ("postgres://host/ledger?password=s3cret", "postgresql://host/ledger"),
        ("file 1.db", "sqlite:///file 1.db"),
    ):
        assert str(Database(url)) == shown
        assert repr(Ledger(url)) == f"tracker.open({shown!r})"


# -- files that are not there yet ----------------------------------------------------------


def test_missing_ledger_reads_as_empty_and_is_made_by_the_first_import(
    empty_url: str, write: Callable[..., Path]
) -> None:
    ledger = Ledger(empty_url)
    for question in (ledger.agreement, ledger.audit, ledger.history, ledger.status):
        with pytest.raises(NotFound, match="there is no project 'p'"):
            question("p")  # type: ignore[operator]
    file = write("item,annotator,category\n i,A,x")
    assert ledger.import_file(file, "p", dry_run=True).inserted == 1
    assert ledger.database.revision() is None
    assert ledger.database.file is None or not ledger.database.file.exists()
    ledger.import_file(file, "p")
    assert standing(ledger) == [("i", "A", "x")]
    assert ledger.database.check() == []


def test_failed_transaction_leaves_nothing(ledger: Ledger) -> None:
    database = ledger.database
    with suppress(ZeroDivisionError), database.write() as connection:
        connection.execute(Base.metadata.tables["projects"].insert(), sample()["projects"])
        raise ZeroDivisionError
    assert stored(ledger) == {}


def test_a_full_disk_leaves_nothing_behind(sqlite_file: Path, tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")

    @event.listens_for(ledger.database.engine, "connect")
    def hold_its_size(connection: Any, _record: Any) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    rows = "".join(f"a long name of an item {n},A,x\n" for n in range(5_000))
    file = tmp_path / "answers.csv"
    file.write_text(f"item,annotator,label\n{rows}")
    with pytest.raises(DatabaseUnusable, match="the disk is full") as caught:
        ledger.import_file(file, "p")
    assert caught.value.exit_code == 5
    assert stored(ledger) == {}
