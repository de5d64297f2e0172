"""Errors of a database and its driver: a sentence each, exit code 5, nothing of the data in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import URL, event, make_url, text
from sqlalchemy.exc import IntegrityError

from tests.cli.conftest import Run, folder, run  # noqa: F401 - fixtures
from tests.helpers import stored
from tracker.core.errors import DatabaseUnusable, InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.projects import purge_project
from tracker.simulate.crowds import simulate_experiment
from tracker.storage.database import Database

SECRET = "s3cret"


@pytest.fixture
def url(postgres_url: str) -> str:
    """A ledger on Postgres with a project, a snapshot and an answer on record."""
    ledger = Ledger(postgres_url)
    ledger.import_rows(simulate_experiment("high", 12, 0), "p")
    ledger.snapshot("p")
    return postgres_url


def with_options(url: str, options: str) -> str:
    """The URL with settings of the server for its sessions."""
    changed = make_url(url).update_query_dict({"options": options})
    return changed.render_as_string(hide_password=False)


# -- by code -------------------------------------------------------------------------------


CODES = {
    "08006": "connection to the server was lost",
    "25006": "may only be read",
    "25P02": "ended the transaction",
    "40001": "came first",
    "40P01": "came first",
    "42501": "lacks a right",
    "42P01": "table of the schema is missing",
    "42703": "column of the schema is missing",
    "53100": "disk is full",
    "53200": "out of memory",
    "53300": "too many connections",
    "53400": "lacks resources",
    "55P03": "locked by another",
    "55006": "in use by another",
    "57014": "cancelled the statement",
    "57P01": "shutting down",
    "57P05": "shutting down",
    "58030": "server failed",
    "XX000": "server failed",
}


def test_the_code_decides_what_is_said(postgres_ledger: Ledger) -> None:
    for code, told in CODES.items():
        raising = f"DO $$ BEGIN RAISE EXCEPTION '{SECRET}' USING ERRCODE = '{code}'; END $$"
        with pytest.raises(DatabaseUnusable) as caught, postgres_ledger.database.read() as asked:
            asked.execute(text(raising))
        assert told in caught.value.message, code
        assert SECRET not in str(caught.value), code


def test_what_is_this_programs_fault_is_not_the_databases(postgres_ledger: Ledger) -> None:
    raising = "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '23505'; END $$"
    with pytest.raises(IntegrityError), postgres_ledger.database.read() as connection:
        connection.execute(text(raising))


def test_a_number_that_no_column_holds_is_a_wrong_number(ledger: Ledger) -> None:
    ledger.import_rows(simulate_experiment("high", 3, 0), "p")
    statement = text("SELECT CAST(:n AS INTEGER) FROM projects WHERE id = CAST(:n AS INTEGER)")
    with pytest.raises(InvalidOption, match="a number is larger"), ledger.database.read() as one:
        one.execute(statement, {"n": 10**30})


def test_bytes_that_are_no_text_are_named(ledger: Ledger) -> None:
    for question in (ledger.agreement, ledger.history, ledger.status):
        with pytest.raises(InvalidOption, match="not UTF-8: ff"):
            question("p\udcff")  # type: ignore[operator]


def test_sqlites_word_decides_likewise(sqlite_ledger: Ledger) -> None:
    for name, told in (
        ("SQLITE_FULL", "disk is full"),
        ("SQLITE_IOERR_WRITE", "disk failed"),
        ("SQLITE_BUSY_SNAPSHOT", "is locked"),
        ("SQLITE_READONLY_DBMOVED", "cannot be written to"),
    ):
        error = sqlite3.OperationalError(SECRET)
        error.sqlite_errorname = name
        with pytest.raises(DatabaseUnusable, match=told) as caught, sqlite_ledger.database.read():
            raise error
        assert SECRET not in str(caught.value)


def test_a_table_that_is_gone_is_no_fault_of_the_program(sqlite_file: Path) -> None:
    with sqlite3.connect(sqlite_file) as connection:
        connection.execute("DROP TABLE labels")
    connection.close()
    ledger = Ledger(str(sqlite_file))
    with pytest.raises(DatabaseUnusable, match="table of the schema is missing"):
        ledger.import_rows(simulate_experiment("high", 3, 0), "p")


# -- as they happen ------------------------------------------------------------------------


@pytest.fixture
def role(admin_url: str, worker: str, url: str) -> Iterator[Callable[..., str]]:
    """``role(*rights)``: the URL of a role that has these rights on the ledger and no others."""
    name = f"reader_{worker}"
    there, database = make_url(url), make_url(url).database

    def do(at: URL, *statements: str) -> None:
        host, port = (str(at.query.get(key) or getattr(at, key)) for key in ("host", "port"))
        with psycopg.connect(
            host=host, port=port, user=at.username, password=at.password, dbname=at.database,
            autocommit=True,
        ) as connection:  # fmt: skip
            for statement in statements:
                connection.execute(
                    sql.SQL(statement).format(  # type: ignore[arg-type]
                        role=sql.Identifier(name), database=sql.Identifier(str(database))
                    )
                )

    def made(*rights: str) -> str:
        do(there, "CREATE ROLE {role} LOGIN PASSWORD 's3cret'",
           "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
           "GRANT CONNECT ON DATABASE {database} TO {role}", *rights)  # fmt: skip
        changed = there.set(username=name, password=SECRET)
        return changed.render_as_string(hide_password=False)

    yield made
    do(there, "DROP OWNED BY {role}")
    do(make_url(admin_url), "DROP ROLE {role}")


READ = "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"


def test_a_role_that_may_nothing_is_not_told_of_another_program(role: Callable[..., str]) -> None:
    with pytest.raises(DatabaseUnusable, match="lacks a right"):
        Ledger(role()).status("p")


def test_a_role_that_may_not_use_the_schema_sees_no_empty_ledger(
    role: Callable[..., str],
    run: Run,  # noqa: F811
) -> None:
    url = role(READ, "REVOKE USAGE ON SCHEMA public FROM PUBLIC")
    Path("a.csv").write_text("item,annotator,category\n1,A,x\n")
    for words in ("project list", "import a.csv -p p", "database upgrade"):
        done = run("--database", url, *words.split(), code=5)
        assert "may use no schema" in done.err, words
        assert "GRANT USAGE ON SCHEMA" in done.err, words


def test_a_session_that_may_only_be_read(url: str) -> None:
    ledger = Ledger(with_options(url, "-c default_transaction_read_only=on"))
    ledger.agreement("p")
    with pytest.raises(DatabaseUnusable, match="may only be read"):
        ledger.snapshot("p")


def test_a_statement_that_takes_too_long(url: str) -> None:
    ledger = Ledger(with_options(url, "-c statement_timeout=1"))

    @event.listens_for(ledger.database.engine, "before_cursor_execute", retval=True)
    def dawdle(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> tuple[str, Any]:
        return statement.replace("SELECT", "SELECT pg_sleep(9), ", 1), parameters

    with pytest.raises(DatabaseUnusable, match="cancelled the statement"):
        ledger.agreement("p")


def test_a_connection_that_the_server_ends(url: str) -> None:
    ledger, other = Ledger(url), Database(url).engine
    before = stored(ledger)

    @event.listens_for(ledger.database.engine, "before_cursor_execute")
    def end(connection: Any, _c: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO labels"):
            pid = connection.connection.driver_connection.info.backend_pid
            with other.connect() as killer:
                killer.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})

    with pytest.raises(DatabaseUnusable, match=r"shutting down|connection was lost"):
        ledger.import_rows(simulate_experiment("low", 30, 0), "p")
    event.remove(ledger.database.engine, "before_cursor_execute", end)
    assert stored(ledger) == before


def test_a_project_that_is_deleted_while_a_command_waits(url: str) -> None:
    """It waits for the project's lock, and the project is gone when it comes."""
    ledger, other = Ledger(url), Ledger(url)

    @event.listens_for(ledger.database.engine, "before_cursor_execute")
    def delete(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FOR UPDATE" in statement and stored(other):
            with other.writing("p") as (connection, project):
                purge_project(connection, project)

    with pytest.raises(NotFound, match="deleted"):
        ledger.snapshot("p")


# -- URLs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "host=db password=s3cret dbname=x", "postgres:s3cret@h/x", "user:s3cret@h/x",
        "postgresql:/u:s3cret@h/x", "//u:s3cret@h/x", "sqlite:///host=db password=s3cret",
        "sqlite://u:s3cret@h/x", "sqlite://host/x", "sqlite:///x.db?key=s3cret",
        "s3cret://h/x", "postgresql://u:s3cret@h:99999/x", "postgresql://u:s3cret@h:-1/x",
        "PASSWORD=s3cret", "service = s3cret", "postgresql://u:s3cret@host:port/ledger",
        "postgresql:/u:s3cret@host://x", "mysql://u:s3cret@host/ledger", "://u:s3cret@host/ledger",
    ],
)  # fmt: skip
def test_what_is_no_url_is_not_a_files_name(tmp_path: Path, url: str) -> None:
    with pytest.raises(DatabaseUnusable) as caught:
        Database(url)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["a@b.db", "C:\\x@y.db", "port.db", "host", "x:y.db", "./h=1.db"])
