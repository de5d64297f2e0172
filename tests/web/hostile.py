"""Texts that would be more than texts on a careless page."""

from __future__ import annotations

import pandas as pd

from tracker.ledger import Ledger

__all__ = ["HOSTILE", "fill_hostile"]

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "'><a href=javascript:alert(4)>x</a>",
    "</table></details><iframe src=//example.org>",
    "{{ 7 * 7 }}{% raw %}",
    "<div hx-get='/jobs' hx-trigger='load'>",
)


def fill_hostile(ledger: Ledger) -> str:
    """Make a project in which every text is hostile, and return its name."""
    name = HOSTILE[0]
    rows = [
        (HOSTILE[n % 7] + str(n), HOSTILE[(n + k) % 7], f"{HOSTILE[(n * k) % 3]}c", HOSTILE[1],
         HOSTILE[2], "2026-01-0" + str(1 + n % 9))
        for n in range(12)
        for k in range(4)
    ]  # fmt: skip
    columns = ["item", "annotator", "category", "text", "comment", "labeled_at"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), name)
    ledger.questions.rename(name, "label", HOSTILE[5])
    ledger.notes.add(name, HOSTILE[1], "2026-01-03")
    ledger.snapshot_by_question(name, name=HOSTILE[2], note=HOSTILE[3])
    ledger.snapshot_by_question(name, name=HOSTILE[6])
    ledger.record_audit_by_question(name)
    return name
