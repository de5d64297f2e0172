"""Ledgers in schemas of one database on Postgres, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url, text

from tests.cli.conftest import Run, answers, folder, run  # noqa: F401 - fixtures
from tests.helpers import standing
from tests.storage.test_database_errors import role, url  # noqa: F401 - fixtures
from tracker.core.errors import DatabaseUnusable
from tracker.ledger import Ledger
from tracker.storage.database import HEAD
from tracker.storage.views import VIEWS

NAMES = ("team_a", 'Team "B" 100 %')


def ledger_in(url: str, name: str) -> Ledger:  # noqa: F811
    changed = make_url(url).update_query_dict({"schema": name})
    return Ledger(changed.render_as_string(hide_password=False))


def test_two_ledgers_in_one_database(empty_postgres_url: str, write: Callable[..., Path]) -> None:
    ledgers = [ledger_in(empty_postgres_url, name) for name in NAMES]
    for ledger, category in zip(ledgers, "xy", strict=True):
        assert ledger.database.revision() is None
        ledger.import_file(
            write(f"item,annotator,category,labeled_at\n i,A,{category},2020-01-02\n j,A,x,"), "p"
        )
        ledger.snapshot("p")
        assert ledger.agreement("p", as_of="2020-01-03").counts.items == 1
        assert ledger.verify("p").passed
        assert ledger.database.check() == []
        assert ledger.database.revision() == HEAD
    assert [standing(one)[0] for one in ledgers] == [("i", "A", "x"), ("i", "A", "y")]
    first, second = (one.database for one in ledgers)
    with first.engine.connect() as connection:
        inspector = inspect(connection)
        assert inspector.get_table_names(schema="public") == []
        for name in NAMES:
            assert sorted(inspector.get_view_names(schema=name)) == sorted(VIEWS)
            assert "alembic_version" in inspector.get_table_names(schema=name)
    with first.write() as connection:
        connection.execute(text("DROP TRIGGER changes_no_change ON changes"))
    assert first.check() == ["the trigger changes_no_change is missing"]
    assert second.check() == []
    first.downgrade("base")
    assert standing(ledgers[1])[0] == ("i", "A", "y")
    assert "schema=team_a" in str(first)


def test_reading_makes_no_schema(empty_postgres_url: str) -> None:
    database = ledger_in(empty_postgres_url, "nobody").database
    with database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM projects")) == 0
    with database.engine.connect() as connection:
        assert "nobody" not in inspect(connection).get_schema_names()


def test_who_may_make_or_use_no_schema_is_told_so(
    role: Callable[..., str],  # noqa: F811
) -> None:
    reader = role("CREATE SCHEMA hidden")
    with pytest.raises(DatabaseUnusable, match="lacks a right"):
        ledger_in(reader, "mine").database.upgrade()
    with pytest.raises(DatabaseUnusable, match="may use no schema"):
        ledger_in(reader, "hidden").database.revision()


def test_the_option_names_the_schema(
    run: Run,  # noqa: F811
    empty_postgres_url: str,
    answers: Path,  # noqa: F811
) -> None:
    at = ("--database", empty_postgres_url, "--schema", "team")
    run(*at, "import", answers, "-p", "p")
    assert run(*at, "status", "--json").json()["projects"]
    assert run("--database", empty_postgres_url, "status", "--json").json()["projects"] == []
    told = run("--schema", "team", "status", code=2)
    assert "only Postgres has schemas" in told.err
