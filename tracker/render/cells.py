"""Cells and tables: how numbers and names look, wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text as _Text

from tracker.render.escape import one_line, visible

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_NARROWEST = 8  # of a column of names: a longer word is folded where there is no room


class Text(_Text):
    """Rich's text, in which nothing acts on the terminal, whatever names it holds."""

    def __init__(self, text: str = "", *args: Any, **kwargs: Any) -> None:
        super().__init__(visible(text), *args, **kwargs)

    @classmethod
    def assemble(cls, *parts: Any, **kwargs: Any) -> Text:
        """Join texts, each with its style or without."""
        made = super().assemble(*parts, **kwargs)
        assert isinstance(made, Text)
        return made

    def append(self, text: _Text | str, style: str | Style | None = None) -> _Text:
        """Add a text, likewise."""
        return super().append(visible(text) if isinstance(text, str) else text, style)


def figure(value: float | None) -> str:
    """A coefficient or rate to three places; a dash where it is undefined."""
    return "-" if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Two bounds; a dash where there are none."""
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def level(confidence: float) -> str:
    """A confidence level in per cent, none of its digits lost: 95%, 99.9%."""
    return f"{100 * confidence:.12g}%"


def count(number: int | None) -> str:
    """A whole number with its thousands apart."""
    return "-" if number is None else f"{number:,}"


def many(number: int, noun: str) -> str:
    """A number of things: "1 item", "2,000 items"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(value: float | None) -> str:
    """A share in per cent."""
    return "-" if value is None else f"{value:.1%}"


def bar(value: float | None, width: int = 12) -> str:
    """A share from 0 to 1 as a horizontal bar."""
    if value is None:
        return ""
    eighths = round(max(0.0, min(1.0, value)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + _EIGHTHS[rest]).rstrip()


def sparkline(values: Sequence[float | None]) -> str:
    """A curve in one line, from its least to its greatest value; gaps where undefined."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        " " if value is None else _HEIGHTS[round((value - low) / span * 7) if span else 3]
        for value in values
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, left: int = 1) -> Table:
    """A plain table; the first ``left`` columns are names, the others numbers to the right.

    A column whose title ends in a space is text and stands to the left. Where there is little
    room names and titles are folded, numbers never; see `width_for`.
    """
    titled = any(title.strip() for title in columns)
    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_header=titled)
    texts = [n < left or title.endswith(" ") for n, title in enumerate(columns)]
    cells = [
        [
            cell if isinstance(cell, _Text) else Text(one_line(cell) if is_text else cell)
            for cell, is_text in zip(row, texts, strict=True)
        ]
        for row in rows
    ]
    for n, title in enumerate(columns):
        is_text = texts[n]
        below = [row[n].plain for row in cells]
        words = _widest(word for text in (title, *below) for word in text.split())
        lines = _widest(line for text in below for line in text.split("\n"))
        narrowest = max(lines, _widest(title.split()))  # a number cut off is another number
        made.add_column(
            Text(title.strip()),
            justify="left" if is_text else "right",
            no_wrap=not is_text and lines >= cell_len(title),
            overflow="fold",
            min_width=min(words, _NARROWEST) if is_text else narrowest,
        )
    for row in cells:
        made.add_row(*row)
    return made


def width_for(part: RenderableType, width: int) -> int:
    """The width to print a part with on a terminal of some width: a table loses no number."""
    if not isinstance(part, Table):
        return width
    gap = 3  # a space on either side of a cell, and one between
    return max(width, sum((column.min_width or 1) + gap for column in part.columns))


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)
