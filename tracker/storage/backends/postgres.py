"""Postgres: a ledger is a database of a server, or a schema of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Engine,
    ForeignKeyConstraint,
    SQLColumnExpression,
    Table,
    Text,
    cast,
    create_engine,
    event,
    func,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateSchema

from tracker.core.errors import DatabaseUnusable
from tracker.storage.backends.backend import (
    AGAIN,
    LOCKED,
    MISSING_COLUMN,
    MISSING_TABLE,
    NO_CHARACTER,
    NO_SCHEMA,
    OF_PURGED,
    OF_THINNED,
    POOL,
    STILL_THERE,
    TOO_LARGE,
    WAIT_OPTION,
    Backend,
    Cells,
    Fix,
    Seldom,
    is_backend_column,
)
from tracker.storage.schema import ERASED, Base

_SCHEMA = "schema"  # an option of a URL, and where a connection keeps it
# What the driver takes beside a server's options, and would not take as text.
_NOT_OPTIONS = frozenset({"autocommit", "context", "cursor_factory", "prepare_threshold"})
_MIGRATION_LOCK = 0x7472_6163_6B65  # any number that no other program is likely to choose
_SEES_BEFORE = text(
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL"
    " AND xact_start < :now AND pid <> pg_backend_pid()"
)

_REFUSED = Fix("the server refused the user or password", "check the URL")
_NOT_THERE = Fix("the server has no such database or role", "check the URL")
_TOO_MANY = Fix("the server has too many connections", "try again when some are closed")
_FAILED = Fix("the server failed", "look into its log")
_NO_ANSWER = Fix("no server answers there", "check the URL's host and port")
_UNKNOWN_HOST = Fix("the server's name is unknown", "check the URL's host")
_BAD_OPTION = Fix(
    "the URL has an option that the server's client does not know, or not with that value",
    "check what stands after the question mark",
)
_UNREACHED = Fix("the server cannot be reached, or the connection was lost", "check the URL")
_OF_CONNECTING = {"OperationalError", "InterfaceError", "ConnectionTimeout"}


class Postgres(Backend):
    """A database of a server."""

    name = "postgresql"
    schemes = frozenset({"postgresql", "postgres"})
    prefix = "postgresql://"
    example = "USER:PASSWORD@HOST/NAME"
    temporary_schema = "pg_temp"
    counts_in_parallel = True
    fixes: ClassVar = {
        "08": Fix("the connection to the server was lost", AGAIN),
        "22003": TOO_LARGE,
        "22021": NO_CHARACTER,
        "22P05": NO_CHARACTER,
        "25006": Fix(
            "the server or this session may only be read",
            "use the primary server; --as-of, --known-at, compare and verify need it, too,"
            " for temporary tables",
        ),
        "25": Fix("the server ended the transaction", AGAIN),
        "28": _REFUSED,
        "3D": _NOT_THERE,
        "3F": NO_SCHEMA,
        "40": Fix("another program's change came first", AGAIN),
        "42501": Fix(
            "the role lacks a right that this needs",
            "grant it the rights on the tables, and TEMPORARY on the database, or use another role",
        ),
        "42P01": MISSING_TABLE,
        "42703": MISSING_COLUMN,
        "53100": Fix("the server's disk is full", "free some space; nothing was stored"),
        "53200": Fix("the server is out of memory", "try again when it has less to do"),
        "53300": _TOO_MANY,
        "53": Fix("the server lacks resources", "look into its log"),
        "54": Fix("the server's limits are too narrow for this", "look into its log"),
        "55P03": LOCKED,
        "55": Fix("the database is in use by another program", "try again when it is done"),
        "57014": Fix("the server cancelled the statement", "its limit of time may be too narrow"),
        "57": Fix("the server is shutting down or starting", "try again when it is up"),
        "58": _FAILED,
        "XX": _FAILED,
    }
    # Of an error without a code: of connecting, or of the driver itself.
    signs = (
        ("contain NUL", NO_CHARACTER),
        ("invalid connection option", _BAD_OPTION),
        ("connection is bad: invalid", _BAD_OPTION),
        ("bad value for", _BAD_OPTION),
        ("password authentication failed", _REFUSED),
        (
            "no password supplied",
            Fix("the server wants a password", "put it in the URL or in PGPASSWORD"),
        ),
        ("Connection refused", _NO_ANSWER),
        ("could not translate host", _UNKNOWN_HOST),
        ("failed to resolve host", _UNKNOWN_HOST),
        ("too many clients", _TOO_MANY),
        ("FATAL:  database", _NOT_THERE),
        ("FATAL:  role", _NOT_THERE),
        ("timeout expired", Fix("the server does not answer", "check the URL's host and port")),
        ("No such file or directory", _NO_ANSWER),
        ("connection failed", Fix("the server cannot be reached", "check the URL")),
    )

    def checked(self, url: URL) -> URL | None:
        if url.port is not None and not 0 < url.port < 65536:
            raise DatabaseUnusable(f"the URL's port {url.port} is none", "use one up to 65535")
        if not _NOT_OPTIONS.isdisjoint(url.query) or not isinstance(_schema_of(url), str | None):
            return None
        return url.set(drivername="postgresql+psycopg")

    def in_schema(self, url: URL, name: str) -> URL:
        return url.update_query_dict({_SCHEMA: name})

    def engine(self, url: URL, wait: float | None = None, *, keep: bool = False) -> Engine:
        """Return an engine; a lock is usually waited for as long as it takes."""
        server = url.difference_update_query([_SCHEMA])
        pool = {"pool_pre_ping": True, **POOL} if keep else {"poolclass": NullPool}
        # A prepared statement would go on reading the tables that temporary ones hide.
        options = {"prepare_threshold": None}
        engine = create_engine(
            server, isolation_level="REPEATABLE READ", connect_args=options, **pool
        )
        if keep:
            event.listen(engine, "checkin", _forget_use)
        if (schema := _schema_of(url)) is not None:
            # First of all: SQLAlchemy asks a new connection which schema is the usual one.
            event.listen(engine, "connect", partial(_enter_schema, schema), insert=True)
        if wait is not None:
            event.listen(engine, "connect", partial(_limit_waiting, wait))
        event.listen(engine, "begin", _begin)
        return engine

    def writing(self, connection: Connection, *, bulk: bool, wait: float | None) -> Connection:
        return connection.execution_options(isolation_level="READ COMMITTED", **{WAIT_OPTION: wait})

    def only_reading(self, connection: Connection) -> Connection:
        return connection.execution_options(postgresql_readonly=True)

    def hold_migrations(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")

    def make_schema(self, connection: Connection) -> None:
        name = connection.info.get(_SCHEMA)
        if name is not None and not _schema_exists(connection, name):
            connection.execute(CreateSchema(name))

    def has_schema(self, connection: Connection) -> bool:
        if connection.scalar(text("SELECT current_schema()")) is not None:
            return True
        name = connection.info.get(_SCHEMA)
        return name is not None and not _schema_exists(connection, name)

    def insert(self, cursor: Any, into: str, cells: Cells) -> None:
        with cursor.copy(f"COPY {into} FROM STDIN WITH (FORMAT csv)") as copy:
            copy.write(_as_csv(cells))

    def json_text(self, column: SQLColumnExpression[str], key: str) -> ColumnElement[Any]:
        return func.json_extract_path_text(cast(column, JSON), key, type_=Text)

    def refresh_statistics(self, connection: Connection, *tables: Table) -> None:
        connection.exec_driver_sql(f"ANALYZE {_quoted(connection, tables)}")

    def rows_added(
        self,
        connection: Connection,
        project_id: int,
        rows: int,
        tables: Sequence[Table],
        held: int = 0,
    ) -> None:
        """Let the planner know of a project's new rows of the last table, and what they refer to.

        Else it takes the tables for small ones until the server looks by itself, minutes later; or
        the project for one without rows, in a large table of others', for good. Up to 500 rows do
        not matter: what joins them takes their number squared. For less than a tenth of the rows
        that it knows, telling it takes longer than it saves; if the project grew by many imports
        of a few, it is told when it takes it for half as large as it is.
        """
        if max(rows, held) <= 500:
            return
        name = _quoted(connection, tables[-1:])
        explained = f"EXPLAIN (FORMAT JSON) SELECT FROM {name} WHERE project_id = {project_id:d}"
        ours = connection.exec_driver_sql(explained).scalar_one()[0]["Plan"]["Plan Rows"]
        known = text("SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)")
        all_ = connection.execute(known, {"name": tables[-1].name}).scalar_one()
        if (rows > 500 and rows * 10 >= min(ours, all_)) or held > 2 * ours:
            self.refresh_statistics(connection, *tables)

    def highest_number(self, connection: Connection, table: Table) -> int:
        sequence = {"sequence": _sequence_of(connection, table)}
        last = text("SELECT coalesce(pg_sequence_last_value(cast(:sequence AS regclass)), 0)")
        return int(connection.execute(last, sequence).scalar_one())

    def go_on_from(self, connection: Connection, table: Table, highest: int) -> None:
        if highest:
            values = {"sequence": _sequence_of(connection, table), "highest": highest}
            connection.execute(text("SELECT setval(cast(:sequence AS regclass), :highest)"), values)

    def is_declared(self, reference: ForeignKeyConstraint) -> bool:
        """Return whether a reference is a foreign key; those of bulk tables are triggers.

        A foreign key looks up each row by itself: of a million labels that takes 40 seconds.
        """
        return not reference.table.info.get("bulk")

    def triggers_of(self, table: Table) -> dict[str, str]:
        own = self._append_only_triggers(table) if table.info.get("append_only") else {}
        return own | _reference_triggers(table)

    def _append_only_triggers(self, table: Table) -> dict[str, str]:
        name = table.name
        function, deletable = "refuse_on_append_only", OF_PURGED
        if table.info.get("thinned"):
            function, deletable = "refuse_unless_thinned", f"{OF_PURGED} OR {OF_THINNED}"
        erasable, erased = table.info.get("erasable", ()), ""
        if erasable:
            function = f"refuse_to_change_{name}"
            free = (*erasable, *table.info.get("changeable", ()))
            less = "".join(f" - '{column}'" for column in free)
            same = f"to_jsonb(NEW){less} = to_jsonb(OLD){less} AND to_jsonb(NEW) <> to_jsonb(OLD)"
            same += "".join(
                f" AND (NEW.{name} IS NOT DISTINCT FROM OLD.{name} OR NEW.{name} = '{ERASED}')"
                for name in erasable
            )
            erased = f"IF TG_OP = 'UPDATE' THEN IF {same} THEN RETURN NEW; END IF; END IF; "
        events = {
            "no_change": f"BEFORE DELETE OR UPDATE ON {name} FOR EACH ROW",
            "no_truncate": f"BEFORE TRUNCATE ON {name} FOR EACH STATEMENT",
        }
        body = (
            f"BEGIN IF TG_OP = 'DELETE' THEN IF {deletable} THEN RETURN OLD; END IF; END IF; "
            f"{erased}RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END"
        )
        return {
            f"{name}_{short}": f"CREATE TRIGGER {name}_{short} {event} "
            f"EXECUTE FUNCTION {function}() {body}"
            for short, event in events.items()
        }

    def stored_triggers(self, connection: Connection) -> dict[str, str]:
        rows = connection.exec_driver_sql(
            "SELECT tgname, pg_get_triggerdef(t.oid, true) || ' ' || prosrc FROM pg_trigger t "
            "JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') "
            "AND pg_table_is_visible(tgrelid)"
        )
        return {name: " ".join(text.split()) for name, text in rows}

    def forget_deleted(
        self, connection: Connection, tables: Sequence[Table], texts: Sequence[str]
    ) -> None:
        """Write the tables anew, once nobody sees them as they were before.

        In a table of another role the server leaves the old rows where they are.
        """
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        now = connection.scalar(text("SELECT clock_timestamp()"))
        until = monotonic() + 10.0
        while connection.execute(_SEES_BEFORE, {"now": now}).first() is not None:
            if monotonic() > until:
                url = connection.engine.url
                raise DatabaseUnusable(f"{url.database}: {STILL_THERE.message}", STILL_THERE.mend)
            sleep(0.05)
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {_quoted(connection, tables)}")

    def backup(self, connection: Connection, target: Path) -> None:
        raise DatabaseUnusable(
            "tracker backs up SQLite files only", "for Postgres use: pg_dump --format=custom"
        )

    def code_of(self, error: BaseException | None) -> str | None:
        """Return the SQLSTATE of an error."""
        if type(error).__module__.partition(".")[0] == "psycopg":
            return getattr(error, "sqlstate", None) or ""
        return None

    def fix_of(self, error: BaseException | None) -> Fix | None:
        fix = super().fix_of(error)
        if fix is None and self.code_of(error) == "" and type(error).__name__ in _OF_CONNECTING:
            return _UNREACHED
        return fix


@compiles(Seldom, Postgres.name)
def _listed(element: Seldom, compiler: Any, **options: Any) -> str:
    """Return the words that look into a list.

    A search for each row is planned as if every row came to it, and never in parallel.
    """
    _, listed = element.clauses
    return str(compiler.process(listed, **options))


_REQUIRE_REFERRED = """
DECLARE missing boolean;
BEGIN
    FOR n IN 0 .. TG_NARGS - 1 BY 3 LOOP
        EXECUTE format(
            'WITH given AS MATERIALIZED (SELECT DISTINCT %1$s FROM added WHERE (%1$s) IS NOT NULL),
            held AS MATERIALIZED (
                SELECT FROM %2$I.%3$I WHERE (%4$s) IN (SELECT * FROM given) FOR KEY SHARE
            )
            SELECT (SELECT count(*) FROM given) > (SELECT count(*) FROM held)',
            TG_ARGV[n], TG_TABLE_SCHEMA, TG_ARGV[n + 1], TG_ARGV[n + 2]
        ) INTO missing;
        IF missing THEN
            RAISE foreign_key_violation USING MESSAGE =
                format('%s of %s: no such row of %s', TG_ARGV[n], TG_TABLE_NAME, TG_ARGV[n + 1]);
        END IF;
    END LOOP;
    RETURN NULL;
