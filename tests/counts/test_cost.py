"""The cost of a question does not grow with the items: statements, and rows that reach Python."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pandas as pd
from sqlalchemy import event, make_url

from tests.helpers import count_rows, count_statements, give
from tests.profiles import on_sqlite
from tracker.agreement.groups import agreement_by_attribute
from tracker.agreement.query import Query
from tracker.counts.filter import make_answer_filter
from tracker.export.labels import exported_labels
from tracker.ledger import Ledger

CHOICE: dict[str, Any] = {
    "annotators": ["A", "B", "constant"],
    "exclude_annotators": "constant",
    "exclude_flagged": True,
    "since": "2020-01-01",
    "until": "2021-01-01",
    "where": {"lang": ["nl", "de"]},
}


def agreement_of_groups(ledger: Ledger, project: str) -> object:
    with ledger.asking(project) as (connection, question):
        query = Query(filter=make_answer_filter(**CHOICE))
        return agreement_by_attribute(connection, question, "lang", query)


QUESTIONS: dict[str, tuple[int, Callable[[Ledger, str], object]]] = {
    "agreement": (0, lambda ledger, name: ledger.agreement(name)),
    "audit": (0, lambda ledger, name: ledger.audit(name)),
    "snapshot": (0, lambda ledger, name: ledger.snapshot(name)),
    "status": (0, lambda ledger, name: ledger.status(name)),
    "history": (0, lambda ledger, name: ledger.history(name)),
    "ready": (0, lambda ledger, name: ledger.annotators.ready(name, "A")),
    "agreement of a choice": (1, lambda ledger, name: ledger.agreement(name, **CHOICE)),
    "snapshot of a choice": (1, lambda ledger, name: ledger.snapshot(name, **CHOICE)),
    "groups of a choice": (1, agreement_of_groups),
    "curve": (9, lambda ledger, name: ledger.history(name, "day", window="all")),
    "curve by month": (9, lambda ledger, name: ledger.history(name, "month", window="all")),
    "curve of days": (9, lambda ledger, name: ledger.history(name, "day", window="3d")),
    "curve of items": (9, lambda ledger, name: ledger.history(name, "day", window="last-5-items")),
}
"""What may be asked, of answers without times or of so many days."""
MOST = {0: (104, 599), 1: (120, 599), 9: (30, 299)}
"""Statements and rows: tallies, names and recorded figures."""


def answers(items: int, days: int = 0) -> pd.DataFrame:
    """Four annotators, one constant, and a truth for every item; in days, some answers revised."""
    random = Random(7)  # noqa: S311 - no secret is made with it
    rows = []
    for n in range(items):
        truth, lang = "xyz"[n % 3], ("nl", "de", "en")[n % 3]
        for day, who in enumerate(("A", "B", "C", "constant"), n % 6):
            label = truth if random.random() < 0.8 else random.choice("xyz")
            label = "x" if who == "constant" else label
            at = f"2020-03-{1 + day % days:02}" if days else None
            rows.append((f"i{n}", who, label, at, truth, lang))
            if days > 1 and n % 8 == day:
                rows.append((f"i{n}", who, "z", "2020-03-10", truth, lang))
    columns = ["item", "annotator", "category", "labeled_at", "gold", "lang"]
    return pd.DataFrame(rows, columns=columns)


@on_sqlite
def test_the_cost_of_a_question_does_not_grow_with_the_items(ledger: Ledger) -> None:
    engine = ledger.database.engine
    for days, most in ((0, 240), (1, 120), (9, 120)):
        for size, items in (("small", 12), ("large", most)):
            frame, keep = answers(items, days), ["lang"] if days else []
            ledger.import_frame(frame, f"{size} {days}", keep=keep)
    with count_rows(engine) as rows, ledger.asking("large 0") as (connection, question):
        assert len(list(exported_labels(connection, question))) == 1_200
    assert rows.number > 1_200  # a label that reaches Python is seen
    sent: dict[str, list[int]] = {}
    for name, (days, ask) in QUESTIONS.items():
        sent[name] = []
        for size in ("small", "large"):
            with count_statements(engine) as statements, count_rows(engine) as rows:
                ask(ledger, f"{size} {days}")
            sent[name].append(statements.number)
            assert 0 < rows.number <= MOST[days][1], name
        # What is left without those found bad is counted once more; of few answers others say more.
        if name in {"audit", "ready"}:
            assert sent[name][1] <= sent[name][0] + 6
        else:
            assert sent[name][0] == sent[name][1], name
        assert 0 < sent[name][1] <= MOST[days][0], name
    assert sent["curve"] == sent["curve by month"]


def test_postgres_plans_counts_in_parallel(postgres_url: str) -> None:
    """It may count with several processes: for no cursor, and for no search for each row."""
    costs = ("min_parallel_table_scan_size", "min_parallel_index_scan_size",
             "parallel_setup_cost", "parallel_tuple_cost")  # fmt: skip
    options = " ".join(f"-c {name}=0" for name in costs)
    url = make_url(postgres_url).update_query_dict({"options": options})
    ledger = Ledger(url.render_as_string(hide_password=False))
    rows = [(item, who, "xyz"[item % 3]) for item in range(400) for who in "ABC"]
    ledger.count_with("native")
    give(ledger, rows)
    plans: dict[str, str] = {}

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "labels" in statement and "GROUP BY" in statement:
            driver = connection.connection.driver_connection
            plan = driver.execute(f"EXPLAIN {statement}", parameters)
            by_cursor = "a cursor\n" if hasattr(cursor, "name") else ""
            plans[statement] = by_cursor + "\n".join(line for (line,) in plan)

    event.listen(ledger.database.engine, "before_cursor_execute", explain)
    ledger.agreement("p")
    ledger.audit("p")
    assert len(plans) > 3
    assert not [plan for plan in plans.values() if "a cursor" in plan or "Gather" not in plan]
