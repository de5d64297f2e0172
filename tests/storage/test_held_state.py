"""A state that is held: everything read is of one moment, whatever others write."""

from __future__ import annotations

from contextlib import nullcontext
from threading import Thread

import pandas as pd
import pytest
from sqlalchemy import func, select

from tracker.core.errors import DatabaseUnusable
from tracker.ledger import Ledger
from tracker.storage.database import Database
from tracker.storage.schema import Project


def projects(database: Database) -> int:
    with database.read() as connection:
        return connection.scalar(select(func.count(Project.id))) or 0


def write_meanwhile(url: str) -> None:
    """Add a project as another program would; a file's readers hold its writers off."""
    theirs = Ledger(url)
    theirs.database.wait = 0.01
    with nullcontext() if theirs.database.file is None else pytest.raises(DatabaseUnusable):
        theirs.projects.create("q")


def test_what_others_write_meanwhile_is_not_seen(url: str) -> None:
    ours = Ledger(url)
    ours.projects.create("p")
    with ours.one_state():
        assert projects(ours.database) == 1
        write_meanwhile(url)
        assert projects(ours.database) == 1
        assert [one.project.name for one in ours.projects.list()] == ["p"]
        with ours.one_state():
            assert projects(ours.database) == 1
        assert projects(ours.database) == 1
    Ledger(url).projects.create("r")
    assert projects(ours.database) == 2 + (ours.database.file is None)


def test_only_the_thread_that_holds_it_is_held(url: str) -> None:
    ledger = Ledger(url)
    seen: list[int] = []
    ledger.projects.create("p")
    with ledger.one_state():
        assert projects(ledger.database) == 1
        write_meanwhile(url)
        other = Thread(target=lambda: seen.append(projects(ledger.database)))
        other.start()
        other.join()
        assert projects(ledger.database) == 1
    assert seen == [projects(ledger.database)]


def test_the_past_is_read_in_a_held_state_as_elsewhere(url: str) -> None:
    ledger = Ledger(url)
    rows = [
        {"item": item, "annotator": who, "category": (item * place) % 3, "labeled_at": at}
        for at in ("2026-03-01", "2026-03-02")
        for item in (range(6) if at == "2026-03-01" else range(6, 12))
        for place, who in enumerate(("ann", "bob", "cy"))
    ]
    ledger.import_frame(pd.DataFrame(rows), "p")
    then, now = ledger.agreement("p", as_of="2026-03-01"), ledger.agreement("p")
    assert then.counts.items < now.counts.items
    with ledger.one_state():
        assert ledger.agreement("p").to_dict() == now.to_dict()
        assert ledger.agreement("p", as_of="2026-03-01").to_dict() == then.to_dict()
        assert ledger.audit("p", as_of="2026-03-01").to_dict()["annotators"]
        assert ledger.agreement("p").to_dict() == now.to_dict()


def test_an_error_lets_go_of_the_state(url: str) -> None:
    ledger = Ledger(url)
    ledger.projects.create("p")

    def fail() -> None:
        with ledger.one_state():
            projects(ledger.database)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    Ledger(url).projects.create("q")
    assert projects(ledger.database) == 2


def test_a_database_that_is_not_there_is_held_as_an_empty_one(empty_url: str) -> None:
    ledger = Ledger(empty_url)
    with ledger.one_state():
        assert projects(ledger.database) == 0
