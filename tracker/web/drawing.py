"""Numbers as places in a small drawing; the numbers themselves stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracker.history.plot import Figure, are_steady

if TYPE_CHECKING:
    from tracker.render.blocks import Column

WIDTH, HEIGHT = 120, 16
"""Size of a drawing in its own units."""
TREND_HEIGHT = 28
"""That of a curve."""
_EDGE = 4
_FEWEST = 3  # figures that show a course


def scale_from(lows: Iterable[float | None]) -> float:
    """Return where a scale that ends at 1 begins: at 0, or below the least of some numbers."""
    return min([0.0, *(low for low in lows if low is not None)])


def begins_of(columns: Iterable[Column], rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return where the scale of each column drawn on a separate scale begins, by its key."""
    return {
        column.key: scale_from(row.get(column.drawn[0]) for row in rows)
        for column in columns
        if column.kind == "scale"
    }


def across(value: float, begin: float = 0.0) -> float:
    """Return how far to the right a number lies on a scale from ``begin`` to 1."""
    share = (min(max(value, begin), 1.0) - begin) / (1.0 - begin)
    return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)


def percent(value: float, begin: float = 0.0) -> str:
    """Return where a number lies on a scale from ``begin`` to 1 that is as wide as the page."""
    return f"{100 * (min(max(value, begin), 1.0) - begin) / (1.0 - begin):.1f}%"


def curve(figures: Sequence[Figure]) -> list[str]:
    """Return the lines that lead through numbers in order, as points; a gap ends a line.

    All curves have one scale, from 0 at the foot to 1 at the head. One whose figures `are_steady`
    is flat, at the height of their mean; of fewer than three there is none.
    """
    known = [value for value, _ in figures if value is not None]
    if len(known) < _FEWEST:
        return []
    flat = sum(known) / len(known) if are_steady(figures) else None
    step = (WIDTH - 2 * _EDGE) / max(len(figures) - 1, 1)
    lines: list[list[str]] = [[]]
    for place, (value, _) in enumerate(figures):
        if value is None:
            lines.append([])
            continue
        up = min(max(value if flat is None else flat, 0.0), 1.0)
        y = TREND_HEIGHT - 3 - up * (TREND_HEIGHT - 6)
        lines[-1].append(f"{_EDGE + place * step:.1f},{y:.1f}")
    return [" ".join(line) for line in lines if line]
