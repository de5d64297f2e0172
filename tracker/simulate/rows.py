"""One simulated answer, and the helpers that simulations share."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Sequence
from typing import IO, NamedTuple

from tracker.core.errors import InvalidOption


class Row(NamedTuple):
    """One answer of one annotator to one item, all by name.

    ``gold`` is the item's true category, None if the experiment has no truth; ``labeled_at``
    when the answer was given, None if the experiment knows no time.
    """

    item: str
    annotator: str
    category: str
    gold: str | None
    labeled_at: str | None = None


def write_rows(rows: Iterable[Row], file: IO[str]) -> None:
    """Write rows as CSV, with the columns that the first row has a value for."""
    writer = csv.writer(file, lineterminator="\n")
    written: list[int] = []
    for row in rows:
        if not written:
            written = [place for place, value in enumerate(row) if value is not None]
            writer.writerow([Row._fields[place] for place in written])
        writer.writerow([row[place] for place in written])


def require(holds: bool, message: str, mend: str) -> None:
    """Raise InvalidOption if a condition does not hold."""
    if not holds:
        raise InvalidOption(message, mend)


def check_positive(number: int, what: str) -> None:
    """Raise InvalidOption for a number below 1."""
    require(number >= 1, f"{number} {what} cannot be simulated", "Ask for 1 or more.")


def source_of(name: str, seed: int) -> random.Random:
    """Return the random numbers of a simulation; the same for the same name and seed."""
    return random.Random(f"{name} {seed}")  # noqa: S311 - an experiment, not a secret


def pick(choices: Sequence[str], source: random.Random) -> str:
    """Return one of the choices, all equally likely."""
    return choices[int(source.random() * len(choices))]


def some(members: Sequence[int], number: int, source: random.Random) -> list[int]:
    """Return so many of the members, in random order."""
    return sorted(members, key=lambda _: source.random())[:number]


def width_of(largest: int, at_least: int) -> int:
    """Return the number of digits to which numbers are padded, so that names sort."""
    return max(at_least, len(str(largest)))
