"""Statements with very many rows of two whole numbers."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, Text, cast, func, select

from tracker.queries.selection import stream

Integers: TypeAlias = NDArray[np.int64]

_MOST = 20_000_000  # rows of 40 bytes at most in one text; 10 ** 9 bytes are too many


def numbers(connection: Connection, statement: Select[Any]) -> Integers:
    """Return the rows of a statement of two whole numbers as an array, (N, 2).

    The database writes them as one text, from which numpy reads millions of numbers in much
    less time than as many rows take. If a text cannot hold them, they come as rows. A row with
    NULL is left out.
    """
    rows = statement.limit(_MOST + 1).subquery("rows")
    one, other = (cast(column, Text) for column in rows.c)
    together = func.aggregate_strings(one + "," + other, ",").label("together")
    text, number = connection.execute(select(together, func.count().label("number"))).one()
    if number > _MOST:
        flat = chain.from_iterable(row for row in stream(connection, statement) if None not in row)
        return np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    if not text:
        return np.zeros((0, 2), dtype=np.int64)
    return np.fromstring(text, dtype=np.int64, sep=",").reshape(-1, 2)
