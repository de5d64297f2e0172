"""Migrations make the schema of the models, which refuses what cannot be, on both databases."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Connection, ForeignKeyConstraint, inspect, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from tests.helpers import stored
from tests.storage.rows import APPEND_ONLY, fill, sample
from tracker.ledger import Ledger
from tracker.storage.backends.sqlite import Sqlite
from tracker.storage.database import HEAD, REVISIONS, Database, migrations_folder
from tracker.storage.schema import Base, Label


def squeeze(statement: object) -> str:
    return " ".join(str(statement).split())


def constraints(database: Database) -> dict[str, dict[str | None, str]]:
    """Return the names of each table's constraints, with the conditions of its checks."""
    inspector = inspect(database.engine)
    named: dict[str, dict[str | None, str]] = defaultdict(dict)
    for keys in (inspector.get_multi_foreign_keys(), inspector.get_multi_unique_constraints()):
        for (_, table), rows in keys.items():
            named[table] |= {row["name"]: "" for row in rows}
    for (_, table), key in inspector.get_multi_pk_constraint().items():
        named[table][key["name"]] = ""
    for (_, table), checks in inspector.get_multi_check_constraints().items():
        named[table] |= {check["name"]: squeeze(check["sqltext"]) for check in checks}
    return named


def test_head_has_the_models_tables_columns_and_constraints(url: str) -> None:
    database = Database(url)
    on_sqlite = database.backend.name == "sqlite"

    def is_declared(element: Any, _name: str, kind: str, _reflected: bool, _other: Any) -> bool:
        return kind != "foreign_key_constraint" or database.backend.is_declared(element)

    with database.engine.connect() as connection:
        opts = {"compare_server_default": True, "include_object": is_declared}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, Base.metadata) == []
        if on_sqlite:
            tables = connection.execute(
                text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            )
            clustered = {row.name for row in tables if row.sql.strip().endswith("WITHOUT ROWID")}
            declared = Base.metadata.tables.items()
            assert clustered == {name for name, table in declared if table.info.get("clustered")}
            assert "labels" in clustered
    reflected = inspect(database.engine).get_multi_columns()
    columns = {name: [row["name"] for row in rows] for (_, name), rows in reflected.items()}
    actual = constraints(database)
    for table in Base.metadata.tables.values():
        assert columns[table.name] == table.columns.keys(), "in this order"
        expected = {
            str(each.name): squeeze(each.sqltext) if isinstance(each, CheckConstraint) else ""
            for each in table.constraints
            if not isinstance(each, ForeignKeyConstraint) or database.backend.is_declared(each)
        }
        named = actual[table.name]
        if None in named:  # SQLite forgets the name of a key that it counts up by itself
            assert on_sqlite
            named[str(table.primary_key.name)] = named.pop(None)
        assert named.keys() == expected.keys()
        if on_sqlite:  # Postgres words a condition anew
            assert named == expected
    assert database.check() == []


def test_revisions_are_those_in_the_folder_and_import_nothing_from_the_package() -> None:
    scripts = ScriptDirectory(str(migrations_folder())).walk_revisions()
    assert tuple(script.revision for script in reversed(list(scripts))) == REVISIONS
    for revision in (migrations_folder() / "versions").glob("*.py"):
        assert not re.search(
            r"^\s*(from|import) tracker\b", revision.read_text("utf-8"), re.MULTILINE
        )


@pytest.mark.usefixtures("migrated_each_time")
def test_downgrade_removes_everything_and_upgrade_makes_it_again(empty_url: str) -> None:
    database = Database(empty_url)
    database.upgrade()
    with database.engine.connect() as connection:
        keys = list(connection.execute(text("SELECT id, length(key) FROM pseudonym_keys")))
    assert keys == [(1, 64)]
    fill(database)
    assert database.check() == []
    assert sample().keys() ^ Base.metadata.tables.keys() == {"pseudonym_keys", "kept_tallies"}
    database.downgrade("base")
    with database.engine.connect() as connection:
        inspector = inspect(connection)
        assert inspector.get_table_names() == ["alembic_version"]
        assert inspector.get_view_names() == []
        assert database.backend.stored_triggers(connection) == {}
    assert database.revision() is None
    assert stored(Ledger(empty_url)) == {}
    database.upgrade()
    assert database.revision() == HEAD
    assert database.check() == []


