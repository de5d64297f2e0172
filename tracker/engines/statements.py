"""The ledger's statements as other databases read them, and the columns that come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from sqlalchemy import Table
from sqlalchemy.dialects.postgresql.base import PGCompiler, PGDialect
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.selectable import Alias

from tracker.core.tallies import IntArray
from tracker.engines.engine import Columns, is_lower_pass


def statement_text(statement: Any, *, repeats: bool) -> str:
    """Return a statement with its values; ``repeats``: an answer may be on a further pass."""
    dialect = _DIALECTS[repeats]
    return str(statement.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))


def column_type(column: Any) -> str:
    """Return the type of a table's column."""
    return str(column.type.compile(_DIALECTS[True]))


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
            read.append(_numbers(column.cast(pa.int64())))
        else:
            read.append(column.to_pylist())
    return read


def _numbers(column: Any) -> IntArray:
    """Return a column of whole numbers; Arrow's own way would load pandas."""
    parts = (
        np.frombuffer(part.buffers()[1], np.int64, len(part), 8 * part.offset)
        for part in column.chunks
        if len(part)
    )
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


class _Compiler(PGCompiler):
    """Statements in the words of Postgres, but for a few."""

    def visit_floordiv_binary(
        self, binary: Any, operator: Any, *arguments: Any, **options: Any
    ) -> str:
        """Divide whole numbers: other databases make a fraction of it."""
        left, right = (self.process(side, **options) for side in (binary.left, binary.right))
        return f"CAST(FLOOR({left} / {right}) AS BIGINT)"

    def visit_unary(self, unary: Any, *arguments: Any, **options: Any) -> str:
        """Leave out the search for a lower pass if every answer is on the first.

        It takes DuckDB several times as long as all the rest.
        """
        dialect: Any = self.dialect
        is_search = unary.operator is operators.exists and not dialect.repeats
        if is_search and any(map(is_lower_pass, visitors.iterate(unary.element))):
            return "FALSE"
        words: Any = super().visit_unary
        return str(words(unary, *arguments, **options))


class _Dialect(PGDialect):
    """Nearly that of Postgres."""

    name = "counting"  # what is compiled in another way for Postgres is not meant for it
    statement_compiler = _Compiler
    supports_statement_cache = False

    def __init__(self, *, repeats: bool) -> None:
        super().__init__(paramstyle="named")  # type: ignore[no-untyped-call]
        self.repeats = repeats
        preparer: Any = self.identifier_preparer
        preparer.schema_for_object = lambda _: None  # a temporary table's is another's


_DIALECTS: Final = {repeats: _Dialect(repeats=repeats) for repeats in (False, True)}
"""By whether an answer may be on a further pass."""
