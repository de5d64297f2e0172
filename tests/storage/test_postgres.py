"""Postgres as others see it: errors in a sentence, the rights of roles, schemas."""

# ruff: noqa: F811 - fixtures are imported

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import URL, event, inspect, make_url, text
from sqlalchemy.exc import IntegrityError, ProgrammingError

from tests.cli.conftest import Run, answers, folder, run  # noqa: F401 - fixtures
from tests.helpers import Write, standing, stored
from tests.house import CHECKOUT
from tracker.core.errors import DatabaseUnusable, InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.projects import purge_project
from tracker.simulate.crowds import simulate_experiment
from tracker.storage.database import Database
from tracker.storage.schema import Base
from tracker.storage.views import VIEWS

SECRET = "s3cret"


@pytest.fixture
def url(postgres_url: str) -> str:
    """A ledger on Postgres with a project, a snapshot and an answer on record."""
    ledger = Ledger(postgres_url)
    ledger.import_rows(simulate_experiment("high", 12, 0), "p")
    ledger.snapshot("p")
    return postgres_url


CODES = {
    "08006": "connection to the server was lost", "25006": "may only be read",
    "25P02": "ended the transaction", "40001": "came first", "42501": "lacks a right",
    "42P01": "table of the schema is missing", "42703": "column of the schema is missing",
    "53100": "disk is full", "53300": "too many connections", "53400": "lacks resources",
    "55P03": "locked by another", "57014": "cancelled the statement", "57P01": "shutting down",
    "XX000": "server failed",
}  # fmt: skip


def test_error_code_decides_the_message(postgres_ledger: Ledger) -> None:
    for code, message in CODES.items():
        raising = f"DO $$ BEGIN RAISE EXCEPTION '{SECRET}' USING ERRCODE = '{code}'; END $$"
        with pytest.raises(DatabaseUnusable) as caught, postgres_ledger.database.read() as reader:
            reader.execute(text(raising))
        assert message in caught.value.message, code
        assert SECRET not in str(caught.value), code
    raising = "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '23505'; END $$"
    with pytest.raises(IntegrityError), postgres_ledger.database.read() as connection:
        connection.execute(text(raising))


def test_sqlite_error_name_decides_the_message(sqlite_file: Path) -> None:
    ledger = Ledger(str(sqlite_file))
    for name, message in (
        ("SQLITE_FULL", "disk is full"), ("SQLITE_IOERR_WRITE", "disk failed"),
        ("SQLITE_BUSY_SNAPSHOT", "locked"), ("SQLITE_READONLY_DBMOVED", "cannot be written to"),
    ):  # fmt: skip
        error = sqlite3.OperationalError(SECRET)
        error.sqlite_errorname = name
        with pytest.raises(DatabaseUnusable, match=message) as caught, ledger.database.read():
            raise error
        assert SECRET not in str(caught.value)
    with pytest.raises(InvalidOption, match="not UTF-8: ff"):
        ledger.status("p\udcff")


def test_a_number_that_no_column_holds_is_a_wrong_number(ledger: Ledger) -> None:
    ledger.import_rows(simulate_experiment("high", 3, 0), "p")
    statement = text("SELECT CAST(:n AS INTEGER) FROM projects WHERE id = CAST(:n AS INTEGER)")
    with pytest.raises(InvalidOption, match="a number is larger"), ledger.database.read() as one:
        one.execute(statement, {"n": 10**30})


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

    made.more = lambda *rights: do(there, *rights)  # type: ignore[attr-defined]
    yield made
    do(there, "DROP OWNED BY {role}")
    do(make_url(admin_url), "DROP ROLE {role}")


