"""JSON as a stream: the values of a list, or one a line, each read when it is asked for."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, chain, islice, takewhile
from typing import Any, NamedTuple

from tracker.core.errors import Refused
from tracker.formats.source import LONGEST_LINE, SourceFile

_LARGEST_VALUE = 16 * LONGEST_LINE
_BLANK = " \t\r\n"


class Record(NamedTuple):
    """One value of a JSON file and its place: the line, or in a list its number from 1."""

    place: int
    value: Any


# Programs write NaN and Infinity for a value that is missing.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)


def head_value(source: SourceFile) -> Any:
    """Return the first value of a JSON file, or as much of it as the file's head holds.

    That of a list or of lines is its first element. None if it is not JSON. A value that the head
    cuts off is returned without what could not be read: as a dictionary of its first keys.
    """
    return _first_value(source.head)


@lru_cache(maxsize=1)  # every format is asked in turn about the same bytes
def _first_value(head: bytes) -> Any:
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "ignore").lstrip()
    if text[:1] not in {"[", "{"}:
        return None
    text = text[1:].lstrip() if text[0] == "[" else text
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return _first_keys(text) if text[:1] == "{" else None


def _first_keys(text: str) -> dict[str, Any] | None:
    """Return the first keys of an object that is cut off, with the values that are whole."""
    record: dict[str, Any] = {}
    place = 1
    try:
        while True:
            key, place = _DECODER.raw_decode(text, _skip(text, place, ","))
            if not isinstance(key, str):
                return record or None
            place = _skip(text, place, ":")
            record[key] = None
            record[key], place = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError, TypeError, IndexError):
        return record or None


def _skip(text: str, place: int, mark: str) -> int:
    while place < len(text) and text[place] in _BLANK + mark:
        place += 1
    return place


def json_records(source: SourceFile) -> Iterator[Record]:
    """Yield the values of a JSON file one by one: of a list, of lines, or its only one.

    Memory holds one value at a time. Raises Refused for a file that is no JSON, with the place.
    """
    text = _Text(source)
    if text.next_mark() != "[":
        while text.next_mark():
            yield Record(text.line, text.value(None))
        return
    text.place += 1
    number = 0
    while (mark := text.next_mark()) != "]":
        if not mark:
            raise text.refused("the list does not end: the file is cut off")
        if number:
            if mark != ",":
                raise text.refused(f"{mark!r} is between two values of the list, not a comma")
            text.place += 1
            text.next_mark()
        number += 1
        yield Record(number, text.value(number))
    text.place += 1
    if text.next_mark():
        raise text.refused("there is something after the end of the list")


class _Text:
    """The text of a source; memory holds one value at a time."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._pieces = source.texts()
        self._text = ""
        self.place = 0
        self._line = 1
        self._counted = 0  # the place up to which lines were counted

    @property
    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def next_mark(self) -> str:
        """Move to the next character that is not blank and return it; none at the end."""
        while True:
            text, place = self._text, self.place
            while place < len(text) and text[place] in _BLANK:
                place += 1
            self.place = place
            if place < len(text):
                return text[place]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read on, and release what lies before the place; False at the end of the file."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        _ = self.line
        self._text = self._text[self.place :] + piece
        self.place = self._counted = 0
        return True

    def value(self, number: int | None) -> Any:
        """Return the value that starts at the place. Raises Refused if there is none."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self.place)
            except RecursionError:
                raise self.refused("values are nested too deeply", number) from None
            except json.JSONDecodeError as error:
                if len(self._text) - self.place > _LARGEST_VALUE:
                    raise self.refused("the value is too large to read", number) from None
                if self._more_than_twice():
                    continue
                raise self._not_json(error, number) from None
            except ValueError:
                raise self.refused("a number has too many digits to be read", number) from None
            # A number at the end of what was read may go on.
            if end == len(self._text) and self._text[self.place] not in '{["' and self._more():
                continue
            self.place = end
            return value

    def _more_than_twice(self) -> bool:
        """Read until twice as much is held, so that a large value is parsed a few times only."""
        least = 2 * (len(self._text) - self.place)
        grown = False
        while len(self._text) - self.place < least and self._more():
            grown = True
        return grown

    def _not_json(self, error: json.JSONDecodeError, number: int | None) -> Refused:
        reason = f"no JSON: {error.msg}"
        if not self._text[error.pos :].strip():
            reason = "the value does not end: the file is cut off"
        self.place = min(error.pos, len(self._text))
        return self.refused(reason, number)

    def refused(self, reason: str, number: int | None = None) -> Refused:
        which = "" if number is None else f", value {number} of the list"
        return Refused(f"{self._source.name}, line {self.line}{which}: {reason}")


# -- Rows of delimited text by Python's reader, which knows quotes, each with its line ------------

_DELIMITERS = (",", "\t", ";", "|")
LARGEST_CELL = 16 * 1024 * 1024
_ROWS_AT_ONCE = 5000  # more as Python's lists are slower: they leave the processor's cache


class Row(NamedTuple):
    """The cells of a row by column, and the line on which it starts."""

    line: int
    cells: dict[str, str]


def delimiter_of(head: str) -> str:
    return max(_DELIMITERS, key=head.split("\n", 1)[0].count)


def head_columns(source: SourceFile) -> list[str]:
    """Return the names of the columns of a table of text; one or none if it is no table."""
    return list(_first_row(source.head))


@lru_cache(maxsize=1)  # every format is asked in turn about the same bytes
def _first_row(head: bytes) -> Sequence[str]:
    text = head.decode("utf-8-sig", "ignore")
    if "\0" in text:
        return ()
    with suppress(csv.Error, StopIteration):
        return next(csv.reader(io.StringIO(text), delimiter=delimiter_of(text)))
    return ()


def table_rows(source: SourceFile, may_lack: Collection[str] = ()) -> Iterator[Row]:
    """Yield the rows below the header, as tools write their answers; blank lines are passed over.

    Of the last columns, rows may lack the cells of those that a tool names and does not fill.
    Raises Refused for a row with more or fewer cells than the header, and for quotes that do not
    close, with the line.
    """
    blocks = source.blocks()
    first = next(blocks)
    rows = QuotedRows(chain([first], blocks), delimiter_of(source.decoded(first, 0)), 0, source)
    header: list[str] = []
    while rows.more:
        for line, cells in zip(*rows.take(), strict=True):
            if not header:
                header = cells
                fewest = len(cells) - sum(1 for _ in takewhile(may_lack.__contains__, cells[::-1]))
            if fewest <= len(cells) < len(header):
                cells.extend([""] * (len(header) - len(cells)))
            if len(cells) != len(header):
                raise Refused(
                    f"{source.name}, line {line}: {len(cells)} cells where the header has "
                    f"{len(header)}",
                    "is the file as the tool wrote it?",
                )
            if cells is not header:
                yield Row(line, dict(zip(header, cells, strict=True)))


class QuotedRows:
    """The rows of blocks of text, without blank ones; ``more`` until all were taken."""

    def __init__(
        self, blocks: Iterable[bytes], delimiter: str, lines_before: int, source: SourceFile
    ) -> None:
        csv.field_size_limit(LARGEST_CELL)
        self.more = True
        self.numbers: Sequence[int] = ()  # of the rows last taken, from 1; blank ones count
        self._taken = 0
        self._source = source
        self._before = lines_before
        lines = self._lines(blocks, lines_before)
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def _lines(self, blocks: Iterable[bytes], before: int) -> Iterator[str]:
        for block in blocks:
            for line in io.StringIO(self._source.decoded(block, before), newline=""):
                before += 1
                yield line

    def take(self, number: int = _ROWS_AT_ONCE) -> tuple[Sequence[int], list[list[str]]]:
        """Return the lines and cells of at most so many rows; raises Refused for open quotes."""
        before = self._reader.line_num
        first = 1 + self._before + before
        rows: list[list[str]] = []
        try:
            rows.extend(islice(self._reader, number))
        except csv.Error as error:
            # The rows before the bad one are in the list, and tell on which line it starts.
            raise _unreadable(error, first + sum(map(_lines_of, rows)), self._source) from None
        self.more = len(rows) == number
        if self._reader.line_num - before == len(rows):
            starts: Sequence[int] = range(first, first + len(rows))
        else:
            starts = list(accumulate(map(_lines_of, rows[:-1]), initial=first))[: len(rows)]
        self.numbers = range(self._taken + 1, self._taken + 1 + len(rows))
        self._taken += len(rows)
        if all(rows):
            return starts, rows
        filled = [n for n, row in enumerate(rows) if row]
        self.numbers = [self.numbers[n] for n in filled]
        return [starts[n] for n in filled], [rows[n] for n in filled]


def _lines_of(row: list[str]) -> int:
    """Return how many lines of the file a row takes; a blank one takes one."""
    return 1 + sum(cell.count("\n") + cell.count("\r") - cell.count("\r\n") for cell in row)


def _unreadable(error: csv.Error, start: int, source: SourceFile) -> Refused:
    reasons = {
        "unexpected end of data": "a quote is opened that never closes",
        "field larger": f"a cell is larger than {LARGEST_CELL >> 20} MB (or a quote never closes)",
        "expected after": "a quoted cell goes on after its closing quote",
    }
    reason = next((reasons[text] for text in reasons if text in str(error)), str(error))
    return Refused(f"{source.name}, line {start}: {reason}", "correct the quotes on that line")
