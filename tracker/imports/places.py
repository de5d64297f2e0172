"""Where a record stands: in which file, on which line."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple


class Place(NamedTuple):
    """Where a record stands: in which file, and its line or the number of what ``unit`` says.

    Number 0 stands for the whole file.
    """

    source: str
    number: int
    unit: str

    def __str__(self) -> str:
        return f"{self.source}, {self.unit} {self.number}" if self.number else self.source


class FilesUnit:
    """Numbers the lines of an archive's files on from file to file, as if they were one text.

    So that the records of many small files are one batch, and each still has its own place.
    """

    def __init__(self) -> None:
        self._files: list[tuple[str, str]] = []  # the names, and what their numbers count
        self._before: list[int] = []  # numbers before those of the file
        self._next = 0

    def begin(self, name: str, lines: int, unit: str = "line") -> int:
        """Return the number that stands for a whole file, before those of its lines."""
        self._files.append((name, unit))
        self._before.append(self._next)
        self._next += lines + 1
        return self._before[-1]

    def place(self, number: int) -> Place:
        """Return the file and the line in it."""
        n = bisect_right(self._before, number) - 1
        name, unit = self._files[n]
        return Place(name, number - self._before[n], unit)


Unit = str | FilesUnit
"""What the places of records count: lines, or what a word says, or the lines of several files."""


def place_of(source: str, number: int, unit: Unit) -> Place:
    """Return the place of a record of a source."""
    return Place(source, number, unit) if isinstance(unit, str) else unit.place(number)
