"""`database check` finds what is wrong; a backup or a copy is whole and replaces nothing."""

from __future__ import annotations

import re
import resource
import signal
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from tests.helpers import Write, standing, stored
from tests.storage.rows import APPEND_ONLY, fill
from tracker.core.errors import DatabaseUnusable, InvalidOption
from tracker.ledger import Ledger
from tracker.storage.backends.sqlite import Sqlite
from tracker.storage.database import Database
from tracker.storage.schema import Base


def test_check_finds_what_differs_from_the_models(url: str) -> None:
    database = Database(url)
    triggers = database.backend.triggers()
    if database.file is not None:
        event = "BEFORE UPDATE ON changes BEGIN SELECT 1; END"
        statements = ["DROP TRIGGER changes_no_update", f"CREATE TRIGGER changes_no_update {event}"]
        emptied = {"changes_no_update"}
    else:
        with database.write() as connection:
            connection.execute(text("ALTER TABLE changes DISABLE TRIGGER changes_no_change"))
        assert database.check() == ["the trigger changes_no_change is missing"]
        statements = [
            "ALTER TABLE changes ENABLE TRIGGER changes_no_change",
            "CREATE OR REPLACE FUNCTION refuse_on_append_only() RETURNS trigger "
            "LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
        ]
        emptied = {name for name, body in triggers.items() if " refuse_on_append_only()" in body}
    with database.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    assert set(database.check()) == {
        f"the trigger {name} is not as this program made it" for name in emptied
    }
    with database.write() as connection:
        for name in triggers:
            on = "" if database.file else f" ON {re.split('_no_|_refer', name)[0]}"
            connection.execute(text(f"DROP TRIGGER {name}{on}"))
    assert database.check() == [f"the trigger {name} is missing" for name in sorted(triggers)]
    assert {name.partition("_no_")[0] for name in triggers if "_no_" in name} == set(APPEND_ONLY)
    statements = ["DROP TABLE past_labels", "ALTER TABLE imports DROP COLUMN undone_by CASCADE"]
    if database.file is not None:
        # SQLite drops no column that a constraint names.
        table = "CREATE TABLE imports (id INTEGER PRIMARY KEY, project_id INT, change_id INT)"
        statements = [statements[0], "DROP TABLE imports", table]
    with database.write(bulk=True) as connection:
        for statement in statements:
            connection.execute(text(statement))
    problems = database.check()
    assert "the table past_labels is missing" in problems
    assert "the column imports.undone_by is missing" in problems
    constraint = "fk_imports_project_id_undone_by_changes"
    assert f"the constraint {constraint} of imports is missing" in problems
    assert "cannot be checked before" in problems[-1]


def test_check_finds_damage(sqlite_file: Path) -> None:
    database = Database(str(sqlite_file))
    fill(database)
    with database.engine.connect() as connection:
        page = connection.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = 'changes'"))
        size = connection.scalar(text("PRAGMA page_size"))
    whole = sqlite_file.read_bytes()
    place = ((page or 0) - 1) * (size or 0)
    damaged = whole[:place] + b"\x0d\x00\x00\xff\xff" + b"\xee" * 40 + whole[place + 45 :]
    for content in (damaged, whole.replace(b"CREATE TRIGGER", b"\xff" * 14)):
        sqlite_file.write_bytes(content)
        told = ["the database file is damaged: restore a backup"]
        assert Database(str(sqlite_file)).check() == told
    sqlite_file.write_bytes(whole)
    with closing(sqlite3.connect(sqlite_file)) as plain:
        plain.execute("UPDATE labels SET annotator_id = 77")
        plain.commit()
    problem, *_ = database.check()
    assert "labels" in problem
    assert "annotators" in problem


def test_check_and_backup_need_a_ledger(tmp_path: Path, empty_url: str) -> None:
    (tmp_path / "nothing.db").touch()
    for url in (empty_url, f"sqlite:///{tmp_path}/missing.db", str(tmp_path / "nothing.db")):
        with pytest.raises(DatabaseUnusable, match="holds no ledger"):
            Database(url).check()
        with pytest.raises(DatabaseUnusable, match="holds no ledger"):
            Database(url).backup(tmp_path / "copy.db")
    assert {path.name for path in tmp_path.iterdir()} <= {"nothing.db", "empty.db"}


