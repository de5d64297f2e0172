"""Kill commands at random moments: ``python benchmarks/kills.py [--runs 60] [--seed 0]``.

Each command that writes runs as a process on a copy of one ledger and is killed (SIGKILL). Then
the tables are to hold what they held before the command or what they hold after it, the database
is to be sound and its record verified, and the same command, run again, is to finish its work.
Anything else is printed with its number and seed; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from processes import tracker
from sqlalchemy import NullPool, create_engine, inspect, text

# The harness of the tests lies beside this folder, in the checkout.
sys.path.append(str(Path(__file__).resolve().parent.parent))

FIRST, BACKUP, ERASE = "first import", "backup", "erase"
PERSON = "wilhelmina.zuiderzee"  # no file may have the name once the erasure was typed again
BEFORE, AFTER, ENDED, WRONG = "before", "after", "ended", "wrong"
GONE = {0, 2, 3, 4}  # how a command may end whose work is done already

COMMANDS: dict[str, tuple[str, set[int]]] = {
    FIRST: ("import rows.csv -p p", {0}),
    "import": ("import more.csv -p p", {0}),
    "snapshot": ("snapshot p", {0}),
    "audit": ("audit p --record", {0}),
    "undo": ("imports undo 2 --yes", GONE),
    "prune": ("snapshots prune p --keep daily:1 --yes", {0}),
    "merge": ("annotator merge p a1 --into a2 --yes", GONE),
    ERASE: (f"annotator erase p {PERSON} --yes", GONE),
    "assign": ("assign p --to a0,a1,a2 --answers 3 --per-annotator 200", GONE),
    "round start": ("round start p --name pilot --items 100 --to a0,a1", GONE),
    "decide": ("adjudicate decide p i1 z --reason ambiguous", GONE),
    "pause": ("annotator pause p a1", GONE),
    BACKUP: ("database backup backup.db", GONE),
}
FURNISH = (
    "import rows.csv -p p", "snapshot p", "import few.csv -p p", "snapshot p",
    "item import tasks.csv -p p",
)  # fmt: skip
Rows, Done = dict[str, int], subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Kills:
    """Trials on one kind of database; ``fresh`` makes one by name, new or a copy of another."""

    title: str
    folder: Path
    fresh: Callable[[str, str | None], str]

    def call(self, url: str, words: str, seconds: float | None = None) -> Done:
        """Run a command; it is killed (SIGKILL) if it takes so long."""
        return subprocess.run(
            tracker("--database", url, *words.split()), cwd=self.folder,
            capture_output=True, text=True, check=False, timeout=seconds,
        )  # fmt: skip

    def finish(self, url: str, words: str) -> None:
        """Run a command to its end; raises RuntimeError if it fails."""
        done = self.call(url, words)
        if done.returncode:
            raise RuntimeError(f"{words} failed: {done.stderr}")

    def of(self, name: str, runs: int, seed: int) -> list[str]:
        """Kill one command so often and print what came of it; returns what is wrong."""
        url = self._begin(name)
        started = time.perf_counter()
        self.finish(url, COMMANDS[name][0])
        seconds, whole = time.perf_counter() - started, self._rows(name, url)
        chance, fates, wrong = random.Random(f"{seed} {name}"), Counter[str](), []
        for number in range(runs):
            fate, what = self._trial(name, chance.uniform(0.2, 1.1) * seconds, whole)
            fates[fate] += 1
            if fate == WRONG:
                wrong.append(f"{self.title}, {name}, number {number}, seed {seed}: {what}")
        counts = "".join(f"{fates[fate]:>5} {fate}" for fate in (BEFORE, AFTER, ENDED, WRONG))
        print(f"{self.title:<10}{name:<14}{runs:>4} runs{counts}", flush=True)
        return wrong

    def _begin(self, name: str) -> str:
        (self.folder / "backup.db").unlink(missing_ok=True)
        return self.fresh("killed", None if name == FIRST else "filled")

    def _rows(self, name: str, url: str) -> Rows:
        """How many rows each table holds; of a backup those of the copy."""
        return _rows(f"sqlite:///{self.folder / 'backup.db'}" if name == BACKUP else url)

    def _trial(self, name: str, seconds: float, whole: Rows) -> tuple[str, str]:
        """Whether a kill left what was there before or after, or came too late; or a fault."""
        words, allowed = COMMANDS[name]
        url = self._begin(name)
        before = self._rows(name, url)
        killed = False
        try:
            self.call(url, words, seconds)
        except subprocess.TimeoutExpired:
            killed = True
        left = self._rows(name, url)
        # The schema of a new database is made first, in a transaction of its own.
        if left == before or (name == FIRST and not left.get("projects")):
            fate = BEFORE
        elif left == whole:
            fate = AFTER
        else:
            return WRONG, f"between: {left}; before {before}; after {whole}"
        fault = self._fault(url, record=name != FIRST or fate == AFTER)
        again = self.call(url, words)
        if again.returncode not in ({0} if fate == BEFORE else allowed):
            fault += f"again: exit {again.returncode}: {again.stderr[-500:]}"
        if fate == BEFORE and self._rows(name, url) != whole:
            fault += f"again: {self._rows(name, url)}; after {whole}"
        fault += self._fault(url)
        path = Path(url.removeprefix("sqlite:///"))  # the files of Postgres are the server's
        files = path.parent.glob(f"{path.name}*") if url.startswith("sqlite") else ()
        if name == ERASE and any(PERSON.encode() in one.read_bytes() for one in files):
            fault += "again: the name is still in the files"
        return (WRONG, fault) if fault else (fate if killed else ENDED, "")

    def _fault(self, url: str, *, record: bool = True) -> str:
        for words in ("database check", "snapshots verify p") if record else ("database check",):
            done = self.call(url, words)
            if done.returncode and (record or _rows(url)):
                return f"{words}: exit {done.returncode}: {(done.stdout + done.stderr)[-500:]}"
        return ""


def _rows(url: str) -> Rows:
    if url.startswith("sqlite") and not Path(url.removeprefix("sqlite:///")).exists():
        return {}
    with create_engine(url, poolclass=NullPool).connect() as connection:
        names = {*inspect(connection).get_table_names()} - {"kept_tallies"}  # may go at any time
        counts = {n: connection.execute(text(f'SELECT count(*) FROM "{n}"')) for n in names}
        return {name: int(count.scalar_one()) for name, count in counts.items()}


def _write(folder: Path, rows: int, chance: random.Random) -> None:
    header = "item,annotator,category\n"
    for name, first in (("rows", 0), ("more", rows // 10)):
        lines = [header]
        for item in range(first, first + rows // 5):
            truth = chance.choice("xyz")
            given = [truth if chance.random() < 0.8 else chance.choice("xyz") for _ in range(4)]
            answers = zip(("a0", "a1", "a2", PERSON, "a4"), [*given, "x"], strict=True)
            lines += [f"i{item},{who},{what}\n" for who, what in answers]
        (folder / f"{name}.csv").write_text("".join(lines))
    (folder / "tasks.csv").write_text("item\n" + "".join(f"t{n}\n" for n in range(300)))
    (folder / "few.csv").write_text(header + f"i1,a1,z\ni2,{PERSON},z\nnew,a2,x\n")


def _file(folder: Path, name: str, copied: str | None) -> str:
    for left in folder.glob(f"{name}.db*"):
        left.unlink()
    if copied:
        shutil.copy(folder / f"{copied}.db", folder / f"{name}.db")
    return f"sqlite:///{folder / name}.db"


def _on_server(admin: str, stack: ExitStack, name: str, copied: str | None) -> str:
    from tests.postgres import create_database, drop_database

    drop_database(admin, f"tracker_kills_{name}")
    stack.callback(drop_database, admin, f"tracker_kills_{name}")
    return create_database(admin, f"tracker_kills_{name}", copied and f"tracker_kills_{copied}")


def main() -> int:
    """Print the counts; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60, help="kills, shared among the commands")
    parser.add_argument("--seed", type=int, default=0, help="of the data and the moments")
    parser.add_argument("--rows", type=int, default=5_000, help="rows of the ledger")
    parser.add_argument("--postgres", metavar="URL", help="a server too; auto: one of our own")
    asked = parser.parse_args()
    wrong: list[str] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tracker-kills-")))
        _write(folder, asked.rows, random.Random(asked.seed))
        places = [Kills("SQLite", folder, partial(_file, folder))]
        if asked.postgres:
            from tests.postgres import server

            serving = server() if asked.postgres == "auto" else nullcontext(asked.postgres)
            admin = stack.enter_context(serving)
            places.append(Kills("Postgres", folder, partial(_on_server, admin, stack)))
        for place in places:
            filled = place.fresh("filled", None)
            for words in FURNISH:
                place.finish(filled, words)
            # A backup of Postgres is pg_dump's.
            names = [name for name in COMMANDS if name != BACKUP or place.title == "SQLite"]
            for name in names:
                wrong += place.of(name, max(1, asked.runs // len(names)), asked.seed)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
