"""Delimited text: long form (a row per answer) and wide form (a column per annotator)."""

from __future__ import annotations

import csv
import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from tracker.core.errors import Refused
from tracker.formats import surroundings, tables
from tracker.formats.batch import (
    OF_QUESTION,
    Batch,
    Cells,
    FilesUnit,
    Numbers,
    Rejections,
    text_array,
)
from tracker.formats.column_roles import NUMBERS, Layout
from tracker.formats.proposals import LOOKED_AT, most_rows
from tracker.formats.reader import HOLDS, RawRow, RawTable, Reader, Reading
from tracker.formats.records import batch_of_table
from tracker.formats.source import SourceFile, count_source_lines
from tracker.formats.streams import LARGEST_CELL, QuotedRows, delimiter_of, head_value, json_records
from tracker.formats.tables import Column, Rows

_ENOUGH = 8 * 1024 * 1024  # bytes for a batch: names that come again are looked up once a batch
_FEW_DIFFER = {"annotator", "category", "question", "pass", "gold", "kind"}
_ROWS_AT_ONCE = 10_000
_LOOKED_AT = 1 << 18  # bytes among which the header is looked for


class _Portion(NamedTuple):
    lines: Numbers  # on which they start
    cells: dict[int, Cells]  # by position in the header
    numbers: Numbers | None  # of the rows in the file, from 1, if they are asked for


