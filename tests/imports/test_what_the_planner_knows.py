"""Postgres plans the first question after a load for as many rows as there are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tracker.ledger import Ledger


def answers(first: int, number: int) -> pd.DataFrame:
    items = [f"i{n}" for n in range(first, first + number)]
    return pd.DataFrame({"item": items, "annotator": "A", "category": "x"})


def test_of_many_more_labels_it_is_told_at_once(postgres_url: str) -> None:
    ledger, known, there = Ledger(postgres_url), [], 0
    for number in (20, 600, 6400, 600, 800):
        ledger.import_frame(answers(there, number), "p")
        there += number
        with ledger.database.read() as connection:
            counted = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('labels')"
            known.append(connection.exec_driver_sql(counted).scalar_one())
    # Nothing of 20, which are few, nor of 600 beside 7020, which would take longer than it saves.
    assert known == [-1, 620, 7020, 7020, 8420]


def planned(ledger: Ledger, table: str, project: int) -> float:
    """Return how many rows the planner takes a project to have."""
    with ledger.database.read() as connection:
        explain = f"EXPLAIN (FORMAT JSON) SELECT FROM {table} WHERE project_id = {project}"
        rows = connection.exec_driver_sql(explain).scalar_one()[0]["Plan"]["Plan Rows"]
    return float(rows)


def within_a_third(number: int) -> object:
    return pytest.approx(number, rel=0.33)


def test_of_a_project_beside_a_large_one_it_is_told(postgres_url: str) -> None:
    ledger = Ledger(postgres_url)
    ledger.import_frame(answers(0, 9000), "large")
    ledger.import_frame(answers(0, 700), "small")
    assert planned(ledger, "labels", 2) == within_a_third(700)
    assert planned(ledger, "items", 2) == within_a_third(700)


def test_of_a_project_that_grew_by_many_imports_of_a_few_it_is_told(postgres_url: str) -> None:
    ledger = Ledger(postgres_url)
    ledger.import_frame(answers(0, 9000), "large")
    for first in range(0, 800, 200):
        ledger.import_frame(answers(first, 200), "slow")
    assert planned(ledger, "labels", 2) == within_a_third(700)


def test_of_answers_that_no_longer_stand_it_is_told(postgres_url: str) -> None:
    ledger = Ledger(postgres_url)
    ledger.import_frame(answers(0, 2000).assign(labeled_at="2024-01-01"), "p")
    again = answers(0, 2000).assign(labeled_at="2024-02-01", category="y")
    number = ledger.import_frame(again, "p").id
    assert planned(ledger, "past_labels", 1) == within_a_third(2000)
    assert number is not None
    ledger.imports.undo(number)
    assert planned(ledger, "past_labels", 1) == within_a_third(2000)
    assert planned(ledger, "labels", 1) == within_a_third(2000)


def test_of_items_without_answers_it_is_told(postgres_url: str, tmp_path: Path) -> None:
    ledger, listed = Ledger(postgres_url), tmp_path / "items.csv"
    listed.write_text("item,city\n" + "".join(f"i{n},x\n" for n in range(2000)))
    ledger.import_items(listed, "p", keep=["city"])
    assert planned(ledger, "items", 1) == within_a_third(2000)
    assert planned(ledger, "item_attributes", 1) == within_a_third(2000)
    assert planned(ledger, "item_facts", 1) == within_a_third(4000)


def test_a_copy_is_planned_like_the_ledger(postgres_url: str, tmp_path: Path) -> None:
    here = Ledger(f"sqlite:///{tmp_path / 'here.db'}")
    here.import_frame(answers(0, 3000), "p")
    there = Ledger(postgres_url)
    here.database.copy_to(there.database, lambda *_: None)
    assert planned(there, "labels", 1) == within_a_third(3000)


def test_how_many_labels_an_item_has_is_not_left_to_a_sample(postgres_url: str) -> None:
    ledger = Ledger(postgres_url)
    ledger.import_frame(answers(0, 700), "p")
    with ledger.database.read() as connection:
        known = "SELECT n_distinct FROM pg_stats WHERE tablename = 'labels' AND attname = 'item_id'"
        told = connection.exec_driver_sql(known).scalar_one()
    assert told == pytest.approx(-0.2)  # of as many as it looks at, all, it would find -1
