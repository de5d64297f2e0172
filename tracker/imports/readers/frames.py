"""Sources that are not files: data frames, and rows that a program makes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import KEEP, ROLES, Batch, Cells
from tracker.imports.readers.arrow_tables import flattened, is_list_type, whole_numbers
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.source import ReadAs
from tracker.imports.readers.tables import Rows, batches_of_rows
from tracker.imports.readers.typed_cells import (
    Column,
    all_whole,
    column_of_arrow,
    column_of_series,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    Frame: TypeAlias = pd.DataFrame | pa.Table


_AT_ONCE = 200_000  # rows
_FIRST_LINE = 2  # below a header, as if the frame were a file


class _InMemory:
    """What the loader requires of every source."""

    size = None
    bytes_read = 0
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
        """Which column is what, by the name of the source."""
        return {} if self.layout is None else {self.name: self.layout}

    @property
    def facts_by_file(self) -> dict[str, dict[str, Any]]:
        """How it is read, by the name of the source."""
        return {self.name: self.facts}

    def again(self) -> FrameSource | None:
        """Return the source to be read once more; None for rows that are made as they are read."""
        return None

    def close(self) -> None:
        """Do nothing: no file is open."""

    def watch(self, _report: Callable[[int], None]) -> None:
        """Do nothing: there are no bytes to count."""

    def drain(self) -> None:
        """Do nothing: nothing is left over."""

    def digested(self, batch: Batch) -> Batch:
        """Return the batch, after adding it to the digest."""
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
        while some := list(islice(rows, _AT_ONCE)):
            if not fields:
                first = zip(some[0]._fields, some[0], strict=True)
                fields = {
                    name if name in ROLES else KEEP + name: n
                    for n, (name, value) in enumerate(first)
                    if value is not None
                }
            cells = list(zip(*some, strict=True))
            columns = {name: Cells.of_texts(cells[n]) for name, n in fields.items()}
            yield self.digested(Batch(np.arange(line, line + len(some)), columns))
            line += len(some)
        if not fields:
            raise Refused(f"{self.name} holds no row")


class FrameSource(_InMemory):
    """A frame of pandas or a table of Arrow; its rows are counted as in a file with a header."""

    def __init__(self, frame: Frame) -> None:
        super().__init__("frame")
        self.frame = frame

    def again(self) -> FrameSource:
        """Return the source to be read once more."""
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
    whole: dict[int, bool] = {}
    for start in range(0, max(len(frame), 1), _AT_ONCE):
        part = frame.iloc[start : start + _AT_ONCE]

        def column(n: int, part: pd.DataFrame = part) -> Column:
            if n not in whole:
                whole[n] = _whole(frame.iloc[:, n])
            return column_of_series(part.iloc[:, n], whole=whole[n])

        yield Rows(header, np.arange(start, start + len(part)) + _FIRST_LINE, column, lists)


def _arrow_rows(table: pa.Table) -> Iterator[Rows]:
    flat = flattened(table)
    lists = {n for n, one in enumerate(flat.schema.types) if is_list_type(one)}
    whole: dict[int, bool] = {}
    for start in range(0, max(len(flat), 1), _AT_ONCE):
        part = flat.slice(start, _AT_ONCE)

        def column(n: int, part: pa.Table = part) -> Column:
            if n not in whole:
                whole[n] = whole_numbers(flat.column(n))
            return column_of_arrow(part.column(n), whole=whole[n])

        lines = np.arange(start, start + len(part)) + _FIRST_LINE
        yield Rows(flat.column_names, lines, column, lists)


def _holds_lists(column: pd.Series[Any]) -> bool:
    """Return whether the first value of a column, if any, is a list."""
    first = column.first_valid_index() if str(column.dtype) == "object" else None
    if first is None:
        return False
    value = next(one for one in column.tolist() if not (one is None or one != one))  # noqa: PLR0124
    return isinstance(value, list | tuple | np.ndarray)


def _whole(column: pd.Series[Any]) -> bool:
    """Return whether all floats of a column are whole numbers."""
    if column.dtype.kind == "f":
        return all_whole(column.to_numpy(dtype=float, na_value=np.nan))
    if column.dtype.kind == "O":
        return all_whole(np.array([cell for cell in column if isinstance(cell, float)], float))
    return True
