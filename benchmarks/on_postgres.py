"""The same comparisons on a Postgres; reported, without targets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from comparisons import FEW, TO_SQL, Bench, Row, of_ledger
from data import IMPORT, PROJECT, csv_of, fill
from processes import Cost, in_turn, python, run

__all__ = ["on_postgres"]

# The harness of the tests lies beside this folder, in the checkout.
sys.path.append(str(Path(__file__).resolve().parent.parent))

# As autovacuum does, which the harness turns off; it would measure a planner without statistics.
ANALYZE = """
import psycopg, sys
with psycopg.connect(sys.argv[1].replace("+psycopg", ""), autocommit=True) as connection:
    connection.execute("VACUUM (ANALYZE)")
"""


def on_postgres(url: str, bench: Bench, wanted: set[str]) -> Iterator[Row]:
    """Compare on the server of ``url`` (``auto``: one of our own), in databases of our own."""
    from tests.postgres import create_database, drop_database, server

    serving: AbstractContextManager[str] = server() if url == "auto" else nullcontext(url)
    with serving as admin:
        made = {name: f"tracker_speed_{name}" for name in ("large", "small", "new")}
        for name in made.values():
            drop_database(admin, name)
        try:
            large, small = (create_database(admin, made[name]) for name in ("large", "small"))

            def new(code: str) -> Cost:
                drop_database(admin, made["new"])
                fresh = create_database(admin, made["new"])
                return run(python(code, fresh, csv_of(bench.folder, bench.rows), PROJECT))

            if "import" in wanted:
                ratio = in_turn(lambda: new(IMPORT), lambda: new(TO_SQL["postgres"]), bench.repeats)
                name = f"import of {bench.rows:,} rows"
                yield Row(name, "read_csv + to_sql, a flat table", ratio, peak=ratio.peak)
            counted = [name for name in ("agreement", "audit", "snapshot") if name in wanted]
            if counted:
                for target, answers in ((large, bench.labels), (small, FEW)):
                    fill(target, csv_of(bench.folder, answers))
                    run(python(ANALYZE, target))
            for command in counted:
                options = ("--exclude-kind", "copying") if command == "audit" else ()
                words = (command, PROJECT, *options)
                yield of_ledger("postgres", words, large, small, bench.repeats)
        finally:
            for name in made.values():
                drop_database(admin, name)
