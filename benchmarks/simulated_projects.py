"""Projects of several designs, simulated and asked in processes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from operator import attrgetter
from typing import TypeVar

Design, Answer = TypeVar("Design"), TypeVar("Answer")


def ask_projects(
    description: str | None,
    designs: Iterable[Design],
    ask: Callable[[Design, int], Answer],
    *,
    projects: int,
    processes: int,
    name: Callable[[Design], str] = attrgetter("name"),
) -> Iterator[tuple[Design, list[Answer]]]:
    """Read the command line, and return each design with the answers of its projects, by seed.

    ``--projects`` and ``--processes`` replace the given numbers; ``--only`` chooses designs by a
    part of their name.
    """
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--projects", type=int, default=projects)
    parser.add_argument("--processes", type=int, default=processes)
    parser.add_argument("--only", default="", help="designs whose name has this")
    options = parser.parse_args()

    def answers() -> Iterator[tuple[Design, list[Answer]]]:
        with ProcessPoolExecutor(options.processes) as pool:
            for design in designs:
                if options.only in name(design):
                    yield design, list(pool.map(partial(ask, design), range(options.projects)))

    return answers()
