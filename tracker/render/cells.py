"""Numbers, times and texts as they look wherever they are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.containers import Lines
from rich.style import Style
from rich.text import Text as _Text

from tracker.core import clock
from tracker.core.errors import escaped_text

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_WORD = re.compile(r"\s*\S+\s*")


class Text(_Text):
    """Rich's text, in which nothing acts on the terminal, whatever names it holds."""

    def __init__(self, text: str = "", *args: Any, **kwargs: Any) -> None:
        super().__init__(escaped_text(text), *args, **kwargs)

    @classmethod
    def assemble(cls, *parts: Any, **kwargs: Any) -> Text:
        """Join texts, each with its style or without."""
        text = super().assemble(*parts, **kwargs)
        assert isinstance(text, Text)
        return text

    def append(self, text: _Text | str, style: str | Style | None = None) -> _Text:
        """Add a text, likewise."""
        return super().append(escaped_text(text) if isinstance(text, str) else text, style)

    def wrap(self, console: Console, width: int, **how: Any) -> Lines:
        """Break lines between words only: a longer one, such as a digest, can be copied whole."""
        lines = Lines()
        for line in self.split(allow_blank=True):
            breaks, used = [], 0
            for word in _WORD.finditer(line.plain):
                if used and used + cell_len(word[0].rstrip()) > width:
                    breaks.append(word.start())
                    used = 0
                used += cell_len(word[0])
            lines.extend(line.divide(breaks))
        for line in lines:
            line.rstrip()
        if how.get("justify"):
            lines.justify(console, width, justify=how["justify"], overflow="ignore")
        return lines


def printable_part(part: RenderableType) -> Group:
    """Return a part of a view as a console has to get it: of a bare text it makes its own kind."""
    return Group(Text(part) if isinstance(part, str) else part)


def figure_cell(value: float | None) -> str:
    """Return a coefficient or rate to three places; a dash where it is undefined."""
    return "-" if value is None else f"{value:z.3f}"


def interval_cell(low: float | None, high: float | None) -> str:
    """Return two bounds; a dash where there are none."""
    return "-" if low is None or high is None else f"{low:z.3f} to {high:z.3f}"


def level_cell(confidence: float) -> str:
    """Return a confidence level in per cent, none of its digits lost: 95%, 99.9%."""
    return f"{100 * confidence:.12g}%"


def count_cell(number: int | None) -> str:
    """Return a whole number with its thousands apart."""
    return "-" if number is None else f"{number:,}"


def minute_cell(time: str | int | None) -> str:
    """Return a time, ISO 8601 or microseconds, to the minute: "2025-03-01 14:05"; or a dash."""
    if time is None:
        return "-"
    return (clock.iso(time) if isinstance(time, int) else time)[:16].replace("T", " ")


def share_cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def change_cell(value: float | None) -> str:
    """Return a difference with its sign; a dash if there is none."""
    return "-" if value is None else f"{value:+z.3f}"


def p_value_cell(value: float | None) -> str:
    """Return a p-value to three places; a dash if no test was made."""
    if value is None:
        return "-"
    return "< .001" if value < 0.001 else f"{value:.3f}"


def bar_cell(value: float | None, width: int = 12) -> str:
    """Return a share from 0 to 1 as a horizontal bar."""
    if value is None:
        return ""
    eighths = round(max(0.0, min(1.0, value)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + _EIGHTHS[rest]).rstrip()


def sparkline(values: Sequence[float | None], *, flat: bool = False) -> str:
    """Return a curve in one line, gaps where undefined; all at their mean height if ``flat``.

    The scale is that of all curves: from 0, or the least value below it, to 1.
    """
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, mean = min([0.0, *known]), sum(known) / len(known)
    high = max([1.0, *known])
    drawn = ((None if value is None else mean) for value in values) if flat else values
    return "".join(
        " " if value is None else _HEIGHTS[round((value - low) / (high - low) * 7)]
        for value in drawn
    )
