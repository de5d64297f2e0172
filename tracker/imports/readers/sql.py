"""A query's rows as a table of text, so that they are read as a file of delimited text is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, time
from itertools import islice
from typing import IO, Any, cast

from tracker.core.errors import Refused
from tracker.imports.readers.answers import field_text
from tracker.imports.readers.source import SourceFile
from tracker.storage.query import QueryRows, rows_of_query

_AT_ONCE = 5_000  # rows


@contextmanager
def opened_query(url: str, query: str) -> Iterator[SourceFile]:
    """Open the rows of a query as a source; memory holds some of them. Raises as the query does."""
    with rows_of_query(url, query) as result:
        stream = cast("IO[bytes]", _Table(result))
        with closing(SourceFile("query", stream, name=result.name)) as source:
            yield source


class _Table:
    """A stream of bytes: the header and the rows, written as they are read."""

    def __init__(self, result: QueryRows) -> None:
        self._name = result.name
        self._columns = result.columns
        self._parts = self._written(iter(result.rows))
        self._rest = b""

    def read1(self, size: int) -> bytes:
        """Return at most so many bytes; none at the end."""
        if not self._rest:
            self._rest = next(self._parts, b"")
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def close(self) -> None:
        """Do nothing: the connection is closed by who opened it."""

    def _written(self, rows: Iterator[Sequence[Any]]) -> Iterator[bytes]:
        yield _lines([self._columns])
        while some := list(islice(rows, _AT_ONCE)):
            yield _lines([[self._text(n, cell) for n, cell in enumerate(row)] for row in some])

    def _text(self, column: int, cell: Any) -> str:
        """Return a cell as a file would hold it. Raises Refused for what is no text."""
        if cell is None:
            return ""
        if isinstance(cell, str | int | float):
            return field_text(cell)
        if isinstance(cell, date | time):
            return cell.isoformat()
        if isinstance(cell, dict | list):
            return json.dumps(cell, ensure_ascii=False)
        if isinstance(cell, bytes | bytearray | memoryview):
            raise Refused(
                f"{self._name}: the column {self._columns[column]!r} holds bytes, not text",
                "leave it out of --query, or convert it there",
            )
        return str(cell)


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
