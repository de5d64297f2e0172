"""A ledger that is not there yet, met by many at once: read as empty, made once, by one of them."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import inspect

from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.storage.database import HEAD, Database

pytestmark = pytest.mark.usefixtures("migrated_each_time")
MANY = 4
ANSWERS = pd.DataFrame({"item": ["i", "j"], "annotator": ["A", "A"], "category": ["x", "y"]})


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What calls return that are made at the same time."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def test_threads_make_a_ledger_once_while_others_read(empty_url: str) -> None:
    ledger = Ledger(empty_url)

    def ask() -> str:
        with pytest.raises(NotFound, match="there is no project 'p'"):
            ledger.agreement("p")
        return (
            f"{ledger.projects.list()} {ledger.import_frame(ANSWERS, 'p', dry_run=True).inserted}"
        )

    assert at_once(*[ask] * MANY) == ["[] 2"] * MANY
    assert ledger.database.revision() is None
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


def test_a_new_file_is_its_owners_only(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with Ledger(str(path)).database.keep_connections():
        Ledger(str(path)).projects.create("p")
        assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}


def test_a_server_lets_many_read_whatever_file_it_finds(sqlite_file: Path) -> None:
    ledger = Ledger(str(sqlite_file))
    moved = sqlite_file.rename(sqlite_file.with_suffix(".moved"))
    with ledger.database.keep_connections():
        assert ledger.projects.list() == []
        moved.rename(sqlite_file)
        ledger.projects.create("p")
        with ledger.database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
