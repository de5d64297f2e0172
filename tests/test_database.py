"""The database behind the ledger: its schema, what it refuses, and how it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Connection, Table, event, inspect, make_url, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from tests.helpers import standing, stored
from tracker import database as database_module
from tracker import dialect
from tracker.database import HEAD, REVISIONS, Database, migrations_folder
from tracker.errors import DatabaseUnusable, NotFound
from tracker.ledger import Ledger
from tracker.schema import Base

APPEND_ONLY = [
    "changes",
    "snapshot_categories",
    "snapshot_measures",
    "snapshot_patterns",
    "snapshots",
]


def squeezed(statement: object) -> str:
    return " ".join(str(statement).split())


# -- the schema ----------------------------------------------------------------------------


def test_migrated_head_has_the_models_tables(url: str) -> None:
    with Database(url).engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def constraints(database: Database, table: Table) -> dict[str | None, str]:
    """The names of the constraints that a table has in the database; the words of checks."""
    inspector = inspect(database.engine)
    found = [*inspector.get_foreign_keys(table.name), *inspector.get_unique_constraints(table.name)]
    found.append(inspector.get_pk_constraint(table.name))  # type: ignore[arg-type]
    return {one["name"]: "" for one in found} | {
        check["name"]: squeezed(check["sqltext"])
        for check in inspector.get_check_constraints(table.name)
    }


def test_migrated_head_has_the_models_constraints(url: str) -> None:
    database = Database(url)
    for table in Base.metadata.tables.values():
        wanted = {
            str(one.name): squeezed(one.sqltext) if isinstance(one, CheckConstraint) else ""
            for one in table.constraints
        }
        found = constraints(database, table)
        if None in found:  # SQLite forgets the name of a key that it counts up by itself
            assert database.url.get_backend_name() == "sqlite"
            found[str(table.primary_key.name)] = found.pop(None)
        assert found.keys() == wanted.keys()
        if database.url.get_backend_name() == "sqlite":  # Postgres words a condition anew
            assert found == wanted


def test_clustered_tables_lie_in_the_order_of_their_keys(sqlite_ledger: Ledger) -> None:
    clustered = {name for name, table in Base.metadata.tables.items() if table.info.get("clustered")}
    with sqlite_ledger.database.read() as connection:
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        found = {row.name for row in rows if row.sql.strip().endswith("WITHOUT ROWID")}
    assert found == clustered
    assert "labels" in found


def test_migrated_head_is_sound(url: str) -> None:
    assert Database(url).check() == []


def test_revisions_are_those_of_the_migrations() -> None:
    found = ScriptDirectory(str(migrations_folder())).walk_revisions()
    assert tuple(revision.revision for revision in reversed(list(found))) == REVISIONS


def sample(revision: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of a ledger at a revision, in an order in which they can be inserted."""
    p = {"project_id": 1}
    label = p | {"item_id": 1, "pass": 1, "span_start": -1, "span_end": -1, "timed": True}
    label |= {"labelled_at": 5, "change_id": 2, "source": 1, "spent_ms": 9}
    samples: dict[str, dict[str, list[dict[str, Any]]]] = {
        "0001": {
            "projects": [
                {"id": 1, "name": "p", "answers": "one", "scale": "nominal", "closed": True}
                | {"offsets": "characters", "wanted": 2, "created_at": 1, "archived_at": None}
            ],
            "changes": [
                p | {"id": n, "kind": kind, "recorded_at": n, "detail": "{}"}
                for n, kind in enumerate(("create", "import", "alias"), 1)
            ],
            "categories": [p | {"id": n, "name": name} for n, name in ((0, None), (1, "a"))],
            "annotators": [
                p | {"id": n, "name": name, "kind": "human"} for n, name in ((1, "A"), (2, "B"))
            ],
            "aliases": [
                p | {"alias_id": 2, "annotator_id": 1, "from_change": 3, "to_change": None}
            ],
            "items": [p | {"id": 1, "name": "i", "text": "t", "length": 3}],
            "item_attributes": [p | {"item_id": 1, "name": "language", "value": "nl"}],
            "imports": [
                p
                | {"id": 1, "change_id": 2, "rows": 1, "inserted": 1, "changed": 0}
                | {"unchanged": 0, "older": 0, "rejected": 0, "undone_by": None}
            ],
            "sources": [{"import_id": 1, "number": 1, "name": "f.csv", "digest": "00"}],
            "labels": [label | {"annotator_id": 1, "category_id": 1, "given_as": 2}],
            "past_labels": [
                label
                | {"annotator_id": 1, "category_id": 0, "given_as": 1, "taken_back_by": None}
                | {"labelled_at": 4}
            ],
            "snapshots": [
                p
                | {"id": 1, "name": "s", "note": None, "taken_at": 9, "through_change": 3}
                | {"version": "0.1.0", "scale": "nominal", "items": 1, "items_compared": 0}
                | {"annotators": 1, "answers": 1, "labels": 1}
            ],
            "snapshot_patterns": [p | {"snapshot_id": 1, "pattern": "[[[1],1]]", "items": 1}],
            "purges": [{"project_id": 7, "purged_at": 3}],
        }
    }
    return samples[revision]