def refusals(backend: str) -> dict[str, str]:
    statements = {"update": "UPDATE {0} SET project_id = project_id", "delete": "DELETE FROM {0}"}
    if backend == "sqlite":
        statements["replace"] = "INSERT OR REPLACE INTO {0} SELECT * FROM {0}"
    else:
        statements["truncate"] = "TRUNCATE {0} CASCADE"
        statements["upsert"] = (
            "INSERT INTO {0} SELECT * FROM {0} WHERE true "
            "ON CONFLICT ON CONSTRAINT pk_{0} DO UPDATE SET project_id = EXCLUDED.project_id"
        )
    return statements


def test_append_only_rows_cannot_be_changed(ledger: Ledger, backend: str) -> None:
    tables = Base.metadata.tables.values()
    assert sorted(table.name for table in tables if table.info.get("append_only")) == APPEND_ONLY
    fill(ledger.database)
    before = stored(ledger)
    for table in APPEND_ONLY:
        assert before[table] > 0
        for name, statement in refusals(backend).items():
            refused = pytest.raises(DBAPIError, match="append-only")
            with refused, ledger.database.write() as connection:
                connection.execute(text(statement.format(table)))
                pytest.fail(f"{name} passed")
    if ledger.database.file is not None:
        with closing(sqlite3.connect(ledger.database.file)) as plain:  # with none of our pragmas
            for table in APPEND_ONLY:
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    plain.execute(refusals(backend)["replace"].format(table))
    assert stored(ledger) == before


IMPOSSIBLE: list[tuple[str, dict[str, object]]] = [
    *(("labels", changes) for changes in (
        {"pass": 0}, {"span_start": 4, "span_end": 4}, {"span_start": 4, "span_end": 3},
        {"span_start": 4, "span_end": -1}, {"span_start": -2, "span_end": 3},
        {"category_id": 0, "span_start": 0, "span_end": 3},
        {"category_id": -1, "span_start": 0, "span_end": 3}, {"spent_ms": -1}, {"category_id": 9},
        {"question_id": 9}, {"item_id": 9}, {"annotator_id": 9}, {"change_id": 9},
        {"project_id": 2})),
    *(("past_labels", changes) for changes in (
        {"pass": 0}, {"span_start": 4, "span_end": 3}, {"taken_back_by": 9})),
    *(("projects", {"id": 2} | changes) for changes in ({"name": ""}, {})),
    *(("questions", changes) for changes in (
        {"id": 2, "name": ""}, {"id": 2}, {"id": 0, "name": "q"}, {"project_id": 2},
        {"id": 2, "name": "q", "answers": "two"}, {"id": 2, "name": "q", "scale": "musical"},
        {"id": 2, "name": "q", "offsets": "bytes"}, {"id": 2, "name": "q", "target_answers": 0})),
    *(("categories", changes) for changes in (
        {"id": -1, "name": "skipped"}, {"id": 3, "name": None},
        {"id": 3, "name": "b", "question_id": 9}, {"id": 3, "name": "a"})),
    ("annotators", {"id": 3, "name": "C", "kind": "robot"}),
    ("annotators", {"id": 3, "name": "A"}),
    ("aliases", {"alias_id": 1}),
    ("aliases", {"from_change": 2, "to_change": 2}),
    ("items", {"id": 2, "name": "j", "length": -1}),
    ("items", {"id": 2}),
    ("imports", {"id": 2, "change_id": 3, "rows": 2}),
    ("imports", {"id": 2}),
    ("snapshot_patterns", {"pattern_id": 1, "items": 0, "snapshot_id": 2}),
    ("snapshots", {"id": 3}),
    ("snapshot_measures", {"position": 1, "measure": "n", "value": None}),
    ("snapshot_measures", {"position": 1, "measure": "n", "undefined": "no_overlap"}),
    *(("snapshot_categories", {"position": 1, "category_id": 0} | changes) for changes in (
        {"agreements": 2, "rate": 1.0}, {"rate": None})),
    *(("flags", {"id": 3} | changes) for changes in (
        {}, {"annotator_id": 2, "other_id": 1}, {"annotator_id": 9, "other_id": 9},
        {"other_id": 9}, {"category_id": 9}, {"other_id": None, "kind": "other"})),
    *(("flag_sightings", changes) for changes in (
        {"flag_id": 9}, {"number": 0}, {"number": 2, "informative": -1})),
    *(("flag_changes", changes) for changes in (
        {"flag_id": 9}, {"number": 4, "action": "reopened", "state": "shut"},
        {"number": 4, "action": "forgotten", "made_by": "ann"},
        {"number": 0, "action": "reopened"}, {"number": 4}, {"number": 1, "action": "reopened"},
        {"number": 4, "action": "dismissed"},
        {"number": 4, "action": "appealed", "made_by": "B"})),
]  # fmt: skip
"""Tables, and what differs from the first row of their sample."""


