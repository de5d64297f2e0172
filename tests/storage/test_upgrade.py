"""Ledgers made at an older revision, with their rows, under today's program."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.helpers import standing, undo
from tests.storage.rows import put, with_questions
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.projects.annotators import list_annotators
from tracker.projects.categories import category_names
from tracker.projects.items import find_item, list_items
from tracker.projects.questions import find_question
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.database import Database
from tracker.storage.schema import Base

LATER = {"questions", "annotator_attributes", "answer_details", "syncs", "withdrawals"} | {
    "users", "user_annotators", "tokens", "signing_keys", "item_aliases",
    "keyed_requests", "webhooks", "deliveries", "access_changes", "saved_views",
    "batches", "assignments", "drafts", "decisions", "kept_tallies",
    "lakes", "lake_files", "lake_names",
}  # fmt: skip
"""Tables of later revisions than the kept ledger."""
TRUTHS = {"closed", "timed", "beside"}
"""Columns that hold a truth, which SQLite stores as a number."""
KEPT = Path(__file__).parents[1] / "data" / "ledgers" / "0002.sql.gz"
P = {"project_id": 1}
LABEL = P | {"pass": 1, "span_start": -1, "span_end": -1, "timed": False, "source": 1}
LABEL |= {"spent_ms": None}


def labels(*rows: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    """Labels by item, annotator, category and change."""
    return [
        LABEL
        | {"item_id": item, "annotator_id": who, "given_as": who, "category_id": category}
        | {"change_id": change, "labelled_at": change}
        for item, who, category, change in rows
    ]


# Two imports, the first with a gold column and attributes; a third that was undone.
ROWS: dict[str, list[dict[str, Any]]] = {
    "projects": [
        {"id": 1, "name": "p", "answers": "one", "scale": "nominal", "closed": False}
        | {"offsets": "characters", "wanted": None, "created_at": 1, "archived_at": None}
    ],
    "changes": [
        P | {"id": n, "kind": kind, "recorded_at": n, "detail": json.dumps(detail)}
        for n, (kind, detail) in enumerate(
            [
                ("create", {}),
                ("import", {}),
                ("import", {}),
                ("import", {}),
                ("undo", {"import": 3}),
                ("annotator kind", {"annotator": 2, "from": "human", "to": "model"}),
            ],
            1,
        )
    ],
    "categories": [
        P | {"id": n, "name": name}
        for n, name in ((-1, None), (0, None), (1, "x"), (2, "y"), (3, "typo"))
    ],
    "annotators": [
        P | {"id": n, "name": name, "kind": kind}
        for n, name, kind in (
            (1, "A", "human"),
            (2, "B", "model"),
            (3, "gold", "reference"),
            (4, "nobody", "human"),
        )
    ],
    "items": [
        P | {"id": n, "name": name, "text": told, "length": None}
        for n, name, told in ((1, "i", "first"), (2, "j", None), (3, "k", "undone"))
    ],
    "item_attributes": [
        P | {"item_id": n, "name": "language", "value": value}
        for n, value in ((1, "nl"), (2, "de"), (3, "fr"))
    ],
    "imports": [
        P
        | {"id": n, "change_id": n + 1, "rows": 2, "inserted": 2, "changed": 0, "unchanged": 0}
        | {"older": 0, "rejected": 0, "undone_by": undone}
        for n, undone in ((1, None), (2, None), (3, 5))
    ],
    "labels": labels((1, 1, 1, 2), (1, 3, 1, 2), (1, 2, 2, 3), (2, 1, 1, 3), (2, 2, 1, 3)),
    "past_labels": [row | {"taken_back_by": 5} for row in labels((3, 4, 3, 4))],
}


@pytest.fixture
def upgraded(empty_url: str) -> Ledger:
    """A ledger whose rows were written at the first revision."""
    database = Database(empty_url)
    database.upgrade("0001")
    with database.engine.begin() as connection:
        put(connection, ROWS)
    database.upgrade()
    return Ledger(empty_url)


def told(ledger: Ledger) -> tuple[Any, ...]:
    with ledger.reading("p") as (connection, project):
        return (
            [(one.name, one.kind) for one in list_annotators(connection, project)],
            list(category_names(connection, find_question(connection, project)).values()),
            [one.name for one in list_items(connection, project)],
            {item: find_item(connection, project, item).attributes for item in "ijk"},
        )


def test_what_stood_before_stands_and_undo_reaches_all_of_it(upgraded: Ledger) -> None:
    people = [("A", "human"), ("B", "model"), ("gold", "reference")]
    i, j = {"language": "nl"}, {"language": "de"}
    assert upgraded.database.check() == []
    assert told(upgraded) == (people, ["x", "y"], ["i", "j"], {"i": i, "j": j, "k": {}})
    before = standing(upgraded)
    figures = upgraded.agreement("p", where={"language": "nl"}).to_dict()
    assert figures["gold"]["answers"] == 1
    undo(upgraded, 2)
    expected = ([people[0], people[2]], ["x"], ["i"], {"i": i, "j": {}, "k": {}})
    assert told(upgraded) == expected
    with pytest.raises(InvalidOption, match="language=de"):
        upgraded.agreement("p", where={"language": "de"})
    with (
        upgraded.reading("p") as (connection, project),
        as_it_was(connection, project.id, Moment(through=5)),
    ):
        kinds = {one.name: one.kind for one in list_annotators(connection, project)}
        question = find_question(connection, project)
        assert list(category_names(connection, question).values()) == ["x", "y"]
    assert kinds == {"A": "human", "B": "human", "gold": "reference"}, "as was known then"
    undo(upgraded, 1)
    assert told(upgraded) == ([], [], [], {"i": {}, "j": {}, "k": {}})
    assert len(before) == 5


# -- a whole ledger, its tables those of the second revision -------------------------------


def kept_rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of the kept ledger, table by table, in an order in which they can be inserted."""
    plain = sqlite3.connect(folder / "kept.db")
    plain.row_factory = sqlite3.Row
    plain.executescript(gzip.decompress(KEPT.read_bytes()).decode())
    rows = {}
    for table in Base.metadata.sorted_tables:
        if table.name not in LATER:
            rows[table.name] = [
                {name: bool(row[name]) if name in TRUTHS else row[name] for name in row.keys()}  # noqa: SIM118
                for row in plain.execute(f"SELECT * FROM {table.name}")
            ]
    plain.close()
    return rows


