"""Migrations make the schema of the models, on both databases."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, ForeignKeyConstraint, inspect, text

from tests.helpers import stored
from tests.storage.rows import fill, sample
from tracker.cli.app import main
from tracker.ledger import Ledger
from tracker.storage.database import HEAD, REVISIONS, Database, migrations_folder
from tracker.storage.schema import Base


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


def test_head_has_the_models_tables_columns_and_constraints(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
    for revision in ("0001", "0023"):  # of before the first release
        with database.engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": revision})
        for command in ("upgrade", "check"):
            monkeypatch.setattr("sys.argv", ["tracker", "--database", url, "database", command])
            with pytest.raises(SystemExit) as exit_:
                main()
            assert exit_.value.code == 5
            error = squeeze(capsys.readouterr().err)
            assert "was made by an older, unreleased tracker" in error
            assert "tracker export labels" in error
        assert database.revision() == revision


def test_revisions_are_those_in_the_folder_and_import_nothing_from_the_package() -> None:
    scripts = ScriptDirectory(str(migrations_folder())).walk_revisions()
    assert tuple(script.revision for script in reversed(list(scripts))) == REVISIONS
    for revision in (migrations_folder() / "versions").glob("*.py"):
        for node in ast.walk(ast.parse(revision.read_text("utf-8"))):
            names = [
                each.name for each in getattr(node, "names", ()) if isinstance(each, ast.alias)
            ]
            assert not any(
                name.partition(".")[0] == "tracker"
                for name in [*names, getattr(node, "module", None) or ""]
            ), revision.name


@pytest.mark.usefixtures("migrated_each_time")
def test_downgrade_removes_everything_and_upgrade_makes_it_again(empty_url: str) -> None:
    database = Database(empty_url)
    database.upgrade()
    with database.engine.connect() as connection:
        keys = list(connection.execute(text("SELECT id, length(key) FROM pseudonym_keys")))
    assert keys == [(1, 64)]
    fill(database)
    assert database.check() == []
    assert sample().keys() ^ Base.metadata.tables.keys() == {
        "pseudonym_keys", "kept_tallies", "snapshot_categories", "snapshot_measures",
    }  # fmt: skip
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
