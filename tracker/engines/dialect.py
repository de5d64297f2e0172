"""The ledger's statements in the words of the databases that count; slow to import."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy.dialects.postgresql.base import PGCompiler, PGDialect
from sqlalchemy.sql import operators, visitors

from tracker.engines.engine import is_lower_pass


class _Compiler(PGCompiler):
    """Statements in the words of Postgres, but for a few."""

    def visit_floordiv_binary(self, binary: Any, operator: Any, **options: Any) -> str:
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


DIALECTS: Final = {repeats: _Dialect(repeats=repeats) for repeats in (False, True)}
"""By whether an answer may be on a further pass."""


def statement_text(statement: Any, *, repeats: bool) -> str:
    """Return a statement with its values; ``repeats``: an answer may be on a further pass."""
    return str(statement.compile(dialect=DIALECTS[repeats], compile_kwargs={"literal_binds": True}))


def column_type(column: Any) -> str:
    """Return the type of a table's column."""
    return str(column.type.compile(DIALECTS[True]))
