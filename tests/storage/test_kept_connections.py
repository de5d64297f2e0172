"""A server uses its connections again: each use is as if the connection were new."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import event, text

from tracker.ledger import Ledger

FIRST = [("i", "A", "x", "2026-01-01"), ("i", "B", "x", "2026-01-01")]
LATER = [("j", "A", "y", "2026-02-01"), ("j", "B", "x", "2026-02-01")]
HEADER = ["item", "annotator", "category", "labeled_at"]


@pytest.fixture
def kept(url: str) -> Iterator[Ledger]:
    """A ledger that keeps its connections, with answers of two months."""
    ledger = Ledger(url)
    ledger.import_frame(pd.DataFrame(FIRST + LATER, columns=HEADER), "p")
    with ledger.database.keep_connections():
        yield ledger


def agreed_on(ledger: Ledger, **then: str) -> int:
    """The number of items that the agreement is of."""
    return ledger.agreement("p", measures=["percent_agreement"], **then).counts.items


def answers(ledger: Ledger) -> int:
    return ledger.status("p").answers


def test_one_connection_serves_many_and_none_sees_the_past_of_another(kept: Ledger) -> None:
    opened: list[object] = []
    event.listen(kept.database.engine, "connect", lambda made, _: opened.append(made))
    for _ in range(2):
        # More often than the driver asks before it prepares a statement.
        assert [agreed_on(kept) for _ in range(7)] == [2] * 7
        assert agreed_on(kept, as_of="2026-01-15") == 1
    with kept.one_state():
        for _ in range(2):
            assert [agreed_on(kept) for _ in range(7)] == [2] * 7
            assert agreed_on(kept, as_of="2026-01-15") == 1
    assert opened == [], "that of the start serves all"


def test_a_table_that_was_left_is_gone(kept: Ledger) -> None:
    with kept.database.read() as connection:
        connection.execute(text("CREATE TEMPORARY TABLE labels (item_id INTEGER)"))
    assert answers(kept) == 4


def test_what_another_writes_is_seen_and_what_failed_is_not(kept: Ledger, url: str) -> None:
    assert answers(kept) == 4
    more = pd.DataFrame([("k", "A", "x", "2026-03-01")], columns=HEADER)
    Ledger(url).import_frame(more, "p")
    assert answers(kept) == 5
    with pytest.raises(ZeroDivisionError):
        rename_and_fail(kept)
    assert answers(kept) == 5


def rename_and_fail(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        connection.execute(text("UPDATE projects SET name = 'q'"))
        raise ZeroDivisionError


def test_a_change_is_by_whoever_made_it_not_by_who_had_the_connection_before(kept: Ledger) -> None:
    for by, name, new in (("ada", "p", "q"), ("bo", "q", "r"), (None, "r", "s")):
        kept.acting_for(by).projects.rename(name, new)
    assert [act.by for act in kept.projects.changes("s", 3).acts] == [None, "bo", "ada"]


def test_many_may_read_a_file_while_one_writes_before_anybody_reads(sqlite_file: Path) -> None:
    """Readers of one process without a pause keep a writer out of a file of the other mode."""
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    ledger.import_frame(pd.DataFrame(FIRST, columns=HEADER), "p")
    assert journal_mode(sqlite_file) == "delete"
    with ledger.database.keep_connections():
        assert journal_mode(sqlite_file) == "wal"


def test_the_mode_is_changed_when_a_writer_is_done(sqlite_file: Path) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    ledger.import_frame(pd.DataFrame(FIRST, columns=HEADER), "p")
    with ThreadPoolExecutor(1) as pool:
        with closing(sqlite3.connect(sqlite_file, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            mode = pool.submit(mode_while_serving, ledger, sqlite_file)
            with pytest.raises(TimeoutError):
                mode.result(timeout=0.2)
            writer.execute("COMMIT")
        assert mode.result(timeout=60) == "wal"


def mode_while_serving(ledger: Ledger, file: Path) -> str:
    with ledger.database.keep_connections():
        return journal_mode(file)


def journal_mode(file: Path) -> str:
    with closing(sqlite3.connect(file)) as connection:
        mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
        return mode


def test_a_file_that_was_replaced_is_opened(sqlite_file: Path, sqlite_template: Path) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    ledger.import_frame(pd.DataFrame(FIRST, columns=HEADER), "p")
    with ledger.database.keep_connections():
        assert [one.project.name for one in ledger.projects.list()] == ["p"]
        restored = Path(shutil.copy(sqlite_template, sqlite_file.with_name("restored.db")))
        restored.replace(sqlite_file)
        assert ledger.projects.list() == []
