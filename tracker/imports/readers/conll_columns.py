"""The columns of a CoNLL file: which has the tokens, and which the tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

TAG = re.compile(r"O|([BIESLU])-(.+)")

_BLANK = " \t\r"
_SPACES = re.compile(r"[ \t]+")
_NO_WORD = re.compile(r"\d+[-.]\d+")  # 3-4 and 3.1 of CoNLL-U: two words in one, and none
_LOOKED_AT = 2000  # rows
_ENOUGH = 0.9  # of them; a few tags may be malformed


class Columns(NamedTuple):
    """What the cells of a row are, of which there are usually ``width``.

    The ``token`` is the first, or the second if the first numbers the words of a sentence. The
    place of the ``tag`` is counted from the end, as those of ``others``: tags that are not read.
    """

    token: int = 0
    tag: int = -1
    width: int = 2
    others: tuple[int, ...] = ()

    def is_whole(self, cells: Sequence[str]) -> bool:
        """Return whether a row has both a token and a tag."""
        return len(cells) + self.tag > self.token

    def is_word(self, cells: Sequence[str]) -> bool:
        """Return whether a row is a word of its own."""
        return self.token == 0 or _NO_WORD.fullmatch(cells[0]) is None


def columns_of(lines: Sequence[str]) -> Columns:
    """Return the columns of a file: the tags are in the last column that holds tags.

    If there is none, they are what the last column holds.
    """
    rows: list[list[str]] = []
    for line in lines:
        cells = cells_of(line)
        if cells and not cells[0].startswith("#"):
            rows.append(cells)
            if len(rows) == _LOOKED_AT:
                break
    if not rows:
        return Columns()
    width = Counter(map(len, rows)).most_common(1)[0][0]
    some = [row for row in rows if len(row) == width and not _NO_WORD.fullmatch(row[0])]
    numbered = width > 2 and bool(some) and all(row[0].isdecimal() for row in some)
    tagged = [
        place
        for place in range(-1, numbered - width, -1)
        if sum(TAG.fullmatch(row[place]) is not None for row in some) >= _ENOUGH * len(some) > 0
    ]
    tag, *others = tagged or [-1]
    return Columns(int(numbered), tag, width, tuple(others))


def cells_of(line: str, columns: Columns | None = None) -> list[str] | None:
    """Return the cells of a token's line; None for a blank line, a comment and a new document.

    A token may begin with ``#``, as those of tweets do, once the columns are known: its line has
    as many cells as others, and a tag in its place.
    """
    line = line.strip(_BLANK)
    if not line or line.startswith("-DOCSTART-"):
        return None
    cells = [one.strip() for one in line.split("\t")] if "\t" in line else _SPACES.split(line)
    if columns is None or not line.startswith("#"):
        return cells
    is_token = len(cells) == columns.width and TAG.fullmatch(cells[columns.tag]) is not None
    return cells if is_token else None
