"""How long tracker takes, as ratios to what the same data take otherwise.

Run ``python benchmarks/speed.py``; README.md beside it says what it prints. Exit code 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from comparisons import COMPARISONS, MEGABYTE, Bench, Row
from on_postgres import on_postgres
from rich.console import Console
from rich.table import Table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--labels", type=int, default=2_000_000, help="labels that are counted")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows that are imported")
    parser.add_argument("--repeats", type=int, default=5, help="pairs of measurements")
    parser.add_argument("--postgres", metavar="URL", help="a server too; auto: one of our own")
    parser.add_argument("--only", help=f"some of: {','.join(COMPARISONS)}")
    parser.add_argument("--folder", type=Path, help="where to keep the data (default: nowhere)")
    arguments = parser.parse_args()
    arguments.wanted = set((arguments.only or ",".join(COMPARISONS)).split(","))
    unknown = arguments.wanted - set(COMPARISONS)
    if unknown:
        parser.error(f"no such comparison: {', '.join(sorted(unknown))}")
    if arguments.repeats < 1 or min(arguments.labels, arguments.rows) < 100:
        parser.error("give --repeats of 1 or more, --labels and --rows of 100 or more")
    return arguments


def _table(rows: list[Row], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("what", "against", "ratio", "least-most", "CPU", "target", "peak MB", ""):
        right = heading in {"ratio", "least-most", "CPU", "target", "peak MB"}
        table.add_column(heading, justify="right" if right else "left", no_wrap=right)
    for row in rows:
        table.add_row(row.name, row.against, *_ratio_cells(row), _peak(row), _verdict(row))
    return table


def _ratio_cells(row: Row) -> list[str]:
    if row.ratio is None:
        return ["", "", "", ""]
    walls = row.ratio.walls
    return [
        f"{row.ratio.median:.2f}",
        f"{min(walls):.2f}-{max(walls):.2f}",
        "" if row.ratio.cpu != row.ratio.cpu else f"{row.ratio.cpu:.2f}",
        "" if row.target is None else f"≤ {row.target:g}",
    ]


def _peak(row: Row) -> str:
    if row.peak is None:
        return ""
    limit = "" if row.most_mb is None else f" (< {row.most_mb})"
    return f"{row.peak / MEGABYTE:.0f}{limit}"


def _verdict(row: Row) -> str:
    if row.target is None and row.most_mb is None:
        return "reported" if row.ratio else ""
    return "[red]missed[/red]" if row.missed else "[green]met[/green]"


def main() -> int:
    """Print the tables; returns the exit code."""
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else 120)
    place: AbstractContextManager[str | Path] = tempfile.TemporaryDirectory(prefix="tracker-speed-")
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        place = nullcontext(arguments.folder)
    with place as folder:
        bench = Bench(Path(folder), arguments.labels, arguments.rows, arguments.repeats)
        rows: list[Row] = []
        for name, compare in COMPARISONS.items():
            if name in arguments.wanted:
                for row in compare(bench):
                    rows.append(row)
                    _progress(row)
        console.print(_table(rows, f"SQLite, {bench.labels:,} labels, {bench.repeats} repeats"))
        if arguments.postgres:
            beside = []
            for row in on_postgres(arguments.postgres, bench, arguments.wanted):
                beside.append(row)
                _progress(row)
            console.print(_table(beside, f"Postgres, {bench.labels:,} labels"))
    return 1 if any(row.missed for row in rows) else 0


def _progress(row: Row) -> None:
    ratio = "" if row.ratio is None else f": {row.ratio.median:.2f}"
    print(f"{row.name} / {row.against}{ratio}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
