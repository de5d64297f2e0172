"""Tables that fit the terminal: no word is broken, no number is cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table as _Table

from tracker.render.cells import Text
from tracker.render.escape import NEAREST, escaped_line

_BAR = re.compile("[█▏▎▍▌▋▊▉ ]+|")
_TIME = re.compile(r"[-\d]{10}( \d\d:\d\d)?|-|")
_WORD, _WHOLE = re.compile(r"\S+"), re.compile(".+")

_GAP, _SMALL_GAP = 3, 2  # between columns; the small one if there is little room
_EDGES = 2  # a space on either side
_SHORTEST = 12  # a name or text is not made narrower than this
_LONG_WORD = 18  # words of titles and texts up to this, "krippendorff_alpha", are not cut
_LONG_TITLE = 60  # a title that names a question may be longer
_MOST_COMPARED = 200  # names that are shortened so that they stay different


def shortened_cell_text(text: str, width: int, tail: int | None = None, cut: str = "…") -> str:
    """Return a text that is too long with an ellipsis for its middle: "annotator…example.org".

    Args:
        text: the text.
        width: how much room there is.
        tail: how much of that is for its end; half, if not given.
        cut: the ellipsis.
    """
    if cell_len(text) <= width:
        return text
    room = max(width - len(cut), 0)
    tail = room // 2 if tail is None else min(tail, room)
    return f"{_first(text, room - tail)}{cut}{_first(text[::-1], tail)[::-1]}"


def _first(text: str, width: int) -> str:
    """Return as many of the first characters as there is room for."""
    used = 0
    for place, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:place]
    return text


def _telling_tail(texts: Iterable[str], width: int, cut: str) -> int | None:
    """Return how much of their ends texts have to keep, if they are shortened, to stay different.

    Names that end alike, "…-0001@example.org", differ before that. None if half will do.
    """
    long = set(islice((text for text in texts if cell_len(text) > width), _MOST_COMPARED))
    if len(long) < 2:
        return None
    room = width - len(cut)
    tails = sorted(range(1, room), key=lambda tail: abs(2 * tail - room))
    kept = {
        tail: len({shortened_cell_text(text, width, tail, cut) for text in long}) for tail in tails
    }
    return max(kept, key=kept.__getitem__, default=None)


def _words_shortened(
    text: str, width: int, tail: int | None, word: re.Pattern[str], cut: str
) -> str:
    """Return a text whose words each fit into a width."""
    return word.sub(lambda match: shortened_cell_text(match[0], width, tail, cut), text)


@dataclass(frozen=True)
class Column:
    """A column of a table: names and texts stand to the left, numbers to the right.

    If there is little room a name loses its middle, a text is wrapped between words, and a title
    likewise. A number is never cut: it would be another number.
    """

    title: str
    cells: Sequence[Text]
    is_name: bool = False
    is_number: bool = False
    cut: str = "…"

    def encoded(self, encoding: str) -> Column:
        """Return the column in the characters that an output takes, which may be wider."""

        def shown(text: str) -> str:
            return text.encode(encoding, NEAREST).decode(encoding)

        cells = [Text(shown(cell.plain), style=cell.style) for cell in self.cells]
        return replace(self, title=shown(self.title), cells=cells, cut=shown(self.cut))

    @cached_property
    def body(self) -> int:
        """The width of the widest cell."""
        return _widest(line for cell in self.cells for line in cell.plain.split("\n"))

    @cached_property
    def full(self) -> int:
        """The width at which nothing is wrapped."""
        return max(self.body, cell_len(self.title))

    @property
    def is_bar(self) -> bool:
        """Whether it holds bars, which say the same as a number beside them."""
        return self.body > 0 and all(_BAR.fullmatch(cell.plain) for cell in self.cells)

    @cached_property
    def _longest_word(self) -> int:
        """The width of the longest word of a title and its texts."""
        texts = [self.title, *(cell.plain for cell in self.cells)]
        return _widest(word for text in texts for word in text.split())

    def least(self, room: int) -> int:
        """Return the least width in a room of some width."""
        if self.is_number or self.is_bar or all(_TIME.fullmatch(c.plain) for c in self.cells):
            return max(self.body, min(_widest(self.title.split()), _LONG_WORD))
        longest = min(self.full, _SHORTEST if self.is_name else min(self._longest_word, _LONG_WORD))
        return min(self.full, max(longest, _SHORTEST, room // 4))

    def fitted(self, width: int) -> Iterator[Text]:
        """Yield the cells so that they can be wrapped to a width between words."""
        if self.is_number or self.body <= width:
            yield from self.cells
            return
        word = _WHOLE if self.is_name else _WORD
        words = (piece for cell in self.cells for piece in word.findall(cell.plain))
        tail = _telling_tail(words, width, self.cut)
        for cell in self.cells:
            yield Text(_words_shortened(cell.plain, width, tail, word, self.cut), style=cell.style)


@dataclass(frozen=True)
class Table:
    """A plain table that fits the terminal.

    If there is too little room, bars are left out; if that is not enough, the columns that find
    no room follow below, beside the names again.

    Attributes:
        columns: from left to right.
        names: how many columns at the left say what a row is about.
    """

    columns: Sequence[Column]
    names: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[_Table]:
        """Yield the parts below each other."""
        room = options.max_width - _EDGES
        encoded = self
        if options.ascii_only:
            columns = [c if c.is_bar else c.encoded(options.encoding) for c in self.columns]
            encoded = replace(self, columns=columns)
        parts = list(encoded._parts(room))
        widths = [_widths(part, room) for part in parts]
        for name in range(self.names if len(parts) > 1 else 0):  # shortened alike in every part
            least = min(width[name] for width in widths)
            for width in widths:
                width[name] = least
        for part, wide in zip(parts, widths, strict=True):
            yield _drawn(part, wide, room)

    def _parts(self, room: int) -> Iterator[Sequence[Column]]:
        plain = [column for column in self.columns if not column.is_bar]
        for columns in (self.columns, plain):
            if _width(columns, room) <= room:
                yield columns
                return
        names, rest = plain[: self.names], plain[self.names :]
        part: list[Column] = []
        for column in rest:
            if part and _width([*names, *part, column], room) > room:
                yield [*names, *part]
                part = []
            part.append(column)
        yield [*names, *part]


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, names: int = 1) -> Table:
    """Return a table; the first columns are names, the others numbers.

    A column whose title ends in a space holds texts.
    """
    parts = []
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    for place, (title, below) in enumerate(zip(columns, cells, strict=True)):
        is_text = place < names or title.endswith(" ")
        texts = [
            cell if isinstance(cell, Text) else Text(escaped_line(cell) if is_text else cell)
            for cell in below
        ]
        is_name = is_text and not title.endswith(" ")
        parts.append(Column(escaped_line(title.strip()), texts, is_name, is_number=not is_text))
    return Table(parts, names)


def _width(columns: Sequence[Column], room: int) -> int:
    return sum(column.least(room) for column in columns) + _SMALL_GAP * (len(columns) - 1)


def _widths(columns: Sequence[Column], room: int) -> list[int]:
    fits = _fits([column.full for column in columns], room)
    return [column.full for column in columns] if fits else _fitted(columns, room)


def _fits(widths: Sequence[int], room: int) -> bool:
    """Return whether there is room for columns of these widths, with the large gap."""
    return sum(widths) + _GAP * (len(widths) - 1) <= room


def _drawn(columns: Sequence[Column], widths: Sequence[int], room: int) -> _Table:
    """Return the columns as they are printed, wrapped and shortened to fit."""
    padding: Final = (0, 1) if _fits(widths, room) else (0, 1, 0, 0)
    grid = _Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=padding,
        header_style="bold",
        show_header=any(column.title for column in columns),
    )
    for column, title, width in zip(columns, _titles(columns, widths), widths, strict=True):
        grid.add_column(title, justify="right" if column.is_number else "left", width=width)
    cells = (column.fitted(width) for column, width in zip(columns, widths, strict=True))
    for row in zip(*cells, strict=True):
        grid.add_row(*row)
    return grid


def _titles(columns: Sequence[Column], widths: Sequence[int]) -> Iterator[Text]:
    """Yield the titles, so that those whose words are shortened stay different."""
    cut = columns[0].cut
    full_titles = [column.title for column in columns]
    tail = _telling_tail(full_titles, _LONG_TITLE, cut)
    titles = [shortened_cell_text(title, _LONG_TITLE, tail, cut) for title in full_titles]
    for title, width in zip(titles, widths, strict=True):
        tail = _telling_tail((word for text in titles for word in text.split()), width, cut)
        yield Text(_words_shortened(title, width, tail, _WORD, cut))


def _fitted(columns: Sequence[Column], room: int) -> list[int]:
    """Return widths that fit: first titles are wrapped, then the widest texts lose most."""
    least = [column.least(room) for column in columns]
    widths = [
        max(column.body, short) if column.is_number else column.full
        for column, short in zip(columns, least, strict=True)
    ]
    left = room - _SMALL_GAP * (len(columns) - 1)
    for _ in range(sum(widths) - left):
        spare = [n for n, width in enumerate(widths) if width > least[n]]
        if spare:
            widths[max(spare, key=lambda n: widths[n])] -= 1
    return widths


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)
