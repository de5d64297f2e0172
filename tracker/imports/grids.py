"""The first rows of files as they stand there, and those that cannot be imported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from tracker.core.errors import Refused
from tracker.formats.batch import Rejections
from tracker.formats.column_roles import Mapped, recognized_roles
from tracker.formats.raw import RawRow, RawTable
from tracker.formats.reader import Reading, ReadOptions
from tracker.formats.registry import raw_tables
from tracker.formats.source import SourceFile
from tracker.imports.reading_record import column_roles

_SHOWN = 8  # rows, with the header
_BEFORE = 3  # rows above a header that the user names
_MOST_FILES = 100


class Grid(NamedTuple):
    """A table as it stands in its file.

    Attributes:
        source: the name of the file.
        unit: what the numbers of rows count.
        names: the columns.
        header: the number of the row that has them; 0 if none has.
        rows: the first ones.
        rejected: those that cannot be imported, by their numbers.
        roles: what the reader takes columns for.
        sheet: the sheet that is shown.
        sheets: those of the workbook.
    """

    source: str
    unit: str
    names: list[str]
    header: int
    rows: list[RawRow]
    rejected: dict[int, Sequence[str]]
    roles: Mapping[str, str]
    sheet: str
    sheets: Sequence[str]


def grids_of_files(
    sources: Iterable[SourceFile],
    mapped: Mapped,
    options: ReadOptions,
    layouts: Sequence[Mapping[str, Any]] = (),
    wanted: Mapping[str, Collection[int]] | None = None,
) -> list[Grid]:
    """Return the tables among files; those that are no tables, or no text, are left out.

    ``layouts`` are the columns of an import of them as JSON, if they could be read, and ``wanted``
    the numbers of further rows by file.
    """
    known = {layout["source"]: layout for layout in layouts}
    reading = Reading(mapped, Rejections(), "one", options)
    tables = islice(raw_tables(sources, reading), _MOST_FILES)
    return [
        _grid(table, reading, known.get(table.name), {*(wanted or {}).get(table.name, ())})
        for table in tables
    ]


def _grid(
    table: RawTable, reading: Reading, layout: Mapping[str, Any] | None, wanted: set[int]
) -> Grid:
    options = reading.options
    header = options.header_row or (layout or {}).get("header_row")
    rows: list[RawRow] = []
    rejected: dict[int, Sequence[str]] = {}
    last = max(wanted, default=0)
    with suppress(Refused, ValueError, OSError):  # a quote that does not close, a damaged part
        for number, cells in table.rows:
            if number in wanted:
                rejected[number] = cells
            if len(rows) < _SHOWN and any(map(str.strip, cells)):
                rows += [(number, cells)] if number > (header or 0) - _BEFORE else []
            elif len(rows) >= _SHOWN and number >= last:
                break
    if table.names is not None or options.no_header:
        header = 0
    elif header is None and rows:
        header = _header_among(rows)
    width = max((len(cells) for _, cells in rows), default=0)
    names = table.names or next(
        (cells for number, cells in rows if number == header), [str(n + 1) for n in range(width)]
    )
    names = [name.strip() for name in names]
    if layout is None:
        roles = recognized_roles(names, reading.mapped, table.name, options.ignore)
    else:
        roles = column_roles(layout)
    return Grid(
        table.name, table.unit, names, header or 0, rows, rejected, roles, table.sheet, table.sheets
    )


def _header_among(rows: Sequence[RawRow]) -> int:
    """Return the number of the first row that is no title: it has more than one filled cell."""
    filled = {number: sum(bool(cell.strip()) for cell in cells) for number, cells in rows}
    least = min(2, max(filled.values()))
    return next(number for number, cells in filled.items() if cells >= least)
