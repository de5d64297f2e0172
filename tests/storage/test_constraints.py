"""What the database itself refuses: changed records, states that cannot be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from tests.audit.flags.found import Seen, record
from tests.helpers import stored
from tests.storage.rows import APPEND_ONLY, fill, sample
from tracker.history.prune import prune_snapshots
from tracker.ledger import Ledger
from tracker.storage.database import Database
from tracker.storage.schema import Base

# Tables of pairs are in old records only.
PAIR = (
    "INSERT INTO snapshot_pairs (project_id, question_id, snapshot_id, first_id, second_id, cells) "
    "VALUES (1, 1, 2, 1, 2, '[]')"
)


def fill_append_only(ledger: Ledger, write: Callable[..., Path]) -> None:
    """Put a row into every table that is append-only."""
    file = write("item,annotator,category\n i,A,x\n i,B,y\n j,A,x\n j,B,x")
    ledger.import_file(file, "p")
    record(ledger, Seen(1))
    for _ in range(2):
        ledger.record_snapshot("p", full=True)
    with ledger.changing("p") as (connection, question):
        connection.execute(text(PAIR))
        prune_snapshots(connection, [question], [])


def test_append_only_tables_are_all_tried() -> None:
    tables = Base.metadata.tables.values()
    assert sorted(table.name for table in tables if table.info.get("append_only")) == APPEND_ONLY


def refusals(backend: str) -> dict[str, str]:
    statements = {
        "update": "UPDATE {0} SET project_id = project_id",
        "delete": "DELETE FROM {0}",
    }
    if backend == "sqlite":
        statements["replace"] = "INSERT OR REPLACE INTO {0} SELECT * FROM {0}"
    else:
        statements["truncate"] = "TRUNCATE {0} CASCADE"
        statements["upsert"] = (
            "INSERT INTO {0} SELECT * FROM {0} WHERE true "
            "ON CONFLICT ON CONSTRAINT pk_{0} DO UPDATE SET project_id = EXCLUDED.project_id"
        )
    return statements


def test_append_only_rows_cannot_be_changed(
    ledger: Ledger, write: Callable[..., Path], backend: str
) -> None:
    fill_append_only(ledger, write)
    before = stored(ledger)
    for table in APPEND_ONLY:
        assert before[table] > 0
        for name, statement in refusals(backend).items():
            refused = pytest.raises(DBAPIError, match="append-only")
            with refused, ledger.database.write() as connection:
                connection.execute(text(statement.format(table)))
                pytest.fail(f"{name} passed")
    assert stored(ledger) == before


def test_other_programs_cannot_replace_append_only_rows(
    sqlite_file: Path, write: Callable[..., Path]
) -> None:
    ledger = Ledger(f"sqlite:///{sqlite_file}")
    fill_append_only(ledger, write)
    plain = sqlite3.connect(sqlite_file)  # with none of our pragmas
    try:
        for table in APPEND_ONLY:
            for statement in refusals("sqlite").values():
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    plain.execute(statement.format(table))
    finally:
        plain.close()


def values_of(table: str, **changed: object) -> tuple[str, dict[str, object]]:
    """A row of a sample, changed, as the parameters of a test."""
    return table, sample()[table][0] | changed


SNAPSHOT = {"project_id": 1, "question_id": 1, "snapshot_id": 1}
IMPOSSIBLE = {
    "pass 0": values_of("labels", **{"pass": 0}),
    "a span that ends where it starts": values_of("labels", span_start=4, span_end=4),
    "a span that ends before its start": values_of("labels", span_start=4, span_end=3),
    "half a span": values_of("labels", span_start=4, span_end=-1),
    "a span before the start": values_of("labels", span_start=-2, span_end=3),
    "none applies with a span": values_of("labels", category_id=0, span_start=0, span_end=3),
    "skipped with a span": values_of("labels", category_id=-1, span_start=0, span_end=3),
    "time before it began": values_of("labels", spent_ms=-1),
    "no such category": values_of("labels", category_id=9),
    "no such question": values_of("labels", question_id=9),
    "no such item": values_of("labels", item_id=9),
    "no such annotator": values_of("labels", annotator_id=9),
    "no such change": values_of("labels", change_id=9),
    "another project's item": values_of("labels", project_id=2),
    "past pass 0": values_of("past_labels", **{"pass": 0}),
    "a past span that ends before its start": values_of("past_labels", span_start=4, span_end=3),
    "taken back by no change": values_of("past_labels", taken_back_by=9),
    "a project without a name": values_of("projects", id=2, name=""),
    "a project of that name": values_of("projects", id=2),
    "a question without a name": values_of("questions", id=2, name=""),
    "a question of that name": values_of("questions", id=2),
    "a question numbered 0": values_of("questions", id=0, name="q"),
    "a question of no project": values_of("questions", project_id=2),
    "a kind of answers": values_of("questions", id=2, name="q", answers="two"),
    "a scale": values_of("questions", id=2, name="q", scale="musical"),
    "offsets": values_of("questions", id=2, name="q", offsets="bytes"),
    "no answer wanted": values_of("questions", id=2, name="q", target_answers=0),
    "a reserved category with a name": values_of("categories", id=-1, name="skipped"),
    "a category without a name": values_of("categories", id=3, name=None),
    "a category of no question": values_of("categories", id=3, name="b", question_id=9),
    "a category twice": values_of("categories", id=3, name="a"),
    "a kind of annotator": values_of("annotators", id=3, name="C", kind="robot"),
    "an annotator twice": values_of("annotators", id=3, name="A"),
    "its own alias": values_of("aliases", alias_id=1),
    "an alias that ends before it starts": values_of("aliases", from_change=2, to_change=2),
    "a negative length": values_of("items", id=2, name="j", length=-1),
    "an item twice": values_of("items", id=2),
    "rows without a fate": values_of("imports", id=2, change_id=3, rows=2),
    "a change that is two imports": values_of("imports", id=2),
    "a pattern of no item": values_of("snapshot_patterns", pattern="[]", items=0),
    "a snapshot of that name": values_of("snapshots", id=2),
    "a measure without value or reason": (
        "snapshot_measures",
        SNAPSHOT | {"measure": "m", "position": 0, "confidence": 0.95} | {"items": 1},
    ),
    "a measure with value and reason": (
        "snapshot_measures",
        SNAPSHOT
        | {"measure": "m", "position": 0, "confidence": 0.95}
        | {"items": 1, "value": 0.5, "undefined": "no_overlap"},
    ),
    "more agreements than there can be": (
        "snapshot_categories",
        SNAPSHOT
        | {"category_id": 1, "position": 0, "labels": 2}
        | {"agreements": 2, "potential_agreements": 1, "rate": 1.0},
    ),
    "a rate without a reason for none": (
        "snapshot_categories",
        SNAPSHOT
        | {"category_id": 1, "position": 0, "labels": 2}
        | {"agreements": 0, "potential_agreements": 0},
    ),
    "a flag twice": values_of("flags", id=2),
    "a pair the other way round": values_of("flags", id=2, annotator_id=2, other_id=1),
    "a flag of nobody": values_of("flags", id=2, annotator_id=9, other_id=9),
    "a flag with nobody": values_of("flags", id=2, other_id=9),
    "a flag of no category": values_of("flags", id=2, category_id=9),
    "a sighting of no flag": values_of("flag_sightings", flag_id=9),
    "a sighting numbered 0": values_of("flag_sightings", number=0),
    "a sighting of less than nothing": values_of("flag_sightings", number=2, informative=-1),
    "a change of no flag": values_of("flag_changes", flag_id=9),
    "a change of a state": values_of("flag_changes", number=3, action="reopened", state="shut"),
    "an unknown change": values_of("flag_changes", number=3, action="forgotten", made_by="ann"),
    "a change numbered 0": values_of("flag_changes", number=0, action="reopened"),
    "a flag found twice": values_of("flag_changes", number=3),
    "a flag that begins otherwise": values_of("flag_changes", number=1, action="reopened"),
    "somebody without a name": values_of("flag_changes", number=3, action="dismissed"),
    "an appeal without words": values_of("flag_changes", number=3, action="appealed", made_by="B"),
}


@pytest.fixture
def sampled(url: str) -> Database:
    """A database that holds the sample."""
    database = Database(url)
    fill(database)
    return database


def test_the_sample_is_sound(sampled: Database) -> None:
    assert sampled.check() == []


def test_impossible_states_are_refused(sampled: Database) -> None:
    for name, (table, row) in IMPOSSIBLE.items():
        try:
            with sampled.write() as connection:
                connection.execute(Base.metadata.tables[table].insert(), row)
        except IntegrityError:
            continue
        pytest.fail(f"stored: {name}")