def rows_of(connection: Connection, tables: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The tables' rows, in the sample's columns."""
    quote = connection.dialect.identifier_preparer.quote
    found = {}
    for name, rows in tables.items():
        columns = ", ".join(quote(column) for column in rows[0])
        statement = text(f"SELECT {columns} FROM {quote(name)} ORDER BY {columns}")
        found[name] = [dict(row) for row in connection.execute(statement).mappings()]
    return found


@pytest.mark.parametrize("revision", REVISIONS)
def test_upgrade_and_downgrade_keep_the_rows(empty_url: str, revision: str) -> None:
    database = Database(empty_url)
    database.upgrade(revision)
    rows = sample(revision)
    with database.engine.begin() as connection:
        quote = connection.dialect.identifier_preparer.quote
        for name, held in rows.items():
            columns = ", ".join(quote(column) for column in held[0])
            marks = ", ".join(f":{column}" for column in held[0])
            statement = f"INSERT INTO {quote(name)} ({columns}) VALUES ({marks})"
            connection.execute(text(statement), held)
        before = rows_of(connection, rows)
    for target in ("head", revision):
        (database.upgrade if target == "head" else database.downgrade)(target)
        with database.engine.connect() as connection:
            assert rows_of(connection, rows) == before
            assert dialect.integrity_errors(connection) == []
        if target == "head":
            assert database.check() == []


def test_downgrade_to_base_leaves_nothing_and_can_be_taken_back(url: str) -> None:
    database = Database(url)
    database.downgrade("base")
    with database.engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
        assert dialect.stored_triggers(connection) == set()
    assert database.revision() is None
    assert stored(Ledger(url)) == {}
    database.upgrade()
    assert database.revision() == HEAD
    assert database.check() == []


# -- what may not be done ------------------------------------------------------------------


@pytest.fixture
def recorded(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """A ledger with a row in every table that is append-only."""
    file = write("item,annotator,category\n i,A,x\n i,B,y\n j,A,x\n j,B,x")
    ledger.import_file(file, "p")
    ledger.snapshot("p", name="first")
    return ledger


def test_append_only_tables_are_all_tried() -> None:
    tables = Base.metadata.tables.values()
    assert sorted(table.name for table in tables if table.info.get("append_only")) == APPEND_ONLY


def refusals(backend: str) -> dict[str, str]:
    statements = {
        "update": "UPDATE {0} SET project_id = project_id",
        "delete": "DELETE FROM {0}",
    }
    if backend == "sqlite":
        statements["replace"] = "INSERT OR REPLACE INTO {0} SELECT * FROM {0}"
    else:
        statements["truncate"] = "TRUNCATE {0} CASCADE"
        statements["upsert"] = (
            "INSERT INTO {0} SELECT * FROM {0} WHERE true "
            "ON CONFLICT ON CONSTRAINT pk_{0} DO UPDATE SET project_id = EXCLUDED.project_id"
        )
    return statements


def test_append_only_rows_cannot_be_changed(recorded: Ledger, backend: str) -> None:
    before = stored(recorded)
    for table in APPEND_ONLY:
        assert before[table] > 0
        for name, statement in refusals(backend).items():
            refused = pytest.raises(DBAPIError, match="append-only")
            with refused, recorded.database.write() as connection:
                connection.execute(text(statement.format(table)))
                pytest.fail(f"{name} passed")
    assert stored(recorded) == before


def test_other_programs_cannot_replace_append_only_rows(
    sqlite_file: Path, write: Callable[..., Path]
) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    ledger.import_file(write("item,annotator,category\n i,A,x\n i,B,y"), "p")
    ledger.snapshot("p")
    plain = sqlite3.connect(sqlite_file)  # with none of our pragmas
    try:
        for table in APPEND_ONLY:
            for statement in refusals("sqlite").values():
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    plain.execute(statement.format(table))
    finally:
        plain.close()


def values_of(table: str, **changed: object) -> tuple[str, dict[str, object]]:
    """A row of a sample, changed, as the parameters of a test."""
    return table, dict(sample("0001")[table][0]) | changed


IMPOSSIBLE = {
    "pass 0": values_of("labels", **{"pass": 0}),
    "a span that ends where it starts": values_of("labels", span_start=4, span_end=4),
    "a span that ends before its start": values_of("labels", span_start=4, span_end=3),
    "half a span": values_of("labels", span_start=4, span_end=-1),
    "a span before the start": values_of("labels", span_start=-2, span_end=3),
    "none applies with a span": values_of("labels", category_id=0, span_start=0, span_end=3),
    "skipped with a span": values_of("labels", category_id=-1, span_start=0, span_end=3),
    "time before it began": values_of("labels", spent_ms=-1),
    "no such category": values_of("labels", category_id=9),
    "no such item": values_of("labels", item_id=9),
    "no such annotator": values_of("labels", annotator_id=9),
    "no such change": values_of("labels", change_id=9),
    "another project's item": values_of("labels", project_id=2),
    "past pass 0": values_of("past_labels", **{"pass": 0}),
    "a past span that ends before its start": values_of("past_labels", span_start=4, span_end=3),
    "taken back by no change": values_of("past_labels", taken_back_by=9),
    "a project without a name": values_of("projects", id=2, name=""),
    "a project of that name": values_of("projects", id=2),
    "a kind of answers": values_of("projects", id=2, name="q", answers="two"),
    "a scale": values_of("projects", id=2, name="q", scale="musical"),
    "offsets": values_of("projects", id=2, name="q", offsets="bytes"),
    "no answer wanted": values_of("projects", id=2, name="q", wanted=0),
    "a reserved category with a name": values_of("categories", id=-1, name="skipped"),
    "a category without a name": values_of("categories", id=3, name=None),
    "a category twice": values_of("categories", id=3, name="a"),
    "a kind of annotator": values_of("annotators", id=3, name="C", kind="robot"),
    "an annotator twice": values_of("annotators", id=3, name="A"),
    "its own alias": values_of("aliases", alias_id=1),
    "an alias that ends before it starts": values_of("aliases", from_change=2, to_change=2),
    "a negative length": values_of("items", id=2, name="j", length=-1),
    "an item twice": values_of("items", id=2),
    "rows without a fate": values_of("imports", id=2, change_id=3, rows=2),
    "a change that is two imports": values_of("imports", id=2),
    "a pattern of no item": values_of("snapshot_patterns", pattern="[]", items=0),
    "a snapshot of that name": values_of("snapshots", id=2),
    "a measure without value or reason": (
        "snapshot_measures",
        {"project_id": 1, "snapshot_id": 1, "measure": "m", "position": 0, "confidence": 0.95}
        | {"items": 1},
    ),
    "a measure with value and reason": (
        "snapshot_measures",
        {"project_id": 1, "snapshot_id": 1, "measure": "m", "position": 0, "confidence": 0.95}
        | {"items": 1, "value": 0.5, "undefined": "no_overlap"},
    ),
    "more agreements than there can be": (
        "snapshot_categories",
        {"project_id": 1, "snapshot_id": 1, "category_id": 1, "position": 0, "labels": 2}
        | {"agreements": 2, "potential_agreements": 1, "rate": 1.0},
    ),
    "a rate without a reason for none": (
        "snapshot_categories",
        {"project_id": 1, "snapshot_id": 1, "category_id": 1, "position": 0, "labels": 2}
        | {"agreements": 0, "potential_agreements": 0},
    ),
    "a flag last seen before it was found": (
        "flags",
        {"project_id": 1, "id": 1, "annotator_id": 1, "kind": "k", "category_id": 1}
        | {"severity": "s", "found_at": 5, "last_seen_at": 4, "evidence": "{}"},
    ),
}


@pytest.fixture
def sampled(url: str) -> Database:
    """A database that holds the sample."""
    database = Database(url)
    with database.write() as connection:
        for name, rows in sample(HEAD).items():
            connection.execute(Base.metadata.tables[name].insert(), rows)
    return database


def test_the_sample_is_sound(sampled: Database) -> None:
    assert sampled.check() == []


def test_impossible_states_are_refused(sampled: Database) -> None:
    for name, (table, row) in IMPOSSIBLE.items():
        try:
            with sampled.write() as connection:
                connection.execute(Base.metadata.tables[table].insert(), row)
        except IntegrityError:
            continue
        pytest.fail(f"stored: {name}")


# -- database check ------------------------------------------------------------------------


def test_check_finds_a_dropped_trigger(url: str) -> None:
    database = Database(url)
    dropped: list[str] = []
    for name in dialect.triggers(database.url.get_backend_name()):
        with database.write() as connection:
            table = name.partition("_no_")[0]
            on = "" if url.startswith("sqlite") else f" ON {table}"
            connection.execute(text(f"DROP TRIGGER {name}{on}"))
        dropped.append(name)
        assert database.check() == [f"the trigger {one} is missing" for one in sorted(dropped)]
    assert {name.partition("_no_")[0] for name in dropped} == set(APPEND_ONLY)


def test_check_finds_a_disabled_trigger(postgres_url: str) -> None:
    database = Database(postgres_url)
    with database.write() as connection:
        connection.execute(text("ALTER TABLE changes DISABLE TRIGGER changes_no_change"))
    assert database.check() == ["the trigger changes_no_change is missing"]


def test_check_finds_a_missing_table(url: str) -> None:
    database = Database(url)
    with database.write() as connection:
        connection.execute(text("DROP TABLE item_attributes"))
    assert database.check() == ["the table item_attributes is missing"]


def test_check_finds_a_label_of_nobody(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    with database.write() as connection:
        for name, rows in sample(HEAD).items():
            connection.execute(Base.metadata.tables[name].insert(), rows)
    plain = sqlite3.connect(sqlite_file)
    plain.execute("PRAGMA foreign_keys = OFF")
    plain.execute("UPDATE labels SET annotator_id = 77")
    plain.commit()
    plain.close()
    found = database.check()
    assert len(found) == 1
    assert "labels" in found[0]
    assert "annotators" in found[0]


def test_check_finds_a_damaged_page(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    with database.write() as connection:
        for name, rows in sample(HEAD).items():
            connection.execute(Base.metadata.tables[name].insert(), rows)
        page = connection.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = 'changes'"))
        size = connection.scalar(text("PRAGMA page_size"))
    assert page is not None
    assert size is not None
    with sqlite_file.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x0d\x00\x00\xff\xff" + b"\xee" * 40)
    try:
        assert database.check() != []
    except DatabaseUnusable as error:
        assert "damaged" in error.message


# -- databases that cannot be used ---------------------------------------------------------


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
    assert database.check() == []
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
        url = changed.set(password="s3cret").render_as_string(hide_password=False)
        refused(Database(url), "no such database or role")


def test_a_password_that_is_refused_is_not_told() -> None:
    url = make_url("postgresql+psycopg://someone:s3cret@db.example/ledger")
    said = 'connection failed: FATAL:  password authentication failed for user "someone"'
    explained = dialect.explain(OperationalError("", {}, Exception(said)), url)
    assert explained is not None
    assert "refused the user or password" in explained.message
    assert "someone:***@db.example/ledger" in explained.message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret@host:port/ledger",
        "postgresql:/u:s3cret@host://x",
        "mysql://u:s3cret@host/ledger",
        "://u:s3cret@host/ledger",
    ],
)
def test_a_url_that_cannot_be_used_does_not_tell_its_password(url: str) -> None:
    with pytest.raises(DatabaseUnusable) as caught:
        Database(url)
    assert "s3cret" not in str(caught.value)
    assert "postgresql://" in str(caught.value)


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
    assert ledger.database.check() == []
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
    with pytest.raises(RuntimeError), database.write() as connection:
        connection.execute(Base.metadata.tables["projects"].insert(), sample(HEAD)["projects"])
        raise RuntimeError
    assert stored(Ledger(url)) == {}


# -- backup --------------------------------------------------------------------------------


def test_backup_of_a_file_in_use(
    sqlite_ledger: Ledger, write: Callable[..., Path], tmp_path: Path
) -> None:
    sqlite_ledger.import_file(write("item,annotator,category\n i,A,x"), "p")
    target = tmp_path / "copy.db"
    with sqlite_ledger.database.write() as connection:
        connection.execute(text("UPDATE items SET name = 'not committed'"))
        sqlite_ledger.database.backup(target)
    copy = Ledger(str(target))
    assert copy.database.check() == []
    assert standing(copy) == [("i", "A", "x")]
    assert stored(copy) == stored(sqlite_ledger)
    assert standing(sqlite_ledger) == [("not committed", "A", "x")]


def test_backup_replaces_nothing(sqlite_file: Path, tmp_path: Path) -> None:
    (tmp_path / "there.db").touch()
    for target in (tmp_path / "there.db", sqlite_file):
        with pytest.raises(DatabaseUnusable, match="already exists"):
            Database(str(sqlite_file)).backup(target)


def test_backup_into_a_folder_that_is_not_there(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="nowhere"):
        sqlite_ledger.database.backup(tmp_path / "nowhere" / "copy.db")


def test_backup_of_postgres_names_its_own_tool(postgres_url: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="pg_dump"):
        Database(postgres_url).backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
