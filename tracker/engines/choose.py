"""Which engine counts."""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tracker.core.errors import InvalidOption, Refused

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.engines.engine import Asked, Columns, Engine

NATIVE, DUCKDB, AUTO = "native", "duckdb", "auto"
ENGINES = (AUTO, NATIVE, DUCKDB)
LARGE = 100_000
"""Items of a project from which on the program chooses another engine by itself."""


def make_engine(name: str) -> Engine | None:
    """Return an engine by its name; None for the ledger's own database.

    Raises InvalidOption for a name that there is not, and Refused if it is not installed.
    """
    if name not in ENGINES:
        raise InvalidOption(
            f"there is no engine {name!r}", f"the engines are: {', '.join(ENGINES)}"
        )
    there = find_spec("duckdb") is not None
    if name == DUCKDB and not there:
        raise Refused(
            "DuckDB is not installed", "install it: pip install 'annotation-tracker[duckdb]'"
        )
    if name == NATIVE or not there:
        return None
    return _DuckDB(LARGE if name == AUTO else 0)


class _DuckDB:
    """DuckDB, imported when it is asked to count."""

    name = DUCKDB

    def __init__(self, least_items: int) -> None:
        self._least_items = least_items

    @cached_property
    def _engine(self) -> Engine:
        from tracker.engines.duckdb import DuckDB

        return DuckDB(self._least_items)

    def columns(self, connection: Connection, asked: Asked) -> Columns | None:
        is_made = "_engine" in vars(self)
        if not (is_made or (asked.items >= self._least_items and asked.is_heavy)):
            return None  # to import it would take longer than most counts
        return self._engine.columns(connection, asked)
