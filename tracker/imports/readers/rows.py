"""Rows of delimited text by Python's reader, which knows quotes, each with its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, chain, islice, takewhile
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.imports.readers.source import SourceFile

_DELIMITERS = (",", "\t", ";", "|")
LARGEST_CELL = 16 * 1024 * 1024
_ROWS_AT_ONCE = 5000  # more as Python's lists are slower: they leave the processor's cache


class Row(NamedTuple):
    """The cells of a row by column, and the line on which it starts."""

    line: int
    cells: dict[str, str]


def delimiter_of(head: str) -> str:
    """Return the delimiter that splits the first line most often."""
    return max(_DELIMITERS, key=head.split("\n", 1)[0].count)


def head_columns(source: SourceFile) -> list[str]:
    """Return the names of the columns of a table of text; one or none if it is no table."""
    return list(_first_row(source.head))


@lru_cache(maxsize=1)  # every format is asked in turn about the same bytes
def _first_row(head: bytes) -> Sequence[str]:
    text = head.decode("utf-8-sig", "ignore")
    if "\0" in text:
        return ()
    with suppress(csv.Error, StopIteration):
        return next(csv.reader(io.StringIO(text), delimiter=delimiter_of(text)))
    return ()


def table_rows(source: SourceFile, may_lack: Collection[str] = ()) -> Iterator[Row]:
    """Yield the rows below the header, as tools write their answers; blank lines are passed over.

    Of the last columns, rows may lack the cells of those that a tool names and does not fill.
    Raises Refused for a row with more or fewer cells than the header, and for quotes that do not
    close, with the line.
    """
    blocks = source.blocks()
    first = next(blocks)
    rows = QuotedRows(chain([first], blocks), delimiter_of(source.decoded(first, 0)), 0, source)
    header: list[str] = []
    fewest = 0
    while rows.more:
        for line, cells in zip(*rows.take(), strict=True):
            if not header:
                header = cells
                fewest = len(cells) - sum(1 for _ in takewhile(may_lack.__contains__, cells[::-1]))
            if fewest <= len(cells) < len(header):
                cells.extend([""] * (len(header) - len(cells)))
            if len(cells) != len(header):
                reason = f"{len(cells)} cells where the header has {len(header)}"
                hint = "is the file as the tool wrote it?"
                raise Refused(f"{source.name}, line {line}: {reason}", hint)
            if cells is not header:
                yield Row(line, dict(zip(header, cells, strict=True)))


class QuotedRows:
    """The rows of blocks of text, without blank ones; ``more`` until all were taken.

    ``numbers`` are those of the rows last taken, from 1; blank ones count.
    """

    def __init__(
        self, blocks: Iterable[bytes], delimiter: str, lines_before: int, source: SourceFile
    ) -> None:
        csv.field_size_limit(LARGEST_CELL)
        self.more = True
        self.numbers: Sequence[int] = ()
        self._taken = 0
        self._source = source
        self._before = lines_before
        lines = self._lines(blocks, lines_before)
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def _lines(self, blocks: Iterable[bytes], before: int) -> Iterator[str]:
        for block in blocks:
            for line in io.StringIO(self._source.decoded(block, before), newline=""):
                before += 1
                yield line

    def take(self, number: int = _ROWS_AT_ONCE) -> tuple[Sequence[int], list[list[str]]]:
        """Return the lines and the cells of at most so many rows.

        Raises Refused for quotes that do not close, with the line.
        """
        before = self._reader.line_num
        first = 1 + self._before + before
        rows: list[list[str]] = []
        try:
            rows.extend(islice(self._reader, number))
        except csv.Error as error:
            # The rows before the bad one are in the list, and tell on which line it starts.
            raise _unreadable(error, first + sum(map(_lines_of, rows)), self._source) from None
        self.more = len(rows) == number
        if self._reader.line_num - before == len(rows):
            starts: Sequence[int] = range(first, first + len(rows))
        else:
            starts = list(accumulate(map(_lines_of, rows[:-1]), initial=first))[: len(rows)]
        self.numbers = range(self._taken + 1, self._taken + 1 + len(rows))
        self._taken += len(rows)
        if all(rows):
            return starts, rows
        filled = [n for n, row in enumerate(rows) if row]
        self.numbers = [self.numbers[n] for n in filled]
        return [starts[n] for n in filled], [rows[n] for n in filled]


def _lines_of(row: list[str]) -> int:
    """Return how many lines of the file a row takes; a blank one takes one."""
    return 1 + sum(cell.count("\n") + cell.count("\r") - cell.count("\r\n") for cell in row)


def _unreadable(error: csv.Error, start: int, source: SourceFile) -> Refused:
    text = str(error)
    if "unexpected end of data" in text:
        reason = "a quote is opened that never closes"
    elif "field larger" in text:
        reason = f"a cell is larger than {LARGEST_CELL >> 20} MB (or a quote never closes)"
    elif "expected after" in text:
        reason = "a quoted cell goes on after its closing quote"
    else:
        reason = text
    return Refused(f"{source.name}, line {start}: {reason}", "correct the quotes on that line")
