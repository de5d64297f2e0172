"""Postgres plans the first question after an import for as many labels as there are."""

from __future__ import annotations

import pandas as pd

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
