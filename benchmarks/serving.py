"""How long the server takes for a page of a large project, alone and while others read and import.

Run ``python benchmarks/serving.py``; README.md beside it says what it prints. Exit code 1
if a target is missed.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Event
from urllib.error import HTTPError
from urllib.request import urlopen

from data import PROJECT, database_of
from processes import run, tracker

READERS, REQUESTS = 50, 10_000
PAGE_SECONDS, BUSY_SECONDS = 0.3, 1.0
PLACES = (f"/projects/{PROJECT}", f"/api/v1/projects/{PROJECT}/agreement", "/", "/healthz")
PAGES = ("", "annotators", "findings", "items", "imports", "snapshots", "changes", "gate",
         "settings", "questions/label")  # fmt: skip
ROWS = "item,annotator,category\n" + "".join(
    f"new-{n},annotator-{a},joy\n" for n in range(2_000) for a in range(5)
)


def main() -> int:
    """Print what was measured; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--labels", type=int, default=2_000_000)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--folder", type=Path, help="keep the data here for the next run")
    asked = parser.parse_args()
    place: AbstractContextManager[str] = tempfile.TemporaryDirectory()
    if asked.folder:
        asked.folder.mkdir(parents=True, exist_ok=True)
        place = nullcontext(str(asked.folder))
    with place as folder:
        database = database_of(Path(folder), asked.labels)
        with serving(database) as (process, address):
            met = [page(address), acted(address, database)]
            met.append(flat(process, address, asked.requests))
            met.append(busy(address, database, Path(folder)))
    return 0 if all(met) else 1


@contextmanager
def serving(database: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own, and its address."""
    words = tracker("--database", database, "serve", "--port", "0")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[3]
        finally:
            process.terminate()


def seconds(address: str) -> float:
    """How long a request takes, read to its end; infinite if it fails."""
    started = time.perf_counter()
    try:
        with urlopen(address, timeout=300) as answer:  # noqa: S310 - of this machine
            answer.read()
    except (HTTPError, OSError):
        return float("inf")
    return time.perf_counter() - started


def page(address: str) -> bool:
    """The project's page: counted, and again when nothing changed."""
    first = seconds(address + PLACES[0])
    again = [seconds(address + PLACES[0]) for _ in range(20)]
    usual, most = 1000 * statistics.median(again), 1000 * max(again)
    print(
        f"project page: {first:.1f} s counted, then median {usual:.0f} ms, largest {most:.0f} ms "
        f"(target {1000 * PAGE_SECONDS:.0f} ms)",
        flush=True,
    )
    return usual < 1000 * PAGE_SECONDS


def acted(address: str, database: Path) -> bool:
    """Every page of the project after an act that changes no answer."""
    places = [f"{PLACES[0]}/{name}".rstrip("/") for name in PAGES]
    for place in places:
        seconds(address + place)
    slowest, name = 0.0, ""
    for act in (("project", "note", PROJECT, "a holiday"), ("snapshot", PROJECT)):
        run(tracker("--database", database, *act))
        slowest, name = max((slowest, name), *((seconds(address + at), at) for at in places))
    print(
        f"pages after a note and a snapshot: at most {1000 * slowest:.0f} ms, {name} "
        f"(target {1000 * PAGE_SECONDS:.0f} ms)",
        flush=True,
    )
    return slowest < PAGE_SECONDS


def flat(process: subprocess.Popen[str], address: str, requests: int) -> bool:
    """The memory of the server after a tenth of the requests, and after all."""

    def ask(n: int) -> None:
        seconds(address + PLACES[n % len(PLACES)])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(requests // 10)))
        before = resident(process.pid)
        list(pool.map(ask, range(requests - requests // 10)))
    after = resident(process.pid)
    print(
        f"memory after {requests // 10:,} requests {before} MB, after {requests:,} {after} MB"
        " (target: at most a twentieth more)",
        flush=True,
    )
    return after <= before * 1.05


def resident(process: int) -> int:
    """The resident memory of a process, in megabytes."""
    text = Path(f"/proc/{process}/status").read_text("utf-8")
    return int(text.partition("VmRSS:")[2].split()[0]) // 1024


def busy(address: str, database: Path, folder: Path) -> bool:
    """Fifty readers of small pages while files are imported."""
    done = Event()

    def read(n: int) -> list[float]:
        times = []
        while not done.is_set():
            times.append(seconds(address + PLACES[2 + n % 2]))
        return times

    file = folder / "new.csv"
    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read, n) for n in range(READERS)]
        for number in range(3):
            file.write_text(ROWS.replace("new-", f"new-{number}-"), "utf-8")
            run(tracker("--database", database, "import", file, "-p", "beside"))
        done.set()
        times = sorted(time for one in readers for time in one.result())
    failed = times.count(float("inf"))
    late = times[int(len(times) * 0.95)]
    print(
        f"{READERS} readers and an import: {len(times):,} requests, {failed} failed, "
        f"95 of 100 within {late:.2f} s (target {BUSY_SECONDS:.0f} s)",
        flush=True,
    )
    return failed == 0 and late < BUSY_SECONDS


if __name__ == "__main__":
    sys.exit(main())
