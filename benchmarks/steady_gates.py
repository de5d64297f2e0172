"""How often the gate that `gate --init` writes fails: python steady_gates.py [--projects 100].

Each project is answered for 8 weeks, has its file written, and then passes its gate every week of
a year, of all answers and of the last 7 and 28 days; the one snapshot is as old as the file.
*Steady* projects never change: the share of them in which a gate fails at least once is that of
false alarms a year. In the others agreement falls for good in the 13th week of the gate, and the
share is of those whose gate fails within four weeks of it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

import pandas as pd

from tracker.core import clock
from tracker.counts.filter import EVERYTHING, make_answer_filter
from tracker.gate.config import parse_gate_config
from tracker.gate.evaluate import judge_gate
from tracker.gate.scaffold import starting_gate_config
from tracker.ledger import Ledger

BEGIN = datetime(2025, 1, 6, tzinfo=UTC)  # a Monday
BEFORE, YEAR, WORSE, SOON = 8, 52, 12, 4
SHARES = (0.5, 0.3, 0.2)  # of the categories
WINDOWS = {"all answers": None, "7 days": 7, "28 days": 28}
COLUMNS = ["item", "annotator", "category", "labeled_at"]
OVERLAP = 0.9  # of the items that have more than one answer


class Design(NamedTuple):
    """A kind of project: items a week, the spread of its weeks, the fall of agreement."""

    items: int
    varying: float = 0.0
    fall: float = 0.0

    def __str__(self) -> str:
        spread = f", weekly kappa varies by {self.varying}" if self.varying else ""
        return f"{self.items} items a week{spread}" + (f", falls by {self.fall}" * bool(self.fall))


KINDS = [Design(items, varying) for varying in (0.0, 0.05) for items in (20, 50, 200)]
FALLS = (0.0, 0.15, 0.25)


class Project:
    """The answers of 3 to 12 people, week after week; kappa is .55 to .8."""

    def __init__(self, design: Design, seed: int) -> None:
        self.design, self.chance = design, random.Random(f"{design.items} {seed}")
        self.people = [f"a{n}" for n in range(self.chance.randint(3, 12))]
        self.kappa = self.chance.uniform(0.55, 0.8)
        self.each = self.chance.choice((2, 3))

    def week(self, number: int, *, worse: bool) -> Iterator[tuple[str, str, str, str]]:
        """Yield a week's answers; with a chance of kappa two people both know the category."""
        kappa = self.kappa + self.chance.gauss(0, self.design.varying)
        knows = min(max(kappa - self.design.fall * worse, 0.0), 0.98) ** 0.5
        items = max(1, round(self.chance.gauss(self.design.items, self.design.items**0.5)))
        for n in range(items):
            at = BEGIN + timedelta(weeks=number, days=7 * n / items, seconds=1)
            (truth,) = self.chance.choices("abc", SHARES)
            several = self.chance.random() < OVERLAP
            for who in self.chance.sample(self.people, self.each if several else 1):
                guess = self.chance.choices("abc", SHARES)[0]
                given = truth if self.chance.random() < knows else guess
                yield f"{number} {n}", who, given, at.isoformat()


def failures(design: Design, seed: int) -> dict[str, list[str]]:
    """Return the kinds of checks that failed in any week, by window."""
    ledger, project = Ledger("sqlite://"), Project(design, seed)
    files: dict[str, str] = {}
    failed: dict[str, list[str]] = {window: [] for window in WINDOWS}
    first, last = (WORSE + 1, WORSE + SOON) if design.fall else (1, YEAR)
    for week in range(BEFORE + last):
        look = week - BEFORE + 1
        end = BEGIN + timedelta(weeks=week + 1)
        clock.now = partial(clock.parse_timestamp, end.isoformat())
        answers = project.week(week, worse=bool(design.fall) and look > WORSE)
        ledger.import_frame(pd.DataFrame(answers, columns=COLUMNS), "p")
        if look == 0:
            ledger.snapshot("p")
        elif look < first:
            continue
        for window, days in WINDOWS.items():
            since = end - timedelta(days=days or 0)
            chosen = make_answer_filter(since=since) if days else EVERYTHING
            with ledger.asking_each("p", chosen) as (connection, questions):
                if look == 0:
                    files[window] = starting_gate_config(connection, questions, chosen)
                    continue
                config = parse_gate_config(files[window], window)
                result = judge_gate(connection, questions, config, chosen)
            failed[window] += [
                f"{check.kind} of {check.measure or check.category or check.check}"
                for check in result.failed
            ]
    return failed


def main() -> None:
    """Print for each kind of project and each window how many gates failed, and which checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=100, help="steady ones in all")
    parser.add_argument("--falling", type=int, default=20, help="of each kind and fall")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.processes) as pool:
        for fall in FALLS:
            for number, kind in enumerate(KINDS):
                steady = range(number, given.projects, len(KINDS))
                seeds = range(given.falling) if fall else steady
                found = list(pool.map(partial(failures, kind._replace(fall=fall)), seeds))
                for window in WINDOWS:
                    failed = [project[window] for project in found if project[window]]
                    which = Counter(check for checks in failed for check in {*checks})
                    print(f"{kind._replace(fall=fall)}, {window}: {len(failed)} of {len(found)}",
                          dict(which), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
