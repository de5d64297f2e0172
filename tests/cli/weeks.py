"""Half a year of answers, of which the last nine weeks are worse."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pandas as pd

from tracker.core.clock import parse_human_time
from tracker.ledger import Ledger
from tracker.projects.notes import add_note

__all__ = ["FIRST", "LAST", "NOTES", "WORSE", "furnish"]

FIRST, WORSE, LAST = date(2025, 9, 1), date(2025, 12, 29), date(2026, 3, 1)  # Monday … Sunday
NOTES = [("2025-10-15T12:00", "two joined"), ("2025-12-30T09:00", "guideline v2")]


def furnish(url: str) -> None:
    """Make the project `reviews`, its snapshots and notes; and `fortnight`, its beginning.

    Snapshots 1 to 3 are of earlier moments, 4 is of Dutch items, 5 of all there is.
    """
    random = Random(5)  # noqa: S311 - no secret is made with it
    people, categories = ("ada", "bo", "cy", "di", "ed"), ("pos", "neg", "neu")
    rows = []
    for day in range((LAST - FIRST).days + 1):
        at = FIRST + timedelta(days=day)
        right = 0.93 if at < WORSE else 0.7
        for n in range(5):
            truth = random.choice(categories)
            for who in random.sample(people, 3):
                given = truth if random.random() < right else random.choice(categories)
                when = f"{at}T{random.randrange(8, 18):02}:00"
                rows.append((f"{at} {n}", who, given, when, "nl" if n % 2 else "en"))
    columns = ["item", "annotator", "category", "labeled_at", "lang"]
    frame = pd.DataFrame(rows, columns=columns)
    ledger = Ledger(url)
    ledger.import_frame(frame, "reviews", keep=["lang"])
    ledger.import_frame(frame[frame["labeled_at"] < "2025-09-15"], "fortnight")
    for then in ("2025-10-05", "2025-12-28", "2026-02-01"):
        ledger.snapshot("reviews", as_of=then)
    ledger.snapshot("reviews", name="Dutch", where={"lang": "nl"}, note="to see")
    ledger.snapshot("reviews", name="whole")
    with ledger.writing("reviews") as (connection, project):
        for when, text in NOTES:
            add_note(connection, project, text, parse_human_time(when, now=0, end_of_day=True))