_SEPARATOR = re.compile(r'"?sep=(.)"?[,;\t]*')  # a line that tells Excel the delimiter

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def read_delimited(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a delimited file in batches; ragged rows are rejected."""
    return tables.as_concluded(_batches(source, reading), source, reading)


def _batches(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    rejected_before = reading.rejections.count
    start = _start(source, reading)
    layout = source.layout = start.layout
    source.facts |= layout.facts | {"delimiter": start.delimiter}
    empty = True
    for portion, last in tables.with_last(_portions(start, source, reading.rejections)):
        empty = False
        lines, cells, numbers = portion
        if (rows := surroundings.answered_rows(layout, cells, last=last)) is not None:
            lines, cells = lines[rows], {n: column.take(rows) for n, column in cells.items()}
            numbers = None if numbers is None else numbers[rows]
        batch = batch_of_table(layout, lines, cells, numbers, source.name, reading)
        yield replace(batch, decimal_comma=True) if start.delimiter == ";" else batch
        del batch, portion, cells
    if empty and reading.rejections.count == rejected_before:
        raise Refused(f"{source.name} has a header and no row below it")


class _Start(NamedTuple):
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
        raise surroundings.no_header_row(source.name, options.header_row)
    delimiters = [stated[1]] if stated else _delimiters(first, head, source)
    for delimiter in delimiters:
        rows = _first_rows(head, delimiter, blanks, source)
        try:
            number, layout = surroundings.layout_of_rows(rows, source.name, reading)
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
    """Return the first rows that are not blank by their line; raises Refused if there is none."""
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
            if len(rows) == most_rows(len(row)):
                break
    if not rows:
        raise Refused(f"{source.name} has no header that can be read", "is it a table of text?")
    return rows


def raw_delimited(source: SourceFile, _reading: Reading) -> Iterator[RawTable]:
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
        raise surroundings.no_header_row(source.name, beyond + 1)
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
    named = layout.roles.get("item", layout.roles.get("annotator", NUMBERS))
    first = layout.parts_of(named)[0]
    first = layout.places[0] if first == NUMBERS else first
    roles = layout.roles.items()
    few = {n for role, n in roles if role in _FEW_DIFFER or role.startswith(OF_QUESTION)}
    few |= {*layout.annotators.values(), *(column.place for column in layout.named)}
    return {first: False} | {place: place in few for place in layout.places if place != first}


class _Piece(NamedTuple):
    lines: Numbers
    cells: dict[int, Any]  # Arrow arrays of the wanted columns
    numbers: Numbers


def _portions(start: _Start, source: SourceFile, rejections: Rejections) -> Iterator[_Portion]:
    """Yield the rows, as many at a time as are enough for a batch."""
    wanted, size = _wanted(start.layout), 0
    gathered: list[_Piece] = []
    for piece in chain(_pieces(start, wanted, source, rejections), [None]):
        if piece is not None:
            gathered.append(piece)
            size += sum(array.nbytes for array in piece.cells.values())
        if gathered and (piece is None or size >= _ENOUGH):
            yield _Portion(
                np.concatenate([piece.lines for piece in gathered]),
                {n: Cells.of([piece.cells.pop(n) for piece in gathered]) for n in wanted},
                np.concatenate([piece.numbers for piece in gathered])
                if start.layout.numbered
                else None,
            )
            size = 0
            gathered.clear()


def _pieces(
    start: _Start, wanted: Mapping[int, bool], source: SourceFile, rejections: Rejections
) -> Iterator[_Piece | None]:
    """Yield the rows, from the first block that is not plain on row by row, with None before it."""
    lines_before = start.lines_before
    for block in start.blocks:
        if not block:
            continue
        chunks = None
        if not start.quoted:
            chunks = plain_delimited_columns(block, start.delimiter, start.width, wanted)
        if chunks is None:
            yield None
            rest = chain([block], start.blocks)
            rows = QuotedRows(rest, start.delimiter, lines_before, source)
            if start.quoted:
                rows.take(1)
            passed = lines_before - start.lines_before - start.quoted
            while rows.more:
                starts, cells_of_rows = rows.take()
                if places := _answered(starts, cells_of_rows, start, source, rejections):
                    cells = list(zip(*(cells_of_rows[n] for n in places), strict=True))
                    arrays = {n: text_array(cells[n]) for n in wanted}
                    yield _Piece(
                        np.asarray(starts, np.int32)[places],
                        {n: a.dictionary_encode() if wanted[n] else a for n, a in arrays.items()},
                        np.asarray(rows.numbers, np.int32)[places] + passed,
                    )
            return
        number = len(next(iter(chunks.values())))
        lines = np.arange(lines_before + 1, lines_before + 1 + number, dtype=np.int32)
        yield _Piece(lines, chunks, lines - start.lines_before)
        lines_before += number


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
        is_full = len(row) == width
        has_item = is_full and item >= 0 and row[item].strip()
        if not has_item and (noun := surroundings.is_left_out(row, layout, width)):
            layout.rows_left_out[noun] += 1
        elif is_full:
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


_AT_ONCE = 20_000  # objects
_KEYS_SEEN = 50  # objects whose keys are columns


def read_records(
    source: SourceFile, reading: Reading, records: Iterator[tuple[int, Any]], unit: str
) -> Iterator[Batch]:
    """Yield objects by their places in batches, or the members of a list in each of them.

    Objects within objects are dotted columns. Raises Refused for what is no object.
    """
    each = reading.options.each
    first = list(islice(records, LOOKED_AT))
    paths = dict.fromkeys(path for _, value in first for path in list_paths(value))
    lists = " or ".join(f"--each {quote(path)}" for path in paths)
    if each is not None and not any(
        True for _, value in first if isinstance(value, dict) for _ in flat_objects(value, each)
    ):
        raise Refused(
            f"{source.name} has no list {each!r} in its objects",
            f"name one that it has: {lists}" if lists else "leave out --each",
        )
    try:
        members = None if each is None else FilesUnit()
        rows = _rows(source, chain(first, records), unit, each, members)
        yield from tables.batches_of_rows(source, reading, rows, members or unit)
    except Refused as error:
        if lists and each is None:
            error.mend = f"{error.mend}; if the members of a list are the rows: {lists}"
        raise


def raw_json(source: SourceFile, reading: Reading) -> Iterator[RawTable]:
    unit, each = _unit_of(source), reading.options.each
    yield raw_objects(source.name, json_records(source), unit, tables.value_text, each)


def _unit_of(source: SourceFile) -> str:
    return "value" if source.head.lstrip()[:1] == b"[" else "line"


JSON_TABLE = Reader(
    "json",
    recognizes=lambda source: isinstance(head_value(source), dict),
    read=lambda source, reading: read_records(
        source, reading, json_records(source), _unit_of(source)
    ),
    raw=raw_json,
    title="JSON or JSONL: an object per answer, or a key per annotator or question",
    holds=HOLDS,
)


def _rows(
    source: SourceFile,
    records: Iterator[tuple[int, Any]],
    unit: str,
    each: str | None,
    members: FilesUnit | None,
) -> Iterator[Rows]:
    """Yield the rows of objects; ``members`` numbers the members of the lists of ``each``."""
    header: dict[str, None] = {}
    while portion := list(islice(records, _AT_ONCE)):
        objects: list[dict[str, Any]] = []
        places: list[int] = []
        for place, value in portion:
            if not isinstance(value, dict):
                raise Refused(f"{source.name}, {unit} {place}: this is no object with its keys")
            rows = [*flat_objects(value, each)]
            first = place
            if members is not None:
                first = 1 + members.begin(f"{source.name}, {unit} {place}", len(rows), "member")
            places += range(first, first + len(rows))
            objects += rows
            for flat in rows:
                header.update(dict.fromkeys(flat))
        names = list(header)
        keys = {key for flat in objects for key, value in flat.items() if isinstance(value, list)}
        lists = {n for n, name in enumerate(names) if name in keys}

        def column(
            n: int, objects: list[dict[str, Any]] = objects, names: list[str] = names
        ) -> Column:
            return tables.column_of_values([flat.get(names[n]) for flat in objects])

        yield Rows(names, np.array(places, np.int64), column, lists)


def raw_objects(
    name: str,
    records: Iterable[tuple[int, Any]],
    unit: str,
    text: Callable[[Any], Any],  # returns plain values as texts
    each: str | None = None,
) -> RawTable:
    """Return a table of objects by their places, or of the members of a list in them."""
    rest = (
        (place, flat)
        for place, value in records
        if isinstance(value, Mapping)
        for flat in flat_objects(value, each)
    )
    first = list(islice(rest, _KEYS_SEEN))
    names = list(dict.fromkeys(key for _, flat in first for key in flat))

    def cell(value: Any) -> str:
        shown = "" if value is None else text(value)
        is_text = isinstance(shown, str)
        return shown if is_text else json.dumps(value, ensure_ascii=False, default=str)

    rows = (
        (place, [cell(flat.get(column)) for column in names]) for place, flat in chain(first, rest)
    )
    return RawTable(name, rows, names, unit)


def flat_objects(value: Mapping[str, Any], each: str | None) -> Iterable[dict[str, Any]]:
    """Return an object as a row, or the members of ``each`` of its lists as one each."""
    return [flat_object(value)] if each is None else members_of(value, each.split("."), {})


def flat_object(value: Mapping[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return an object with the keys of objects in it dotted: ``meta.topic``."""
    flat: dict[str, Any] = {}
    for key, member in value.items():
        if isinstance(member, Mapping) and member and depth < 20:
            flat |= flat_object(member, f"{before}{key}.", depth + 1)
        else:
            flat[before + key] = member
    return flat


def members_of(
    value: Mapping[str, Any], keys: Sequence[str], around: Mapping[str, Any], before: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the objects in the list that these keys lead to, with the keys ``around`` them.

    All keys are dotted, as `flat_object` has them, those in a list behind the list's own:
    ``questions.reviews.user``. A member that is not an object has the list's own key.
    """
    key, *rest = keys
    others = {name: member for name, member in value.items() if name != key}
    around = {**around, **flat_object(others, before)}
    members, before = value.get(key), f"{before}{key}"
    for member in members if isinstance(members, list) else [members] * bool(rest):
        if rest and isinstance(member, Mapping):
            yield from members_of(member, rest, around, f"{before}.")
        elif not rest and isinstance(member, Mapping):
            yield {**around, **flat_object(member, f"{before}.")}
        elif not rest:
            yield {**around, before: member}


def list_paths(value: Any, before: str = "") -> Iterator[str]:
    """Yield the dotted paths of lists of objects in an object, outer ones first."""
    for key, member in value.items() if isinstance(value, Mapping) else ():
        yield from list_paths(member, f"{before}{key}.")
        if isinstance(member, list) and any(isinstance(each, Mapping) for each in member):
            yield f"{before}{key}"
            for each in member:
                yield from list_paths(each, f"{before}{key}.")
