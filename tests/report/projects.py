"""Projects of every kind, small: what a report may be asked to show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from tests.helpers import SPANS
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Rows = list[dict[str, Any]]
DAYS = [f"2026-0{month}-{day:02}T10:00:00Z" for month in (3, 4) for day in range(1, 29)]


def answers(people: dict[str, Callable[[int], Any]], items: int = 24, **more: Any) -> Rows:
    """A row for each person and item; what they say by the item's number."""
    return [
        {"item": f"item {n:02}", "annotator": who, "category": say(n), **more}
        for n in range(items)
        for who, say in people.items()
    ]


def abc(n: int) -> str:
    return "abc"[n % 3]


PEOPLE: dict[str, Callable[[int], Any]] = {
    "ada": abc,
    "bo": lambda n: abc(n + (n % 5 == 0)),
    "cleo": lambda n: abc(n + (n % 7 == 0)),
}


def dated(rows: Rows) -> Rows:
    return [{**row, "labeled_at": DAYS[int(row["item"][5:])]} for row in rows]


def plain(ledger: Ledger) -> None:
    ledger.import_frame(
        pd.DataFrame([{**row, "text": f"text of {row['item']}"} for row in dated(answers(PEOPLE))]),
        "p",
    )


def spans(ledger: Ledger) -> None:
    rows = [
        {"item": f"d{n}", "annotator": who, "category": "LOC", "start": n, "end": n + 3 + more}
        for n in range(6)
        for who, more in (("a", 0), ("b", n % 2))
    ]
    ledger.import_frame(pd.DataFrame(rows), "p", options=SPANS)


def ordinal(ledger: Ledger) -> None:
    people = {"ada": lambda n: n % 5 + 1, "bo": lambda n: min(n % 5 + 2, 5)}
    options = QuestionOptions(scale="ordinal")
    ledger.import_frame(pd.DataFrame(answers(people)), "p", options=options)


def numeric(ledger: Ledger) -> None:
    people = {"ada": lambda n: n * 1.5, "bo": lambda n: n * 1.4 + 1}
    options = QuestionOptions(scale="interval")
    ledger.import_frame(pd.DataFrame(answers(people)), "p", options=options)


def questions(ledger: Ledger) -> None:
    rows = [
        {**row, "tone": row.pop("category"), "safe": "yes" if row["item"] < "item 20" else "no"}
        for row in dated(answers(PEOPLE))
    ]
    ledger.import_frame(pd.DataFrame(rows), "p", questions=["tone=tone", "safe=safe"])


def models(ledger: Ledger) -> None:
    ledger.import_frame(pd.DataFrame(answers({**PEOPLE, "judge": lambda n: abc(n // 2)})), "p")
    ledger.annotators.kind("p", "judge", "model")


def always_one(ledger: Ledger) -> None:
    """Two categories, and somebody who only ever gives one of them."""
    people = {
        who: lambda n, slip=slip: "yes" if (n + (n % 7 == slip)) % 2 else "no"
        for slip, who in enumerate(("ada", "bo", "cleo", "dee"))
    } | {"always": lambda _: "yes"}
    ledger.import_frame(pd.DataFrame(answers(people, 120)), "p")


KINDS = {
    fill.__name__: fill
    for fill in (
        plain, spans, ordinal, numeric, questions, models, always_one,
    )
}  # fmt: skip
