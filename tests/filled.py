"""What a ledger holds, kept to be put into another one, which is faster than to do it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import text

from tracker.ledger import Ledger
from tracker.storage.schema import Base

__all__ = ["Fill", "FillOnce", "Marks", "Restore", "Rows", "empty_postgres", "keep", "marks_of",
           "rows_of"]  # fmt: skip

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
    _vacuum_now_and_then(ledger)


def _vacuum_now_and_then(ledger: Ledger) -> None:
    """Rid it of dead rows, the catalogue's too: each temporary table leaves some."""
    if next(_emptied) % 10 == 0:
        engine = ledger.database.engine
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")


def _file(ledger: Ledger) -> Path:
    return Path(str(ledger.database.url.database))


def _keep_sqlite(ledger: Ledger) -> Restore:
    held = _file(ledger).read_bytes()

    def restore(other: Ledger) -> None:
        _file(other).write_bytes(held)

    return restore


Marks: TypeAlias = dict[str, tuple[int | None, int | None]]


def marks_of(ledger: Ledger) -> Marks:
    """Return how many rows each table on Postgres has, and the last transaction that wrote one.

    As long as they are the same, so are the rows. Sequences have their last number.
    """
    asked = "SELECT relname, pg_sequence_last_value(oid), 0 FROM pg_class WHERE relkind = 'S'"
    for name in Base.metadata.tables:
        asked += f" UNION ALL SELECT '{name}', count(*), max(xmin::text::bigint) FROM {name}"
    with ledger.database.engine.connect() as connection:
        return {name: (rows, last) for name, rows, last in connection.exec_driver_sql(asked)}


@dataclass(frozen=True)
class Rows:
    """The rows of a ledger on Postgres, and the last number of each sequence."""

    tables: dict[str, bytes]
    numbers: list[tuple[str, int | None]]

    def put_back(self, ledger: Ledger, names: Iterable[str]) -> None:
        """Let these tables have the rows that were kept, and no others."""
        with ledger.database.engine.begin() as connection:
            cursor = connection.connection.cursor()
            cursor.execute("SET LOCAL session_replication_role = replica")  # no trigger fires
            for name in names:
                cursor.execute(f"DELETE FROM {name}".encode())
                if self.tables[name]:
                    with cursor.copy(f"COPY {name} FROM STDIN".encode()) as into:
                        into.write(self.tables[name])
            called = (f"setval('{name}', {last or 1}, {last is not None})"
                      for name, last in self.numbers)  # fmt: skip
            cursor.execute(f"SELECT {', '.join(called)}".encode())
        _vacuum_now_and_then(ledger)


def rows_of(ledger: Ledger) -> Rows:
    held: dict[str, bytes] = {}
    with ledger.database.engine.connect() as connection:
        cursor = connection.connection.cursor()
        for name in Base.metadata.tables:
            with cursor.copy(f"COPY {name} TO STDOUT") as rows:
                held[name] = b"".join(rows)
        numbers = connection.execute(
            text("SELECT relname, pg_sequence_last_value(oid) FROM pg_class WHERE relkind = 'S'")
        ).all()
    return Rows(held, [(name, last) for name, last in numbers])


def _keep_postgres(ledger: Ledger) -> Restore:
    rows = rows_of(ledger)
    filled = [name for name, content in rows.tables.items() if content]

    def restore(other: Ledger) -> None:
        rows.put_back(other, filled)

    return restore
