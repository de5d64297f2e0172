"""Delimited text: long form (a row per answer) and wide form (a column per annotator)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from tracker.errors import Refused
from tracker.ingest.columns import Layout, Mapped, find_columns
from tracker.ingest.records import KEEP, Batch, Rejections
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
    first = next(lines, "")
    delimiter = _delimiter(first, source)
    csv.field_size_limit(_LARGEST_CELL)
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    numbered = _numbered(reader, source)
    _, header = next(numbered, (0, []))
    layout = find_columns(header, mapped, source.name)
    rows = list(islice(numbered, _ROWS_PER_BATCH))
    if not rows:
        raise Refused(f"{source.name} has a header and no row below it")
    while rows:
        kept = _of_width(rows, len(header), source, rejections)
        if kept:
            yield _wide(kept, layout) if layout.wide else _long(kept, layout)
        rows = list(islice(numbered, _ROWS_PER_BATCH))


def _delimiter(first: str, source: SourceFile) -> str:
    """The delimiter that splits the header most often; a tab for .tsv where none does."""
    counts = {delimiter: first.count(delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: counts[delimiter])
    if not counts[best] and ".tsv" in source.name:
        return "\t"
    return best


def _numbered(reader: _csv.Reader, source: SourceFile) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with the line on which it starts."""
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise _unreadable(error, start, source) from None


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
    rows: list[tuple[int, list[str]]], width: int, source: SourceFile, rejections: Rejections
) -> list[tuple[int, list[str]]]:
    if all(len(row) == width for _, row in rows):
        return rows
    kept = []
    for line, row in rows:
        if len(row) == width:
            kept.append((line, row))
        else:
            rejections.add(source.name, line, f"{len(row)} cells where the header has {width}")
    return kept


def _long(rows: list[tuple[int, list[str]]], layout: Layout) -> Batch:
    columns = list(zip(*(row for _, row in rows), strict=True))
    return Batch([line for line, _ in rows], {role: columns[n] for role, n in layout.roles.items()})


def _wide(rows: list[tuple[int, list[str]]], layout: Layout) -> Batch:
    """One record per filled cell of an annotator; an empty cell says nothing."""
    answers = [
        (line, row, name, row[n])
        for line, row in rows
        for name, n in layout.annotators.items()
        if row[n].strip()
    ]
    columns: dict[str, Sequence[str]] = {
        role: [row[n] for _, row, _, _ in answers]
        for role, n in layout.roles.items()
        if role not in {"annotator", "category"} or role.startswith(KEEP)
    }
    columns["annotator"] = [name for _, _, name, _ in answers]
    columns["category"] = [cell for _, _, _, cell in answers]
    return Batch([line for line, _, _, _ in answers], columns)
