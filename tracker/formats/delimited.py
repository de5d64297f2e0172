"""Delimited text: long form (a row per answer) and wide form (a column per annotator)."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from tracker.core.errors import Refused
from tracker.formats.batch import Batch, Cells, Numbers, Rejections, text_array
from tracker.formats.column_roles import NUMBERS, Layout
from tracker.formats.question_columns import OF_QUESTION
from tracker.formats.raw import RawRow, RawTable, flat_object, raw_objects
from tracker.formats.reader import HOLDS, Reader, Reading
from tracker.formats.source import SourceFile, count_source_lines
from tracker.formats.streams import LARGEST_CELL, QuotedRows, delimiter_of, head_value, json_records
from tracker.formats.surroundings import (
    LOOKED_AT,
    answered_rows,
    is_left_out,
    layout_of_rows,
    no_header_row,
)
from tracker.formats.tables import (
    Column,
    Rows,
    as_concluded,
    batch_of_table,
    batches_of_rows,
    column_of_values,
    value_text,
    with_last,
)

_ENOUGH = 8 * 1024 * 1024  # bytes for a batch: names that come again are looked up once a batch
_FEW_DIFFER = {"annotator", "category", "question", "pass", "gold", "kind"}
_ROWS_AT_ONCE = 10_000
_LOOKED_AT = 1 << 18  # bytes among which the header is looked for


class _Portion(NamedTuple):
    lines: Numbers  # on which they start
    cells: dict[int, Cells]  # by position in the header
    numbers: Numbers | None  # of the rows in the file, from 1, if they are asked for


_SEPARATOR = re.compile(r'"?sep=(.)"?[,;\t]*')
"""A line before the header that tells Excel what is between cells."""

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def read_delimited(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a delimited file in batches; ragged rows are rejected.

    Raises Refused if the file cannot be read as delimited text.
    """
    return as_concluded(_batches(source, reading), source, reading)


