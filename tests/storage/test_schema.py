"""The migrated schema is that of the models, and migrations keep the rows."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    ForeignKeyConstraint,
    Integer,
    Table,
    inspect,
    text,
)

from tests.helpers import stored
from tests.storage.rows import sample, with_questions
from tracker.ledger import Ledger
from tracker.storage.database import HEAD, REVISIONS, Database, migrations_folder
from tracker.storage.schema import Base


def squeezed(statement: object) -> str:
    return " ".join(str(statement).split())


def test_migrated_head_has_the_models_tables(url: str) -> None:
    database = Database(url)

    def is_declared(made: Any, _name: str, kind: str, _reflected: bool, _other: Any) -> bool:
        return kind != "foreign_key_constraint" or database.backend.is_declared(made)

    with database.engine.connect() as connection:
        opts = {"compare_server_default": True, "include_object": is_declared}
        context = MigrationContext.configure(connection, opts=opts)
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
            if not isinstance(one, ForeignKeyConstraint) or database.backend.is_declared(one)
        }
        found = constraints(database, table)
        if None in found:  # SQLite forgets the name of a key that it counts up by itself
            assert database.url.get_backend_name() == "sqlite"
            found[str(table.primary_key.name)] = found.pop(None)
        assert found.keys() == wanted.keys()
        if database.url.get_backend_name() == "sqlite":  # Postgres words a condition anew
            assert found == wanted


def test_clustered_tables_lie_in_the_order_of_their_keys(sqlite_ledger: Ledger) -> None:
    clustered = {
        name for name, table in Base.metadata.tables.items() if table.info.get("clustered")
    }
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


def test_a_revision_makes_what_it_made_whatever_the_models_are_now(empty_url: str) -> None:
    """A table that a later revision makes must not be looked for by an earlier one."""
    later = Table(
        "later",
        Base.metadata,
        Column("project_id", Integer, primary_key=True),
        info={"append_only": True, "thinned": True},
    )
    try:
        database = Database(empty_url)
        database.upgrade()
        with database.engine.connect() as connection:
            assert "later" not in inspect(connection).get_table_names()
            stored = database.backend.stored_triggers(connection)
        database.downgrade("base")
    finally:
        Base.metadata.remove(later)
    assert stored == database.backend.triggers()


def test_no_revision_reads_the_package() -> None:
    for revision in (migrations_folder() / "versions").glob("*.py"):
        for node in ast.walk(ast.parse(revision.read_text("utf-8"))):
            names = [one.name for one in getattr(node, "names", ()) if isinstance(one, ast.alias)]
            assert not any(
                name.partition(".")[0] == "tracker"
                for name in [*names, getattr(node, "module", None) or ""]
            ), revision.name


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
            if target == "head" and "questions" not in rows:
                assert rows_of(connection, with_questions(rows)) == with_questions(before)
            else:
                assert rows_of(connection, rows) == before
            assert database.backend.integrity_errors(connection) == []
        if target == "head":
            assert database.check() == []


HELD = {
    "questions": [
        {"project_id": 1, "id": 2, "name": "tone", "answers": "one", "scale": "nominal"}
        | {"offsets": "characters", "categories_fixed": False, "target_answers": None}
    ],
    "annotator_attributes": sample("0005")["annotator_attributes"],
    "answer_details": [row | {"comment": None} for row in sample("0005")["answer_details"]],
    "notes": [row | {"id": 2} for row in sample("0005")["notes"]],
    "syncs": sample("0008")["syncs"],
    "users": [{"name": "ada", "role": "admin", "session": 1, "created_at": 5}],
    "item_aliases": sample("0010")["item_aliases"],
    "webhooks": sample("0011")["webhooks"],
    "access_changes": sample("0012")["access_changes"],
    "annotator_facts": sample("0014")["annotator_facts"][-1:],
}


@pytest.mark.parametrize(
    ("table", "revision", "told"),
    [
        ("questions", "0003", "1 questions are not the first of their project"),
        ("annotator_attributes", "0004", "1 attributes of annotators"),
        ("answer_details", "0004", "1 confidences"),
        ("notes", "0004", "1 guidelines"),
        ("syncs", "0007", "1 syncs"),
        ("users", "0008", "1 users"),
        ("item_aliases", "0009", "1 other keys of items"),
        ("webhooks", "0010", "1 webhooks"),
        ("access_changes", "0011", "1 changes of access"),
        ("annotator_facts", "0013", "1 annotators who left or came back"),
    ],
)
def test_downgrade_refuses_to_lose_what_an_older_program_cannot_hold(
    empty_url: str, table: str, revision: str, told: str
) -> None:
    database = Database(empty_url)
    database.upgrade()
    with database.engine.begin() as connection:
        for name, rows in sample("0004").items():
            connection.execute(Base.metadata.tables[name].insert(), rows)
        connection.execute(Base.metadata.tables[table].insert(), HELD[table])
    with pytest.raises(RuntimeError, match=f"{told}: an older program cannot hold them"):
        database.downgrade(revision)
    assert database.revision() == HEAD
    assert database.check() == []


def test_downgrade_to_base_leaves_nothing_and_can_be_taken_back(url: str) -> None:
    database = Database(url)
    database.downgrade("base")
    with database.engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
        assert database.backend.stored_triggers(connection) == {}
    assert database.revision() is None
    assert stored(Ledger(url)) == {}
    database.upgrade()
    assert database.revision() == HEAD
    assert database.check() == []
