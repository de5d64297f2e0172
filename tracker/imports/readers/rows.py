"""Rows of delimited text as dictionaries, for tools that write their answers into columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.imports.readers.source import SourceFile

_DELIMITERS = (",", "\t", ";")
_LARGEST_CELL = 16 * 1024 * 1024


class Row(NamedTuple):
    """The cells of a row by column, and the line on which it starts."""

    line: int
    cells: dict[str, str]


def head_columns(source: SourceFile) -> list[str]:
    """Return the names of the columns of a table of text; one or none if it is no table."""
    return list(_first_row(source.head))


@lru_cache(maxsize=1)  # every format is asked in turn about the same bytes
def _first_row(head: bytes) -> Sequence[str]:
    text = head.decode("utf-8-sig", "ignore")
    if "\0" in text:
        return ()
    with suppress(csv.Error, StopIteration):
        return next(csv.reader(io.StringIO(text), delimiter=_delimiter(text)))
    return ()


def table_rows(source: SourceFile) -> Iterator[Row]:
    """Yield the rows below the header; blank lines are passed over.

    Raises Refused for a row with more or fewer cells than the header, and for quotes that do not
    close, with the line.
    """
    csv.field_size_limit(_LARGEST_CELL)
    lines = _lines(source)
    first = next(lines, "")
    delimiter = _delimiter(first)
    reader = csv.reader(_chained(first, lines), delimiter=delimiter, strict=True)
    line = 1
    try:
        header = next(reader, [])
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                if len(cells) != len(header):
                    raise Refused(
                        f"{source.name}, line {line}: {len(cells)} cells where the header has "
                        f"{len(header)}",
                        "is the file as the tool wrote it?",
                    )
                yield Row(line, dict(zip(header, cells, strict=True)))
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refused(f"{source.name}, line {line}: {error}", "correct the quotes") from None


def _delimiter(head: str) -> str:
    """Return what separates the cells of the header."""
    first = head.split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


def _lines(source: SourceFile) -> Iterator[str]:
    for block in _decoded(source):
        yield from io.StringIO(block, newline="")


def _decoded(source: SourceFile) -> Iterator[str]:
    before = 0
    for block in source.blocks():
        text = source.decoded(block, before)
        yield text
        before += text.count("\n")


def _chained(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
