"""Postgres plans the first question after a load for the rows that there are."""

from __future__ import annotations

import pandas as pd
import pytest

from tracker.ledger import Ledger


def add(ledger: Ledger, number: int, project: str = "p", first: int = 0, **columns: str) -> int:
    """Import answers about some items."""
    items = [f"i{n}" for n in range(first, first + number)]
    frame = pd.DataFrame({"item": items, "annotator": "A", "category": "x"}).assign(**columns)
    return ledger.import_frame(frame, project).id or 0


def scalar(ledger: Ledger, statement: str) -> object:
    with ledger.database.read() as connection:
        return connection.exec_driver_sql(statement).scalar_one()


def assert_planned(ledger: Ledger, number: int, *tables: str, project: int = 1) -> None:
    """Check how many rows of each table the planner takes a project to have."""
    for table in tables:
        explain = f"EXPLAIN (FORMAT JSON) SELECT FROM {table} WHERE project_id = {project}"
        plan: list[dict[str, dict[str, float]]] = scalar(ledger, explain)  # type: ignore[assignment]
        assert plan[0]["Plan"]["Plan Rows"] == pytest.approx(number, rel=0.33), table


def test_statistics_are_renewed_when_labels_multiply(postgres_url):
    ledger, known, total = Ledger(postgres_url), [], 0
    for number in (20, 600, 6400, 600, 800):
        add(ledger, number, first=total)
        total += number
        counted = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('labels')"
        known.append(scalar(ledger, counted))
        if number == 600 and len(known) == 2:
            # Of as many rows as it looks at, all, it would find -1.
            distinct = "SELECT n_distinct FROM pg_stats WHERE tablename = 'labels'"
            told = scalar(ledger, f"{distinct} AND attname = 'item_id'")
            assert told == pytest.approx(-0.2)
    # Not for 20, which are few, nor for 600 of 7620, which would take longer than it saves.
    assert known == [-1, 620, 7020, 7020, 8420]


@pytest.mark.parametrize("parts", [1, 4])
def test_a_small_project_is_planned_apart_from_a_large_one(postgres_url, parts):
    ledger = Ledger(postgres_url)
    add(ledger, 6000, "large")
    for first in range(0, 800, 800 // parts):
        add(ledger, 800 // parts, "small", first)
    if parts == 1:
        assert_planned(ledger, 800, "labels", "items", project=2)
    else:
        assert_planned(ledger, 700, "labels", project=2)


def test_past_labels_and_items_without_answers_are_planned(postgres_url, tmp_path):
    ledger, listed = Ledger(postgres_url), tmp_path / "items.csv"
    add(ledger, 1000, labeled_at="2024-01-01")
    number = add(ledger, 1000, labeled_at="2024-02-01", category="y")
    assert_planned(ledger, 1000, "past_labels")
    ledger.imports.undo(number)
    assert_planned(ledger, 1000, "past_labels", "labels")
    listed.write_text("item,city\n" + "".join(f"i{n},x\n" for n in range(1500)))
    ledger.import_items(listed, "q", keep=["city"])
    assert_planned(ledger, 1500, "items", "item_attributes", project=2)
    assert_planned(ledger, 3000, "item_facts", project=2)


def test_a_copy_is_planned_like_the_ledger(postgres_url, tmp_path):
    here, there = Ledger(f"sqlite:///{tmp_path / 'here.db'}"), Ledger(postgres_url)
    add(here, 1500)
    here.database.copy_to(there.database, lambda *_: None)
    assert_planned(there, 1500, "labels")