END
"""
_KEEP_REFERRED = """
DECLARE referred boolean;
BEGIN
    FOR n IN 0 .. TG_NARGS - 1 BY 3 LOOP
        referred := TG_OP = 'UPDATE';
        IF TG_OP = 'TRUNCATE' THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %I.%I)', TG_TABLE_SCHEMA, TG_ARGV[n + 1])
            INTO referred;
        ELSIF TG_OP = 'DELETE' THEN
            EXECUTE format(
                'SELECT EXISTS (SELECT FROM %I.%I WHERE (%s) IN (SELECT %s FROM gone))',
                TG_TABLE_SCHEMA, TG_ARGV[n + 1], TG_ARGV[n + 2], TG_ARGV[n]
            ) INTO referred;
        END IF;
        IF referred THEN
            RAISE foreign_key_violation USING MESSAGE =
                format('%s of %s: rows of %s refer to it', TG_ARGV[n], TG_TABLE_NAME,
                TG_ARGV[n + 1]);
        END IF;
    END LOOP;
    RETURN NULL;
END
"""


def _reference_triggers(table: Table) -> dict[str, str]:
    """Return the triggers that hold a table's references, and those of bulk tables to it.

    They look up all rows of a statement at once. As a foreign key does, they lock the rows that
    are referred to, so that nobody deletes one meanwhile. The arguments are three for each
    reference: the columns, the other table, its columns.
    """
    name, triggers = table.name, {}
    if table.info.get("bulk"):
        arguments = _arguments(
            [
                (reference.column_keys, reference.referred_table, _referred_columns(reference))
                for reference in _references(table)
            ]
        )
        for event_, short in (("INSERT", "inserted"), ("UPDATE", "updated")):
            triggers[f"{name}_refer_{short}"] = (
                f"AFTER {event_} ON {name} REFERENCING NEW TABLE AS added FOR EACH STATEMENT "
                f"EXECUTE FUNCTION require_referred({arguments}) {_REQUIRE_REFERRED}"
            )
    referring = [
        (_referred_columns(reference), bulk, reference.column_keys)
        for bulk in Base.metadata.sorted_tables
        if bulk.info.get("bulk")
        for reference in _references(bulk)
        if reference.referred_table is table
    ]
    if referring:
        keys = ", ".join(column.name for column in table.primary_key.columns)
        events = {"deleted": f"AFTER DELETE ON {name} REFERENCING OLD TABLE AS gone"}
        if not table.info.get("append_only"):  # it refuses these anyway
            events["rekeyed"] = f"BEFORE UPDATE OF {keys} ON {name}"
            events["truncated"] = f"BEFORE TRUNCATE ON {name}"
        for short, event_ in events.items():
            triggers[f"{name}_referred_{short}"] = (
                f"{event_} FOR EACH STATEMENT "
                f"EXECUTE FUNCTION keep_referred({_arguments(referring)}) {_KEEP_REFERRED}"
            )
    # The stored triggers are compared with these, spaces aside.
    return {
        name: " ".join(f"CREATE TRIGGER {name} {text}".split()) for name, text in triggers.items()
    }


def _references(table: Table) -> list[ForeignKeyConstraint]:
    return sorted(table.foreign_key_constraints, key=lambda reference: str(reference.name))


def _referred_columns(reference: ForeignKeyConstraint) -> list[str]:
    return [element.column.name for element in reference.elements]


def _arguments(references: Sequence[tuple[Sequence[str], Table, Sequence[str]]]) -> str:
    words = (
        word
        for columns, table, others in references
        for word in (", ".join(columns), table.name, ", ".join(others))
    )
    return ", ".join(f"'{word}'" for word in words)


def _forget_use(connection: Any, _record: object) -> None:
    """Drop a connection's temporary tables: one that hid another would show the past."""
    if connection is not None:
        connection.execute("DISCARD TEMP")
        connection.commit()


