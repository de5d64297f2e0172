"""Short stories of a project: who said what of which item on which day."""

from __future__ import annotations

import pandas as pd

from tests.helpers import give
from tracker.compare.comparison import Compared, StateComparison
from tracker.core import clock
from tracker.ledger import Ledger
from tracker.projects.notes import add_note
from tracker.projects.questions import QuestionOptions

__all__ = ["day", "figure", "note", "on", "tell"]


def day(n: int) -> str:
    """A date of the stories, which begin with the first of 2024."""
    return str(pd.Timestamp("2024-01-01") + pd.Timedelta(days=n - 1))[:10]


def on(n: int, *answers: str) -> list[tuple[str, str, str, str]]:
    """Answers such as "i A x" on a day; "-" for a skipped one."""
    told = (answer.split() for answer in answers)
    return [(item, who, what.strip("-"), f"{day(n)}T12:00") for item, who, what in told]


def tell(
    ledger: Ledger,
    *days: list[tuple[str, str, str, str]],
    project: str = "p",
    options: QuestionOptions | None = None,
) -> None:
    for answers in days:
        give(ledger, answers, project, "labeled_at", options=options, empty="skipped")


def note(
    ledger: Ledger, text: str, n: int, project: str = "p", guideline: str | None = None
) -> None:
    with ledger.writing(project) as (connection, found):
        add_note(connection, found, text, clock.parse_timestamp(day(n)), guideline)


def figure(found: StateComparison, name: str) -> Compared:
    return next(one for one in (*found.measures, *found.categories) if one.name == name)
