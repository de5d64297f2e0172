"""Rows of a query on SQLite and Postgres: read as a file, and nothing is changed there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import MetaData, StaticPool, Table, create_engine, text

from tests.formats.reading import table_text
from tests.helpers import standing
from tests.house import CHECKOUT
from tests.profiles import both
from tracker.core.errors import Refused, TrackerError
from tracker.ledger import Ledger

pytestmark = both
QUERY = "SELECT task AS item, person AS annotator, verdict AS category, at FROM votes"


@pytest.fixture
def app(ledger):
    """The URL of a database with a table of votes, beside a ledger's tables."""
    ledger.projects.create("made")
    with ledger.database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes (task integer, person text, verdict text, "
                                "at timestamp, meta text)"))  # fmt: skip
        insert = text("INSERT INTO votes VALUES (:task, :person, :verdict, :at, :meta)")
        when = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC).replace(tzinfo=None).isoformat()
        connection.execute(insert, [
            {"task": task, "person": person, "verdict": verdict, "at": when, "meta": "{}"}
            for task, person, verdict in
            ((1, "Ann", 'so, "so"'), (1, "Bo", "100 %s"), (2, "Ann", None), (2, "Zoë", "a\nb"))
        ])  # fmt: skip
    yield ledger.database.url.render_as_string(hide_password=False)
    with ledger.database.engine.begin() as connection:
        for table in ("votes", "assessments"):
            connection.execute(text(f"DROP TABLE IF EXISTS {table}"))


def test_rows_of_a_query_are_imported_as_those_of_a_file(ledger, app):
    how = {"columns": ["labeled_at=at"]}
    result = ledger.import_query(app, QUERY, "p", **how)
    assert (result.rows, result.inserted) == (4, 4)
    assert ledger.import_query(app, QUERY, "p", **how).unchanged == 4
    assert standing(ledger) == [
        ("1", "Ann", 'so, "so"'), ("1", "Bo", "100 %s"), ("2", "Ann", None), ("2", "Zoë", "a\nb"),
    ]  # fmt: skip
    assert set(standing(ledger, "p", "labeled_at")) == {("2026-02-03T04:05:06Z",)}
    like = f"{QUERY} WHERE verdict LIKE '100 %' AND ':x' <> '?'"  # no sign of a parameter
    assert ledger.import_query(app, like, "signs", ignore=["at"]).rows == 1
    numbers = (  # more than are fetched at once
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) "
        "SELECT i AS item, 'Ann' AS annotator, i % 3 AS category FROM n"
    )
    assert ledger.import_query(app, numbers, "many").inserted == 6_000
    assert set(standing(ledger, "many", "category")) == {("0",), ("1",), ("2",)}


def test_queries_that_write_or_fail_are_refused_and_change_nothing(ledger, app, tmp_path):
    for query in ("DELETE FROM votes", "DELETE FROM votes RETURNING task",
                  "CREATE TABLE x (y integer)", "SELEKT", "SELECT * FROM nothing", ""):  # fmt: skip
        with pytest.raises(Refused, match=r"^[^\n]*quer[^\n]*\n"):
            ledger.import_query(app, query, "p")
    with ledger.database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM votes")) == 4
    value = "CAST('x' AS blob)" if app.startswith("sqlite") else "CAST('x' AS bytea)"
    with pytest.raises(Refused, match="the column 'category' holds bytes"):
        ledger.import_query(app, f"SELECT 1 AS item, 'a' AS annotator, {value} AS category", "p")
    with pytest.raises(TrackerError) as refused:
        ledger.import_query("postgresql://reader:s3cret@127.0.0.1:1/app", "SELECT 1", "p")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(Refused, match="there is no such file"):
        ledger.import_query(f"sqlite:///{tmp_path}/none.db", "SELECT 1", "p")
    assert not (tmp_path / "none.db").exists()


def test_assessments_of_mlflow_are_imported_by_the_query_of_its_page(ledger, app):
    copy_store(ledger, CHECKOUT / "tests" / "data" / "stores" / "mlflow-3.17-assessments.sql")
    page = (CHECKOUT / "docs" / "formats" / "sql.md").read_text("utf-8")
    query = page.partition("```sql\n")[2].partition("```")[0]
    ledger.import_query(app, query, "p", columns=["question=question"])
    rows = standing(ledger, "p", "question", "annotator", "kind", "category")
    assert table_text(row[1:] for row in rows if row[0] == "polite") == (
        "ada@example.org human no; ada@example.org human yes; ada@example.org human yes; "
        "bo@example.org human no; cy@example.org human no; "
        "openai:/gpt-4o model no; openai:/gpt-4o model yes; openai:/gpt-4o model yes"
    )
    assert {(row[0], row[1], row[3]) for row in rows if row[0] != "polite"} == {
        ("score", "bo@example.org", "0.5"), ("short", "length-check", "true"),
    }  # fmt: skip
    assert "Changed my mind." in set(ledger.export_frame("p")["comment"].dropna())


def copy_store(ledger: Ledger, dump: Path) -> None:
    """Make the table of another program's SQLite database in that of the ledger."""
    with closing(sqlite3.connect(":memory:")) as kept:
        kept.executescript(dump.read_text("utf-8"))
        source = create_engine("sqlite://", creator=lambda: kept, poolclass=StaticPool)
        table = Table("assessments", MetaData(), autoload_with=source, resolve_fks=False)
        for one in table.foreign_key_constraints:
            table.constraints.discard(one)
        for column in table.columns:
            column.server_default = None
        with source.connect() as connection:
            rows = [dict(row) for row in connection.execute(table.select()).mappings()]
    with ledger.database.engine.begin() as connection:
        table.create(connection)
        connection.execute(table.insert(), rows)
