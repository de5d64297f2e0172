"""A query that a user wrote, on any database that a ledger could be in; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, ResourceClosedError, SQLAlchemyError

from tracker.core.errors import Refused
from tracker.storage import backends
from tracker.storage.database import Database

_AT_ONCE = 5_000  # rows


@dataclass(frozen=True)
class QueryRows:
    """The columns of a query's result, and its rows as they are asked for."""

    name: str
    columns: Sequence[str]
    rows: Iterator[Sequence[Any]]


@contextmanager
def rows_of_query(url: str, query: str) -> Iterator[QueryRows]:
    """Yield the rows of a query. The name of the result has the URL without its password.

    Raises DatabaseUnusable for a database that cannot be reached, and Refused for a query that
    fails or yields no rows.
    """
    database = Database(url)
    if database.file is not None and not database.file.exists():
        raise Refused(f"{database}: there is no such file")
    try:
        connection = database.engine.connect()
    except SQLAlchemyError as error:
        raise (backends.explain_database_error(error, database.url) or error) from None
    with connection:
        yield _result(database.backend.only_reading(connection), query, str(database))


def _result(connection: Connection, query: str, name: str) -> QueryRows:
    streamed = connection.execution_options(
        stream_results=True, yield_per=_AT_ONCE, no_parameters=True
    )
    try:
        result = streamed.exec_driver_sql(query)
        columns = list(result.keys())
    except DBAPIError as error:
        raise _failed(name, error) from None
    except ResourceClosedError:
        raise Refused(f"{name}: the query yields no rows", "write a SELECT") from None
    return QueryRows(name, columns, _rows(connection, result, name))


def _rows(connection: Connection, result: Any, name: str) -> Iterator[Sequence[Any]]:
    try:
        for part in result.partitions():
            yield from part
        connection.rollback()  # or a ledger in the same file would wait for us to end
    except DBAPIError as error:
        raise _failed(name, error) from None


def _failed(name: str, error: DBAPIError) -> Refused:
    """Return what the driver says of the user's own query, in one line."""
    said = str(error.orig).strip().partition("\n")[0]
    return Refused(f"{name}: the query failed: {said[:300]}", "correct --query")
