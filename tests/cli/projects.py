"""A file with a small project of every kind, and with those that have little or nothing in them."""

from __future__ import annotations

from random import Random
from typing import Any

import pandas as pd

from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions, create_project

__all__ = ["LITTLE", "STRANGE", "furnish"]

STRANGE = ("a+b", "a", "=", "|", "[b]", "ä", "名", "1e3", "nan", "inf", "-1", '"', "%")
LITTLE = ("empty", "alone", "skipped", "without", "zeros", "strange", "nothing marked")


def furnish(url: str) -> None:
    ledger = Ledger(url)
    random = Random(4)  # noqa: S311 - no secret is made with it

    def given(truth: str, categories: tuple[str, ...]) -> str:
        return truth if random.random() < 0.7 else random.choice(categories)

    rows = []
    for n in range(12):
        truth = "xyz"[n % 3]
        for who in ("ann", "bob", "cat lee"):
            rows.append(
                (f"i{n:02}", who, given(truth, ("x", "y", "z")), 1, truth, "2020-03-01", n // 3)
            )
            if n % 2:
                rows.append(
                    (f"i{n:02}", who, given(truth, ("x", "y", "z")), 2, truth, "2020-03-04", n // 3)
                )
    columns = ["item", "annotator", "category", "pass", "gold", "labeled_at", "doc"]
    load(ledger, rows, "main", columns, keep=["doc"])
    load(ledger, [(r[0], r[1], "x" if r[1] == "bob" else r[2]) for r in rows if r[3] == 1], "pilot")

    for name, scale, categories in (
        ("marks", "ratio", ("0", "1", "2.5", "10")),
        ("ranks", "ordinal", ("low", "middle", "high")),
    ):
        answers = [
            (f"i{n:02}", who, given(categories[n % len(categories)], categories))
            for n in range(12)
            for who in ("ann", "bob", "cat")
        ]
        declared = categories if scale == "ordinal" else None
        load(ledger, answers, name, options=QuestionOptions(scale=scale, categories=declared))
    ledger.annotators.kind("ranks", "cat", "model")
    sets = [
        (f"i{n:02}", who, label)
        for n in range(12)
        for who in ("ann", "bob")
        for label in ({given("xyz"[n % 3], ("x", "y", "")), given("x", ("y", "z"))} - {""} or {""})
    ]
    load(ledger, sorted(sets), "sets", options=QuestionOptions(answers="several"))
    spans = [
        (f"d{n}", who, given("x", ("x", "y")), n + random.randint(0, 1), n + 3, 20)
        for n in range(6)
        for who in ("ann", "bob", "cat")
    ]
    spanned = ["item", "annotator", "category", "start", "end", "n_tokens"]
    load(ledger, spans, "spans", spanned, options=QuestionOptions(answers="spans"))

    with ledger.database.write() as connection:
        create_project(connection, "empty")
    load(ledger, [("1", "A", "x"), ("2", "A", "y")], "alone")
    load(ledger, [("1", "A", ""), ("1", "B", "")], "skipped")
    load(
        ledger,
        [("1", "A", ""), ("1", "B", ""), ("2", "A", ""), ("2", "B", "")],
        "without",
        options=QuestionOptions(answers="several"),
    )
    zeros = [(item, who, "0") for item in "12" for who in "AB"]
    load(ledger, zeros, "zeros", options=QuestionOptions(scale="ratio"))
    strange = [
        (f"{n}", who, STRANGE[(n * (place + 1)) % len(STRANGE)])
        for n in range(2 * len(STRANGE))
        for place, who in enumerate(STRANGE[:3])
    ]
    load(ledger, strange, "strange")
    nothing = [("d", who, "", "", "", "") for who in "AB"]
    load(ledger, nothing, "nothing marked", spanned, options=QuestionOptions(answers="spans"))


def load(
    ledger: Ledger,
    rows: list[tuple[object, ...]],
    project: str,
    columns: list[str] | None = None,
    *,
    keep: list[str] | None = None,
    options: QuestionOptions | None = None,
) -> None:
    named = columns or ["item", "annotator", "category"]
    frame = pd.DataFrame(rows, columns=named)
    how: Any = {"keep": keep or [], "empty": "skipped", "accept": ["missing_words"]}
    ledger.import_frame(frame, project, options=options, **how)