def test_a_session_that_is_ended_or_comes_too_late_stores_nothing(url: str) -> None:
    cut, other = Ledger(url), Database(url).engine
    before = stored(cut)

    @event.listens_for(cut.database.engine, "before_cursor_execute")
    def end(connection: Any, _c: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO labels"):
            pid = connection.connection.driver_connection.info.backend_pid
            with other.connect() as killer:
                killer.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})

    with pytest.raises(DatabaseUnusable, match=r"shutting down|connection was lost"):
        cut.import_rows(simulate_experiment("low", 30, 0), "p")
    assert stored(Ledger(url)) == before
    waiting, deleting = Ledger(url), Ledger(url)

    @event.listens_for(waiting.database.engine, "before_cursor_execute")
    def delete(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        """Delete the project while the command waits for its lock."""
        if "FOR UPDATE" in statement and stored(deleting):
            with deleting.writing("p") as (connection, project):
                purge_project(connection, project)

    with pytest.raises(NotFound, match="deleted"):
        waiting.snapshot("p")


def test_text_that_is_no_url_is_not_a_file_name() -> None:
    for url in (
        "host=db password=s3cret dbname=x", "postgres:s3cret@h/x", "user:s3cret@h/x",
        "postgresql:/u:s3cret@h/x", "//u:s3cret@h/x", "sqlite:///host=db password=s3cret",
        "sqlite://u:s3cret@h/x", "sqlite://host/x", "sqlite:///x.db?key=s3cret",
        "s3cret://h/x", "postgresql://u:s3cret@h:99999/x", "postgresql://u:s3cret@h:-1/x",
        "PASSWORD=s3cret", "service = s3cret", "postgresql://u:s3cret@host:port/ledger",
        "postgresql:/u:s3cret@host://x", "mysql://u:s3cret@host/ledger", "://u:s3cret@host/ledger",
    ):  # fmt: skip
        with pytest.raises(DatabaseUnusable) as caught:
            Database(url)
        assert SECRET not in str(caught.value), url
    for name in ("a@b.db", "C:\\x@y.db", "port.db", "host", "x:y.db", "./h=1.db"):
        assert Database(name).url.database == name


def test_connection_options_cannot_have_the_secret_as_their_value(admin_url: str) -> None:
    for key in (
        "foo", "sslmode", "connect_timeout", "target_session_attrs", "options", "row_factory",
        "autocommit", "client_encoding", "prepare_threshold", "cursor_factory", "context",
    ):  # fmt: skip
        value = f"-c {SECRET}=x" if key == "options" else SECRET
        changed = make_url(admin_url).update_query_dict({key: value})
        with pytest.raises(DatabaseUnusable) as caught:
            Ledger(changed.render_as_string(hide_password=False)).status("p")
        assert SECRET not in str(caught.value), key
        assert len(str(caught.value).splitlines()) <= 2, key


def test_a_database_in_memory_keeps_nothing(run: Run) -> None:
    Path("a.csv").write_text("item,annotator,category\n1,A,x\n")
    for url in ("sqlite://", "sqlite:///:memory:", ":memory:"):
        failed = run("--database", url, "import", "a.csv", "-p", "p", code=5)
        assert "in memory keeps nothing" in failed.err, url
        tracked = Ledger(url)  # in one process it is of use
        assert tracked.import_file("a.csv", "p").inserted == stored(tracked)["labels"] == 1
    assert "no ordinary file" in run("--database", "/dev/null", "status", code=5).err


PAGE = (CHECKOUT / "docs" / "administration.md").read_text("utf-8")
VIEWS_PAGE = (CHECKOUT / "docs" / "views.md").read_text("utf-8")
NOW = ["agreement p", "audit p", "status p", "history p", "export labels p -o -"]
PAST = ["agreement p --as-of 2020-01-01", "snapshots verify p", "compare p 2020-01-01 1"]
WRITES = [
    "import a.csv -p p", "import a.csv -p new", "snapshot p", "audit p --record",
    "project set p --wanted 9", "imports undo 1 --yes", "project delete p --yes",
]  # fmt: skip


def granted(page: str = PAGE) -> list[str]:
    """The page's statements for a role, of the role and database of a test."""
    (block,) = re.findall(r"```sql\n(GRANT.*?)```", page, re.DOTALL)
    named = re.sub(r"\b(reader|dashboard)\b", "{role}", block)
    named = re.sub(r"\bledger\b", "{database}", named)
    return named.strip().splitlines()


def to_write() -> list[str]:
    rights = re.search(r"^\| writer \| `([A-Z, ]+)` on all tables", PAGE, re.MULTILINE)
    assert rights is not None
    return [
        f"GRANT {rights.group(1)} ON ALL TABLES IN SCHEMA public TO {{role}}",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
        "GRANT TEMPORARY ON DATABASE {database} TO {role}",
    ]


@pytest.fixture
def answers_file(folder: Path) -> Path:
    file = folder / "a.csv"
    rows = [f"{item},A,yes\n{item},B,no\n" for item in range(30)]
    file.write_text("item,annotator,category\n" + "".join(rows))
    return file


def test_reader_reads_all_and_changes_nothing(
    role: Callable[..., str], url: str, answers_file: Path, run: Run
) -> None:
    reader, before = role(*granted()), stored(Ledger(url))
    for words in [*NOW, *PAST]:
        run("--database", reader, *words.split(), code=0)
    (revoked,) = re.findall(r"`(REVOKE SELECT ON pseudonym_keys FROM) reader`", PAGE)
    temporary = "REVOKE TEMPORARY ON DATABASE {database} FROM {role}"
    role.more(f"{revoked} {{role}}", temporary)  # type: ignore[attr-defined]
    run("--database", reader, *NOW[0].split(), code=0)
    for words in [*PAST, "audit p --pseudonyms", *WRITES]:
        error = run("--database", reader, *words.split(), code=5).err
        assert "lacks a right" in error, words
    assert stored(Ledger(url)) == before


def test_dashboard_role_reads_the_views_and_no_table(role: Callable[..., str]) -> None:
    with Database(role(*granted(VIEWS_PAGE))).engine.connect() as connection:
        for view in VIEWS:
            connection.execute(text(f"SELECT * FROM {view}"))
            connection.rollback()
        for table in Base.metadata.tables:
            with pytest.raises(ProgrammingError, match="permission denied"):
                connection.execute(text(f"SELECT * FROM {table}"))
            connection.rollback()


def test_a_writer_does_all_but_make_tables(
    role: Callable[..., str], answers_file: Path, run: Run
) -> None:
    writer = role(*to_write())
    for words in [NOW[0], *PAST, *WRITES]:
        run("--database", writer, *words.split(), code=0)


NAMES = ("team_a", 'Team "B" 100 %')


def ledger_in(url: str, name: str) -> Ledger:
    changed = make_url(url).update_query_dict({"schema": name})
    return Ledger(changed.render_as_string(hide_password=False))


def test_two_ledgers_in_one_database(empty_postgres_url: str, write: Write) -> None:
    database = ledger_in(empty_postgres_url, "nobody").database
    with database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM projects")) == 0
    with database.engine.connect() as connection:
        assert "nobody" not in inspect(connection).get_schema_names(), "reading makes no schema"
    ledgers = [ledger_in(empty_postgres_url, name) for name in NAMES]
    for ledger, category in zip(ledgers, "xy", strict=True):
        ledger.import_file(
            write(f"item,annotator,category,labeled_at\n i,A,{category},2020-01-02\n j,A,x,"), "p"
        )
        assert ledger.agreement("p", as_of="2020-01-03").counts.items == 1
        assert ledger.database.check() == []
    assert [standing(one)[0] for one in ledgers] == [("i", "A", "x"), ("i", "A", "y")]
    first, second = (one.database for one in ledgers)
    with first.engine.connect() as connection:
        assert inspect(connection).get_table_names(schema="public") == []
    with first.write() as connection:
        connection.execute(text("DROP TRIGGER changes_no_change ON changes"))
    assert first.check() == ["the trigger changes_no_change is missing"]
    assert second.check() == []
    first.downgrade("base")
    assert standing(ledgers[1])[0] == ("i", "A", "y")


def test_who_may_make_or_use_no_schema_is_told_so(role: Callable[..., str]) -> None:
    reader = role("CREATE SCHEMA hidden")
    with pytest.raises(DatabaseUnusable, match="lacks a right"):
        ledger_in(reader, "mine").database.upgrade()
    with pytest.raises(DatabaseUnusable, match="may use no schema"):
        ledger_in(reader, "hidden").database.revision()


def test_the_option_names_the_schema(run: Run, empty_postgres_url: str, answers: Path) -> None:
    at = ("--database", empty_postgres_url, "--schema", "team")
    run(*at, "import", answers, "-p", "p")
    assert run(*at, "status", "--json").json()["projects"]
    assert run("--database", empty_postgres_url, "status", "--json").json()["projects"] == []
    told = run("--schema", "team", "status", code=2)
    assert "only Postgres has schemas" in told.err
