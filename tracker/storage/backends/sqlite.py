"""SQLite: a ledger is a file."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    SQLColumnExpression,
    Table,
    Text,
    create_engine,
    event,
    func,
    make_url,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

from tracker.core.errors import DatabaseUnusable, InvalidOption
from tracker.storage.backends.backend import (
    AGAIN,
    DAMAGED,
    LOCKED,
    MISSING_COLUMN,
    MISSING_TABLE,
    OF_PURGED,
    OF_THINNED,
    POOL,
    STILL_THERE,
    TOO_LARGE,
    WAIT_OPTION,
    Backend,
    Cells,
    Fix,
    is_backend_column,
)
from tracker.storage.schema import ERASED

IN_MEMORY = "sqlite://"
"""The URL of a database that is gone when its engine is."""

# Of a path: words of a server's address that was not written as a URL.
_NOT_A_PATH = re.compile(
    r"(?i)(^|\s)(host|hostaddr|port|dbname|user|password|service)\s*=|^/*[^/\\]+:[^/\\]*@|"
    r"^postgres(ql)?:"
)
_WRITE_OPTION = "tracker_write"
_BULK_OPTION = "tracker_bulk"
# Kibibytes of the page cache. What is grouped is sorted in parts of that size, too: parts that
# fit into a processor's own cache are sorted in two thirds of the time. A writer keeps changed
# pages in it; what is loaded in bulk comes in the order of keys, and its memory is the loader's.
_READERS_CACHE, _WRITERS_CACHE, _LOADERS_CACHE = 1024, 65536, 32768
_ROWS_AT_ONCE = 200  # in one INSERT; times the columns, far below the limit of parameters

_NOT_OPENED = Fix("the database cannot be opened", "check the path and permissions")
_NOT_WRITABLE = Fix("the database cannot be written to", "check the file's permissions")
_NO_LEDGER = Fix("the file is not a SQLite database", "name another with --database")
_FULL = Fix("the disk is full", "free some space; nothing was stored")
_FAILED = Fix("the disk failed", "check the disk; nothing was stored")
_OVERFLOW = "OVERFLOW"  # of a number, seen by the driver


class Sqlite(Backend):
    """A database that is a file, or in memory."""

    name = "sqlite"
    schemes = frozenset({"sqlite"})
    prefix = "sqlite:///"
    example = "FILE"
    temporary_schema = "temp"
    fixes: ClassVar = {
        _OVERFLOW: TOO_LARGE,
        "BUSY": LOCKED,
        "LOCKED": LOCKED,
        "PROTOCOL": LOCKED,
        "NOTADB": _NO_LEDGER,
        "READONLY": _NOT_WRITABLE,
        "CANTOPEN": _NOT_OPENED,
        "PERM": _NOT_OPENED,
        "AUTH": _NOT_OPENED,
        "FULL": _FULL,
        "IOERR": _FAILED,
        "CORRUPT": DAMAGED,
        "NOMEM": Fix("there is not enough memory", "close other programs"),
        "INTERRUPT": Fix("the statement was interrupted", AGAIN),
        "SCHEMA": Fix("the schema was changed by another program", AGAIN),
    }
    # Of an error whose code is a general one, or of an older library, which gives none.
    signs = (
        ("no such table", MISSING_TABLE),
        ("no such column", MISSING_COLUMN),
        ("database is locked", LOCKED),
        ("file is not a database", _NO_LEDGER),
        ("readonly database", _NOT_WRITABLE),
        ("unable to open database", _NOT_OPENED),
        ("disk is full", _FULL),
        ("disk I/O error", _FAILED),
        ("malformed", DAMAGED),
        ("decode to UTF-8", DAMAGED),
    )

    def checked(self, url: URL) -> URL | None:
        if url.host or url.username or url.query or _NOT_A_PATH.search(url.database or ""):
            return None
        return url.set(drivername="sqlite")

    def in_schema(self, url: URL, name: str) -> URL:
        raise InvalidOption("only Postgres has schemas", "leave --schema out")

    def file_of(self, url: URL) -> Path | None:
        return None if self.is_in_memory(url) else Path(str(url.database))

    def is_in_memory(self, url: URL) -> bool:
        return url.database in {None, "", ":memory:"}

    def engine(self, url: URL, wait: float | None = None, *, keep: bool = False) -> Engine:
        """Return an engine; the usual time to wait for a lock is 10 seconds."""
        usual = 10.0 if wait is None else wait
        pool: dict[str, Any] = {"poolclass": NullPool}
        file = self.file_of(url)
        if file is None:
            pool = {"poolclass": StaticPool}
        elif keep:
            pool = {"poolclass": QueuePool, **POOL}
        engine = create_engine(url, connect_args={"timeout": usual}, **pool)
        if file is not None and keep:
            event.listen(engine, "connect", partial(_note_file, file))
            event.listen(engine, "checkout", partial(_check_file, file))
            event.listen(engine, "checkin", _forget_use)
            event.listen(engine, "connect", _let_many_read)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", partial(_begin, usual))
        return engine

    def writing(self, connection: Connection, *, bulk: bool, wait: float | None) -> Connection:
        """Return the connection, set to take the write lock from the start.

        To look up every row's references would take as long as storing it.
        """
        options = {_WRITE_OPTION: True, _BULK_OPTION: bulk, WAIT_OPTION: wait}
        return connection.execution_options(**options)

    def only_reading(self, connection: Connection) -> Connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        return connection

    def insert(self, cursor: Any, into: str, cells: Cells) -> None:
        """Insert with many rows a statement, which takes half the time of one a row.

        A value that every row has is part of the statement, and a column that stands in two places
        is one parameter: each parameter of a row takes time.
        """
        columns = list({id(cell): cell for cell in cells if is_backend_column(cell)}.values())
        width, rows = len(columns), len(columns[0])
        values: list[Any] = [None] * (width * rows)
        for place, column in enumerate(columns):
            values[place::width] = column if isinstance(column, list) else column.tolist()
        places = {id(column): place for place, column in enumerate(columns, 1)}
        row = tuple(
            places.get(id(cell)) or ("NULL" if cell is None else str(int(cell))) for cell in cells
        )
        end = rows - rows % _ROWS_AT_ONCE
        for start in range(0, end * width, _ROWS_AT_ONCE * width):
            part = values[start : start + _ROWS_AT_ONCE * width]
            cursor.execute(_insert_statement(into, row, width, _ROWS_AT_ONCE), part)
        left = iter(values[end * width :])  # a statement of few rows would be written only once
        one = _insert_statement(into, row, width, 1)
        cursor.executemany(one, zip(*[left] * width, strict=True))

    def json_text(self, column: SQLColumnExpression[str], key: str) -> ColumnElement[Any]:
        return func.json_extract(column, f'$."{key}"', type_=Text)

    def highest_number(self, connection: Connection, table: Table) -> int:
        highest = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        return connection.scalar(highest, {"name": table.name}) or 0

    def go_on_from(self, connection: Connection, table: Table, highest: int) -> None:
        row = {"name": table.name, "highest": highest}
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), row)
        added = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :highest)")
        connection.execute(added, row)

    def triggers_of(self, table: Table) -> dict[str, str]:
        if not table.info.get("append_only"):
            return {}
        name = table.name
        key = " AND ".join(f"{c.name} = NEW.{c.name}" for c in table.primary_key.columns)
        thinned = f" AND NOT {OF_THINNED}" if table.info.get("thinned") else ""
        erasable, changeable = (table.info.get(word, ()) for word in ("erasable", "changeable"))
        same = [
            f"NEW.{c.name} IS OLD.{c.name}"
            if c.name not in erasable
            else f"(NEW.{c.name} IS OLD.{c.name} OR NEW.{c.name} IS '{ERASED}')"
            for c in table.columns
            if c.name not in changeable
        ]
        changed = (f"NEW.{column} IS NOT OLD.{column}" for column in (*erasable, *changeable))
        erased = " OR ".join(changed)
        events = {
            "no_update": f"BEFORE UPDATE ON {name}"
            + (f" WHEN NOT ({' AND '.join(same)} AND ({erased}))" if erasable else ""),
            "no_delete": f"BEFORE DELETE ON {name} WHEN NOT {OF_PURGED}{thinned}",
            "no_replace": f"BEFORE INSERT ON {name} WHEN EXISTS (SELECT 1 FROM {name} WHERE {key})",  # noqa: S608
        }
        return {
            f"{name}_{short}": f"CREATE TRIGGER {name}_{short} {event} "
            f"BEGIN SELECT RAISE(ABORT, '{name} are append-only'); END"
            for short, event in events.items()
        }

    def stored_triggers(self, connection: Connection) -> dict[str, str]:
        rows = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        )
        return {name: " ".join(text.split()) for name, text in rows}

    def integrity_errors(self, connection: Connection) -> list[str]:
        lines = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars()
        errors = [line for line in lines if line != "ok"]
        for table, row, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            errors.append(f"{table} row {row} refers to no row of {parent}")
        return errors

    def forget_deleted(
        self, connection: Connection, tables: Sequence[Table], texts: Sequence[str]
    ) -> None:
        """Empty the write-ahead log, and write the file anew if it holds one of the texts.

        SQLite overwrites what is deleted, except for copies that pages keep as they are rearranged.
        """
        driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        file = self.file_of(connection.engine.url)

        def empty_log() -> None:
            if driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise DatabaseUnusable(f"{file}: {STILL_THERE.message}", STILL_THERE.mend)

        empty_log()
        if file is not None and (not texts or _holds(file, texts)):
            driver.execute("VACUUM")
            empty_log()

    def backup(self, connection: Connection, target: Path) -> None:
        source = cast("sqlite3.Connection", connection.connection.driver_connection)
        copy = sqlite3.connect(target)
        try:
            source.backup(copy)
            (damage,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
        except sqlite3.Error as error:
            raise DatabaseUnusable(
                f"{target.parent}: the backup failed: {error}", "check the disk; no file was left"
            ) from None
        finally:
            copy.close()
        if damage != "ok":
            raise DatabaseUnusable(f"the database is damaged: {damage}", DAMAGED.mend)

    def code_of(self, error: BaseException | None) -> str | None:
        """Return the library's word for an error, such as FULL."""
        if isinstance(error, sqlite3.Error):
            name = getattr(error, "sqlite_errorname", "")
            return str(name).removeprefix("SQLITE_").split("_")[0]
        if isinstance(error, OverflowError) and "INTEGER" in str(error):
            return _OVERFLOW
        return None


