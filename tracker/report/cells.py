"""Cells and tables: how numbers and names look, wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

__all__ = ["bar", "count", "figure", "interval", "share", "sparkline", "table"]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def figure(value: float | None) -> str:
    """A coefficient or rate to three places; a dash where it is undefined."""
    return "-" if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Two bounds; a dash where there are none."""
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def count(number: int | None) -> str:
    """A whole number with its thousands apart."""
    return "-" if number is None else f"{number:,}"


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

    A column whose title ends in a space is text and stands to the left.
    """
    titled = any(title.strip() for title in columns)
    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_header=titled)
    for n, title in enumerate(columns):
        is_text = n < left or title.endswith(" ")
        made.add_column(
            Text(title.strip()),
            justify="left" if is_text else "right",
            no_wrap=not is_text,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return made
