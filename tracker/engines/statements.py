"""The ledger's statements as other databases read them, and the columns that come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Table
from sqlalchemy.sql import visitors
from sqlalchemy.sql.selectable import Alias

from tracker.engines.engine import Columns


def tables_of(statement: Any) -> set[str]:
    """Return the names of the tables that a statement is about."""
    return {part.name for part in visitors.iterate(statement) if isinstance(part, Table)}


def columns_of(statement: Any, table: str) -> set[str]:
    """Return the names of a table's columns that a statement is about, under any alias."""
    parts: Iterator[Any] = visitors.iterate(statement)
    return {part.name for part in parts if _name_of(getattr(part, "table", None)) == table}


def _name_of(table: Any) -> str | None:
    named = table.element if isinstance(table, Alias) else table
    return getattr(named, "name", None)


def read_columns(columns: Sequence[Any]) -> Columns:
    """Return Arrow's columns as arrays, or as lists if they are no numbers or not all known."""
    import pyarrow as pa

    read: Columns = []
    for column in columns:
        whole = pa.types.is_decimal(column.type) or pa.types.is_integer(column.type)
        if whole and not column.null_count:
            parts = [part for part in column.cast(pa.int64()).chunks if len(part)]
            # Arrow's own way would load pandas.
            numbers = (np.frombuffer(p.buffers()[1], np.int64, len(p), 8 * p.offset) for p in parts)
            read.append(np.concatenate([np.zeros(0, dtype=np.int64), *numbers]))
        else:
            read.append(column.to_pylist())
    return read
