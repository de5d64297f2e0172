"""The same comparisons on a Postgres; reported, without targets, but for the import's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from comparisons import FEW, TO_SQL, Bench, Row, of_ledger
from data import IMPORT, PROJECT, csv_of, fill
from processes import Cost, in_turn, on_server, python, run

__all__ = ["on_postgres"]

# The harness of the tests lies beside this folder, in the checkout.
sys.path.append(str(Path(__file__).resolve().parent.parent))

# As autovacuum does, which the harness turns off; it would measure a planner without statistics.
ANALYZE = """
import psycopg, sys
with psycopg.connect(sys.argv[1].replace("+psycopg", ""), autocommit=True) as connection:
    connection.execute("VACUUM (ANALYZE)")
"""

# What loading cannot do without: the file copied, its names numbered, the rows stored by them in
# the order of their key. Planned with statistics, or it takes three times as long.
NORMALIZING = (
    """
import psycopg, sys
SQL = """
    + "'''"
    + """
    CREATE TEMPORARY TABLE flat (item text, annotator text, category text, labeled_at bigint);
    COPY flat FROM STDIN WITH (FORMAT csv, HEADER);
    CREATE TABLE items (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE);
    CREATE TABLE people (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE);
    CREATE TABLE classes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE);
    CREATE TABLE answers (item_id integer, annotator_id integer, category_id integer,
        labeled_at bigint, PRIMARY KEY (item_id, annotator_id));
    ANALYZE flat;
    INSERT INTO items (name) SELECT item FROM flat GROUP BY item;
    INSERT INTO people (name) SELECT annotator FROM flat GROUP BY annotator;
    INSERT INTO classes (name) SELECT category FROM flat GROUP BY category;
    ANALYZE items; ANALYZE people; ANALYZE classes;
    INSERT INTO answers SELECT items.id, people.id, classes.id, labeled_at FROM flat
        JOIN items ON items.name = flat.item
        JOIN people ON people.name = flat.annotator
        JOIN classes ON classes.name = flat.category
        ORDER BY 1, 2
"""
    + "'''"
    + """
with psycopg.connect(sys.argv[1].replace("+psycopg", "")) as connection:
    for statement in SQL.split(";"):
        if "STDIN" not in statement:
            connection.execute(statement)
            continue
        with connection.cursor().copy(statement) as copy, open(sys.argv[2], "rb") as file:
            while part := file.read(1 << 20):
                copy.write(part)
"""
)
MOST_OF_NORMALIZING = 3.0


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
                command = python(code, fresh, csv_of(bench.folder, bench.rows), PROJECT)
                cost, there = on_server(fresh, command)
                return replace(cost, cpu=cost.cpu + there)

            if "import" in wanted:
                ratio = in_turn(lambda: new(IMPORT), lambda: new(TO_SQL["postgres"]), bench.repeats)
                name = f"import of {bench.rows:,} rows"
                yield Row(name, "read_csv + to_sql, a flat table", ratio, peak=ratio.peak)
                ratio = in_turn(lambda: new(IMPORT), lambda: new(NORMALIZING), bench.repeats)
                yield Row(name, "COPY, names numbered in SQL", ratio, MOST_OF_NORMALIZING)
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
