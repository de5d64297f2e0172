"""How long it takes to give many items to many people, how evenly, and in how much memory.

    python benchmarks/assigning.py [ITEMS] [PEOPLE] [ANSWERS]

Printed are the time and the peak memory of assigning (default: 100,000 items, 200 people, 3
answers each), of writing the lists, and of counting what is open; the loads and what pairs share.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import tracker


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def main(items: int = 100_000, people: int = 200, answers: int = 3) -> None:
    """Run it, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = tracker.open(f"sqlite:///{folder}/ledger.db")
        ledger.projects.create("p")
        file = Path(folder) / "items.csv"
        file.write_text(
            "item,text\n" + "".join(f"i{n},A sentence about the item {n}.\n" for n in range(items))
        )
        ledger.import_items(file, "p")
        names = [f"w{n}" for n in range(people)]
        begin = perf_counter()
        assigned = ledger.assignments.assign("p", to=names, answers=answers, repeat="2%")
        print(f"assigned in {perf_counter() - begin:.1f} s, {peak()}")
        loads = [load.fresh for load in assigned.loads]
        print(f"loads {min(loads):,} to {max(loads):,}, pairs share {assigned.pairs}")
        begin = perf_counter()
        rows = len(ledger.assignments.tasks("p"))
        print(f"{rows:,} rows of lists in {perf_counter() - begin:.1f} s, {peak()}")
        begin = perf_counter()
        ledger.assignments.progress("p")
        print(f"progress in {perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
