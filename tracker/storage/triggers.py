"""What the triggers are made of that keep the record as it is; the words of either database."""

from __future__ import annotations

from sqlalchemy import Connection, Table

from tracker.storage.schema import ERASED, Base


def triggers(backend: str) -> dict[str, str]:
    """What each trigger is made of, by the trigger's name, as `stored_triggers` reads it.

    They refuse UPDATE, DELETE and a replacing INSERT on append-only tables. A DELETE passes
    once the project has its tombstone in ``purges``, or the snapshot its own in ``tombstones``,
    an UPDATE if it only erases a text that may be.
    """
    tables = [table for table in Base.metadata.sorted_tables if table.info.get("append_only")]
    make = _sqlite_triggers if backend == "sqlite" else _postgres_triggers
    return {name: text for table in tables for name, text in make(table).items()}


_LET_GO = {
    "purges": "EXISTS (SELECT 1 FROM purges WHERE project_id = OLD.project_id)",
    "tombstones": "EXISTS (SELECT 1 FROM tombstones WHERE project_id = OLD.project_id "
    "AND snapshot_id = OLD.snapshot_id)",
}


def _sqlite_triggers(table: Table) -> dict[str, str]:
    name = table.name
    key = " AND ".join(f"{c.name} = NEW.{c.name}" for c in table.primary_key.columns)
    thinned = f" AND NOT {_LET_GO['tombstones']}" if table.info.get("thinned") else ""
    erasable = table.info.get("erasable", ())
    kept = [
        f"NEW.{c.name} IS OLD.{c.name}"
        if c.name not in erasable
        else f"(NEW.{c.name} IS OLD.{c.name} OR NEW.{c.name} IS '{ERASED}')"
        for c in table.columns
    ]
    erased = " OR ".join(f"NEW.{one} IS NOT OLD.{one}" for one in erasable)
    events = {
        "no_update": "BEFORE UPDATE ON {name}"
        + (f" WHEN NOT ({' AND '.join(kept)} AND ({erased}))" if erasable else ""),
        "no_delete": f"BEFORE DELETE ON {{name}} WHEN NOT {_LET_GO['purges']}{thinned}",
        "no_replace": "BEFORE INSERT ON {name} WHEN EXISTS (SELECT 1 FROM {name} WHERE {key})",
    }
    return {
        f"{name}_{short}": f"CREATE TRIGGER {name}_{short} {event.format(name=name, key=key)} "
        f"BEGIN SELECT RAISE(ABORT, '{name} are append-only'); END"
        for short, event in events.items()
    }


def _postgres_triggers(table: Table) -> dict[str, str]:
    name = table.name
    function, let_go = "refuse_on_append_only", _LET_GO["purges"]
    if table.info.get("thinned"):
        function, let_go = "refuse_unless_thinned", f"{let_go} OR {_LET_GO['tombstones']}"
    erasable, erased = table.info.get("erasable", ()), ""
    if erasable:
        function, less = "refuse_unless_erased", "".join(f" - '{one}'" for one in erasable)
        kept = f"to_jsonb(NEW){less} = to_jsonb(OLD){less} AND to_jsonb(NEW) <> to_jsonb(OLD)"
        kept += "".join(
            f" AND (NEW.{one} IS NOT DISTINCT FROM OLD.{one} OR NEW.{one} = '{ERASED}')"
            for one in erasable
        )
        erased = f"IF TG_OP = 'UPDATE' THEN IF {kept} THEN RETURN NEW; END IF; END IF; "
    events = {
        "no_change": "BEFORE DELETE OR UPDATE ON {name} FOR EACH ROW",
        "no_truncate": "BEFORE TRUNCATE ON {name} FOR EACH STATEMENT",
    }
    body = (
        f"BEGIN IF TG_OP = 'DELETE' THEN IF {let_go} THEN RETURN OLD; END IF; END IF; "
        f"{erased}RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END"
    )
    return {
        f"{name}_{short}": f"CREATE TRIGGER {name}_{short} {event.format(name=name)} "
        f"EXECUTE FUNCTION {function}() {body}"
        for short, event in events.items()
    }


def stored_triggers(connection: Connection) -> dict[str, str]:
    """What the triggers that the database has and heeds are made of, by name."""
    statement = (
        "SELECT tgname, pg_get_triggerdef(t.oid, true) || ' ' || prosrc FROM pg_trigger t "
        "JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') "
        "AND pg_table_is_visible(tgrelid)"
        if connection.dialect.name == "postgresql"
        else "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    )
    return {name: " ".join(text.split()) for name, text in connection.exec_driver_sql(statement)}
