"""A server uses its connections again: each use is as if the connection were new."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from sqlalchemy import event, func, select, text

from tracker.core.errors import DatabaseUnusable
from tracker.ledger import Ledger
from tracker.storage.database import Database
from tracker.storage.schema import Project

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
    return ledger.agreement("p", measures=["percent_agreement"], **then).counts.items


def answers(ledger: Ledger) -> int:
    return ledger.status("p").answers


def test_each_use_of_a_connection_is_as_if_it_were_new(kept: Ledger, url: str) -> None:
    opened: list[object] = []
    event.listen(kept.database.engine, "connect", lambda made, _: opened.append(made))
    for holding in (nullcontext, kept.one_state):
        with holding():
            assert agreed_on(kept) == 2
            assert agreed_on(kept, as_of="2026-01-15") == 1
            assert agreed_on(kept) == 2
    assert opened == [], "that of the start serves all"
    with kept.database.read() as connection:
        connection.execute(text("CREATE TEMPORARY TABLE labels (item_id INTEGER)"))
    assert answers(kept) == 4, "a temporary table that was left is gone"
    more = pd.DataFrame([("k", "A", "x", "2026-03-01")], columns=HEADER)
    Ledger(url).import_frame(more, "p")
    assert answers(kept) == 5, "what another writes is seen"
    with suppress(ZeroDivisionError), kept.database.write() as connection:
        connection.execute(text("UPDATE projects SET name = 'q'"))
        raise ZeroDivisionError
    assert answers(kept) == 5, "what failed is not"
    for by, name, new in (("ada", "p", "q"), ("bo", "q", "r"), (None, "r", "s")):
        kept.acting_for(by).projects.rename(name, new)
    assert [act.by for act in kept.projects.changes("s", 3).acts] == [None, "bo", "ada"]


def test_held_state_is_that_of_its_thread_until_it_ends_or_fails(empty_url: str) -> None:
    ours = Ledger(empty_url)
    with ours.one_state():
        assert projects(ours.database) == 0, "a database that is not there is an empty one"
    ours.projects.create("p")
    others: list[int] = []
    with ours.one_state():
        assert projects(ours.database) == 1
        write_meanwhile(empty_url)
        assert projects(ours.database) == 1
        assert [row.project.name for row in ours.projects.list()] == ["p"]
        with ours.one_state():
            assert projects(ours.database) == 1
        thread = Thread(target=lambda: others.append(projects(ours.database)))
        thread.start()
        thread.join()
        assert projects(ours.database) == 1
    assert others == [projects(ours.database)]
    with suppress(KeyError), ours.one_state():
        projects(ours.database)
        raise KeyError
    Ledger(empty_url).projects.create("r")
    assert projects(ours.database) == 2 + (ours.database.file is None)


def test_a_file_that_was_replaced_is_opened(sqlite_file: Path, sqlite_template: Path) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    ledger.import_frame(pd.DataFrame(FIRST, columns=HEADER), "p")
    with ledger.database.keep_connections():
        assert [one.project.name for one in ledger.projects.list()] == ["p"]
        with ledger.database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        restored = Path(shutil.copy(sqlite_template, sqlite_file.with_name("restored.db")))
        restored.replace(sqlite_file)
        assert ledger.projects.list() == []


def projects(database: Database) -> int:
    with database.read() as connection:
        return connection.scalar(select(func.count(Project.id))) or 0


def write_meanwhile(url: str) -> None:
    """Add a project as another program would; a file's readers hold its writers off."""
    theirs = Ledger(url)
    theirs.database.wait = 0.01
    with nullcontext() if theirs.database.file is None else pytest.raises(DatabaseUnusable):
        theirs.projects.create("q")
