"""Delimited text: long form (a row per answer) and wide form (a column per annotator)."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import Batch, Cells, Numbers, Rejections, text_array
from tracker.imports.column_roles import Layout, layout_of_header
from tracker.imports.question_columns import OF_QUESTION
from tracker.imports.readers.reader import HOLDS, Reader, Reading
from tracker.imports.readers.rows import QuotedRows, delimiter_of
from tracker.imports.readers.source import SourceFile
from tracker.imports.readers.tables import as_concluded, long_batch, wide_batch

_ENOUGH = 8 * 1024 * 1024  # bytes for a batch: names that come again are looked up once a batch
_FEW_DIFFER = {"annotator", "category", "question", "pass", "gold", "kind"}
Table = tuple[Numbers, dict[int, Cells]]
"""The lines on which rows start, and the cells by the column's position in the header."""

_SAID = re.compile(r'"?sep=(.)"?[,;\t]*')
"""A line before the header that tells Excel what is between cells."""

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def read_delimited(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a delimited file in batches; ragged rows are rejected.

    Raises Refused if the file cannot be read as delimited text.
    """
    return as_concluded(_batches(source, reading), source, reading)


def _batches(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    mapped, rejections = reading.mapped, reading.rejections
    ignore = reading.options.ignore
    blocks = source.blocks()
    first, blanks, head, body = _head(blocks, source)
    said = _SAID.fullmatch(first.strip())
    if said:
        first, more, head, body = _head(chain([body], blocks), source)
        blanks += 1 + more
    delimiter = said[1] if said else _delimiter(first, source)
    rejected_before = rejections.count
    if '"' in first:  # the header may go on over several lines
        rows = QuotedRows(chain([head], blocks), delimiter, blanks, source)
        _, cells = rows.take(1)
        header = cells[0]
        layout = source.layout = layout_of_header(header, mapped, source.name, ignore)
        tables = _tables_of_rows(rows, _wanted(layout), len(header), source, rejections)
    else:
        header = first.rstrip("\r\n").split(delimiter)
        layout = source.layout = layout_of_header(header, mapped, source.name, ignore)
        tables = _tables(
            chain([body], blocks), delimiter, layout, len(header), source, rejections, blanks + 1
        )
    empty = True
    make = wide_batch if layout.wide else long_batch
    for batch in (make(layout, *table) for table in tables):
        empty = False
        yield replace(batch, decimal_comma=True) if delimiter == ";" else batch
        del batch
    if empty and rejections.count == rejected_before:
        raise Refused(f"{source.name} has a header and no row below it")


DELIMITED = Reader(
    "csv",
    read=read_delimited,
    title="CSV, TSV: a row per answer, or a column per annotator or question",
    holds=HOLDS,
)
"""Any text may be delimited, so that it is what is left if no other reader recognizes a file."""


def _head(blocks: Iterator[bytes], source: SourceFile) -> tuple[str, int, bytes, bytes]:
    """Return the first line that is not blank, the number of lines before it, and the blocks.

    The line is the header or begins it. The blocks are the one from the line on, and the rest.
    """
    blanks = 0
    for block in blocks:
        for match in _LINE.finditer(block):
            line = source.decoded(match[0], blanks)
            if line.strip():
                return line, blanks, block[match.start() :], block[match.end() :]
            blanks += 1
    raise Refused(f"{source.name} is empty")


def _wanted(layout: Layout) -> dict[int, bool]:
    """Return the places of the required columns, and which of them have few distinct cells.

    The column of the item comes first; in a list of annotators, theirs.
    """
    named = "item" if "item" in layout.roles else "annotator"
    few = (role for role in layout.roles if role in _FEW_DIFFER or role.startswith(OF_QUESTION))
    roles = dict.fromkeys(layout.roles.values(), False)
    roles |= {layout.roles[role]: True for role in few if role != named}
    return {layout.roles[named]: False} | roles | dict.fromkeys(layout.annotators.values(), True)


class _Gathering:
    """Rows that are gathered until there are enough for one table."""

    def __init__(self, wanted: Iterable[int]) -> None:
        self.wanted = list(wanted)
        self._begin()

    def _begin(self) -> None:
        self._lines: list[Numbers] = []
        self._chunks: dict[int, list[Any]] = {n: [] for n in self.wanted}
        self._size = 0

    def add(self, lines: Numbers, chunks: Mapping[int, Any]) -> None:
        """Append rows: the lines on which they start, and Arrow arrays by position."""
        self._lines.append(lines)
        for n in self.wanted:
            self._chunks[n].append(chunks[n])
            self._size += chunks[n].nbytes

    def table(self, *, at_least: int = 1) -> Iterator[Table]:
        """Yield the rows as a table, if they have at least so many bytes."""
        if self._lines and self._size >= at_least:
            lines, chunks = self._lines, self._chunks
            self._begin()
            yield np.concatenate(lines), {n: Cells.of(chunks.pop(n)) for n in self.wanted}


def _tables(
    blocks: Iterator[bytes],
    delimiter: str,
    layout: Layout,
    width: int,
    source: SourceFile,
    rejections: Rejections,
    lines_before: int,
) -> Iterator[Table]:
    """Yield the blocks as tables, up to the first that is not plain, and the rest row by row."""
    wanted = _wanted(layout)
    gathered = _Gathering(wanted)
    for block in blocks:
        if not block:
            continue
        chunks = plain_delimited_columns(block, delimiter, width, wanted)
        if chunks is None:
            yield from gathered.table()
            rows = QuotedRows(chain([block], blocks), delimiter, lines_before, source)
            yield from _tables_of_rows(rows, wanted, width, source, rejections)
            return
        number = len(next(iter(chunks.values())))
        gathered.add(np.arange(lines_before + 1, lines_before + 1 + number, dtype=np.int32), chunks)
        lines_before += number
        yield from gathered.table(at_least=_ENOUGH)
    yield from gathered.table()


def _delimiter(first: str, source: SourceFile) -> str:
    """Return the delimiter of the header; a tab for .tsv if it has none."""
    best = delimiter_of(first)
    return "\t" if ".tsv" in source.name and best not in first else best


def _tables_of_rows(
    rows: QuotedRows,
    wanted: Mapping[int, bool],
    width: int,
    source: SourceFile,
    rejections: Rejections,
) -> Iterator[Table]:
    """Yield the remaining rows, many at a time; ragged ones are rejected."""
    gathered = _Gathering(wanted)
    while rows.more:
        starts, some = _of_width(*rows.take(), width, source, rejections)
        if some:
            cells = list(zip(*some, strict=True))
            arrays = {n: text_array(cells[n]) for n in wanted}
            gathered.add(
                np.asarray(starts, np.int32),
                {n: a.dictionary_encode() if wanted[n] else a for n, a in arrays.items()},
            )
            yield from gathered.table(at_least=_ENOUGH)
    yield from gathered.table()


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


_NOT_PLAIN = (b'"', b"\0")


def plain_delimited_columns(
    block: bytes, delimiter: str, width: int, wanted: Mapping[int, bool]
) -> dict[int, Any] | None:
    """Return the wanted columns by position, if every line is a plain row of so many cells.

    They are Arrow arrays; those ``wanted`` with True, which have few distinct cells, are
    encoded. The first of them is the item, which is empty on blank lines only. None for a block
    with quotes, blank or ragged lines or bytes that are not UTF-8: these are left to a reader
    that can say what is wrong on which line.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    # Of a single column a blank line would be a row; and Arrow passes over a mark of encoding.
    if width < 2 or block[:3] == BOM_UTF8 or any(mark in block for mark in _NOT_PLAIN):
        return None
    encoded = pa.dictionary(pa.int32(), pa.string())
    types = {str(n): encoded if few else pa.string() for n, few in wanted.items()}
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(
                column_names=[str(n) for n in range(width)],
                block_size=len(block) + 1,
                use_threads=False,  # on so little they would only wait for each other
            ),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, quote_char=False, ignore_empty_lines=False
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(types), column_types=types, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = {n: table.column(str(n)).chunk(0) for n in wanted}
    lengths = pc.binary_length(next(iter(columns.values())))
    return None if pc.min(lengths).as_py() == 0 else columns
