"""Whether a curve is drawn flat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tracker.monitoring import are_within_noise

Figure: TypeAlias = tuple[float | None, float | None]
"""A value and its standard error."""


def are_steady(figures: Sequence[Figure]) -> bool:
    """Return whether the figures of a curve differ by no more than their errors let one expect."""
    return are_within_noise([(value, error) for value, error in figures if value is not None])
