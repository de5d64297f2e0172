"""What labels in files take: DuckDB over them, and Spark with one executor and with two.

    python benchmarks/lake.py [LABELS] [FOLDER] [ENGINE …]

The same commands on the same 40 files; README.md beside it says what is compared. Exit code 1 if
engines differ in a figure.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from processes import Cost, run, tracker
from rich.console import Console
from rich.table import Table

FILES, ANSWERS, ANNOTATORS, CATEGORIES, RIGHT = 40, 5, 500, 5, 0.8
BEGIN = 1_767_225_600  # 2026-01-01, in seconds
ENGINES = ("duckdb", "local-cluster[1,1,1024]", "local-cluster[2,1,1024]")
AGREEMENT = ("agreement", "lake", "--json")
COMMANDS = (AGREEMENT, ("agreement", "lake", "--by", "pair", "--json"), ("audit", "lake", "--json"))


def write_file(path: Path, first: int, items: int) -> None:
    """Write a file of an item's answers one after the other, as a table of columns."""
    draw = np.random.default_rng(first)
    shape = (items, ANSWERS)
    start, stride = draw.integers(0, ANNOTATORS, items), draw.integers(1, 99, items)
    annotator = (start[:, None] + stride[:, None] * np.arange(ANSWERS)) % ANNOTATORS
    truth = draw.integers(0, CATEGORIES, items)[:, None]
    category = np.where(draw.random(shape) < RIGHT, truth, draw.integers(0, CATEGORIES, shape))
    item = np.repeat(np.arange(first, first + items), ANSWERS)
    second = BEGIN + item + draw.integers(0, 86_400, len(item))
    names = pa.array([f"annotator-{n}" for n in range(ANNOTATORS)])
    labels = pa.array([f"category-{n}" for n in range(CATEGORIES)])
    columns = {
        "item": pa.array(np.char.add("item-", item.astype(str))),
        "annotator": pa.DictionaryArray.from_arrays(annotator.ravel(), names),
        "category": pa.DictionaryArray.from_arrays(category.ravel(), labels),
        "labeled_at": pa.array(second * 1_000_000, pa.timestamp("us", "UTC")),
    }
    pq.write_table(pa.table(columns), path)


class Lake:
    """A folder of files, and a ledger for each engine that counts in them."""

    def __init__(self, folder: Path, labels: int) -> None:
        self.folder, self.files = folder, folder / "files"
        self.items = labels // ANSWERS // FILES
        self.files.mkdir(parents=True, exist_ok=True)
        for number in range(FILES):
            self.write(number)

    def write(self, number: int) -> None:
        """Write a file of its own items."""
        write_file(self.files / f"{number:03}.parquet", number * self.items, self.items)

    def costs(self, engine: str) -> Iterator[tuple[str, Cost]]:
        """Yield what each command takes of an engine; a file comes before the last ones."""
        url = f"sqlite:///{self.folder / engine}.db"
        Path(url.removeprefix("sqlite:///")).unlink(missing_ok=True)

        def asked(*words: str) -> Cost:
            return run(tracker("--database", url, *words))

        of_files = ("--labels-at", str(self.files), "--engine", engine)
        yield "read the files", asked("project", "create", "lake", *of_files)
        for command in COMMANDS:
            yield " ".join(command[:-1]), asked(*command)
        yield "agreement, asked again", asked(*AGREEMENT)
        self.write(FILES)
        yield "read one more file", asked("project", "read-labels", "lake")
        yield "agreement, one file more", asked(*AGREEMENT)
        (self.files / f"{FILES:03}.parquet").unlink()


def column(lake: Lake, engine: str, known: Mapping[str, Cost]) -> dict[str, Cost]:
    """Return what each command took of an engine; each is told of as it ends.

    ``known`` are those of another engine, whose figures are to be the same.
    """
    costs = {}
    for what, cost in lake.costs(engine):
        differing = "; DIFFERS" if differs(what, cost, known) else ""
        print(f"{engine}: {what}: {cells(cost)}{differing}", file=sys.stderr, flush=True)
        costs[what] = cost
    return costs


def differs(what: str, cost: Cost, known: Mapping[str, Cost]) -> bool:
    """Return whether a command said other figures than that of another engine."""
    figures = not what.startswith("read")
    return figures and what in known and known[what].output != cost.output


def cells(cost: Cost) -> str:
    """Return the seconds of a clock and of the processor, and the memory of our own process."""
    return f"{cost.wall:,.1f} s, {cost.cpu:,.1f} CPU s, {cost.peak / 1e6:,.0f} MB"


def main(arguments: Sequence[str]) -> int:
    """Print the table; returns the exit code."""
    labels = int(arguments[0]) if arguments else 20_000_000
    engines = tuple(arguments[2:]) or ENGINES
    table = Table(title=f"{labels:,} labels in {FILES} files")
    for heading in ("what", *engines):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as made:
        lake = Lake(Path(arguments[1]) if arguments[1:] else Path(made), labels)
        columns: list[dict[str, Cost]] = []
        for engine in engines:
            columns.append(column(lake, engine, columns[0] if columns else {}))
    differ = []
    for what, cost in columns[0].items():
        table.add_row(what, *(cells(costs[what]) for costs in columns))
        if any(differs(what, cost, costs) for costs in columns):
            differ.append(what)
    console = Console(width=160)
    console.print(table)
    console.print(f"differ: {', '.join(differ)}" if differ else "all figures are the same")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
