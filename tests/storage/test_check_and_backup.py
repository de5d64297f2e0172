"""`database check` finds what is wrong; a backup is whole and replaces nothing."""

from __future__ import annotations

import re
import resource
import signal
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from tests.helpers import standing, stored
from tests.storage.rows import APPEND_ONLY, fill
from tracker.core.errors import DatabaseUnusable, InvalidOption
from tracker.ledger import Ledger
from tracker.storage.backends.postgres import Postgres
from tracker.storage.backends.sqlite import Sqlite
from tracker.storage.database import Database


def test_check_finds_each_dropped_trigger(url: str) -> None:
    database = Database(url)
    triggers = sorted(database.backend.triggers())
    with database.write() as connection:
        for name in triggers:
            on = "" if database.file else f" ON {re.split('_no_|_refer', name)[0]}"
            connection.execute(text(f"DROP TRIGGER {name}{on}"))
    assert database.check() == [f"the trigger {name} is missing" for name in triggers]
    assert {name.partition("_no_")[0] for name in triggers if "_no_" in name} == set(APPEND_ONLY)


def test_check_finds_a_disabled_trigger(postgres_url: str) -> None:
    database = Database(postgres_url)
    with database.write() as connection:
        connection.execute(text("ALTER TABLE changes DISABLE TRIGGER changes_no_change"))
    assert database.check() == ["the trigger changes_no_change is missing"]


def test_check_finds_a_trigger_that_was_emptied(url: str) -> None:
    database = Database(url)
    if url.startswith("sqlite"):
        event = "BEFORE UPDATE ON changes BEGIN SELECT 1; END"
        statements = ["DROP TRIGGER changes_no_update", f"CREATE TRIGGER changes_no_update {event}"]
        emptied = {"changes_no_update"}
    else:
        body = "BEGIN RETURN NEW; END"
        statements = [
            "CREATE OR REPLACE FUNCTION refuse_on_append_only() RETURNS trigger "
            f"LANGUAGE plpgsql AS $$ {body} $$"
        ]
        made = Postgres().triggers()
        emptied = {name for name, text in made.items() if " refuse_on_append_only()" in text}
    with database.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    assert set(database.check()) == {
        f"the trigger {name} is not as this program made it" for name in emptied
    }


def test_check_finds_missing_tables_columns_and_constraints(url: str) -> None:
    database = Database(url)
    ways = ["DROP TABLE past_labels", "ALTER TABLE imports DROP COLUMN undone_by CASCADE"]
    if url.startswith("sqlite"):
        # SQLite drops no column that a constraint names.
        made = "CREATE TABLE imports (id INTEGER PRIMARY KEY, project_id INT, change_id INT)"
        ways = [ways[0], "DROP TABLE imports", made]
    with database.write(bulk=True) as connection:
        for way in ways:
            connection.execute(text(way))
    found = database.check()
    assert "the table past_labels is missing" in found
    assert "the column imports.undone_by is missing" in found
    assert "the constraint fk_imports_project_id_undone_by_changes of imports is missing" in found
    assert "cannot be checked before" in found[-1]


def test_what_holds_no_ledger_cannot_be_checked(tmp_path: Path, empty_url: str) -> None:
    (tmp_path / "nothing.db").touch()
    for url in (empty_url, f"sqlite:///{tmp_path}/missing.db", str(tmp_path / "nothing.db")):
        with pytest.raises(DatabaseUnusable, match="holds no ledger") as caught:
            Database(url).check()
        assert caught.value.exit_code == 5
        if "postgresql" not in url:
            with pytest.raises(DatabaseUnusable, match="holds no ledger"):
                Database(url).backup(tmp_path / "copy.db")
    assert {path.name for path in tmp_path.iterdir()} <= {"nothing.db", "empty.db"}


def test_check_finds_a_label_of_nobody(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    fill(database)
    plain = sqlite3.connect(sqlite_file)
    plain.execute("PRAGMA foreign_keys = OFF")
    plain.execute("UPDATE labels SET annotator_id = 77")
    plain.commit()
    plain.close()
    problem, *_ = database.check()
    assert "labels" in problem
    assert "annotators" in problem


def test_check_finds_a_damaged_page(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    fill(database)
    with database.engine.connect() as connection:
        page = connection.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = 'changes'"))
        size = connection.scalar(text("PRAGMA page_size"))
    assert page is not None
    assert size is not None
    with sqlite_file.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x0d\x00\x00\xff\xff" + b"\xee" * 40)
    assert database.check() == ["the database file is damaged: restore a backup"]


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


def test_a_backup_has_its_name_when_it_is_whole(
    sqlite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    sqlite_file.chmod(0o640)
    seen: list[list[str]] = []
    copy = Sqlite.backup

    def watched(backend: Sqlite, connection: Connection, path: Path) -> None:
        copy(backend, connection, path)
        seen.append([one.name for one in folder.iterdir()])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    monkeypatch.setattr(Sqlite, "backup", watched)
    Database(str(sqlite_file)).backup(folder / "copy.db")
    assert [name.startswith(".tracker-backup-") for name in seen[0]] == [True]
    assert [path.name for path in folder.iterdir()] == ["copy.db"]
    assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o640
    assert Database(str(folder / "copy.db")).check() == []


def test_a_backup_that_fails_leaves_nothing(sqlite_file: Path, tmp_path: Path) -> None:
    database = Database(str(sqlite_file))
    fill(database)
    folder = tmp_path / "backups"
    folder.mkdir()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    was = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))  # as a full disk
    try:
        with pytest.raises(DatabaseUnusable, match="the backup failed") as caught:
            database.backup(folder / "copy.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, was)
    assert "no file was left" in str(caught.value)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("what", [b"table", b"CREATE TRIGGER"])
def test_check_finds_bytes_of_the_schema_that_are_no_text(sqlite_file: Path, what: bytes) -> None:
    database = Database(str(sqlite_file))
    fill(database)
    database.engine.dispose()
    content = sqlite_file.read_bytes()
    sqlite_file.write_bytes(content.replace(what, b"\xff" * len(what)))
    (problem,) = Database(str(sqlite_file)).check()
    assert problem == "the database file is damaged: restore a backup"


def test_a_backup_of_a_damaged_file_is_refused(sqlite_file: Path, tmp_path: Path) -> None:
    database = Database(str(sqlite_file))
    fill(database)
    with database.write() as connection:
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        connection.exec_driver_sql(
            "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'uq_items_project_id_name' "
            "OR name LIKE 'sqlite_autoindex_annotators%'"
        )
    with pytest.raises(DatabaseUnusable, match=r"damaged|failed"):
        database.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_backup_replaces_nothing(sqlite_file: Path, tmp_path: Path) -> None:
    (tmp_path / "there.db").touch()
    (tmp_path / "dangling.db").symlink_to(tmp_path / "elsewhere.db")
    for target in (tmp_path / "there.db", tmp_path / "dangling.db", sqlite_file):
        with pytest.raises(InvalidOption, match="already exists"):
            Database(str(sqlite_file)).backup(target)
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_backup_that_cannot_be_made_says_why(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    for name in ("nowhere/copy.db", "x" * 300, "a\0b", "/proc/copy.db"):
        with pytest.raises(InvalidOption, match="cannot be made") as caught:
            sqlite_ledger.database.backup(tmp_path / name)
        assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_backup_of_postgres_names_its_own_tool(postgres_url: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="pg_dump"):
        Database(postgres_url).backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
