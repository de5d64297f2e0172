"""Excel workbooks: the one sheet that has a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain, islice, repeat
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.column_roles import Layout
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.reader import HOLDS, Reader, Reading
from tracker.imports.readers.sheet_faults import sheet_faults
from tracker.imports.readers.sheet_sizes import check_workbook_size
from tracker.imports.readers.source import ReadAs, layout_with
from tracker.imports.readers.surroundings import LOOKED_AT, is_left_out, layout_of_rows
from tracker.imports.readers.tables import Rows, Table, batches_of_rows
from tracker.imports.readers.typed_cells import Column, column_of_values

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_AT_ONCE = 50_000  # rows
_DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - days are counted from here, without a zone
_DAYS = range(20_000, 80_000)  # 1954 to 2119


def read_workbook(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a workbook: of the sheet whose header has an item.

    Raises Refused if there is none or several, and for a workbook that is damaged.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    assert archive.file is not None
    check_workbook_size(archive.file, archive.name)
    archive.file.seek(0)
    try:
        book = CalamineWorkbook.from_filelike(archive.file)
        found = [book.get_sheet_by_name(name) for name in book.sheet_names]
    except (CalamineError, OSError, ValueError) as error:
        raise Refused(f"{archive.name} is no workbook that can be read: {error}") from None
    filled = [one for one in found if one.height]
    if reading.options.annotator_from == "sheet":
        yield from _each_sheet(filled, archive, reading)
        return
    sheet = _sheet(filled, archive, reading)
    others = [one for one in filled if one is not sheet and archive.part is None]
    rows = _rows(sheet, archive, reading, archive, others)
    yield from batches_of_rows(archive, reading, rows, unit="row")


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
        batches = batches_of_rows(table, reading, rows, unit="row")
        yield from (replace(batch, source=table.name) for batch in batches)
        if table.layout is not None:
            said = {"annotator": reading.annotator}
            archive.add_layout(table.name, layout_with(table.layout, said), table.facts)


XLSX = Reader(
    "xlsx",
    title="Excel (.xlsx): a row per answer, or a column per annotator or question",
    holds=HOLDS,
    recognizes_archive=lambda archive: "xl/workbook.xml" in archive.names,
    read_archive=read_workbook,
)


def _sheet(sheets: Sequence[CalamineSheet], archive: Archive, reading: Reading) -> CalamineSheet:
    """Return the only sheet whose header can be read as one of answers. Raises Refused."""
    if archive.part is not None:
        named = [one for one in sheets if one.name == archive.part]
        if named:
            return named[0]
        names = ", ".join(repr(one.name) for one in sheets)
        raise Refused(f"{archive.name} has no sheet of that name with cells; it has: {names}")
    fitting, objection = _fitting(sheets, archive, reading)
    if not fitting and len(sheets) > 1:
        names = ", ".join(repr(one.name) for one in sheets)
        raise Refused(
            f"no sheet of {archive.name} has a header with item, annotator and category: {names}",
            f"say which, and its columns: {quote(f'{archive.name}#{sheets[-1].name}')} with --map "
            "or --wide; if each sheet is an annotator's: --annotator-from sheet",
        )
    if not fitting:
        raise objection
    if len(fitting) > 1:
        names = ", ".join(repr(one.name) for one in fitting)
        raise Refused(
            f"{archive.name} has several sheets of answers: {names}",
            f"say which: {quote(f'{archive.name}#{fitting[0].name}')}",
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
    wanted = max(LOOKED_AT, (reading.options.header_row or 0) + 1)
    first = {
        number: cells
        for number, row in enumerate(islice(sheet.iter_rows(), wanted), 1)
        if any(cells := [_text(cell) for cell in row])
    }
    options = reading.options
    return layout_of_rows(
        first,
        reading.mapped,
        archive.name,
        options.ignore,
        header_row=0 if options.no_header else options.header_row,
    )


def _rows(
    sheet: CalamineSheet,
    archive: Archive,
    reading: Reading,
    table: Table,
    others: Sequence[CalamineSheet] = (),
) -> Iterator[Rows]:
    """Yield the rows of a sheet of a table; the ``others`` hold no answers."""
    number, start = _start(sheet, archive, reading)
    if others:
        reading.left_out["sheet without a header of answers"] += len(others)
    start = table.layout = replace(start, sheets_left_out=tuple(one.name for one in others))
    table.facts |= start.facts | {"sheet": sheet.name}
    rows = _answered(_filled(sheet, archive, number), start)
    while some := list(islice(rows, _AT_ONCE)):

        def column(n: int, some: list[tuple[int, Any]] = some) -> Column:
            layout = table.layout
            assert isinstance(layout, Layout)
            values = [row[n] for _, row in some]
            if layout.roles.get("labeled_at") == n:
                values = list(map(_moment, values))
            return column_of_values(values)

        yield Rows(start.names, np.array([n for n, _ in some], np.int64), column, layout=start)
    yield Rows(start.names, np.array([], np.int64), lambda _: column_of_values(()), layout=start)


def _answered(
    rows: Iterator[tuple[int, list[Any]]], layout: Layout
) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows that may hold answers; those of totals are counted."""
    for number, cells in rows:
        what = is_left_out([_text(cell) for cell in cells], layout, len(layout.names))
        if what is None:
            yield number, cells
        else:
            layout.rows_left_out[what] += 1


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
    """The merged cells below a header, of which a file gives a value only to the first."""

    def __init__(self, sheet: CalamineSheet, header: int) -> None:
        first = (sheet.start or (0, 0))[1]
        self._coming = sorted(
            (
                (top + 1, bottom + 1, slice(max(left - first, 0), right - first + 1))
                for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
                if top >= header
            ),
            key=lambda one: one[0],
            reverse=True,
        )
        self._open: list[tuple[int, slice, Any]] = []  # the last row, the columns, the value

    def fill(self, number: int, cells: list[Any]) -> None:
        """Give each cell of a row that is merged with others the value of the first of them."""
        while self._coming and self._coming[-1][0] <= number:
            _, bottom, columns = self._coming.pop()
            if columns.start < len(cells):
                self._open.append((bottom, columns, cells[columns.start]))
        self._open = [one for one in self._open if one[0] >= number]
        for _, columns, value in self._open:
            cells[columns] = [value] * len(cells[columns])


def _moment(value: Any) -> Any:
    """Return the moment of a cell that holds a number of days, as an unformatted date does."""
    if isinstance(value, int | float) and int(value) in _DAYS:
        moment = _DAY_ZERO + timedelta(days=value)
        return (moment + timedelta(milliseconds=0.5)).replace(microsecond=0)
    return value
