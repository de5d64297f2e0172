"""Numbers as places in a small drawing; the numbers themselves stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 120, 16
"""Size of a drawing in its own units."""
_EDGE = 4


def scale_from(lows: Iterable[float | None]) -> float:
    """Return where a scale that ends at 1 begins: at 0, or below the least of some numbers."""
    return min([0.0, *(low for low in lows if low is not None)])


def across(value: float, begin: float = 0.0) -> float:
    """Return how far to the right a number lies on a scale from ``begin`` to 1."""
    share = (min(max(value, begin), 1.0) - begin) / (1.0 - begin)
    return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)


def curve(values: Sequence[float | None]) -> list[str]:
    """Return the lines that lead through numbers in order, as points; a gap ends a line.

    The least number lies at the foot, the greatest at the head.
    """
    known = [value for value in values if value is not None]
    if not known:
        return []
    low, span = min(known), max(known) - min(known)
    step = (WIDTH - 2 * _EDGE) / max(len(values) - 1, 1)
    lines: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            lines.append([])
            continue
        up = (value - low) / span if span else 0.5
        lines[-1].append(f"{_EDGE + place * step:.1f},{HEIGHT - 3 - up * (HEIGHT - 6):.1f}")
    return [" ".join(line) for line in lines if line]
