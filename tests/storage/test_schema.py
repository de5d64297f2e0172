"""The migrated schema is that of the models, and migrations keep the rows."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
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
from tests.storage.rows import put, sample, with_questions
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


def constraints(database: Database) -> dict[str, dict[str | None, str]]:
    """The names of the constraints of each table in the database; the words of checks."""
    inspector = inspect(database.engine)
    named: dict[str, dict[str | None, str]] = defaultdict(dict)
    for kept in (inspector.get_multi_foreign_keys(), inspector.get_multi_unique_constraints()):
        for (_, table), rows in kept.items():
            named[table] |= {row["name"]: "" for row in rows}
    for (_, table), key in inspector.get_multi_pk_constraint().items():
        named[table][key["name"]] = ""
    for (_, table), checks in inspector.get_multi_check_constraints().items():
        named[table] |= {check["name"]: squeezed(check["sqltext"]) for check in checks}
    return named


def test_migrated_head_has_the_models_constraints(url: str) -> None:
    database = Database(url)
    held = constraints(database)
    for table in Base.metadata.tables.values():
        wanted = {
            str(one.name): squeezed(one.sqltext) if isinstance(one, CheckConstraint) else ""
            for one in table.constraints
            if not isinstance(one, ForeignKeyConstraint) or database.backend.is_declared(one)
        }
        found = held[table.name]
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


def test_revisions_make_what_they_made_and_leave_nothing(empty_url: str) -> None:
    """A table that a later revision makes must not be looked for by an earlier one."""
    later = Table(
        "later",
        Base.metadata,
        Column("project_id", Integer, primary_key=True),
        info={"append_only": True, "thinned": True},
    )
    database = Database(empty_url)
    try:
        database.upgrade()
        with database.engine.connect() as connection:
            assert "later" not in inspect(connection).get_table_names()
            triggers = database.backend.stored_triggers(connection)
        database.downgrade("base")
    finally:
        Base.metadata.remove(later)
    assert triggers == database.backend.triggers()
    with database.engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
        assert database.backend.stored_triggers(connection) == {}
    assert database.revision() is None
    assert stored(Ledger(empty_url)) == {}
    database.upgrade()
    assert database.revision() == HEAD
    assert database.check() == []


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


def empty(database: Database, names: Iterable[str], file: bytes) -> None:
    """Take the rows of these tables out again; of SQLite's, put back the file without them."""
    if database.file is not None:
        database.engine.dispose()
        database.file.write_bytes(file)
        return
    with database.engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # no trigger fires
        for name in names:
            connection.execute(text(f"DELETE FROM {name}"))
        connection.execute(
            text("SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'")
        ).all()


def test_each_revision_keeps_the_rows_of_the_one_before(empty_url: str) -> None:
    """On the way up, and back."""
    database = Database(empty_url)
    database.upgrade(REVISIONS[0])
    for revision, following in pairwise(REVISIONS):
        file = b"" if database.file is None else database.file.read_bytes()
        rows = sample(revision)
        with database.engine.begin() as connection:
            put(connection, rows)
            before = rows_of(connection, rows)
        for change, target in ((database.upgrade, following), (database.downgrade, revision)):
            change(target)
            asked = following == "0004" and target == following
            with database.engine.connect() as connection:
                found = rows_of(connection, with_questions(rows) if asked else rows)
                assert found == (with_questions(before) if asked else before), target
                assert database.backend.integrity_errors(connection) == [], target
        empty(database, rows, file)
        database.upgrade(following)
    with database.engine.begin() as connection:
        put(connection, sample(HEAD))
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
    "flags": sample("0016")["flags"][-1:],
    "saved_views": sample("0017")["saved_views"],
    "batches": sample("0019")["batches"],
    "lakes": sample("0022")["lakes"],
    "questions of preferences": [
        {"project_id": 1, "id": 3, "name": "better", "answers": "one", "scale": "nominal"}
        | {"offsets": "characters", "categories_fixed": True, "preference": True}
    ],
}


LOST = [
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
    ("flags", "0015", "1 findings about nobody"),
    ("saved_views", "0016", "1 saved views"),
    ("batches", "0018", "1 batches of assignments"),
    ("questions of preferences", "0019", "1 questions of preferences"),
    ("lakes", "0021", "1 projects whose labels lie in files"),
]
"""What an older program cannot hold; the oldest first, so that no other is met before it."""


def test_downgrade_refuses_to_lose_what_an_older_program_cannot_hold(empty_url: str) -> None:
    database = Database(empty_url)
    database.upgrade()
    with database.engine.begin() as connection:
        for name, rows in sample("0004").items():
            connection.execute(Base.metadata.tables[name].insert(), rows)
    for table, revision, told in LOST:
        with database.engine.begin() as connection:
            name = table.partition(" ")[0]
            connection.execute(Base.metadata.tables[name].insert(), HELD[table])
        with pytest.raises(RuntimeError, match=f"{told}.*: an older program cannot hold them"):
            database.downgrade(revision)
        assert database.revision() == HEAD, table
    assert database.check() == ["1 flags were recorded without a sighting or a change"]