def test_a_ledger_of_an_older_revision_says_what_it_said(empty_url: str, tmp_path: Path) -> None:
    """All that is stored is still there, seals and snapshots hold, and work goes on."""
    rows = kept_rows(tmp_path)
    assert {name for name, held in rows.items() if not held} == {"snapshot_pairs"}
    database = Database(empty_url)
    database.upgrade("0002")
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM pseudonym_keys"))
        put(connection, {name: held for name, held in rows.items() if held})
    database.upgrade()
    ledger = Ledger(empty_url)
    assert database.check() == []
    now = with_questions(rows)
    with database.read() as connection:
        for table in Base.metadata.sorted_tables:
            held = now.get(table.name, [])
            columns = set(held[0]) if held else set()  # without those of later revisions
            found = [
                {name: value for name, value in row.items() if name in columns}
                for row in connection.execute(table.select()).mappings()
            ]
            assert len(found) == len(held)
            assert all(row in found for row in held)
        # Its findings mark names with NULs, which a database may refuse to read.
        effects = connection.execute(text("SELECT effect FROM v_findings ORDER BY flag")).scalars()
        assert list(effects) == [2.0] * 3
    for project, snapshots in (("p", 3), ("others", 2), ("sets", 1), ("spans", 1)):
        verified = ledger.verify(project)
        assert verified.passed
        assert verified.snapshots == snapshots
    undo(ledger, 1)
    ledger.snapshot("p")
    assert ledger.verify("p").passed
