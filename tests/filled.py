"""What a ledger holds, kept to be put into another one, which is faster than to do it again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import text

from tracker.ledger import Ledger
from tracker.storage.schema import Base

__all__ = ["Fill", "FillOnce", "Restore", "empty_postgres", "keep"]

Fill: TypeAlias = Callable[[Ledger], object]
FillOnce: TypeAlias = Callable[[Ledger, Fill], Ledger]
Restore: TypeAlias = Callable[[Ledger], None]
_emptied = count(1)


def keep(ledger: Ledger) -> Restore:
    """Return a function that puts into an empty ledger on the same backend what this one holds."""
    keep_it = {"sqlite": _keep_sqlite, "postgresql": _keep_postgres}
    return keep_it[ledger.database.engine.dialect.name](ledger)


def empty_postgres(ledger: Ledger) -> None:
    """Take everything out of a ledger on Postgres, as if it had never been there."""
    emptying = [
        "SET LOCAL session_replication_role = replica",  # no trigger fires
        # In place of TRUNCATE, which makes every table's files anew.
        *(f"DELETE FROM {name}" for name in Base.metadata.tables),
        "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'",
    ]
    engine = ledger.database.engine
    with engine.begin() as connection:
        connection.exec_driver_sql("; ".join(emptying))
    if next(_emptied) % 10 == 0:
        # Of dead rows, the catalogue's too: each temporary table leaves some.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")


def _file(ledger: Ledger) -> Path:
    return Path(str(ledger.database.url.database))


def _keep_sqlite(ledger: Ledger) -> Restore:
    held = _file(ledger).read_bytes()

    def restore(other: Ledger) -> None:
        _file(other).write_bytes(held)

    return restore


def _keep_postgres(ledger: Ledger) -> Restore:
    held: dict[str, bytes] = {}
    with ledger.database.engine.connect() as connection:
        cursor = connection.connection.cursor()
        for name in Base.metadata.tables:
            with cursor.copy(f"COPY {name} TO STDOUT") as rows:
                held[name] = b"".join(rows)
        numbers = connection.execute(
            text("SELECT relname, pg_sequence_last_value(oid) FROM pg_class WHERE relkind = 'S'")
        ).all()

    def restore(other: Ledger) -> None:
        with other.database.engine.begin() as connection:
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            cursor = connection.connection.cursor()
            for name, rows in held.items():
                with cursor.copy(f"COPY {name} FROM STDIN") as into:
                    into.write(rows)
            for sequence, last in numbers:
                if last is not None:
                    connection.execute(text("SELECT setval(:name, :last)"),
                                       {"name": sequence, "last": last})  # fmt: skip

    return restore
