"""What is asked again, what little changes cost, and what another engine saves.

    python benchmarks/scale.py [LABELS] [REPEATS] [FOLDER]

Whole processes, in turn, by CPU time; README.md beside it says what is compared. Exit code 1 if a
target is missed.
"""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from data import PROJECT, database_of, forget, more_of_few
from processes import run, tracker
from rich.console import Console
from rich.table import Table

FEW, CHANGED = 10, 1_000  # labels of the least ledger, rows of the small import


class Compared(NamedTuple):
    """Two commands, ours first, the most that the ratio of their CPU times may be, and a reason."""

    name: str
    against: str
    most: float | None
    ours: Callable[[], float]
    theirs: Callable[[], float]


AGREEMENT, PAIRS = ("agreement",), ("agreement", "--by", "pair")
AUDIT, COPYING = ("audit",), ("audit", "--kind", "copying")
COMMANDS = (AGREEMENT, PAIRS, AUDIT, COPYING)


class Scale:
    """A large and a small ledger in a folder, and a third one to change.

    What commands take of the small one, which is to start, is left out but where it is said.
    """

    def __init__(self, folder: Path, labels: int) -> None:
        self.large, self.small = (database_of(folder, number) for number in (labels, FEW))
        self.medium = database_of(folder, 2_000)
        self.changed = folder / "changed.db"
        self.labels = labels
        self.idle = {
            command: statistics.median(self.again(self.small, *command)() for _ in range(3))
            for command in COMMANDS
        }
        self.more = folder / "more.csv"
        for name in ("first", "second", "new"):  # imports before, as a running project has them
            more_of_few(self.more, name)
            if name != "new":
                url = f"sqlite:///{self.large}"
                run(tracker("--database", url, "import", "-p", PROJECT, self.more))

    def again(self, database: Path, *command: str) -> Callable[[], float]:
        """A command whose counts are kept."""
        words = tracker("--database", f"sqlite:///{database}", *command, PROJECT)
        run(words)
        return lambda: run(words).cpu

    def counted(self, *command: str, engine: str = "native") -> Callable[[], float]:
        """A command that counts everything."""
        url = f"sqlite:///{self.large}"
        words = tracker("--database", url, "--engine", engine, *command, PROJECT)

        def once() -> float:
            forget(url)
            return run(words).cpu - self.idle[command]

        return once

    def after(self, *command: str) -> Callable[[], float]:
        """A command after an import of a few answers, of whose items alone it counts."""
        url = f"sqlite:///{self.changed}"
        words = tracker("--database", url, *command, PROJECT)

        def once() -> float:
            run(tracker("--database", f"sqlite:///{self.large}", *command, PROJECT))
            shutil.copy(self.large, self.changed)
            run(tracker("--database", url, "import", "-p", PROJECT, self.more))
            return run(words).cpu - self.idle[command]

        return once

    def imported(self, database: Path, *, undone: bool = False) -> Callable[[], float]:
        """A small import into a copy, or its undo."""
        url = f"sqlite:///{self.changed}"

        def once() -> float:
            shutil.copy(database, self.changed)
            told = run(tracker("--database", url, "import", "-p", PROJECT, self.more))
            if undone:
                told = run(tracker("--database", url, "imports", "undo", self.last(), "-y"))
            return told.cpu

        return once

    def last(self) -> int:
        """The number of the last import."""
        with closing(sqlite3.connect(self.changed)) as connection:
            return int(connection.execute("SELECT max(id) FROM imports").fetchone()[0])

    def comparisons(self) -> Iterator[Compared]:
        """Yield all that is compared."""
        of = f"of {self.labels:,} labels"
        yield Compared(
            f"agreement {of}, asked again, with its start", f"of {FEW}", 1.1,
            self.again(self.large, *AGREEMENT), self.again(self.small, *AGREEMENT),
        )  # fmt: skip
        for command in (AGREEMENT, AUDIT):
            name = f"{' '.join(command)} after {CHANGED:,} labels more"
            yield Compared(name, "all counted", 0.15, self.after(*command), self.counted(*command))
        yield Compared(
            f"import of {CHANGED:,} rows into {self.labels:,}", "into 2,000", 3.0,
            self.imported(self.large), self.imported(self.medium),
        )  # fmt: skip
        yield Compared(
            "its undo", "in 2,000", 3.0,
            self.imported(self.large, undone=True), self.imported(self.medium, undone=True),
        )  # fmt: skip
        for command in (AUDIT, COPYING, PAIRS, AGREEMENT):
            ours = self.counted(*command, engine="duckdb")
            name = f"{' '.join(command)} by DuckDB"
            yield Compared(name, "by SQLite", None, ours, self.counted(*command))


def in_turn(compared: Compared, repeats: int) -> tuple[float, list[float]]:
    """Our median CPU time and the ratios, after a first pair that warms the caches."""
    pairs = [(compared.ours(), compared.theirs()) for _ in range(repeats + 1)][1:]
    return statistics.median(a for a, _ in pairs), [a / b for a, b in pairs]


def main(arguments: Sequence[str]) -> int:
    """Print the table; returns the exit code."""
    labels = int(arguments[0]) if arguments else 2_000_000
    repeats = int(arguments[1]) if arguments[1:] else 3
    missed = False
    table = Table(title=f"{labels:,} labels")
    for heading in ("what", "against", "CPU s", "ratio", "least-most", "target"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(arguments[2]) if arguments[2:] else Path(made)
        for compared in Scale(folder, labels).comparisons():
            seconds, ratios = in_turn(compared, repeats)
            median = statistics.median(ratios)
            missed |= compared.most is not None and median > compared.most
            ends = f"{min(ratios):.2f}-{max(ratios):.2f}"
            target = "" if compared.most is None else f"≤ {compared.most:g}"
            table.add_row(compared.name, compared.against, f"{seconds:.2f}", f"{median:.2f}",
                          ends, target)  # fmt: skip
    Console(width=140).print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
