"""Databases that cannot be used, or are not there yet, and what is said of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
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


def uses(database: Database) -> Iterator[Callable[[], object]]:
    """Every way to a connection."""

    def read() -> None:
        with database.read():
            pass

    def write() -> None:
        with database.write():
            pass

    yield from (read, write, database.check)


def refused(database: Database, *signs: str) -> DatabaseUnusable:
    for use in uses(database):
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


def set_revision(database: Database, revision: str) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": revision})


def test_a_newer_revision_needs_a_newer_program(url: str) -> None:
    database = Database(url)
    set_revision(database, "9999")
    refused(database, "9999", "newer")


def test_an_older_revision_needs_an_upgrade(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "REVISIONS", ("0000", *REVISIONS))
    database = Database(url)
    set_revision(database, "0000")
    refused(database, "0000", HEAD, "tracker database upgrade")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    refused(Database(f"sqlite:///{tmp_path}/nowhere/x.db"), f"{tmp_path}/nowhere", "--database")


def test_a_name_that_is_too_long_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable):
        Database(f"sqlite:///{tmp_path}/{'a' * 300}").revision()


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    refused(Database(str(tmp_path)), "is a folder")


@pytest.mark.parametrize("content", [b"item,annotator\n" * 200, b"\x7fELF" + bytes(5000)])
def test_another_kind_of_file_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(content)
    refused(Database(str(path)), "not a SQLite database")
    assert path.read_bytes() == content


def test_a_file_without_a_byte_is_an_empty_database(tmp_path: Path) -> None:
    (tmp_path / "new.db").touch()
    database = Database(str(tmp_path / "new.db"))
    assert stored(Ledger(str(database))) == {}
    assert (tmp_path / "new.db").stat().st_size == 0
    with database.write():
        pass
    assert database.revision() == HEAD


def test_a_file_that_cannot_be_written_to(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    # Permissions would not hold root back; the pragma fails as they do.
    event.listen(database.engine, "connect", lambda made, _: made.execute("PRAGMA query_only = 1"))
    with pytest.raises(DatabaseUnusable, match="cannot be written to") as caught:
        Ledger.import_frame(_ledger_on(database), _frame(), "p")
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


def _ledger_on(database: Database) -> Ledger:
    ledger = Ledger(str(database))
    ledger.database = database
    return ledger


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame({"item": ["i"], "annotator": ["A"], "category": ["x"]})


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://someone:s3cret@127.0.0.1:1/ledger",
        "postgres://someone:s3cret@127.0.0.1:1/ledger",
        "postgresql://someone:s3cret@/ledger?host=/no/such/folder",
        "postgresql://someone@/ledger?host=/no/such/folder&password=s3cret",
    ],
)
def test_a_server_that_does_not_answer(url: str) -> None:
    error = refused(Database(url), "no server answers", "check the URL")
    assert "ledger" in error.message


def test_a_server_without_that_database_or_user(admin_url: str) -> None:
    there = make_url(admin_url)
    for changed in (there.set(database="nowhere"), there.set(username="nobody_at_all")):
        url = changed.set(password=PASSWORD).render_as_string(hide_password=False)
        refused(Database(url), "no such database or role")


def test_a_password_that_is_refused_is_not_told() -> None:
    url = make_url("postgresql+psycopg://someone:s3cret@db.example/ledger")
    said = 'connection failed: FATAL:  password authentication failed for user "someone"'
    explained = backends.explain_database_error(
        OperationalError("", {}, psycopg.OperationalError(said)), url
    )
    assert explained is not None
    assert "refused the user or password" in explained.message
    assert "someone:***@db.example/ledger" in explained.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:s3cret@host/ledger", "postgresql://u:***@host/ledger"),
        ("postgres://host/ledger?password=s3cret", "postgresql://host/ledger"),
        ("file 1.db", "sqlite:///file 1.db"),
    ],
)
def test_a_database_by_the_name_that_may_be_shown(url: str, shown: str) -> None:
    assert str(Database(url)) == shown
    assert repr(Ledger(url)) == f"tracker.open({shown!r})"


# -- files that are not there yet ----------------------------------------------------------


def test_a_missing_file_reads_as_empty_and_is_not_made(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    path = tmp_path / "new.db"
    ledger = Ledger(str(path))
    for question in (ledger.agreement, ledger.audit, ledger.history, ledger.status):
        with pytest.raises(NotFound, match="there is no project 'p'"):
            question("p")  # type: ignore[operator]
    assert ledger.database.revision() is None
    file = write("item,annotator,category\n i,A,x")
    assert ledger.import_file(file, "p", dry_run=True).inserted == 1
    assert not path.exists()
    ledger.import_file(file, "p")
    assert standing(ledger) == [("i", "A", "x")]


def test_a_postgres_database_without_tables_is_given_them(
    empty_postgres_url: str, write: Callable[..., Path]
) -> None:
    ledger = Ledger(empty_postgres_url)
    file = write("item,annotator,category\n i,A,x")
    ledger.import_file(file, "p", dry_run=True)
    assert inspect(ledger.database.engine).get_table_names() == []
    ledger.import_file(file, "p")
    assert standing(ledger) == [("i", "A", "x")]
    assert ledger.database.check() == []


def test_what_fails_half_way_leaves_nothing(url: str) -> None:
    database = Database(url)

    def fail() -> None:
        with database.write() as connection:
            connection.execute(Base.metadata.tables["projects"].insert(), sample()["projects"])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert stored(Ledger(url)) == {}


def test_a_full_disk_leaves_nothing_behind(sqlite_file: Path, tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")

    @event.listens_for(ledger.database.engine, "connect")
    def hold_its_size(connection: Any, _record: Any) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    rows = "".join(f"a long name of an item {n},A,x\n" for n in range(20_000))
    file = tmp_path / "answers.csv"
    file.write_text(f"item,annotator,label\n{rows}")
    with pytest.raises(DatabaseUnusable, match="the disk is full") as caught:
        ledger.import_file(file, "p")
    assert caught.value.exit_code == 5
    assert stored(ledger) == {}
