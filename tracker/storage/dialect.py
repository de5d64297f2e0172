"""The only place that names a database: what SQLite and Postgres do differently."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    MetaData,
    Table,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool, StaticPool
from sqlalchemy.schema import CreateSchema

from tracker.core.errors import DatabaseUnusable, InvalidOption
from tracker.storage.bulk_rows import as_csv, in_parts, insert_many
from tracker.storage.schema import Base

CLUSTERED: dict[str, Any] = {"sqlite_with_rowid": False}
"""Keyword arguments of a table that is stored in the order of its primary key."""

IN_MEMORY = "sqlite://"
"""The URL of a database that is gone when its engine is."""

_WRITE_OPTION = "tracker_write"
_BULK_OPTION = "tracker_bulk"
# Kibibytes of SQLite's page cache. What is grouped is sorted in parts of that size, too: parts that
# fit into a processor's own cache are sorted in two thirds of the time. A writer keeps changed
# pages in it; what is loaded in bulk comes in the order of keys, and its memory is the loader's.
_READERS_CACHE, _WRITERS_CACHE, _LOADERS_CACHE = 1024, 65536, 32768
_PATIENCE = 10.0  # seconds
_MIGRATION_LOCK = 0x7472_6163_6B65  # any number that no other program is likely to choose
_MANY = 500  # rows that it matters to plan for: what joins them takes their number squared
_FEW = 10  # times fewer than there are: the planner need not be told of so many more


def _heed_info(metadata: MetaData) -> None:
    """Do what tables say in their ``info``, as SQLite has to be told."""
    for table in metadata.tables.values():
        options = table.dialect_options["sqlite"]
        if table.info.get("clustered"):
            options["with_rowid"] = False
        if table.info.get("never_renumbered"):
            options["autoincrement"] = True


_heed_info(Base.metadata)


def parse_url(text: str) -> URL:
    """A database URL, its driver chosen; a bare path is a SQLite file.

    Raises DatabaseUnusable for a URL that cannot be read or a database that is not supported;
    nothing of the URL is in the message, since a password may stand in any place of it.
    """
    if "://" not in text:
        text = f"sqlite:///{text}"
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise _unreadable() from None
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite":
        if url.host or url.username or url.query or _NOT_A_PATH.search(url.database or ""):
            raise _unreadable()
        return url.set(drivername="sqlite")
    if backend in {"postgresql", "postgres"}:
        if url.port is not None and not 0 < url.port < 65536:
            raise DatabaseUnusable(f"the URL's port {url.port} is none", "use one up to 65535")
        if not _NOT_OPTIONS.isdisjoint(url.query) or not isinstance(_schema_of(url), str | None):
            raise _unreadable()
        return url.set(drivername="postgresql+psycopg")
    raise DatabaseUnusable(
        "that kind of database is not supported", "use a sqlite:/// or a postgresql:// URL"
    )


# What the driver takes beside a server's options, and would not take as text.
_NOT_OPTIONS = frozenset({"autocommit", "context", "cursor_factory", "prepare_threshold"})

# Of a path: words of a server's address that was not written as a URL.
_NOT_A_PATH = re.compile(
    r"(?i)(^|\s)(host|hostaddr|port|dbname|user|password|service)\s*=|^/*[^/\\]+:[^/\\]*@|"
    r"^postgres(ql)?:"
)


def _unreadable() -> DatabaseUnusable:
    return DatabaseUnusable(
        "the database URL cannot be read",
        "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME",
    )


def in_schema(url: URL, name: str) -> URL:
    """Return the URL of the ledger in a schema of the database; raises InvalidOption on SQLite."""
    if url.get_backend_name() != "postgresql":
        raise InvalidOption("only Postgres has schemas", "leave --schema out")
    return url.update_query_dict({_SCHEMA: name})


def _schema_of(url: URL) -> Any:
    return url.query.get(_SCHEMA) or None


_SCHEMA = "schema"
_SHOWN = {"host", "port", _SCHEMA}


def shown(url: URL) -> str:
    """A URL as it may be shown: without its password and without the driver's name.

    Of its options only where the server is: others may be a secret that was put in the wrong place.
    """
    public = url.difference_update_query([name for name in url.query if name not in _SHOWN])
    return public.render_as_string(hide_password=True).replace("+psycopg", "")


def file_of(url: URL) -> Path | None:
    """The file a URL names; None for a server or a database in memory."""
    if url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}:
        return Path(str(url.database))
    return None


def is_in_memory(url: URL) -> bool:
    """Whether a URL names a database that is gone with its process."""
    return url.get_backend_name() == "sqlite" and file_of(url) is None


def engine(url: URL, wait: float | None = None) -> Engine:
    """An engine whose transactions are real ones, on either database.

    A connection is closed after its use, and one database in memory is one connection's. A lock
    that others hold is waited for ``wait`` seconds; if None as long as it takes on Postgres, and
    10 seconds on SQLite.
    """
    if url.get_backend_name() == "postgresql":
        server = url.difference_update_query([_SCHEMA])
        made = create_engine(server, isolation_level="REPEATABLE READ", poolclass=NullPool)
        if (schema := _schema_of(url)) is not None:
            # First of all: SQLAlchemy asks a new connection which schema is the usual one.
            event.listen(made, "connect", partial(_enter_schema, schema), insert=True)
        if wait is not None:
            event.listen(made, "connect", partial(_limit_waiting, wait))
        return made
    pool = StaticPool if file_of(url) is None else NullPool
    waiting = {"timeout": _PATIENCE if wait is None else wait}
    made = create_engine(url, connect_args=waiting, poolclass=pool)
    event.listen(made, "connect", _prepare_sqlite)
    event.listen(made, "begin", _begin_sqlite)
    return made


def _enter_schema(name: str, dbapi_connection: Any, record: Any) -> None:
    record.info[_SCHEMA] = name
    quoted = name.replace('"', '""')
    dbapi_connection.execute(f'SET search_path TO "{quoted}"')
    dbapi_connection.commit()


def _limit_waiting(wait: float, dbapi_connection: Any, _record: object) -> None:
    # No time at all would mean no limit.
    dbapi_connection.execute(f"SET lock_timeout = {max(1, round(wait * 1000))}")
    dbapi_connection.commit()


def writing(connection: Connection, *, bulk: bool) -> Connection:
    """The connection, set to take the write lock (or to see others' commits) from the start.

    For ``bulk`` SQLite does not look up every row's references, which would take as long as
    storing it: the loader proves them all at once.
    """
    if connection.dialect.name == "postgresql":
        return connection.execution_options(isolation_level="READ COMMITTED")
    return connection.execution_options(**{_WRITE_OPTION: True, _BULK_OPTION: bulk})


def hold_migrations(connection: Connection) -> None:
    """Hold off every other migration of the database until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")


def make_schema(connection: Connection) -> None:
    """Make the schema that the URL names, if there is none."""
    name = connection.info.get(_SCHEMA)
    if name is not None and not _schema_exists(connection, name):
        connection.execute(CreateSchema(name))


def _schema_exists(connection: Connection, name: str) -> bool:
    found = text("SELECT 1 FROM pg_namespace WHERE nspname = :name")
    return connection.scalar(found, {"name": name}) is not None


def _prepare_sqlite(dbapi_connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own transactions start too late and stop at DDL; `begin` below does it.
    dbapi_connection.isolation_level = None
    for pragma in (
        "main.secure_delete = ON",  # or what was erased stays in the file
        "recursive_triggers = ON",  # or INSERT OR REPLACE goes round the delete triggers
        f"temp.cache_size = -{_WRITERS_CACHE}",
        "threads = 2",  # to sort what is grouped by anything but the stored order
    ):
        dbapi_connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    bulk, write = options.get(_BULK_OPTION), options.get(_WRITE_OPTION)
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if bulk else 'ON'}")
    cache = _LOADERS_CACHE if bulk else _WRITERS_CACHE if write else _READERS_CACHE
    connection.exec_driver_sql(f"PRAGMA cache_size = -{cache}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def bulk_insert(connection: Connection, table: Table, columns: Mapping[str, Any]) -> None:
    """Insert many rows, given column by column, the fastest way there is.

    A column is a list, a NumPy or an Arrow array; or a whole number or None, which every row has.
    Raises DBAPIError, as every statement does.
    """
    quote = connection.dialect.identifier_preparer.quote
    # In the order of the table, or SQLite would copy every row once more.
    names = sorted(columns, key=table.columns.keys().index)
    into = f"{quote(table.name)} ({', '.join(map(quote, names))})"
    cursor: Any = connection.connection.cursor()
    try:
        for cells in in_parts([columns[name] for name in names]):
            if connection.dialect.name == "postgresql":
                with cursor.copy(f"COPY {into} FROM STDIN WITH (FORMAT csv)") as copy:
                    copy.write(as_csv(cells))
            else:
                insert_many(cursor, into, cells)
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(f"INSERT INTO {into}", None, error) from error
    finally:
        cursor.close()


def temporary_schema(connection: Connection) -> str:
    """The name under which temporary tables can be told from the stored ones they hide."""
    return "pg_temp" if connection.dialect.name == "postgresql" else "temp"


def has_schema(connection: Connection) -> bool:
    """Whether unqualified names mean anything: a role without USAGE sees no table, as if empty.

    A schema that the URL names and that is not there yet can be made.
    """
    if connection.dialect.name != "postgresql":
        return True
    if connection.scalar(text("SELECT current_schema()")) is not None:
        return True
    name = connection.info.get(_SCHEMA)
    return name is not None and not _schema_exists(connection, name)


def refresh_statistics(connection: Connection, *tables: Table) -> None:
    """Let the planner know the size of tables just filled."""
    if connection.dialect.name == "postgresql":
        quote = connection.dialect.identifier_preparer.quote
        connection.exec_driver_sql(f"ANALYZE {', '.join(quote(table.name) for table in tables)}")


def rows_added(connection: Connection, rows: int, tables: Sequence[Table]) -> None:
    """Let the planner know of so many more rows of the last table, and of what they refer to.

    Else Postgres takes the tables for small ones until it looks by itself, minutes later. Few
    rows do not matter, and of few beside what it knows to tell takes longer than it saves.
    """
    if connection.dialect.name == "postgresql" and rows > _MANY:
        known = text("SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)")
        if rows * _FEW >= connection.execute(known, {"name": tables[-1].name}).scalar_one():
            refresh_statistics(connection, *tables)


# -- the file as a whole -------------------------------------------------------------------


def integrity_errors(connection: Connection) -> list[str]:
    """What the database itself finds wrong with its pages and foreign keys; one line each.

    Postgres holds its foreign keys without exception and checks pages as it reads them.
    """
    if connection.dialect.name == "postgresql":
        return []
    found = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars()
    errors = [line for line in found if line != "ok"]
    for table, row, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        errors.append(f"{table} row {row} refers to no row of {parent}")
    return errors


def backup(connection: Connection, target: Path) -> None:
    """Copy the database into a SQLite file while others go on using it, and check the copy.

    Raises DatabaseUnusable on Postgres, whose own tool does it, and if the copy fails.
    """
    if connection.dialect.name == "postgresql":
        raise DatabaseUnusable(
            "tracker backs up SQLite files only", "for Postgres use: pg_dump --format=custom"
        )
    source = connection.connection.driver_connection
    copy = sqlite3.connect(target)
    try:
        source.backup(copy)  # type: ignore[union-attr]
        (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        raise DatabaseUnusable(
            f"{target.parent}: the backup failed: {error}", "check the disk; no file was left"
        ) from None
    finally:
        copy.close()
    if found != "ok":
        raise DatabaseUnusable(
            f"the database is damaged: {found}", "restore a backup; see: tracker database check"
        )


# -- errors --------------------------------------------------------------------------------


def code_of(error: BaseException | None) -> str | None:
    """The code of a driver's error: an SQLSTATE, or SQLite's word for it, such as FULL.

    It is empty for an error without one, and None for what is no error of a driver.
    """
    if isinstance(error, sqlite3.Error):
        return str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").split("_")[0]
    if type(error).__module__.partition(".")[0] == "psycopg":
        return getattr(error, "sqlstate", None) or ""
    return None


def is_of_connection(error: BaseException | None) -> bool:
    """Whether an error without a code is one of reaching a server."""
    return type(error).__name__ in {"OperationalError", "InterfaceError", "ConnectionTimeout"}