def _schema_of(url: URL) -> Any:
    return url.query.get(_SCHEMA) or None


def _enter_schema(name: str, dbapi_connection: Any, record: Any) -> None:
    record.info[_SCHEMA] = name
    quoted = name.replace('"', '""')
    dbapi_connection.execute(f'SET search_path TO "{quoted}"')
    dbapi_connection.commit()


def _limit_waiting(wait: float, dbapi_connection: Any, _record: object) -> None:
    # No time at all would mean no limit.
    dbapi_connection.execute(f"SET lock_timeout = {max(1, round(wait * 1000))}")
    dbapi_connection.commit()


def _begin(connection: Connection) -> None:
    wait = connection.get_execution_options().get(WAIT_OPTION)
    if wait is not None:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, round(wait * 1000))}")


def _schema_exists(connection: Connection, name: str) -> bool:
    schema = text("SELECT 1 FROM pg_namespace WHERE nspname = :name")
    return connection.scalar(schema, {"name": name}) is not None


def _as_csv(cells: Cells) -> Any:
    """Return rows as CSV; what is missing is empty, and an empty text is quoted."""
    import pyarrow as pa
    from pyarrow import csv

    rows = len(next(column for column in cells if is_backend_column(column)))
    arrays = [
        (cell if isinstance(cell, pa.Array) else pa.array(cell))
        if is_backend_column(cell)
        else pa.repeat(pa.scalar(cell), rows)
        for cell in cells
    ]
    table = pa.table(arrays, names=[str(n) for n in range(len(arrays))])
    written = pa.BufferOutputStream()
    csv.write_csv(table, written, csv.WriteOptions(include_header=False))
    return written.getvalue().to_pybytes()


def _quoted(connection: Connection, tables: Sequence[Table]) -> str:
    return ", ".join(map(connection.dialect.identifier_preparer.format_table, tables))


def _sequence_of(connection: Connection, table: Table) -> str:
    name = text("SELECT pg_get_serial_sequence(:name, 'id')")
    return str(connection.scalar(name, {"name": table.name}))
