"""`database check` finds what is wrong; a backup is whole and replaces nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.database.rows import APPEND_ONLY, fill
from tests.helpers import standing, stored
from tracker import dialect
from tracker.database import Database
from tracker.errors import DatabaseUnusable
from tracker.ledger import Ledger


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
    fill(database)
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
    fill(database)
    with database.engine.connect() as connection:
        page = connection.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = 'changes'"))
        size = connection.scalar(text("PRAGMA page_size"))
    assert page is not None
    assert size is not None
    with sqlite_file.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x0d\x00\x00\xff\xff" + b"\xee" * 40)
    try:
        found = database.check()
    except DatabaseUnusable as error:  # where the page is needed to find out what is wrong
        found = [error.message]
    assert found


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