def test_impossible_states_are_refused(ledger: Ledger) -> None:
    database, rows = ledger.database, sample()
    fill(database)
    assert database.check() == []
    with database.write(keep=False) as connection:
        for table, changes in IMPOSSIBLE:
            row = rows[table][0] if table in rows else {}
            try:
                with connection.begin_nested():
                    connection.execute(Base.metadata.tables[table].insert(), row | changes)
            except IntegrityError:
                continue
            pytest.fail(f"stored in {table}: {changes}")


PARENTS = ("items", "annotators", "categories")
REFERENCES = ("item_id", "annotator_id", "given_as", "category_id", "change_id")


def rows_of_labels(connection: Connection) -> None:
    """Store the rows that labels refer to, and no other rows that refer to them."""
    rows = sample()
    for name in ("projects", "questions", "changes", "items", "annotators", "categories"):
        connection.execute(Base.metadata.tables[name].insert(), rows[name])


def label() -> dict[str, object]:
    return sample()["labels"][0]


def statements(database: Database) -> list[str]:
    """Statements each of which would leave a label, or a past one, that refers to nothing."""
    tried = [
        f"UPDATE {table} SET {column} = 99"
        for table in ("labels", "past_labels")
        for column in REFERENCES
    ]
    tried += [f"DELETE FROM {parent}" for parent in PARENTS]
    tried += [f"UPDATE {parent} SET id = id + 10" for parent in PARENTS]
    if not isinstance(database.backend, Sqlite):
        tried += [f"TRUNCATE {parent} CASCADE" for parent in PARENTS]
    return tried


@pytest.mark.parametrize("table", ["labels", "past_labels"])
def test_what_labels_refer_to_stays(ledger: Ledger, table: str) -> None:
    database = ledger.database
    with database.write() as connection:
        rows_of_labels(connection)
        connection.execute(Base.metadata.tables[table].insert(), sample()[table][0])
    for statement in statements(database):
        try:
            with database.write() as connection:
                changed = connection.execute(text(statement)).rowcount
        except IntegrityError:
            continue
        assert changed == 0, statement  # of the other table


def test_deletions_and_loads_wait_for_each_other(postgres_url: str) -> None:
    """As with a foreign key: an item stays while answers to it are being stored."""
    database, other = Database(postgres_url), Database(postgres_url)
    other.wait = 0.05
    with database.write() as connection:
        rows_of_labels(connection)
    load, delete = Label.__table__.insert(), text("DELETE FROM items")  # type: ignore[attr-defined]
    with database.write(keep=False) as deleting:
        deleting.execute(delete)
        with pytest.raises(DBAPIError, match="lock timeout"), other.engine.begin() as loading:
            loading.execute(load, label())
    with database.write() as loading:
        loading.execute(load, label())
        with pytest.raises(DBAPIError, match="lock timeout"), other.engine.begin() as deleting:
            deleting.execute(delete)
    with pytest.raises(IntegrityError, match="refer to it"), other.engine.begin() as deleting:
        deleting.execute(delete)
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE labels DISABLE TRIGGER USER"))
        connection.execute(text("UPDATE labels SET change_id = 99"))
        connection.execute(text("ALTER TABLE labels ENABLE TRIGGER USER"))
    assert "1 rows of labels refer to no row of changes" in database.check()
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM labels"))
        connection.execute(delete)
    with pytest.raises(IntegrityError, match="no such row"), other.engine.begin() as loading:
        loading.execute(load, label())
