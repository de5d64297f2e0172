"""A whole ledger copied into another database, of the same kind or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select

from tracker.core.errors import InvalidOption
from tracker.storage import backends
from tracker.storage.schema import Base, Project, PseudonymKey

_AT_ONCE = 50_000  # rows

Progress = Callable[[str, int], None]
"""Called with a table's name and the number of its rows that were copied so far."""


def copy_rows(connection: Connection, into: Connection, progress: Progress) -> dict[str, int]:
    """Copy all rows of a ledger, its record and its seals among them, into an empty one.

    Users, their tokens and the key of their sessions stay behind: who may ask the one program
    need not be let into the other. Returns the number of rows by table. Raises InvalidOption if the
    other holds projects.
    """
    if into.scalar(select(func.count()).select_from(Project)):
        raise InvalidOption("the other database holds projects", "copy into a new one")
    into.execute(delete(PseudonymKey))
    tables = [one for one in Base.metadata.sorted_tables if not one.info.get("secret")]
    copied = {table.name: _copy_table(connection, into, table, progress) for table in tables}
    filled = [table for table in tables if copied[table.name]]
    backends.backend_of(into).refresh_statistics(into, *filled)
    return copied


def _copy_table(connection: Connection, into: Connection, table: Table, progress: Progress) -> int:
    """Copy the rows of a table in the order of its key, and its next number."""
    backend, number = backends.backend_of(into), 0
    names = table.columns.keys()
    ordered = select(table).order_by(*table.primary_key.columns)
    rows = connection.execution_options(yield_per=_AT_ONCE).execute(ordered)
    for part in rows.partitions():
        columns: dict[str, Any] = dict(zip(names, map(list, zip(*part, strict=True)), strict=True))
        backend.bulk_insert(into, table, columns)
        number += len(part)
        progress(table.name, number)
    if table.info.get("never_renumbered"):
        highest = backends.backend_of(connection).highest_number(connection, table)
        backend.go_on_from(into, table, highest)
    return number
