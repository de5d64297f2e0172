"""What it takes to keep a record over time, as ratios measured within one process.

Run ``python benchmarks/over_time.py``; README.md beside it says what it prints. Exit code 1 where
a target is missed.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

from data import ANNOTATORS, ANSWERS, CATEGORIES, PROJECT, csv_of, database_of, fill
from on_postgres import ANALYZE
from processes import python, run
from processes import tracker as tracker_command

import tracker
from tracker.ledger import Ledger

NEW = 1_000  # answers between two snapshots
SNAPSHOTS = 10_000
SHOWN = 40  # rows, as by default


class Result(NamedTuple):
    """One figure, what it must not exceed (or fall below), and whether it does."""

    what: str
    value: float
    target: str
    met: bool


def timed(call: Callable[[], object]) -> float:
    """How many seconds a call takes; what earlier ones left behind is collected before."""
    gc.collect()
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def sixth_answers(answers: int, source: random.Random) -> list[tuple[int, int]]:
    """One more answer to each of so many items that are there: the dearest batch there is."""
    items, people = range(answers // ANSWERS), range(ANNOTATORS)
    drawn = {(source.choice(items), source.choice(people)) for _ in range(NEW)}
    return sorted(drawn)


def new_items(answers: int, source: random.Random) -> list[tuple[int, int]]:
    """All answers to items that were not there: what comes as a project goes on."""
    first = answers + source.randrange(10**9)
    people = range(ANNOTATORS)
    drawn = (source.sample(people, ANSWERS) for _ in range(NEW // ANSWERS))
    return [(first + item, who) for item, chosen in enumerate(drawn) for who in chosen]


BATCHES = {"to old items": sixth_answers, "to new items": new_items}


def import_some(
    ledger: Ledger, rows: list[tuple[int, int]], source: random.Random, folder: Path
) -> None:
    """Some more answers."""
    file = folder / "more.csv"
    lines = [
        f"item-{item + 1},annotator-{annotator + 1},{source.choice(CATEGORIES)}"
        for item, annotator in rows
    ]
    file.write_text("\n".join(["item,annotator,category", *lines]), encoding="utf-8")
    ledger.import_file(file, PROJECT)


def incremental(
    ledger: Ledger, answers: int, repeats: int, folder: Path
) -> dict[str, tuple[float, ...]]:
    """Of each batch, medians of a full snapshot and of one after it, taken in turn."""
    source = random.Random(answers)
    ledger.record_snapshot(PROJECT, full=True)
    took: dict[str, list[tuple[float, float]]] = {batch: [] for batch in BATCHES}
    for _ in range(repeats):
        for batch, drawn in BATCHES.items():
            import_some(ledger, drawn(answers, source), source, folder)
            some = timed(lambda: ledger.record_snapshot(PROJECT))
            full = timed(lambda: ledger.record_snapshot(PROJECT, full=True))
            took[batch].append((full, some))
            print(f"{answers:,} labels: full {full:.2f} s, {NEW:,} {batch} {some:.3f} s",
                  file=sys.stderr, flush=True)  # fmt: skip
    return {
        batch: tuple(map(statistics.median, zip(*pairs, strict=True)))
        for batch, pairs in took.items()
    }


def snapshots(ledger_of: Callable[[int], Ledger], large: int, repeats: int, folder: Path,
              where: str) -> Iterator[Result]:  # fmt: skip
    """A snapshot after some more answers against a full one, and against a smaller project's."""
    small = incremental(ledger_of(large // 10), large // 10, repeats, folder)
    for batch, (full, some) in incremental(ledger_of(large), large, repeats, folder).items():
        yield Result(f"{where}, {batch}: full / incremental", full / some, ">= 100",
                     full / some >= 100)  # fmt: skip
        flat = some / small[batch][1]
        yield Result(
            f"{where}, {batch}: incremental, ten times the labels", flat, "<= 2", flat <= 2
        )


def curve(ledger: Ledger, repeats: int, where: str) -> Iterator[Result]:
    """The curve of every day against one agreement: as commands, and within this process."""
    url = ledger.database.url.render_as_string(hide_password=False)
    commands, within = [], []
    for _ in range(repeats):
        one = run(tracker_command("--database", url, "agreement", PROJECT, "--json"))
        every = run(tracker_command("--database", url, "history", PROJECT, "--every", "day"))
        commands.append(every.wall / one.wall)
        inner = [timed(lambda: ledger.agreement(PROJECT)),
                 timed(lambda: ledger.history(PROJECT, "day"))]  # fmt: skip
        within.append(inner[1] / inner[0])
        print(f"agreement {one.wall:.2f} s, history {every.wall:.2f} s; within the process "
              f"{inner[0]:.2f} s, {inner[1]:.2f} s", file=sys.stderr, flush=True)  # fmt: skip
    ratio = statistics.median(commands)
    yield Result(f"{where}: history --every day / agreement", ratio, "<= 4", ratio <= 4)
    ratio = statistics.median(within)
    yield Result(f"{where}: the same without starting Python", ratio, "reported", met=True)


def many(folder: Path) -> Iterator[Result]:
    """The history of very many snapshots."""
    ledger = tracker.open(f"sqlite:///{folder / 'many.db'}")
    file = folder / "few.csv"
    rows = [f"i{n},{who},{'xy'[(n + k) % 3 == 0]}" for n in range(50) for k, who in enumerate("AB")]
    file.write_text("\n".join(["item,annotator,category", *rows]), encoding="utf-8")
    ledger.import_file(file, PROJECT)
    for number in range(SNAPSHOTS):
        ledger.record_snapshot(PROJECT)
        if number % 1000 == 0:
            print(f"snapshot {number:,}", file=sys.stderr, flush=True)
    from rich.console import Console

    from tracker.history.overview import snapshots_overview
    from tracker.history.tables import history_view

    def seen() -> None:
        with (
            (folder / "seen.txt").open("w") as file,
            ledger.asking(PROJECT) as (
                connection,
                question,
            ),
        ):
            console = Console(file=file, width=120)
            for part in history_view(snapshots_overview(connection, question, last=SHOWN)):
                console.print(part)

    took = statistics.median(timed(seen) for _ in range(3))
    yield Result(f"history of {SNAPSHOTS:,} snapshots, seconds", took, "<= 0.5", took <= 0.5)


# -- the databases -------------------------------------------------------------------------------


def on_sqlite(arguments: argparse.Namespace, folder: Path) -> Iterator[Result]:
    """All comparisons on files."""

    def ledger_of(answers: int) -> Ledger:
        copy = folder / "work.db"
        shutil.copy(database_of(folder, answers), copy)
        return tracker.open(f"sqlite:///{copy}")

    if "snapshot" in arguments.wanted:
        yield from snapshots(ledger_of, arguments.labels, arguments.repeats, folder, "SQLite")
    if "curve" in arguments.wanted:
        yield from curve(ledger_of(arguments.curve), arguments.repeats, "SQLite")
    if "many" in arguments.wanted:
        yield from many(folder)


def on_server(arguments: argparse.Namespace, folder: Path) -> Iterator[Result]:
    """Those of snapshots and of the curve on a Postgres."""
    from tests.postgres import create_database, drop_database, server

    serving: AbstractContextManager[str] = (
        server() if arguments.postgres == "auto" else nullcontext(arguments.postgres)
    )
    name = "tracker_over_time"
    with serving as admin:

        def ledger_of(answers: int) -> Ledger:
            drop_database(admin, name)
            url = create_database(admin, name)
            fill(url, csv_of(folder, answers))
            run(python(ANALYZE, url))
            return tracker.open(url)

        try:
            if "snapshot" in arguments.wanted:
                yield from snapshots(
                    ledger_of, arguments.labels, arguments.repeats, folder, "Postgres"
                )
            if "curve" in arguments.wanted:
                yield from curve(ledger_of(arguments.curve), arguments.repeats, "Postgres")
        finally:
            drop_database(admin, name)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--labels", type=int, default=5_000_000, help="labels of a snapshot")
    parser.add_argument("--curve", type=int, default=2_000_000, help="labels of the curve")
    parser.add_argument("--repeats", type=int, default=3, help="pairs of measurements")
    parser.add_argument("--postgres", metavar="URL", help="a server too; auto: one of our own")
    parser.add_argument("--only", default="snapshot,curve,many", help="some of these, with commas")
    parser.add_argument("--folder", type=Path, help="where to keep the data (default: nowhere)")
    arguments = parser.parse_args()
    arguments.wanted = set(arguments.only.split(","))
    return arguments


def main() -> int:
    """Print each figure beside its target; returns the exit code."""
    arguments = _arguments()
    place: AbstractContextManager[str | Path] = tempfile.TemporaryDirectory(prefix="tracker-time-")
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        place = nullcontext(arguments.folder)
    missed = False
    with place as kept:
        folder = Path(kept)
        for stale in ("work.db", "many.db"):
            (folder / stale).unlink(missing_ok=True)
        sides = [on_sqlite(arguments, folder)]
        if arguments.postgres:
            sides.append(on_server(arguments, folder))
        for side in sides:
            for result in side:
                missed |= not result.met
                verdict = "met" if result.met else "MISSED"
                print(f"{result.what}: {result.value:.2f} ({result.target}) {verdict}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
