"""The columns of a table as choices of a form, which are options of ``tracker import``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from tracker.formats.batch import ROLES
from tracker.formats.column_names import MEANINGS, folded_name
from tracker.formats.column_roles import JOINS, ROW_NUMBER
from tracker.formats.registry import is_table_format
from tracker.imports.grids import Grid

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


def split_fields(form: Mapping[str, Sequence[str]], names: Collection[str]) -> tuple[
    dict[str, str], Fields
]:  # fmt: skip
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
        between = "," if name == _PEOPLE else JOINS
        parts = [column] if column in names else column.split(between)
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
        used |= {column} if column in table.names else {*column.split(JOINS)} - {ROW_NUMBER}
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
    stated = {
        "columns": pattern,
        "join": read.get("join"),
        "annotator_from": read.get("annotator_from"),
        "date_format": read["date_format"],
        "header_row": header if header and header > 1 else None,
        "no_header": "true" if header == 0 else None,
        "encoding": None if encoding in _MADE_OUT else encoding,
        "sheet": sheet if sheet in table.sheets else None,
    }
    fields |= {name: [str(value)] for name, value in stated.items() if value is not None}
    fields["ignore"] = [name for name in others if name in table.roles]
    return {name: lines for name, lines in fields.items() if lines}