def test_backup_of_a_file_in_use(sqlite_ledger: Ledger, write: Write, tmp_path: Path) -> None:
    sqlite_ledger.import_file(write("item,annotator,category\n i,A,x"), "p")
    target = tmp_path / "copy.db"
    with sqlite_ledger.database.write() as connection:
        connection.execute(text("UPDATE items SET name = 'not committed'"))
        sqlite_ledger.database.backup(target)
    copy = Ledger(str(target))
    assert copy.database.check() == []
    assert standing(copy) == [("i", "A", "x")]
    assert stored(copy) == stored(sqlite_ledger)


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
        with pytest.raises(DatabaseUnusable, match="the backup failed"):
            database.backup(folder / "copy.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, was)
    assert list(folder.iterdir()) == []


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


def test_backup_that_cannot_be_made_says_why(
    sqlite_file: Path, postgres_url: str, tmp_path: Path
) -> None:
    (tmp_path / "there.db").touch()
    (tmp_path / "dangling.db").symlink_to(tmp_path / "elsewhere.db")
    names = {path.name for path in tmp_path.iterdir()}
    for name, match in (
        ("there.db", "already exists"), ("dangling.db", "already exists"),
        (sqlite_file.name, "already exists"), ("nowhere/copy.db", "cannot be made"),
        ("a\0b", "cannot be made"), ("/proc/copy.db", "cannot be made"),
    ):  # fmt: skip
        with pytest.raises(InvalidOption, match=match):
            Database(str(sqlite_file)).backup(tmp_path / name)
    with pytest.raises(DatabaseUnusable, match="pg_dump"):
        Database(postgres_url).backup(tmp_path / "copy.db")
    assert {path.name for path in tmp_path.iterdir()} == names


WIDE = "item,annotator,tone,marks,team,confidence\n"
ROWS = (
    "i,A,good,3,x,.5\ni,B,bad,,x,\nj,A,good,1,y,.25\nj,B,good,2,y,1\n"
    "k,A,bad,2.5,x,\nk,B,'naïve \"😀\"',3,x,.125\n"
)
QUESTIONS = ["tone=tone", "marks=marks:interval"]


def fill_two_questions(ledger: Ledger, write: Write) -> None:
    """Answers to two questions, revised, undone and erased; snapshots; flags; texts."""
    ledger.import_file(write(WIDE + ROWS), "p", questions=QUESTIONS, keep=["team"])
    ledger.snapshot_by_question("p", name="first")
    again = ledger.import_file(write(WIDE + ROWS.replace("i,A,good", "i,A,bad")), "p",
                               questions=QUESTIONS)  # fmt: skip
    ledger.import_file(write("item,annotator,category\nq,C,x\n"), "gone")
    ledger.imports.undo(again.id or 0)
    ledger.snapshot_by_question("p")
    ledger.notes.add("p", "a note")
    ledger.items.alias("p", "i", "4711")
    ledger.questions.add("p", "later", answers="spans")


def rows(ledger: Ledger) -> dict[str, list[Any]]:
    with ledger.database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(
                select(table).order_by(*table.primary_key.columns))]
            for table in Base.metadata.sorted_tables
        }  # fmt: skip


def copy(ledger: Ledger, url: str) -> Ledger:
    made = Ledger(url)
    told = ledger.database.copy_to(made.database, lambda _name, _number: None)
    copied = {name: len(found) for name, found in rows(made).items() if not _stays(name)}
    assert told == copied
    return made


def _stays(table: str) -> bool:
    return not {"secret", "droppable"}.isdisjoint(Base.metadata.tables[table].info)


def test_a_copy_holds_all_there_was_and_goes_on_as_it_would(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path, empty_postgres_url: str
) -> None:
    fill_two_questions(sqlite_ledger, write)
    there = copy(sqlite_ledger, empty_postgres_url)
    back = copy(there, f"sqlite:///{tmp_path / 'back.db'}")
    everywhere = (sqlite_ledger, there, back)
    for one in (there, back):
        assert rows(one) == rows(sqlite_ledger)
        assert one.database.check() == []
    assert there.verify("p").passed
    assert len({one.import_file(write(WIDE + ROWS), "p", questions=QUESTIONS).id
                for one in everywhere}) == 1  # fmt: skip
    assert len({one.projects.create("r").project.id for one in everywhere}) == 1


def test_a_ledger_is_not_copied_onto_itself_or_another(
    ledger: Ledger, write: Write, tmp_path: Path
) -> None:
    ledger.projects.create("p")
    with pytest.raises(InvalidOption, match="is the database to copy"):
        ledger.database.copy_to(ledger.database, print)
    other = Ledger(f"sqlite:///{tmp_path / 'other.db'}")
    other.import_file(write("item,annotator,category\nq,C,x\n"), "p")
    before = rows(other)
    with pytest.raises(InvalidOption, match="holds projects"):
        ledger.database.copy_to(other.database, print)
    assert rows(other) == before
