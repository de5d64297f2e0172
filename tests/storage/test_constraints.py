"""What the database itself refuses: changed records, states that cannot be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from tests.audit.flags.found import Seen, record
from tests.helpers import stored
from tests.storage.rows import APPEND_ONLY, fill, sample
from tracker.history.prune import prune_snapshots
from tracker.ledger import Ledger
from tracker.storage.schema import Base

# No snapshot is recorded with tables of pairs.
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


def refusals(backend: str) -> dict[str, str]:
    statements = {"update": "UPDATE {0} SET project_id = project_id", "delete": "DELETE FROM {0}"}
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
    tables = Base.metadata.tables.values()
    assert sorted(table.name for table in tables if table.info.get("append_only")) == APPEND_ONLY
    fill_append_only(ledger, write)
    before = stored(ledger)
    for table in APPEND_ONLY:
        assert before[table] > 0
        for name, statement in refusals(backend).items():
            refused = pytest.raises(DBAPIError, match="append-only")
            with refused, ledger.database.write() as connection:
                connection.execute(text(statement.format(table)))
                pytest.fail(f"{name} passed")
    if ledger.database.file is not None:
        with closing(sqlite3.connect(ledger.database.file)) as plain:  # with none of our pragmas
            for table in APPEND_ONLY:
                for statement in refusals("sqlite").values():
                    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                        plain.execute(statement.format(table))
    assert stored(ledger) == before


SNAPSHOT = {"project_id": 1, "question_id": 1, "snapshot_id": 1, "position": 0}
MEASURE = SNAPSHOT | {"measure": "m", "confidence": 0.95, "items": 1}
RATE = SNAPSHOT | {"category_id": 1, "labels": 2, "agreements": 0, "potential_agreements": 0}
IMPOSSIBLE: list[tuple[str, dict[str, object]]] = [
    *(("labels", changes) for changes in (
        {"pass": 0}, {"span_start": 4, "span_end": 4}, {"span_start": 4, "span_end": 3},
        {"span_start": 4, "span_end": -1}, {"span_start": -2, "span_end": 3},
        {"category_id": 0, "span_start": 0, "span_end": 3},
        {"category_id": -1, "span_start": 0, "span_end": 3}, {"spent_ms": -1}, {"category_id": 9},
        {"question_id": 9}, {"item_id": 9}, {"annotator_id": 9}, {"change_id": 9},
        {"project_id": 2})),
    *(("past_labels", changes) for changes in (
        {"pass": 0}, {"span_start": 4, "span_end": 3}, {"taken_back_by": 9})),
    *(("projects", {"id": 2} | changes) for changes in ({"name": ""}, {})),
    *(("questions", changes) for changes in (
        {"id": 2, "name": ""}, {"id": 2}, {"id": 0, "name": "q"}, {"project_id": 2},
        {"id": 2, "name": "q", "answers": "two"}, {"id": 2, "name": "q", "scale": "musical"},
        {"id": 2, "name": "q", "offsets": "bytes"}, {"id": 2, "name": "q", "target_answers": 0})),
    *(("categories", changes) for changes in (
        {"id": -1, "name": "skipped"}, {"id": 3, "name": None},
        {"id": 3, "name": "b", "question_id": 9}, {"id": 3, "name": "a"})),
    ("annotators", {"id": 3, "name": "C", "kind": "robot"}),
    ("annotators", {"id": 3, "name": "A"}),
    ("aliases", {"alias_id": 1}),
    ("aliases", {"from_change": 2, "to_change": 2}),
    ("items", {"id": 2, "name": "j", "length": -1}),
    ("items", {"id": 2}),
    ("imports", {"id": 2, "change_id": 3, "rows": 2}),
    ("imports", {"id": 2}),
    ("snapshot_patterns", {"pattern_id": 1, "items": 0, "snapshot_id": 2}),
    ("snapshots", {"id": 3}),
    ("snapshot_measures", MEASURE),
    ("snapshot_measures", MEASURE | {"value": 0.5, "undefined": "no_overlap"}),
    ("snapshot_categories", RATE | {"agreements": 2, "potential_agreements": 1, "rate": 1.0}),
    ("snapshot_categories", RATE),
    *(("flags", {"id": 3} | changes) for changes in (
        {}, {"annotator_id": 2, "other_id": 1}, {"annotator_id": 9, "other_id": 9},
        {"other_id": 9}, {"category_id": 9}, {"other_id": None, "kind": "other"})),
    *(("flag_sightings", changes) for changes in (
        {"flag_id": 9}, {"number": 0}, {"number": 2, "informative": -1})),
    *(("flag_changes", changes) for changes in (
        {"flag_id": 9}, {"number": 4, "action": "reopened", "state": "shut"},
        {"number": 4, "action": "forgotten", "made_by": "ann"},
        {"number": 0, "action": "reopened"}, {"number": 4}, {"number": 1, "action": "reopened"},
        {"number": 4, "action": "dismissed"},
        {"number": 4, "action": "appealed", "made_by": "B"})),
]  # fmt: skip
"""Tables, and what differs from the first row of their sample."""


def test_impossible_states_are_refused(ledger: Ledger) -> None:
    database, rows = ledger.database, sample()
    fill(database)
    assert database.check() == []
    with database.write(keep=False) as connection:
        for table, changes in IMPOSSIBLE:
            row = rows[table][0] if table in rows else {}
            try:
                with connection.begin_nested():
                    connection.execute(Base.metadata.tables[table].insert(), row | changes)
            except IntegrityError:
                continue
            pytest.fail(f"stored in {table}: {changes}")
