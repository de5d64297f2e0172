"""Projects of several designs, simulated and asked in processes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TypeVar

Design, Answer = TypeVar("Design"), TypeVar("Answer")


def ask_projects(
    description: str | None,
    designs: Sequence[Design],
    ask: Callable[[Design, int], Answer],
    *,
    projects: int,
    processes: int,
) -> Iterator[tuple[Design, list[Answer]]]:
    """Yield each design with what ``ask`` returns of its projects, by design and seed.

    ``--projects`` and ``--processes`` on the command line replace the given numbers.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--projects", type=int, default=projects)
    parser.add_argument("--processes", type=int, default=processes)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.processes) as pool:
        for design in designs:
            yield design, list(pool.map(partial(ask, design), range(given.projects)))