def _prepare(dbapi_connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own transactions start too late and stop at DDL; `_begin` does it.
    dbapi_connection.isolation_level = None
    for pragma in (
        "main.secure_delete = ON",  # or what was erased stays in the file
        "recursive_triggers = ON",  # or INSERT OR REPLACE goes round the delete triggers
        f"temp.cache_size = -{_WRITERS_CACHE}",
        "threads = 2",  # to sort what is grouped by anything but the stored order
    ):
        dbapi_connection.execute(f"PRAGMA {pragma}")


def _holds(file: Path, texts: Sequence[str]) -> bool:
    """Return whether a file holds the bytes of a text."""
    words = [text.encode() for text in texts]
    rest, keep = b"", max(map(len, words))
    with file.open("rb") as stream:
        while block := stream.read(2**22):
            rest += block
            if any(word in rest for word in words):
                return True
            rest = rest[-keep:]
    return False


def content_of(connection: Connection) -> bytes:
    """Return all that a database holds, as a file would."""
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    return driver.serialize()


def engine_of_content(content: bytes) -> Engine:
    """Return an engine of a new database in memory with the content of another."""
    engine = Sqlite().engine(make_url(IN_MEMORY))
    event.listen(engine, "connect", lambda driver, _: driver.deserialize(content), insert=True)
    return engine


def _let_many_read(connection: sqlite3.Connection, _record: object) -> None:
    """Use the write-ahead mode, which the file keeps; one that cannot be written is left as it is.

    Changing the mode does not wait for a writer, so a transaction does before.
    """
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with suppress(sqlite3.OperationalError):
            connection.executescript("BEGIN IMMEDIATE; COMMIT; PRAGMA journal_mode = WAL")


def _note_file(file: Path, _connection: sqlite3.Connection, record: Any) -> None:
    record.info["file"] = _file_identity(file)


def _check_file(file: Path, _connection: sqlite3.Connection, record: Any, _used: Any) -> None:
    """Let a connection be made anew if another file stands at the path: a restored backup."""
    identity = _file_identity(file)
    if identity is None or identity != record.info["file"]:
        raise DisconnectionError(f"{file} is another file now")


def _file_identity(path: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def _forget_use(connection: sqlite3.Connection | None, record: Any) -> None:
    """Close a connection with temporary tables: one that hid another would show the past."""
    tables = "SELECT 1 FROM temp.sqlite_master LIMIT 1"
    if connection is not None and connection.execute(tables).fetchone():
        record.invalidate()


def _begin(usual: float, connection: Connection) -> None:
    options = connection.get_execution_options()
    wait = options.get(WAIT_OPTION)
    wait = usual if wait is None else wait
    if connection.info.get(WAIT_OPTION, usual) != wait:  # a server's connection, used before
        connection.info[WAIT_OPTION] = wait
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(wait * 1000)}")
    bulk, write = options.get(_BULK_OPTION), options.get(_WRITE_OPTION)
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if bulk else 'ON'}")
    cache = _LOADERS_CACHE if bulk else _WRITERS_CACHE if write else _READERS_CACHE
    connection.exec_driver_sql(f"PRAGMA cache_size = -{cache}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


@lru_cache(maxsize=64)
def _insert_statement(into: str, row: tuple[str | int, ...], width: int, rows: int) -> str:
    """Return the statement; a row has texts as they are, and a parameter as its place in the row.

    With OR FAIL the library need not be able to take back half a statement, which takes as long
    again; the transaction is taken back as a whole.
    """
    marks = (
        ", ".join(cell if isinstance(cell, str) else f"?{start + cell}" for cell in row)
        for start in range(0, rows * width, width)
    )
    return f"INSERT OR FAIL INTO {into} VALUES ({'), ('.join(marks)})"  # noqa: S608


@event.listens_for(Table, "before_create")
def _heed_info(table: Table, connection: Connection, **_: Any) -> None:
    """Do what the ``info`` of a table that is being made says."""
    options = table.dialect_options["sqlite"]
    if table.info.get("clustered"):
        options["with_rowid"] = False
    if table.info.get("never_renumbered"):
        options["autoincrement"] = True
