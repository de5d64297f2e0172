"""The demonstration's data: published examples, made or shipped. One row is one answer."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from tracker.simulate import Group, Row, simulate_crowd

__all__ = [
    "PUBLISHED_RATES",
    "SANDWICH",
    "demo_crowd_weeks",
    "demo_sandwich_rows",
    "demo_turk_files",
]

SANDWICH = {("0", "0"): 400, ("1", "0"): 90, ("0", "1"): 60, ("1", "1"): 450}
"""How often annotators A and B gave each pair of categories (P. W. Siegel, 2018)."""

PUBLISHED_RATES = {
    "high": (0.830, 0.832, 0.836),
    "low": (0.194, 0.198, 0.204),
    "mixed": (0.826, 0.555, 0.285),
}
"""The category rates of the notebook's experiments, categories 0, 1, 2 (P. W. Siegel, 2018)."""

_CROWD = (Group("honest", 12), Group("constant", 1))


def demo_sandwich_rows() -> Iterator[Row]:
    """Yield the sandwich table: 1000 items, two annotators."""
    number = 0
    for (a, b), items in SANDWICH.items():
        for _ in range(items):
            number += 1
            yield Row(f"item {number:04}", "A", a, None)
            yield Row(f"item {number:04}", "B", b, None)


def demo_crowd_weeks(weeks: int, items: int) -> Iterator[list[Row]]:
    """Yield a crowd with one always-positive annotator, with so many items a week."""
    rows = list(simulate_crowd(weeks * items, 7, _CROWD, answers_per_item=4))
    per_week = len(rows) // weeks
    for week in range(weeks):
        yield rows[week * per_week : (week + 1) * per_week]


def demo_turk_files() -> list[str]:
    """Return the paths of the Turk experiment's answers and truths (see README.md beside them)."""
    folder = files("tracker.simulate.demo")
    return [str(folder / "assignments.csv"), str(folder / "truth.csv")]
