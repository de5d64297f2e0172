"""The queries of the Grafana dashboard run on either database, and tell what is there."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from sqlalchemy import text

from tests.house import CHECKOUT
from tracker.ledger import Ledger

DASHBOARD = json.loads((CHECKOUT / "docs" / "grafana" / "dashboard.json").read_text("utf-8"))
PANELS = {panel["title"]: panel["targets"][0]["rawSql"] for panel in DASHBOARD["panels"]}
NAMES = next(one for one in DASHBOARD["templating"]["list"] if one["name"] == "project")["query"]


def watched(ledger: Ledger) -> None:
    """A project with a snapshot, a constant annotator who was found, and items to argue about."""
    rows = [
        (
            f"i{n}",
            who,
            "no" if (n + turn) % (3 if n % 5 else 2) == 0 and turn else "yes",
            "2026-01-05",
        )
        for n in range(60)
        for turn, who in enumerate(("always", "a", "b", "c"))
    ]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category", "labeled_at"])
    ledger.import_frame(frame, "reviews")
    ledger.snapshot("reviews")
    ledger.audit("reviews", record=True)


def rows_of(ledger: Ledger, query: str) -> list[tuple[object, ...]]:
    with ledger.database.read() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_the_dashboard_tells_what_the_commands_do(ledger: Ledger) -> None:
    watched(ledger)
    assert rows_of(ledger, NAMES) == [("reviews",)]
    told = {title: rows_of(ledger, query.replace("${project}", "reviews"))
            for title, query in PANELS.items()}  # fmt: skip
    for title, shown in told.items():
        assert shown, title
        assert all(any(cell is not None for cell in row) for row in shown), title
    status = ledger.status("reviews")
    assert told["Open findings"] == [(status.flags,)]
    assert sum(row[1] for row in told["Labels a category"]) == status.answers  # type: ignore[misc]
    (alpha,) = [row[2] for title, rows in told.items() if "alpha" in title for row in rows]
    assert alpha == pytest.approx(ledger.agreement("reviews").main.value)
