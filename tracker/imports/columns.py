"""Tables as they stand in files, and what their columns are as choices of a form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from tracker.core.errors import Refused
from tracker.formats.batch import ROLES, Rejections
from tracker.formats.column_names import MEANINGS, folded_name
from tracker.formats.column_roles import (
    FILE_AND_ROW,
    JOINS,
    RANKED,
    ROW_NUMBER,
    Mapped,
    recognized_roles,
)
from tracker.formats.item_columns import NUMBER_OF_FAMILY, numbered_columns
from tracker.formats.reader import RawRow, RawTable, Reading, ReadOptions
from tracker.formats.source import SourceFile
from tracker.imports.reading_record import column_roles
from tracker.readers.registry import is_table_format, raw_tables

_SHOWN = 8  # rows, with the header
_BEFORE = 3  # rows above a header that the user names
_MOST_FILES = 100


class Grid(NamedTuple):
    """A table as it stands in its file.

    The numbers of rows count its ``unit``; that of the ``header`` is 0 if no row has the names of
    the columns. ``rows`` are the first ones, ``rejected`` those that cannot be imported, by their
    numbers, and ``roles`` what the reader takes columns for.
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
    elif header is None and rows:  # the first row that is not a title, of one filled cell
        filled = {number: sum(bool(cell.strip()) for cell in cells) for number, cells in rows}
        least = min(2, max(filled.values()))
        header = next(number for number, cells in filled.items() if cells >= least)
    width = max((len(cells) for _, cells in rows), default=0)
    numbered = [str(n + 1) for n in range(width)]
    names = [name.strip() for name in table.names or dict(rows).get(header or 0, numbered)]
    if layout is None:
        roles = recognized_roles(names, reading.mapped, table.name, options.ignore)
    else:
        roles = column_roles(layout)
    return Grid(
        table.name, table.unit, names, header or 0, rows, rejected, roles, table.sheet, table.sheets
    )


Fields = dict[str, list[str]]
"""The values of the fields of a form, by name."""

_ASKED, _KEPT, _IGNORED, _PEOPLE = "--question", "--keep", "--ignore", "annotators"

CHOICES: Final = {
    **{role: role.replace("_", " ") + MEANINGS.get(role, "") for role in ROLES},
    _PEOPLE: "answers of the annotator of that name",
    _ASKED: "answers to a question of that name",
    _KEPT: "kept with the item",
    _IGNORED: "not read",
}
"""What a column may be: a role of ``--map``, or an option."""

_MADE_OUT = {"utf-8", "utf-16", "windows-1252"}
"""Encodings that are recognized."""


def split_fields(
    form: Mapping[str, Sequence[str]], names: Collection[str]
) -> tuple[dict[str, str], Fields]:
    """Return the choices that fields of a form are for columns, and the fields without these."""
    choices: dict[str, str] = {}
    rest: Fields = {}
    for field, lines in form.items():
        for line in lines:
            columns = dict(_choices_of(field, line, names))
            if columns and columns.keys() <= {*names}:
                choices |= columns
            else:
                rest.setdefault(field, []).append(line)
    return choices, rest


def _choices_of(field: str, line: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    if field in {"keep", "ignore"}:
        yield line, f"--{field}"
    name, _, column = (part.strip() for part in line.partition("="))
    if field == "question" and line == _asked(column):
        yield column, _ASKED
    if field == "map" and name in CHOICES:
        parts = [column] if column in names else column.split("," if name == _PEOPLE else JOINS)
        yield from ((part.strip(), name) for part in parts)


def _asked(column: str) -> str:
    return f"{column.replace('=', ' ')}={column}"


def joined_fields(choices: Mapping[str, str], rest: Mapping[str, Sequence[str]]) -> Fields:
    """Return the fields of a form with the choices for columns; several of one role are joined."""
    columns: Fields = {}
    for column, choice in choices.items():
        columns.setdefault(choice, []).append(column)
    fields = {field: [*lines] for field, lines in rest.items()}
    for choice, chosen in columns.items():
        if choice == _ASKED:
            fields.setdefault("question", []).extend(map(_asked, chosen))
        elif choice in {_KEPT, _IGNORED}:
            fields.setdefault(choice.removeprefix("--"), []).extend(chosen)
        else:
            between = "," if choice == _PEOPLE else JOINS
            fields.setdefault("map", []).append(f"{choice}={between.join(chosen)}")
    return fields


def fields_read_before(imported: Mapping[str, Any], table: Grid) -> Fields | None:
    """Return the fields that read a table as the files of an import were read.

    What the reader takes columns for by itself is left out, unless that is a guess. None if the
    files had other columns. Who gave all answers is not among the fields: it may be somebody else.
    """
    read, left_out = imported["read"], imported["left_out"]
    if read is None or "others" in read or not is_table_format(read["format"]):
        return None
    fields: Fields = {"map": [], "question": [], "keep": []}
    used: set[str] = set()
    people: list[str] = []
    pattern = read.get("pattern")
    for column, roles in read["columns"].items():
        used |= _columns_of(column, table.names)
        by_itself = table.roles.get(column) == roles and folded_name(column) != "id"
        for role in () if by_itself else roles.split(", "):
            if role == "keep":
                fields["keep"].append(column)
            elif role == _PEOPLE:
                people.append(column)
            elif role.startswith("question ") and not pattern:
                fields["question"].append(f"{role.removeprefix('question ')}={column}")
            elif role in ROLES:
                fields["map"].append(f"{role}={column}")
    others = [name for name in table.names if name and name not in used]
    left = left_out.get("columns", 0) if left_out else 0
    if not used <= {*table.names} or len(others) * read.get("files", 1) != left:
        return None
    if people and not pattern:
        fields["map"].append(f"{_PEOPLE}={','.join(people)}")
    header, encoding = read["header_row"], read["encoding"]
    sheet = read.get("sheet") if len(table.sheets) > 1 else None
    stated = {name: read.get(name) for name in ("join", "annotator_from", "date_format")} | {
        "columns": pattern,
        "blank": read.get("blank"),
        "counts": "true" if read.get("counts") else None,
        "each": read.get("each"),
        "header_row": header if header and header > 1 else None,
        "no_header": "true" if header == 0 else None,
        "encoding": None if encoding in _MADE_OUT else encoding,
        "sheet": sheet if sheet in table.sheets else None,
    }
    fields |= {name: [str(value)] for name, value in stated.items() if value is not None}
    fields["ignore"] = [name for name in others if name in table.roles]
    return {name: lines for name, lines in fields.items() if lines}


def _columns_of(text: str, names: list[str]) -> set[str]:
    if text in names:
        return {text}
    if NUMBER_OF_FAMILY in text:
        return {names[n] for n in numbered_columns(text, names).values()}
    return {*re.split(f"[{JOINS}{RANKED}]", text)} - {ROW_NUMBER, FILE_AND_ROW}
