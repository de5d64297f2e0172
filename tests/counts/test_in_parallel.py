"""Postgres may count with several processes: for no cursor, and for no search for each row."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sqlalchemy import event, make_url

from tracker.ledger import Ledger

FOR_FREE = (
    "min_parallel_table_scan_size",
    "min_parallel_index_scan_size",
    "parallel_setup_cost",
    "parallel_tuple_cost",
)


def test_what_agreement_and_an_audit_count_is_planned_in_parallel(postgres_url: str) -> None:
    options = " ".join(f"-c {name}=0" for name in FOR_FREE)
    url = make_url(postgres_url).update_query_dict({"options": options})
    ledger = Ledger(url.render_as_string(hide_password=False))
    every = [(item, annotator) for item in range(400) for annotator in "ABC"]
    frame = pd.DataFrame(every, columns=["item", "annotator"])
    ledger.count_with("native")
    ledger.import_frame(frame.assign(category=frame.item.mod(3).map("xyz".__getitem__)), "p")
    plans: dict[str, str] = {}

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "labels" in statement and "GROUP BY" in statement:
            asked = connection.connection.driver_connection.execute(
                f"EXPLAIN {statement}", parameters
            )
            by_cursor = "a cursor\n" if hasattr(cursor, "name") else ""
            plans[statement] = by_cursor + "\n".join(line for (line,) in asked)

    event.listen(ledger.database.engine, "before_cursor_execute", explain)
    ledger.agreement("p")
    ledger.audit("p")
    assert len(plans) > 3
    assert not [plan for plan in plans.values() if "a cursor" in plan or "Gather" not in plan]
