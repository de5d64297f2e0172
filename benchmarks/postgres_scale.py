"""What a ledger on Postgres takes to load and to ask: CPU of client and server, memory, disk.

    python benchmarks/postgres_scale.py [URL] --labels 2000000 20000000 [--keep] [--folder FOLDER]

README.md beside it says what is measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from data import IMPORT, PROJECT, csv_of, forget
from processes import on_server, python, tracker
from rich.console import Console
from rich.table import Table
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

sys.path.append(str(Path(__file__).resolve().parent.parent))
from tests.postgres import create_database, drop_database, server

ASKED = (
    ("agreement",),
    ("agreement", "--by", "pair"),
    ("audit",),
    ("snapshot", "--full"),
)


def measured(admin: str, labels: int, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a row for the load, unless the database is there already, and for each question."""
    name = f"tracker_scale_{labels}"
    url = make_url(admin).set(database=name).render_as_string(hide_password=False)
    if not is_there(url):
        file = csv_of(folder, labels)
        create_database(admin, name)
        yield row("import", url, python(IMPORT, url, file, PROJECT))
    for words in ASKED:
        command = tracker("--database", url, "--engine", "native", *words, PROJECT)
        forget(url)
        yield row(" ".join(words), url, command)
        if words == ("agreement",):
            yield row("agreement, asked again", url, command)
    with create_engine(url, poolclass=NullPool).connect() as connection:
        size = connection.scalar(text("SELECT pg_database_size(current_database())"))
    yield "on disk", "", "", "", f"{size / 2**20:,.0f}"


def is_there(url: str) -> bool:
    """Whether a server has the database."""
    try:
        create_engine(url, poolclass=NullPool).connect().close()
    except OperationalError:
        return False
    return True


def row(name: str, url: str, command: Sequence[str]) -> tuple[str, ...]:
    """What a command took, in seconds and megabytes."""
    cost, there = on_server(url, command)
    seconds = (f"{part:.1f}" for part in (cost.wall, cost.cpu, there))
    return (name, *seconds, f"{cost.peak / 2**20:,.0f}")


def main() -> None:
    """Print a table for each number of labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="auto")
    parser.add_argument("--labels", type=int, nargs="+", default=[2_000_000])
    parser.add_argument("--keep", action="store_true", help="leave the databases for the next run")
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    own = chosen.url == "auto"
    serving: AbstractContextManager[str] = server() if own else nullcontext(chosen.url)
    with serving as admin, tempfile.TemporaryDirectory() as made:
        for labels in chosen.labels:
            table = Table(title=f"{labels:,} labels")
            for heading in ("what", "seconds", "CPU of client", "of server", "MB"):
                table.add_column(heading)
            for cells in measured(admin, labels, chosen.folder or Path(made)):
                table.add_row(*cells)
            Console().print(table)
            if not chosen.keep:
                drop_database(admin, f"tracker_scale_{labels}")


if __name__ == "__main__":
    main()
