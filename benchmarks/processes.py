"""Processes timed one by one, and ratios of pairs of them taken in turn."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "Ratio", "in_turn", "net", "on_server", "python", "run", "tracker"]


@dataclass(frozen=True)
class Cost:
    """What one process took; ``peak`` is its largest resident memory in bytes.

    On Linux a process starts from its parent's peak, so the parent here stays small.
    """

    wall: float
    cpu: float
    peak: int
    output: str = ""

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.wall - other.wall, self.cpu - other.cpu, self.peak)


@dataclass(frozen=True)
class Ratio:
    """Pairwise ratios of wall-clock time, and the same of CPU time; and ours' highest peak."""

    walls: tuple[float, ...]
    cpus: tuple[float, ...]
    peak: int

    @property
    def median(self) -> float:
        """The median ratio of wall-clock time."""
        return statistics.median(self.walls)

    @property
    def cpu(self) -> float:
        """The median ratio of CPU time."""
        return statistics.median(self.cpus)


def python(code: str, *arguments: object) -> list[str]:
    """The command that runs a piece of Python with the interpreter of this one."""
    return [sys.executable, "-c", code, *map(str, arguments)]


def tracker(*arguments: object) -> list[str]:
    """The command line of ``tracker``."""
    return [sys.executable, "-m", "tracker", *map(str, arguments)]


def run(command: Sequence[str]) -> Cost:
    """Run a process to its end; raises RuntimeError with what it said where it failed."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as told:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=told, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        told.seek(0)
        if process.returncode:
            code, error = process.returncode, said.read().decode()[-2000:]
            raise RuntimeError(f"{command[1:4]} failed with {code}: {error}")
        unit = 1 if sys.platform == "darwin" else 1024
        cpu = usage.ru_utime + usage.ru_stime
        return Cost(wall, cpu, usage.ru_maxrss * unit, told.read().decode())


def on_server(url: str, command: Sequence[str]) -> tuple[Cost, float]:
    """Run a process; returns its cost, and the CPU time of the Postgres that it used meanwhile."""
    before = server_cpu(url)
    cost = run(command)
    return cost, server_cpu(url) - before


def server_cpu(url: str) -> float:
    """The CPU time of all processes of a Postgres on this machine, a Linux; else 0."""
    import psycopg

    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        backend = _stat(connection.info.backend_pid)
    if not backend:
        return 0.0
    parent = int(backend[1])
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    ours = [stat for pid in pids if (stat := _stat(pid)) and parent in (pid, int(stat[1]))]
    # Its own and, of those that have ended, what it waited for.
    return sum(int(part) for stat in ours for part in stat[11:15]) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # it has ended
        return []


def net(
    command: Sequence[str], idle: Sequence[str], before: Callable[[], None] = lambda: None
) -> Callable[[], Cost]:
    """Measures a command less the same on next to no data; ``before`` is done first, each time."""

    def once() -> Cost:
        before()
        return run(command) - run(idle)

    return once


def in_turn(ours: Callable[[], Cost], theirs: Callable[[], Cost], repeats: int) -> Ratio:
    """Measure A B A B …; one ratio a pair. The first pair warms the caches and is left out."""
    pairs = [(ours(), theirs()) for _ in range(repeats + 1)][1:]
    return Ratio(
        tuple(a.wall / b.wall for a, b in pairs),
        # A peer that is timed within its process has no CPU time of its own.
        tuple(a.cpu / b.cpu for a, b in pairs if b.cpu > 0) or (float("nan"),),
        max(a.peak for a, _ in pairs),
    )