def test_what_is_a_files_name(name: str) -> None:
    assert Database(name).url.database == name


IMPOSSIBLE = (
    "foo", "sslmode", "connect_timeout", "target_session_attrs", "options", "row_factory",
    "autocommit", "client_encoding", "prepare_threshold", "cursor_factory", "context",
)  # fmt: skip
"""Options of a connection that cannot have the secret as their value."""


def test_an_option_that_cannot_be(admin_url: str) -> None:
    for key in IMPOSSIBLE:
        value = f"-c {SECRET}=x" if key == "options" else SECRET
        changed = make_url(admin_url).update_query_dict({key: value})
        with pytest.raises(DatabaseUnusable) as caught:
            Ledger(changed.render_as_string(hide_password=False)).status("p")
        assert SECRET not in str(caught.value), key
        assert len(str(caught.value).splitlines()) <= 2, key


def test_a_database_in_memory_keeps_nothing(run: Run) -> None:  # noqa: F811
    Path("a.csv").write_text("item,annotator,category\n1,A,x\n")
    for url in ("sqlite://", "sqlite:///:memory:", ":memory:"):
        failed = run("--database", url, "import", "a.csv", "-p", "p", code=5)
        assert "in memory keeps nothing" in failed.err, url
        assert failed.out == ""
        tracked = Ledger(url)  # in one process it is of use
        assert tracked.import_file("a.csv", "p").inserted == 1
        assert stored(tracked)["labels"] == 1


def test_a_device_is_no_database(run: Run) -> None:  # noqa: F811
    assert "no ordinary file" in run("--database", "/dev/null", "status", code=5).err
