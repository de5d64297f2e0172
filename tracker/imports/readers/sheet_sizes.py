"""How much memory a workbook would take: asked before it is read, for a small file can fill any.

`python_calamine` makes the whole rectangle up to the last row and the last column with a value, and
a copy of each text for each cell that refers to it. It ends the process if there is not enough.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import IO
from xml.parsers import expat

from tracker.core.errors import Refused
from tracker.imports.readers.sheet_faults import DAMAGED, column_number, sheet_paths

_MOST_CELLS = 25_000_000  # of all sheets together, the empty ones, too; each takes 32 bytes
_MOST_TEXT = 2 * 1024**3  # bytes of the texts of all cells
_WIDEST = 2**14  # columns of a sheet
_AT_ONCE = 4 * 1024**2  # bytes
_ADDRESS = re.compile(rb"""(?<![\w:.-])r\s*=\s*["']?([A-Za-z]*)([0-9]+)""")
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
        for content in _parts(packed, member):
            addresses = _ADDRESS.findall(content)
            letters = [one for one, _ in addresses if one]
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


def _parts(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a file in parts that do not cut an address."""
    rest: list[bytes] = []
    with packed.open(member) as stream:
        while block := stream.read(_AT_ONCE):
            end = block.rfind(b">") + 1
            if end:
                yield b"".join((*rest, block[:end]))
                rest.clear()
            rest.append(block[end:])
    yield b"".join(rest)


def _fits(packed: zipfile.ZipFile) -> bool:
    """Return the same, exactly: it takes longer than to read the workbook."""
    content = _Content()
    texts_first = sorted(packed.namelist(), key=lambda one: "sharedstrings" not in one.casefold())
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
        """Add what is read of a file."""
        self._row = self._rows = self._columns = 0
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda name, found: self._start(_local(name), found)
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
            address = _ADDRESS.fullmatch(f"r={attributes.get('r')}".encode())
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
