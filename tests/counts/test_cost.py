"""What a question costs does not grow with the items: statements, and rows that reach Python."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pandas as pd

from tests.helpers import count_rows, count_statements
from tracker.export.labels import exported_labels
from tracker.ledger import Ledger

MOST_ROWS = 600  # by tallies, names and recorded figures; not by labels

QUESTIONS: dict[str, Callable[[Ledger, str], object]] = {
    "agreement": lambda ledger, project: ledger.agreement(project),
    "audit": lambda ledger, project: ledger.audit(project),
    "snapshot": lambda ledger, project: ledger.snapshot(project),
    "status": lambda ledger, project: ledger.status(project),
    "history": lambda ledger, project: ledger.history(project),
}


def answers(items: int) -> pd.DataFrame:
    """Four annotators, one of them constant, and a truth for every item."""
    random = Random(7)  # noqa: S311 - no secret is made with it
    rows = []
    for item in range(items):
        truth = "xyz"[item % 3]
        for annotator in "ABC":
            given = truth if random.random() < 0.8 else random.choice("xyz")
            rows.append((f"i{item}", annotator, given, truth))
        rows.append((f"i{item}", "constant", "x", truth))
    return pd.DataFrame(rows, columns=["item", "annotator", "category", "gold"])


def test_a_question_costs_the_same_whatever_the_items(ledger: Ledger) -> None:
    engine = ledger.database.engine
    ledger.import_frame(answers(10), "small")
    ledger.import_frame(answers(4_000), "large")
    with count_rows(engine) as seen, ledger.asking("large") as (connection, question):
        assert len(list(exported_labels(connection, question))) == 20_000
    assert seen.number > 20_000  # a label that reaches Python is seen
    for name, ask in QUESTIONS.items():
        numbers = []
        for project_name in ("small", "large"):
            with count_statements(engine) as statements, count_rows(engine) as rows:
                ask(ledger, project_name)
            numbers.append(statements.number)
        assert 0 < rows.number < MOST_ROWS, name
        if name == "audit":  # what is left without those found bad is counted once more
            assert numbers[1] <= numbers[0] + 6
        else:
            assert numbers[0] == numbers[1], name
        assert 0 < numbers[1] <= 92, name


def test_an_import_is_as_many_statements_whatever_its_rows(ledger: Ledger) -> None:
    numbers = []
    for items in (300, 900):  # one batch of rows each, of which the planner is told
        with count_statements(ledger.database.engine) as statements:
            ledger.import_frame(answers(items), f"project of {items}")
        with count_statements(ledger.database.engine) as again:
            ledger.import_frame(answers(items), f"project of {items}")
        numbers.append((statements.number, again.number))
    assert numbers[0] == numbers[1]
