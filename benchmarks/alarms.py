"""How often alarms, changes of level and slopes are found where nothing changed, and where it did.

The tables of docs/history.md; ``--samples`` sets the number of projects of a cell.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tracker.monitoring import Point, change_points, slope, watch

WEEK = 7 * 86_400 * 1_000_000
ERROR = 0.02
LEVEL = 0.7
Draw = Callable[[np.random.Generator, int], list[Point]]


def weekly(values: Sequence[float], errors: Sequence[float], items: Sequence[int]) -> list[Point]:
    """Points a week apart."""
    rows = zip(values, errors, items, strict=True)
    return [Point(week * WEEK, float(v), float(e), int(n)) for week, (v, e, n) in enumerate(rows)]


def dependent(autocorrelation: float, dispersion: float, change: float = 0.0) -> Draw:
    """Normal figures with errors of .02; ``change`` errors more from the middle on."""

    def draw(random: np.random.Generator, weeks: int) -> list[Point]:
        steps = random.normal(size=weeks) * np.sqrt(1 - autocorrelation**2)
        course = [random.normal()]
        for step in steps[1:]:
            course.append(autocorrelation * course[-1] + step)
        spread = ERROR * np.sqrt(dispersion)
        shift = change * spread * (np.arange(weeks) >= weeks // 2)
        return weekly(LEVEL + spread * np.array(course) + shift, [ERROR] * weeks, [0] * weeks)

    return draw


def shares(least: int, most: int, agreement: float) -> Draw:
    """The share of items that agree, with the error that it gives itself."""

    def draw(random: np.random.Generator, weeks: int) -> list[Point]:
        items = random.integers(least, most + 1, weeks)
        found = random.binomial(items, agreement) / items
        errors = np.sqrt(found * (1 - found) / (items - 1))
        return weekly(found, errors, items)

    return draw


def drawn(draw: Draw, samples: int, weeks: int) -> Iterator[list[Point]]:
    """Seeded series."""
    for seed in range(samples):
        yield draw(np.random.default_rng(seed), weeks)


def alarms(draw: Draw, direction: str, samples: int, weeks: int, bounds: bool = False) -> float:
    """Alarms in 1,000 weeks."""
    within = (0.0, 1.0) if bounds else None
    number = sum(
        len(watch(points, direction, bounds=within).alarms)
        for points in drawn(draw, samples, weeks)
    )
    return 1000 * number / (samples * weeks)


def share_of(draw: Draw, found: Callable[[list[Point]], bool], samples: int, weeks: int) -> float:
    """In how many of 100 series something is found."""
    return 100 * sum(map(found, drawn(draw, samples, weeks))) / samples


def has_slope(points: list[Point]) -> bool:
    """Whether the slope has p < .05."""
    p = slope(points).p_value
    return p is not None and p < 0.05


def has_change(points: list[Point]) -> bool:
    """Whether the level changed."""
    return bool(change_points(points).changes)


def of_dependence(samples: int) -> Iterator[Sequence[str]]:
    """Nothing changed, neighbouring weeks depend on each other."""
    yield (
        "autocorrelation", "dispersion", "drop, 52 weeks", "change, 52", "drop, 250",
        "change, 250", "slope, 15 weeks", "slope, 26", "slope, 52", "level, 26", "level, 52",
    )  # fmt: skip
    for dispersion in (1.0, 2.25):
        for autocorrelation in (0.0, 0.3, 0.5, 0.8, 0.9):
            draw = dependent(autocorrelation, dispersion)
            rates = [
                alarms(draw, direction, max(1, samples * 52 // weeks), weeks)
                for weeks in (52, 250)
                for direction in ("drop", "change")
            ]
            slopes = [share_of(draw, has_slope, samples, weeks) for weeks in (15, 26, 52)]
            levels = [share_of(draw, has_change, samples // 2, weeks) for weeks in (26, 52)]
            yield (
                f"{autocorrelation}", f"{dispersion:g}", *(f"{rate:.1f}" for rate in rates),
                *(f"{one:.0f}%" for one in (*slopes, *levels)),
            )  # fmt: skip


def of_few_items(samples: int) -> Iterator[Sequence[str]]:
    """Nothing changed, a week has few items."""
    yield ("items a week", "agreement", "drop", "rise", "change")
    for least, most in ((10, 10), (10, 30), (20, 20), (30, 30), (60, 60)):
        for agreement in (0.7, 0.8, 0.9, 0.95):
            draw = shares(least, most, agreement)
            rates = [
                alarms(draw, direction, samples * 52 // 250, 250, bounds=True)
                for direction in ("drop", "rise", "change")
            ]
            items = f"{least}" if least == most else f"{least} to {most}"
            yield (items, f"{agreement}", *(f"{rate:.1f}" for rate in rates))


def of_power(samples: int) -> Iterator[Sequence[str]]:
    """The level changed in the middle, weeks are independent."""
    yield (
        "change, in errors", "weeks before", "alarm within 4 weeks", "within 8", "level found",
        "slope found",
    )  # fmt: skip
    for change in (2.0, 3.0, 4.0):
        for before in (8, 13, 26):
            draw = dependent(0.0, 1.0, -change)
            waits = [
                min((a.at // WEEK - before + 1 for a in watch(points, "drop").alarms), default=99)
                for points in drawn(draw, samples, 2 * before)
            ]
            waits = [wait if wait > 0 else 99 for wait in waits]
            soon = [100 * sum(wait <= most for wait in waits) / samples for most in (4, 8)]
            level = share_of(draw, has_change, samples // 2, 2 * before)
            sloping = share_of(draw, has_slope, samples // 2, 2 * before)
            yield (
                f"{change:g}", f"{before}", *(f"{one:.0f}%" for one in (*soon, level, sloping)),
            )  # fmt: skip


TABLES = {"dependence": of_dependence, "items": of_few_items, "power": of_power}


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000, help="projects of 52 weeks a cell")
    parser.add_argument("--only", default=",".join(TABLES), help="some of these, with commas")
    arguments = parser.parse_args()
    for name in arguments.only.split(","):
        table = TABLES[name](arguments.samples)
        head = next(table)
        print(f"\n{TABLES[name].__doc__}\n")
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
        for row in table:
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
