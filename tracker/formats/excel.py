"""Excel workbooks: the one sheet that has a header, or each sheet as an annotator's.

`python_calamine` returns errors, and formulas that were never computed, as it returns empty cells,
which would make skipped answers of them: these faults are read from the workbook's XML.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain, islice, repeat
from operator import itemgetter
from posixpath import join, normpath
from shlex import quote
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from tracker.core.errors import Refused
from tracker.formats import tables
from tracker.formats.batch import Batch
from tracker.formats.column_roles import Layout
from tracker.formats.proposals import most_rows
from tracker.formats.reader import HOLDS, RawTable, Reader, Reading
from tracker.formats.source import Archive, ReadAs, layout_with
from tracker.formats.surroundings import TOTALS, is_left_out, is_total, layout_of_rows
from tracker.formats.tables import CellFault, Column, Rows, Table

if TYPE_CHECKING:
    from python_calamine import CalamineSheet


_AT_ONCE = 4 * 1024**2  # bytes
_SIGNS = (b't="e"', b"t='e'", b"<f", b":f")  # one of them is in content that has faults
DAMAGED = (expat.ExpatError, zipfile.BadZipFile, zlib.error, OSError, LookupError,
            NotImplementedError, RuntimeError, ValueError)  # fmt: skip
"""What is raised for a file that is no workbook."""
_CELL = re.compile(rb"<(?:\w+:)?c(\s[^>]*?)?(?:/>|(?<!/)>(.*?)</(?:\w+:)?c>)", re.DOTALL)
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]+)<")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_TYPE = re.compile(rb"""\st=["'](\w+)["']""")
_ADDRESS = re.compile(rb"""\sr=["']([A-Z]{1,3})([0-9]{1,7})["']""")


def sheet_faults(file: IO[bytes], name: str, source: str) -> dict[int, dict[int, CellFault]]:
    """Return the faults of a sheet by row from 1 and column from 0; raises Refused."""
    faults: dict[int, dict[int, CellFault]] = {}
    try:
        for attributes, fault in _faults_of_sheet(file, name):
            address = _ADDRESS.search(attributes)
            if address is None:
                raise Refused(
                    f"{source}: a cell of {name!r} is {fault}, and has no address",
                    "open the workbook in a spreadsheet program, and save it",
                )
            cell = CellFault(f"{fault} (cell '{address[1].decode()}{int(address[2])}')")
            faults.setdefault(int(address[2]), {})[column_number(address[1]) - 1] = cell
    except DAMAGED as error:
        raise Refused(f"{source} is no workbook that can be read: {error}") from None
    return faults


def _faults_of_sheet(file: IO[bytes], name: str) -> Iterator[tuple[bytes, str]]:
    with zipfile.ZipFile(file) as packed:
        path = dict(sheet_paths(packed)).get(name)
        for member in [name for name in packed.namelist() if name.casefold() == path][:1]:
            with packed.open(member) as stream:
                for content in _parts(stream, b"row>"):
                    yield from _faults(content)


def _faults(content: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield the attributes of each cell without a value, and what it has instead."""
    if not any(sign in content for sign in _SIGNS):
        return
    for cell in _CELL.finditer(content):
        attributes, inside = cell[1] or b"", cell[2] or b""
        kind, value = _TYPE.search(attributes), _VALUE.search(inside)
        if kind is not None and kind[1] == b"e":
            yield attributes, value[1].decode(errors="replace") if value else "an error"
        elif value is None and _FORMULA.search(inside) and (kind is None or kind[1] != b"str"):
            yield attributes, "a formula that was saved without its result"


def _parts(stream: IO[bytes], mark: bytes) -> Iterator[bytes]:
    """Yield the content in parts that end in the first byte of a mark."""
    rest: list[bytes] = []
    while block := stream.read(_AT_ONCE):
        if end := block.rfind(mark) + 1:
            yield b"".join((*rest, block[:end]))
            rest.clear()
        rest.append(block[end:])
    yield b"".join(rest)


def sheet_paths(packed: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Return the name of each sheet of a workbook, and the path of its file in small letters."""
    links = _elements(packed, "xl/_rels/workbook.xml.rels", "Relationship")
    targets = {link["Id"]: normpath(join("/xl", link["Target"])) for link in links}
    return [
        (sheet["name"], targets.get(sheet["id"], "xl").strip("/").casefold())
        for sheet in _elements(packed, "xl/workbook.xml", "sheet")
    ]


def _elements(packed: zipfile.ZipFile, path: str, tag: str) -> list[dict[str, str]]:
    """Return the attributes of all elements of a name; prefixes of names are left out."""
    elements: list[dict[str, str]] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        if _local(name) == tag:
            elements.append({_local(key): text for key, text in attributes.items()})

    parser = expat.ParserCreate()
    parser.StartElementHandler = started
    parser.Parse(packed.read(path), True)
    return elements


def column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


# -- How much memory a workbook would take: asked before it is read, for a small file can fill any

_MOST_CELLS = 25_000_000  # of all sheets together, the empty ones, too; each takes 32 bytes
_MOST_TEXT = 2 * 1024**3  # bytes of the texts of all cells
_WIDEST = 2**14  # columns of a sheet
_CELL_ADDRESS = re.compile(rb"""(?<![\w:.-])r\s*=\s*["']?([A-Za-z]*)([0-9]+)""")
_TEXT_ENDS = re.compile(rb"</(?:\w+:)?si\s*>")


def check_workbook_size(file: IO[bytes], source: str) -> None:
    """Raise Refused for a workbook that would fill the memory, or is damaged.

    A cell that is only formatted takes nothing, however far away it is.
    """
    try:
        with zipfile.ZipFile(file) as packed:
            paths = [path for _, path in sheet_paths(packed)]
            fits = len({*paths}) == len(paths)  # no file is two sheets
            if not fits or not (_surely_fits(packed) or _fits(packed)):
                raise Refused(
                    f"{source} would fill the memory: some cells are very far from the others, or "
                    "very many hold the same long text",
                    "save the sheet that holds the answers as CSV, and import that",
                )
    except DAMAGED as error:
        raise Refused(f"{source} is no workbook that can be read: {error}") from None


def _surely_fits(packed: zipfile.ZipFile) -> bool:
    """Return whether it fits if every cell has a value, and every value is the longest text."""
    cells = values = longest = 0
    for member in packed.infolist():
        rows = columns = nameless = since = 0
        with packed.open(member) as stream:
            for content in _parts(stream, b">"):
                addresses = _CELL_ADDRESS.findall(content)
                letters = [column for column, _ in addresses if column]
                rows = max(rows, *map(int, {row for _, row in addresses}), 0)
                columns = max(columns, *map(column_number, {*letters}), 0)
                nameless += content.count(b"<c") + content.count(b":c") - len(letters)
                values += content.count(b"</")
                *texts, rest = _TEXT_ENDS.split(content)
                for text in texts:
                    longest, since = max(longest, since + len(text)), 0
                since += len(rest)
        cells += rows * max(columns, min(nameless, _WIDEST))
    return cells <= _MOST_CELLS and values * longest <= _MOST_TEXT


def _fits(packed: zipfile.ZipFile) -> bool:
    """Return the same, exactly: it takes longer than to read the workbook."""
    content = _Content()
    texts_first = sorted(packed.namelist(), key=lambda name: "sharedstrings" not in name.casefold())
    for name in texts_first:
        if name.casefold().endswith(".xml"):
            with packed.open(name) as stream:
                content.read(stream)
    return content.cells <= _MOST_CELLS and content.size <= _MOST_TEXT


class _Content:
    """What is read of a workbook: the cells of all rectangles, and the bytes of all texts."""

    def __init__(self) -> None:
        self.cells = self.size = 0
        self._texts: list[int] = []  # the size of each
        self._row = self._column = self._rows = self._columns = 0
        self._in_cell = self._refers = False
        self._value = ""

    def read(self, stream: IO[bytes]) -> None:
        self._row = self._rows = self._columns = 0
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda name, texts: self._start(_local(name), texts)
        parser.EndElementHandler = lambda name: self._end(_local(name))
        parser.CharacterDataHandler = self._text
        parser.ParseFile(stream)
        self.cells += self._rows * self._columns

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._value = ""
        if name == "si":
            self._texts.append(0)
        elif name == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif name == "c":
            address = _CELL_ADDRESS.fullmatch(f"r={attributes.get('r')}".encode())
            self._column += 1
            if address is not None:
                self._row, self._column = int(address[2]), column_number(address[1])
            self._in_cell, self._refers = True, attributes.get("t") == "s"
        elif self._in_cell:  # something is in it
            self._rows = max(self._rows, self._row)
            self._columns = max(self._columns, self._column)

    def _text(self, text: str) -> None:
        if self._in_cell:
            self._value += text
        elif self._texts:
            self._texts[-1] += len(text)

    def _end(self, name: str) -> None:
        if name == "v" and self._refers:
            self.size += self._texts[int(self._value)]
        self._in_cell &= name != "c"


def _local(name: str) -> str:
    return name.rpartition(":")[2]


_ROWS_AT_ONCE = 50_000  # rows
_DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - days are counted from here, without a zone
_DAYS = range(20_000, 80_000)  # 1954 to 2119


def read_workbook(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the records of the only sheet whose header has an item; raises Refused."""
    filled = _sheets(archive)
    if reading.options.annotator_from == "sheet":
        yield from _each_sheet(filled, archive, reading)
        return
    sheet = _sheet(filled, archive, reading)
    is_chosen = _chosen(archive, reading) is not None
    others = [] if is_chosen else [other for other in filled if other is not sheet]
    rows = _rows(sheet, archive, reading, archive, others)
    yield from tables.batches_of_rows(archive, reading, rows, unit="row")


def _sheets(archive: Archive) -> list[CalamineSheet]:
    """Return the sheets that have a cell. Raises Refused for a workbook that is damaged."""
    from python_calamine import CalamineError, CalamineWorkbook

    assert archive.file is not None
    check_workbook_size(archive.file, archive.name)
    archive.file.seek(0)
    try:
        book = CalamineWorkbook.from_filelike(archive.file)
        sheets = [book.get_sheet_by_name(name) for name in book.sheet_names]
    except (CalamineError, OSError, ValueError) as error:
        raise Refused(f"{archive.name} is no workbook that can be read: {error}") from None
    return [sheet for sheet in sheets if sheet.height]


def _chosen(archive: Archive, reading: Reading) -> str | None:
    return archive.part or reading.options.sheet


def raw_workbook(archive: Archive, reading: Reading) -> Iterator[RawTable]:
    """Yield the sheet that is read, else the first, or each that is an annotator's."""
    filled = _sheets(archive)
    names = [sheet.name for sheet in filled]
    each = reading.options.annotator_from == "sheet"
    chosen = [sheet for sheet in filled if sheet.name == _chosen(archive, reading)]
    shown = chosen or _fitting(filled, archive, reading)[0] or filled
    for sheet in shown if each else shown[:1]:
        rows = ((n, [*map(_text, row)]) for n, row in enumerate(sheet.iter_rows(), 1))
        name = f"{archive.name}#{sheet.name}" if each else archive.name
        yield RawTable(name, rows, None, "row", sheet.name, names)


@dataclass
class _OneOfSeveral:
    """A sheet that is read beside others."""

    name: str
    layout: ReadAs | None = None
    facts: dict[str, Any] = field(default_factory=dict)


def _each_sheet(
    sheets: Sequence[CalamineSheet], archive: Archive, reading: Reading
) -> Iterator[Batch]:
    """Yield the records of each sheet of answers, which is named after who gave them."""
    fitting, objection = _fitting(sheets, archive, reading)
    if not fitting:
        raise objection
    others = [sheet for sheet in sheets if sheet not in fitting]
    for sheet in fitting:
        reading.annotator = sheet.name.strip()
        table = _OneOfSeveral(f"{archive.name}#{sheet.name}")
        rows = _rows(sheet, archive, reading, table, others if sheet is fitting[0] else ())
        batches = tables.batches_of_rows(table, reading, rows, unit="row")
        yield from (replace(batch, source=table.name) for batch in batches)
        if table.layout is not None:
            layout = layout_with(table.layout, {"annotator": reading.annotator})
            archive.add_layout(table.name, layout, table.facts)


XLSX = Reader(
    "xlsx",
    title="Excel (.xlsx): a row per answer, or a column per annotator or question",
    holds=HOLDS,
    recognizes_archive=lambda archive: "xl/workbook.xml" in archive.names,
    read_archive=read_workbook,
    raw=raw_workbook,
)


def _sheet(sheets: Sequence[CalamineSheet], archive: Archive, reading: Reading) -> CalamineSheet:
    """Return the only sheet whose header can be read as one of answers. Raises Refused."""
    every = ", ".join(repr(sheet.name) for sheet in sheets)
    if (name := _chosen(archive, reading)) is not None:
        if named := [sheet for sheet in sheets if sheet.name == name]:
            return named[0]
        raise Refused(f"{archive.name} has no sheet of that name with cells; it has: {every}")
    fitting, objection = _fitting(sheets, archive, reading)
    if not fitting and len(sheets) > 1:
        raise Refused(
            f"no sheet of {archive.name} has a header with item, annotator and category: {every}",
            f"say which, and its columns: --sheet {quote(sheets[-1].name)} with --map "
            "or --wide; if each sheet is an annotator's: --annotator-from sheet",
        )
    if not fitting:
        raise objection
    if len(fitting) > 1:
        names = ", ".join(repr(sheet.name) for sheet in fitting)
        raise Refused(
            f"{archive.name} has several sheets of answers: {names}",
            f"say which: --sheet {quote(fitting[0].name)}",
        )
    return fitting[0]


def _fitting(
    sheets: Sequence[CalamineSheet], archive: Archive, reading: Reading
) -> tuple[list[CalamineSheet], Refused]:
    """Return the sheets whose headers are of answers, and what is wrong with the first other."""
    fitting: list[CalamineSheet] = []
    objection = Refused(f"{archive.name} is empty")
    for sheet in reversed(sheets):
        try:
            _start(sheet, archive, reading)
            fitting.insert(0, sheet)
        except Refused as error:
            objection = error
    return fitting, objection


def _start(sheet: CalamineSheet, archive: Archive, reading: Reading) -> tuple[int, Layout]:
    """Return the number of the row of the header, 0 if there is none, and the layout."""
    rows_looked_at = max(most_rows(sheet.width), (reading.options.header_row or 0) + 1)
    first = {
        number: cells
        for number, row in enumerate(islice(sheet.iter_rows(), rows_looked_at), 1)
        if any(cells := [_text(cell) for cell in row])
    }
    return layout_of_rows(first, archive.name, reading)


def _rows(
    sheet: CalamineSheet,
    archive: Archive,
    reading: Reading,
    table: Table,
    others: Sequence[CalamineSheet] = (),
) -> Iterator[Rows]:
    number, start = _start(sheet, archive, reading)
    if others:
        reading.left_out["sheet without a header of answers"] += len(others)
    start = table.layout = replace(start, sheets_left_out=tuple(other.name for other in others))
    table.facts |= start.facts | {"sheet": sheet.name}
    rows = _answered(_filled(sheet, archive, number), start)
    while portion := list(islice(rows, _ROWS_AT_ONCE)):

        def column(n: int, portion: list[tuple[int, Any]] = portion) -> Column:
            layout = table.layout
            assert isinstance(layout, Layout)
            values = [row[n] for _, row in portion]
            if layout.roles.get("labeled_at") == n:
                values = list(map(_moment, values))
            return tables.column_of_values(values)

        yield Rows(start.names, np.array([n for n, _ in portion], np.int64), column, layout=start)
    nothing = tables.column_of_values(())
    yield Rows(start.names, np.array([], np.int64), lambda _: nothing, layout=start)


def _answered(
    rows: Iterator[tuple[int, list[Any]]], layout: Layout
) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows that may hold answers; those of totals are counted."""
    for number, cells in rows:
        texts = [_text(cell) for cell in cells if not isinstance(cell, CellFault)]
        has_faults, named = len(texts) < len(cells), [*filter(None, texts)]
        if has_faults and named and all(map(is_total, named)):  # its formulas have no results
            layout.rows_left_out[TOTALS] += 1
        elif noun := is_left_out([*map(_text, cells)], layout, len(layout.names)):
            layout.rows_left_out[noun] += 1
        else:
            yield number, cells


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _filled(sheet: CalamineSheet, archive: Archive, header: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number and cells of each row below the header that has a cell of its own."""
    assert archive.file is not None
    start, end = sheet.start or (0, 0), sheet.end or (0, 0)
    faults = sheet_faults(archive.file, sheet.name, archive.name)
    missing = max(faults, default=0) - (end[0] + 1)  # rows at the end that hold nothing else
    empty: list[Any] = [""] * sheet.width
    merged = _Merged(sheet, header)
    for number, row in enumerate(chain(sheet.iter_rows(), repeat(empty, max(missing, 0))), 1):
        if number <= header:
            continue
        cells: list[Any] = list(row)
        for n, fault in faults.get(number, {}).items():
            if start[1] <= n <= end[1]:
                cells[n - start[1]] = fault
        is_filled = any(cell not in {"", None} for cell in cells)
        merged.fill(number, cells)
        if is_filled:
            yield number, cells


class _Merged:
    """The merged cells below a header; the file has a value for the first of them only."""

    def __init__(self, sheet: CalamineSheet, header: int) -> None:
        first = (sheet.start or (0, 0))[1]
        ranges = [
            (top + 1, bottom + 1, slice(max(left - first, 0), right - first + 1))
            for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
            if top >= header
        ]
        self._coming = sorted(ranges, key=itemgetter(0), reverse=True)
        self._open: list[tuple[int, slice, Any]] = []  # the last row, the columns, the value

    def fill(self, number: int, cells: list[Any]) -> None:
        """Give each cell of a row that is merged with others the value of the first of them."""
        while self._coming and self._coming[-1][0] <= number:
            _, bottom, columns = self._coming.pop()
            if columns.start < len(cells):
                self._open.append((bottom, columns, cells[columns.start]))
        self._open = [merged for merged in self._open if merged[0] >= number]
        for _, columns, value in self._open:
            cells[columns] = [value] * len(cells[columns])


def _moment(value: Any) -> Any:
    """Return the moment of a cell that holds a number of days, as an unformatted date does."""
    if isinstance(value, int | float) and int(value) in _DAYS:
        moment = _DAY_ZERO + timedelta(days=value)
        return (moment + timedelta(milliseconds=0.5)).replace(microsecond=0)
    return value
