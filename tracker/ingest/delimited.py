"""Delimited text: long form (a row per answer) and wide form (a column per annotator)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING

from tracker.errors import Refused
from tracker.ingest.columns import Layout, Mapped, find_columns
from tracker.ingest.records import Batch, Rejections
from tracker.ingest.source import SourceFile

if TYPE_CHECKING:
    import _csv

__all__ = ["read_delimited"]

_DELIMITERS = (",", "\t", ";", "|")
_ROWS_PER_BATCH = 5000  # larger ones are slower: they leave the processor's cache
_LARGEST_CELL = 16 * 1024 * 1024


def read_delimited(source: SourceFile, mapped: Mapped, rejections: Rejections) -> Iterator[Batch]:
    """The records of a delimited file in batches; rows that are ragged are rejected.

    Raises Refused where the file cannot be read as one.
    """
    lines = source.lines()
    head = _head(lines, source)
    delimiter = _delimiter(head[-1], source)
    csv.field_size_limit(_LARGEST_CELL)
    rows = _Rows(csv.reader(chain(head, lines), delimiter=delimiter, strict=True), source)
    _, found = rows.take(len(head))
    header = next((row for row in found if any(cell.strip() for cell in row)), [])
    layout = find_columns(header, mapped, source.name)
    empty = True
    while rows.more:
        starts, cells = _of_width(*rows.take(_ROWS_PER_BATCH), len(header), source, rejections)
        empty = empty and not cells and not rejections.count
        if cells:
            yield _wide(starts, cells, layout) if layout.wide else _long(starts, cells, layout)
    if empty:
        raise Refused(f"{source.name} has a header and no row below it")


def _head(lines: Iterator[str], source: SourceFile) -> list[str]:
    """The lines down to the first that is not blank, which is the header or begins it."""
    head: list[str] = []
    try:
        while not head or not head[-1].strip():
            head.append(next(lines))
    except UnicodeDecodeError as error:
        raise source.undecodable(error, len(head)) from None
    except StopIteration:
        raise Refused(f"{source.name} is empty") from None
    return head


def _delimiter(first: str, source: SourceFile) -> str:
    """The delimiter that splits the header most often; a tab for .tsv where none does."""
    counts = {delimiter: first.count(delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: counts[delimiter])
    if not counts[best] and ".tsv" in source.name:
        return "\t"
    return best


class _Rows:
    """The rows of a file some at a time, each with the line on which it starts."""

    def __init__(self, reader: _csv.Reader, source: SourceFile) -> None:
        self.more = True
        self._reader = reader
        self._source = source

    def take(self, number: int) -> tuple[Sequence[int], list[list[str]]]:
        """The lines and the cells of so many rows, blank ones left out; all there are left."""
        before = self._reader.line_num
        rows: list[list[str]] = []
        try:
            rows.extend(islice(self._reader, number))
        except UnicodeDecodeError as error:
            raise self._source.undecodable(error, self._reader.line_num) from None
        except csv.Error as error:
            # The rows before the bad one are in the list, and tell on which line it starts.
            start = 1 + before + sum(map(_lines_of, rows))
            raise _unreadable(error, start, self._source) from None
        self.more = len(rows) == number
        if self._reader.line_num - before == len(rows):
            starts: Sequence[int] = range(before + 1, before + 1 + len(rows))
        else:
            starts = list(accumulate(map(_lines_of, rows[:-1]), initial=before + 1))[: len(rows)]
        if all(rows):
            return starts, rows
        kept = [(start, row) for start, row in zip(starts, rows, strict=True) if row]
        return [start for start, _ in kept], [row for _, row in kept]


def _lines_of(row: list[str]) -> int:
    """How many lines of the file a row takes; a blank one takes one."""
    return 1 + sum(cell.count("\n") + cell.count("\r") - cell.count("\r\n") for cell in row)


def _unreadable(error: csv.Error, start: int, source: SourceFile) -> Refused:
    text = str(error)
    if "unexpected end of data" in text:
        reason = "a quote is opened that never closes"
    elif "field larger" in text:
        reason = f"a cell is larger than {_LARGEST_CELL >> 20} MB (or a quote never closes)"
    elif "expected after" in text:
        reason = "a quoted cell goes on after its closing quote"
    else:
        reason = text
    return Refused(f"{source.name}, line {start}: {reason}", "mend the quotes on that line")


def _of_width(
    starts: Sequence[int],
    rows: list[list[str]],
    width: int,
    source: SourceFile,
    rejections: Rejections,
) -> tuple[Sequence[int], list[list[str]]]:
    if set(map(len, rows)) <= {width}:
        return starts, rows
    kept = []
    for line, row in zip(starts, rows, strict=True):
        if len(row) == width:
            kept.append((line, row))
        else:
            rejections.add(source.name, line, f"{len(row)} cells where the header has {width}")
            rejections.ragged += 1
    return [line for line, _ in kept], [row for _, row in kept]


def _long(starts: Sequence[int], rows: list[list[str]], layout: Layout) -> Batch:
    columns = list(zip(*rows, strict=True))
    return Batch(starts, {role: columns[n] for role, n in layout.roles.items()})


def _wide(starts: Sequence[int], rows: list[list[str]], layout: Layout) -> Batch:
    """One record per filled cell of an annotator; an empty cell says nothing."""
    answers = [
        (line, row, name, row[n])
        for line, row in zip(starts, rows, strict=True)
        for name, n in layout.annotators.items()
        if row[n].strip()
    ]
    columns: dict[str, Sequence[str]] = {
        role: [row[n] for _, row, _, _ in answers]
        for role, n in layout.roles.items()
        if role not in {"annotator", "category"}
    }
    columns["annotator"] = [name for _, _, name, _ in answers]
    columns["category"] = [cell for _, _, _, cell in answers]
    return Batch([line for line, _, _, _ in answers], columns)