def _batches(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    rejected_before = reading.rejections.count
    start = _start(source, reading)
    layout = source.layout = start.layout
    source.facts |= layout.facts | {"delimiter": start.delimiter}
    empty = True
    for portion, last in with_last(_portions(start, source, reading.rejections)):
        empty = False
        lines, cells, numbers = portion
        if (rows := answered_rows(layout, cells, last=last)) is not None:
            lines, cells = lines[rows], {n: column.take(rows) for n, column in cells.items()}
            numbers = None if numbers is None else numbers[rows]
        batch = batch_of_table(layout, lines, cells, numbers)
        yield replace(batch, decimal_comma=True) if start.delimiter == ";" else batch
        del batch, portion, cells
    if empty and reading.rejections.count == rejected_before:
        raise Refused(f"{source.name} has a header and no row below it")


class _Start(NamedTuple):
    """Where the rows of a file begin, and what its columns are."""

    layout: Layout
    delimiter: str
    width: int
    lines_before: int
    blocks: Iterator[bytes]  # the text from there
    quoted: bool  # the header has quotes: the text begins with it, and is read row by row


def _start(source: SourceFile, reading: Reading) -> _Start:
    options = reading.options
    blocks, before = source.blocks(), 0
    if options.header_row:
        before = options.header_row - 1
        blocks = _from_line(blocks, before)
    first, blanks, head, body = _head(blocks, source, before)
    stated = _SEPARATOR.fullmatch(first.strip())
    if stated:
        before = blanks + 1
        first, blanks, head, body = _head(chain([body], blocks), source, before)
    if options.header_row and blanks != options.header_row - 1:
        raise no_header_row(source.name, options.header_row)
    header_row = 0 if options.no_header else options.header_row
    delimiters = [stated[1]] if stated else _delimiters(first, head, source)
    for delimiter in delimiters:
        rows = _first_rows(head, delimiter, blanks, source)
        try:
            number, layout = layout_of_rows(
                rows, reading.mapped, source.name, options.ignore, header_row=header_row
            )
            break
        except Refused:
            if delimiter == delimiters[-1]:
                raise
    skipped = 0 if number in {0, blanks + 1} else number - blanks - 1
    lines = (match for match in _LINE.finditer(head))
    begin = next(islice(lines, skipped, None)).start()
    end = next(lines).start() if number else begin
    quoted = number > 0 and b'"' in head[begin:end]
    if quoted:  # the header may go on over several lines
        end = begin
    return _Start(
        layout,
        delimiter,
        width=len(rows[number or blanks + 1]),
        lines_before=blanks + skipped + (number > 0 and not quoted),
        blocks=chain([head[end:]], blocks),
        quoted=quoted,
    )


def _first_rows(
    head: bytes, delimiter: str, before: int, source: SourceFile
) -> dict[int, list[str]]:
    """Return the first rows that are not blank by the line on which they start.

    Raises Refused if there is none, as in a file of nothing but a quote.
    """
    text = head[:_LOOKED_AT].decode("utf-8", "replace")
    lines = text.splitlines(keepends=True)
    if len(head) > _LOOKED_AT and len(lines) > 1:
        lines.pop()  # it is cut off
    rows: dict[int, list[str]] = {}
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(lines, delimiter=delimiter)
    line = before + 1
    with suppress(csv.Error):
        for row in reader:
            if any(map(str.strip, row)):
                rows[line] = row
            line = before + 1 + reader.line_num
            if len(rows) == LOOKED_AT:
                break
    if not rows:
        raise Refused(f"{source.name} has no header that can be read", "is it a table of text?")
    return rows


def raw_delimited(source: SourceFile, _reading: Reading) -> Iterator[RawTable]:
    """Yield the file as a table of all its rows. Raises Refused if it is no text."""
    blocks = source.blocks()
    first, blanks, head, _ = _head(blocks, source)
    stated = _SEPARATOR.fullmatch(first.strip())
    delimiter = stated[1] if stated else _delimiters(first, head, source)[-1]
    taken = QuotedRows(chain([head], blocks), delimiter, blanks, source)

    def rows() -> Iterator[RawRow]:
        if stated:
            taken.take(1)
        number = LOOKED_AT  # what a quote that does not close is far from is shown
        while taken.more:
            yield from zip(*taken.take(number), strict=True)
            number = _ROWS_AT_ONCE

    yield RawTable(source.name, rows())


def _from_line(blocks: Iterator[bytes], before: int) -> Iterator[bytes]:
    """Yield the text without so many lines at its start."""
    for block in blocks:
        lines = count_source_lines(block)
        if lines < before:
            before -= lines
            continue
        match = next(islice(_LINE.finditer(block), before, None), None)
        if match is not None:
            yield block[match.start() :]
        yield from blocks


DELIMITED = Reader(
    "csv",
    read=read_delimited,
    raw=raw_delimited,
    title="CSV, TSV: a row per answer, or a column per annotator or question",
    holds=HOLDS,
)
"""Any text may be delimited, so that it is what is left if no other reader recognizes a file."""


def _head(
    blocks: Iterator[bytes], source: SourceFile, before: int = 0
) -> tuple[str, int, bytes, bytes]:
    """Return the first line that is not blank, the number of lines before it, and the blocks.

    The line is the header or begins it, if no title stands above. The blocks are the one from the
    line on, and the rest of it after the line.
    """
    beyond = before
    for block in blocks:
        for match in _LINE.finditer(block):
            line = source.decoded(match[0], before)
            if line.strip():
                return line, before, block[match.start() :], block[match.end() :]
            before += bool(match[0])
    if beyond:
        raise no_header_row(source.name, beyond + 1)
    raise Refused(f"{source.name} is empty")


def _delimiters(first: str, head: bytes, source: SourceFile) -> list[str]:
    """Return the delimiter of the first line, and that of most lines if it is another one.

    For .tsv it is a tab if the line has none; a title may have none, or another one.
    """
    best = delimiter_of(first)
    best = "\t" if ".tsv" in source.name and best not in first else best
    lines = head[:_LOOKED_AT].decode("utf-8", "replace").splitlines()[:LOOKED_AT]
    most = Counter(delimiter_of(line) for line in lines if delimiter_of(line) in line)
    usual = most.most_common(1)[0][0] if most else best
    if best not in first:
        return [usual]
    return [*dict.fromkeys([best, usual])]


def _wanted(layout: Layout) -> dict[int, bool]:
    """Return the places of the required columns, and which of them have few distinct cells.

    The column of the item comes first; in a list of annotators, theirs.
    """
    named = layout.roles["item" if "item" in layout.roles else "annotator"]
    first = layout.joined.get(named, (named,))[0]
    first = layout.places[0] if first == NUMBERS else first
    few = {
        place
        for role, place in layout.roles.items()
        if role in _FEW_DIFFER or role.startswith(OF_QUESTION)
    }
    few |= {*layout.annotators.values(), *(column.place for column in layout.named)}
    return {first: False} | {place: place in few for place in layout.places if place != first}


class _Gathering:
    """Rows that are gathered until there are enough for a batch."""

    def __init__(self, wanted: Iterable[int], *, numbered: bool) -> None:
        self.wanted = list(wanted)
        self.numbered = numbered
        self._begin()

    def _begin(self) -> None:
        self._lines: list[Numbers] = []
        self._numbers: list[Numbers] = []
        self._chunks: dict[int, list[Any]] = {n: [] for n in self.wanted}
        self._size = 0

    def add(self, lines: Numbers, numbers: Numbers, chunks: Mapping[int, Any]) -> None:
        """Append rows: the lines on which they start, their numbers, Arrow arrays by position."""
        self._lines.append(lines)
        if self.numbered:
            self._numbers.append(numbers)
        for n in self.wanted:
            self._chunks[n].append(chunks[n])
            self._size += chunks[n].nbytes

    def portion(self, *, at_least: int = 1) -> Iterator[_Portion]:
        """Yield the rows, if they have at least so many bytes."""
        if self._lines and self._size >= at_least:
            lines, numbers, chunks = self._lines, self._numbers, self._chunks
            self._begin()
            yield _Portion(
                np.concatenate(lines),
                {n: Cells.of(chunks.pop(n)) for n in self.wanted},
                np.concatenate(numbers) if numbers else None,
            )


def _portions(start: _Start, source: SourceFile, rejections: Rejections) -> Iterator[_Portion]:
    """Yield the rows, from the first block that is not plain on row by row."""
    layout, lines_before = start.layout, start.lines_before
    wanted = _wanted(layout)
    gathered = _Gathering(wanted, numbered=layout.numbered)
    for block in start.blocks:
        if not block:
            continue
        if (
            start.quoted
            or (chunks := plain_delimited_columns(block, start.delimiter, start.width, wanted))
            is None
        ):
            yield from gathered.portion()
            rest = chain([block], start.blocks)
            rows = QuotedRows(rest, start.delimiter, lines_before, source)
            if start.quoted:
                rows.take(1)
            passed = lines_before - start.lines_before - start.quoted
            yield from _portions_of_rows(rows, passed, start, source, rejections)
            return
        number = len(next(iter(chunks.values())))
        lines = np.arange(lines_before + 1, lines_before + 1 + number, dtype=np.int32)
        gathered.add(lines, lines - start.lines_before, chunks)
        lines_before += number
        yield from gathered.portion(at_least=_ENOUGH)
    yield from gathered.portion()


def _portions_of_rows(
    rows: QuotedRows, passed: int, start: _Start, source: SourceFile, rejections: Rejections
) -> Iterator[_Portion]:
    """Yield the remaining rows, many at a time; ragged ones are rejected.

    So many rows were ``passed`` before.
    """
    wanted = _wanted(start.layout)
    gathered = _Gathering(wanted, numbered=start.layout.numbered)
    while rows.more:
        starts, cells_of_rows = rows.take()
        places = _answered(starts, cells_of_rows, start, source, rejections)
        if places:
            cells = list(zip(*(cells_of_rows[n] for n in places), strict=True))
            arrays = {n: text_array(cells[n]) for n in wanted}
            gathered.add(
                np.asarray(starts, np.int32)[places],
                np.asarray(rows.numbers, np.int32)[places] + passed,
                {n: a.dictionary_encode() if wanted[n] else a for n, a in arrays.items()},
            )
            yield from gathered.portion(at_least=_ENOUGH)
    yield from gathered.portion()


def _answered(
    starts: Sequence[int],
    rows: list[list[str]],
    start: _Start,
    source: SourceFile,
    rejections: Rejections,
) -> list[int]:
    """Return the places of the rows that may hold answers; ragged ones are rejected."""
    layout, width, places = start.layout, start.width, []
    item = layout.roles.get("item", -1)
    item = item if item < width else -1
    for n, row in enumerate(rows):
        if len(row) == width and item >= 0 and row[item].strip():
            places.append(n)
        elif noun := is_left_out(row, layout, width):
            layout.rows_left_out[noun] += 1
        elif len(row) == width:
            places.append(n)
        else:
            reason = f"{len(row)} cells where the header has {width}"
            rejections.add_unread(source.name, starts[n], reason)
    return places


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
    from pyarrow import csv as arrow_csv

    # Of a single column a blank line would be a row; and Arrow passes over a mark of encoding.
    if width < 2 or block[:3] == BOM_UTF8 or b'"' in block or b"\0" in block:
        return None
    encoded = pa.dictionary(pa.int32(), pa.string())
    types = {str(n): encoded if few else pa.string() for n, few in wanted.items()}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            read_options=arrow_csv.ReadOptions(
                column_names=[str(n) for n in range(width)],
                block_size=len(block) + 1,
                use_threads=False,  # on so little they would only wait for each other
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, quote_char=False, ignore_empty_lines=False
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(types), column_types=types, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = {n: table.column(str(n)).chunk(0) for n in wanted}
    lengths = pc.binary_length(next(iter(columns.values())))
    return None if pc.min(lengths).as_py() == 0 else columns


# -- JSON of plain objects, in a list or one a line: a table whose columns are the keys -----------


_AT_ONCE = 20_000  # objects


def read_objects(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a JSON file in batches; objects within objects are dotted columns.

    Raises Refused for a file that is no JSON, or that holds something else than objects.
    """
    unit = _unit_of(source)
    return batches_of_rows(source, reading, _rows(source, unit), unit)


def raw_json(source: SourceFile, _reading: Reading) -> Iterator[RawTable]:
    """Yield the file as a table. Raises Refused if it is no JSON."""
    unit = _unit_of(source)
    yield raw_objects(source.name, json_records(source), unit, value_text)


def _unit_of(source: SourceFile) -> str:
    return "value" if source.head.lstrip()[:1] == b"[" else "line"


JSON_TABLE = Reader(
    "json",
    recognizes=lambda source: isinstance(head_value(source), dict),
    read=read_objects,
    raw=raw_json,
    title="JSON or JSONL: an object per answer, or a key per annotator or question",
    holds=HOLDS,
)


def _rows(source: SourceFile, unit: str) -> Iterator[Rows]:
    records = json_records(source)
    header: dict[str, None] = {}
    while portion := list(islice(records, _AT_ONCE)):
        objects = []
        for place, value in portion:
            if not isinstance(value, dict):
                raise Refused(f"{source.name}, {unit} {place}: this is no object with its keys")
            objects.append(flat_object(value))
            header.update(dict.fromkeys(objects[-1]))
        names = list(header)
        lists = {
            n
            for n, name in enumerate(names)
            if any(isinstance(flat.get(name), list) for flat in objects)
        }

        def column(
            n: int, objects: list[dict[str, Any]] = objects, names: list[str] = names
        ) -> Column:
            return column_of_values([flat.get(names[n]) for flat in objects])

        yield Rows(names, np.array([place for place, _ in portion]), column, lists)
