"""The cells of an Excel sheet that hold no value: errors, and formulas never computed.

`python_calamine` returns them as it returns empty cells, which would make skipped answers of them.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from posixpath import join, normpath
from typing import IO
from xml.parsers import expat

from tracker.core.errors import Refused
from tracker.imports.readers.typed_cells import CellFault

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
    """Return the faults of a sheet by row, from 1, and column, from 0.

    Raises Refused if a cell with a fault does not say where it is.
    """
    found: dict[int, dict[int, CellFault]] = {}
    try:
        for attributes, fault in _faults_of_sheet(file, name):
            address = _ADDRESS.search(attributes)
            if address is None:
                raise Refused(
                    f"{source}: a cell of {name!r} is {fault}, and has no address",
                    "open the workbook in a spreadsheet program, and save it",
                )
            letters, row = address[1].decode(), int(address[2])
            where = CellFault(f"{fault} (cell '{letters}{row}')")
            found.setdefault(row, {})[column_number(address[1]) - 1] = where
    except DAMAGED as error:
        raise Refused(f"{source} is no workbook that can be read: {error}") from None
    return found


def _faults_of_sheet(file: IO[bytes], name: str) -> Iterator[tuple[bytes, str]]:
    with zipfile.ZipFile(file) as packed:
        member = _member(packed, name)
        if member is not None:
            with packed.open(member) as stream:
                for content in _whole_rows(stream):
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


def _whole_rows(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a sheet in parts that do not cut a cell."""
    rest = b""
    while block := stream.read(_AT_ONCE):
        rest += block
        end = rest.rfind(b"row>") + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
    yield rest


def _member(packed: zipfile.ZipFile, name: str) -> str | None:
    """Return the file in a workbook that holds a sheet."""
    path = dict(sheet_paths(packed)).get(name)
    return next((one for one in packed.namelist() if one.casefold() == path), None)


def sheet_paths(packed: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Return the name of each sheet of a workbook, and the path of its file in small letters."""
    links = _elements(packed, "xl/_rels/workbook.xml.rels", "Relationship")
    targets = {link["Id"]: link["Target"] for link in links}
    return [
        (one["name"], normpath(join("/xl", targets.get(one["id"], ""))).strip("/").casefold())
        for one in _elements(packed, "xl/workbook.xml", "sheet")
    ]


def _elements(packed: zipfile.ZipFile, path: str, tag: str) -> list[dict[str, str]]:
    """Return the attributes of all elements of a name; prefixes of names are left out."""
    found: list[dict[str, str]] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(":")[2] == tag:
            found.append({key.rpartition(":")[2]: text for key, text in attributes.items()})

    parser = expat.ParserCreate()
    parser.StartElementHandler = started
    parser.Parse(packed.read(path), True)
    return found


def column_number(letters: bytes) -> int:
    """Return the number of a column, from 1, by its letters."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number
