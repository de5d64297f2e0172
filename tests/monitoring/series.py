"""Series of points, one a week."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tracker.monitoring import Point

WEEK = 7 * 86_400 * 1_000_000
FIRST = 1_735_689_600_000_000  # 2025-01-01
LIFTS = [(18, 0.08), (31, -0.06), (40, 0.06)]
"""Changes of a figure, each from a week on."""


def at(week: int) -> int:
    return FIRST + week * WEEK


def weekly(values: Iterable[float], errors: Iterable[float] | float = 0.02) -> list[Point]:
    values = list(values)
    if isinstance(errors, int | float):
        errors = [errors] * len(values)
    return [
        Point(at(week), float(value), float(error))
        for week, (value, error) in enumerate(zip(values, errors, strict=True))
    ]


def drawn(
    seed: int,
    weeks: int = 52,
    changes: Sequence[tuple[int, float]] = (),
    *,
    unequal: float = 0.0,
    dispersion: float = 1.0,
) -> list[Point]:
    """A figure of 0.7 with errors about 0.02, and the given changes from the given weeks on.

    ``unequal`` is the deviation of the errors' logarithm.
    """
    random = np.random.default_rng(seed)
    level = np.full(weeks, 0.7)
    for week, change in changes:
        level[week:] += change
    errors = 0.02 * np.exp(random.normal(0.0, unequal, weeks))
    return weekly(level + np.sqrt(dispersion) * random.normal(0.0, errors), errors)


def scaled(points: Iterable[Point], shift: float, factor: float) -> list[Point]:
    return [Point(p.at, shift + factor * p.value, abs(factor) * p.error) for p in points]
