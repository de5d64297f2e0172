"""Answers to measure with: seeded, written once a folder, the same on every machine."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from processes import python, run

__all__ = ["PROJECT", "csv_of", "database_of", "fill", "forget", "more_of_few"]

PROJECT = "speed"
ANSWERS = 5  # to each item
ANNOTATORS = 500
CATEGORIES = ("neutral", "joy", "anger", "fear", "surprise")
ACCURACY = 0.8
SEED = 20240229
BEGIN = 1_704_067_200  # 2024-01-01, in seconds
DAY = 86_400
HEAD = "item,annotator,category,labeled_at\n"

IMPORT = """
import sys, tracker
tracker.open(sys.argv[1]).import_file(sys.argv[2], project=sys.argv[3])
"""


def rows(answers: int) -> Iterator[str]:
    """Lines of ``item,annotator,category,labeled_at``, an item's answers one after the other.

    Names are as tools give them: not padded, so that their order as text is not that of their
    numbers. The answers of an item lie within five days, the items one after the other in a year.
    """
    draw, days = random.Random(SEED), random.Random(SEED)
    others = len(CATEGORIES) - 1
    items = answers // ANSWERS
    for item in range(items):
        truth = draw.randrange(len(CATEGORIES))
        for annotator in draw.sample(range(ANNOTATORS), ANSWERS):
            missed = 0 if draw.random() < ACCURACY else 1 + draw.randrange(others)
            category = CATEGORIES[(truth + missed) % len(CATEGORIES)]
            moment = BEGIN + int(item / items * 360 * DAY + days.random() * 5 * DAY)
            yield f"item-{item + 1},annotator-{annotator + 1},{category},{moment}\n"


def csv_of(folder: Path, answers: int) -> Path:
    """A file of so many answers in random order, made if it is not there yet."""
    path = folder / f"dated-{answers}.csv"
    if not path.exists():
        part = path.with_suffix(".part")
        # In a process of its own: whoever is started later starts from this one's peak memory.
        run([sys.executable, __file__, str(part), str(answers)])
        part.rename(path)
    return path


def forget(url: str) -> None:
    """Delete what a ledger keeps of counts, so that the next command counts."""
    from sqlalchemy import create_engine, text

    with create_engine(url).begin() as connection:
        connection.execute(text("DELETE FROM kept_tallies"))


def more_of_few(path: Path, item: str) -> None:
    """Write a thousand labels of a further day: of twenty annotators, to items of their own."""
    draw = random.Random(item)
    lines = [HEAD]
    for number in range(200):
        for annotator in draw.sample(range(20), ANSWERS):
            moment = BEGIN + 366 * DAY + draw.randrange(DAY)
            category = draw.choices(CATEGORIES, [16, 1, 1, 1, 1])[0]
            lines.append(f"{item}-{number},annotator-{annotator + 1},{category},{moment}\n")
    path.write_text("".join(lines), encoding="utf-8")


def _write(path: Path, answers: int) -> None:
    lines = list(rows(answers))
    random.Random(SEED).shuffle(lines)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines([HEAD, *lines])


def database_of(folder: Path, answers: int) -> Path:
    """A SQLite database with one project of so many answers, made where it is not there yet."""
    path = folder / f"dated-{answers}.db"
    if not path.exists():
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        fill(f"sqlite:///{part}", csv_of(folder, answers))
        part.rename(path)
    return path


def fill(url: str, file: Path) -> None:
    """Import a file of answers into the project of a database."""
    run(python(IMPORT, url, file, PROJECT))


if __name__ == "__main__":
    _write(Path(sys.argv[1]), int(sys.argv[2]))
