"""The moments to which a reader may go back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd

from tracker.ledger import Ledger

COLUMNS = ["item", "annotator", "category", "labeled_at"]
FIRST = datetime(2025, 3, 1, 10, 30, tzinfo=UTC)


def fill(ledger: Ledger) -> None:
    for name, step in (("minutes", timedelta(minutes=20)), ("days", timedelta(days=2))):
        rows = [("i", "a", f"x{n}", (FIRST + n * step).isoformat()) for n in range(9)]
        ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), name)
    ledger.projects.create("none")


def test_few_moments_stand_for_all(ledger: Ledger) -> None:
    fill(ledger)
    for project, most, number in (
        ("days", 200, 9), ("days", 9, 9), ("days", 5, 5), ("minutes", 200, 9), ("minutes", 5, 5),
        ("none", 200, 0),
    ):  # fmt: skip
        moments = ledger.moments(project, most)
        assert len(moments) == number, (project, most)
        assert moments == sorted({*moments})
        if project == "days" and most == 200:
            assert (moments[0], moments[-1]) == ("2025-03-01", "2025-03-17")
        for place, moment in enumerate(moments if most == 200 else ()):
            # An answer that was revised counts at its time, too.
            (label,) = ledger.items.show(project, "i", as_of=moment).labels[place:]
            assert (label.category, label.state) == (f"x{place}", "stands")
