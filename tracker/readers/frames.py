"""Sources that are not files: data frames, and rows that a program makes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, time
from functools import cache
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from tracker.core.errors import Refused
from tracker.formats.answers import field_text
from tracker.formats.batch import KEEP, ROLES, Batch, Cells
from tracker.formats.reader import Reading
from tracker.formats.source import ReadAs, SourceFile, Unwatched
from tracker.formats.tables import (
    Column,
    Rows,
    all_whole,
    batches_of_rows,
    column_of_arrow,
    column_of_series,
)
from tracker.readers.parquet import flattened, is_list_type, whole_numbers
from tracker.storage.database import QueryRows, rows_of_query

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    Frame: TypeAlias = pd.DataFrame | pa.Table


_AT_ONCE = 200_000  # rows
_FIRST_LINE = 2  # below a header, as if the frame were a file


class _InMemory(Unwatched):
    """What the loader requires of every source."""

    size = None
    layout: ReadAs | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: dict[str, Any] = {}
        self._sha256 = hashlib.sha256()

    @property
    def digest(self) -> str:
        """SHA-256 of the columns that were read; known once everything was read."""
        return self._sha256.hexdigest()

    @property
    def layouts(self) -> dict[str, ReadAs]:
        return {} if self.layout is None else {self.name: self.layout}

    @property
    def facts_by_file(self) -> dict[str, dict[str, Any]]:
        return {self.name: self.facts}

    def again(self) -> FrameSource | None:
        """Return the source to be read once more; None for rows that are made as they are read."""
        return None

    def digested(self, batch: Batch) -> Batch:
        for role, cells in batch.columns.items():
            self._sha256.update(f"\0{role}\0".encode())
            self._sha256.update("\0".join(cells.texts).encode())
            self._sha256.update(cells.codes.astype("<i4").tobytes())
        return batch


class RowsSource(_InMemory):
    """Named tuples whose fields are roles, and others that are kept as attributes of the items.

    Fields that have no value in the first row are left out.
    """

    def __init__(self, rows: Iterable[NamedTuple], name: str) -> None:
        super().__init__(name)
        self.rows = rows

    def batches(self, _reading: Reading) -> Iterator[Batch]:
        """Yield the rows in batches. Raises Refused if there are none."""
        rows, line = iter(self.rows), _FIRST_LINE
        fields: dict[str, int] = {}
        while portion := list(islice(rows, _AT_ONCE)):
            if not fields:
                first = zip(portion[0]._fields, portion[0], strict=True)
                fields = {
                    name if name in ROLES else KEEP + name: n
                    for n, (name, value) in enumerate(first)
                    if value is not None
                }
            cells = list(zip(*portion, strict=True))
            columns = {name: Cells.of_texts(cells[n]) for name, n in fields.items()}
            yield self.digested(Batch(np.arange(line, line + len(portion)), columns))
            line += len(portion)
        if not fields:
            raise Refused(f"{self.name} holds no row")


class CellsSource(_InMemory):
    def __init__(self, columns: Mapping[str, Sequence[str]], name: str) -> None:
        super().__init__(name)
        self.columns = columns

    def batches(self, _reading: Reading) -> Iterator[Batch]:
        columns = {role: Cells.of_texts(texts) for role, texts in self.columns.items()}
        number = len(next(iter(self.columns.values())))
        yield self.digested(Batch(np.arange(1, number + 1), columns, unit="record"))


class FrameSource(_InMemory):
    """A frame of pandas or a table of Arrow; its rows are counted as in a file with a header."""

    def __init__(self, frame: Frame) -> None:
        super().__init__("frame")
        self.frame = frame

    def again(self) -> FrameSource:
        return FrameSource(self.frame)

    def batches(self, reading: Reading) -> Iterator[Batch]:
        """Yield the rows in batches, missing values as empty cells.

        A whole number is written without a point, even if a gap made its column one of floats. In
        a question of several categories an answer, a list of categories is an answer; a list of
        annotators has an answer of each. Raises Refused as for a file.
        """
        parts = _arrow_rows if hasattr(self.frame, "schema") else _pandas_rows
        return map(self.digested, batches_of_rows(self, reading, parts(self.frame)))


def _pandas_rows(frame: pd.DataFrame) -> Iterator[Rows]:
    header = [str(name) for name in frame.columns]
    lists = {n for n in range(len(header)) if _holds_lists(frame.iloc[:, n])}
    is_whole = cache(lambda n: _whole(frame.iloc[:, n]))
    for start in range(0, max(len(frame), 1), _AT_ONCE):
        part = frame.iloc[start : start + _AT_ONCE]

        def column(n: int, part: pd.DataFrame = part) -> Column:
            return column_of_series(part.iloc[:, n], whole=is_whole(n))

        yield Rows(header, np.arange(start, start + len(part)) + _FIRST_LINE, column, lists)


def _arrow_rows(table: pa.Table) -> Iterator[Rows]:
    flat = flattened(table)
    lists = {n for n, kind in enumerate(flat.schema.types) if is_list_type(kind)}
    is_whole = cache(lambda n: whole_numbers(flat.column(n)))
    for start in range(0, max(len(flat), 1), _AT_ONCE):
        part = flat.slice(start, _AT_ONCE)

        def column(n: int, part: pa.Table = part) -> Column:
            return column_of_arrow(part.column(n), whole=is_whole(n))

        lines = np.arange(start, start + len(part)) + _FIRST_LINE
        yield Rows(flat.column_names, lines, column, lists)


def _holds_lists(column: pd.Series[Any]) -> bool:
    first = column.first_valid_index() if str(column.dtype) == "object" else None
    if first is None:
        return False
    value = next(cell for cell in column.tolist() if not (cell is None or cell != cell))  # noqa: PLR0124
    return isinstance(value, list | tuple | np.ndarray)


def _whole(column: pd.Series[Any]) -> bool:
    if column.dtype.kind == "f":
        return all_whole(column.to_numpy(dtype=float, na_value=np.nan))
    if column.dtype.kind == "O":
        return all_whole(np.array([cell for cell in column if isinstance(cell, float)], float))
    return True


# -- A query's rows as a table of text, so that they are read as a file of delimited text is ------


@contextmanager
def opened_query(url: str, query: str) -> Iterator[SourceFile]:
    with rows_of_query(url, query) as result:
        stream = cast("IO[bytes]", _Table(result))
        with closing(SourceFile("query", stream, name=result.name)) as source:
            yield source


class _Table:
    """A stream of bytes: the header and the rows, written as they are read."""

    def __init__(self, result: QueryRows) -> None:
        self._name, self._columns = result.name, result.columns
        self._parts = self._written(iter(result.rows))
        self._rest = b""

    def read1(self, size: int) -> bytes:
        if not self._rest:
            self._rest = next(self._parts, b"")
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def close(self) -> None:
        """Do nothing: the connection is closed by who opened it."""

    def _written(self, rows: Iterator[Sequence[Any]]) -> Iterator[bytes]:
        yield _lines([self._columns])
        while portion := list(islice(rows, 5_000)):
            yield _lines([[self._text(n, cell) for n, cell in enumerate(row)] for row in portion])

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
