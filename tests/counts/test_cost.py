"""What a question costs does not grow with the items: statements, and rows that reach Python."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pandas as pd
from sqlalchemy import Connection

from tests.counts.plain import Rows
from tests.counts.selected import DAY, START, selected
from tests.helpers import count_rows, count_statements
from tests.profiles import both
from tracker.counts.annotator_patterns import (
    count_annotator_marginals,
    count_joint_patterns,
    gold_tallies,
)
from tracker.counts.items import ItemChoice, select_item_page
from tracker.counts.retest import (
    count_pair_order,
    count_unrepeated_passes,
    repeat_tallies,
    select_changed_examples,
    select_example_items,
    select_repeated_answers,
)
from tracker.counts.selection import Selection
from tracker.counts.tallies import (
    count_pair_cells,
    select_items_of_patterns,
    select_label_contents,
    skip_tallies,
)
from tracker.counts.timeline import count_timeline_blocks, count_transitions
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
        assert 0 < numbers[1] <= 98, name


COUNTS: dict[str, tuple[int, Callable[[Connection, Selection], object]]] = {
    "gold": (2, gold_tallies),
    "repeats of a pattern": (2, repeat_tallies),
    "transitions": (2, count_transitions),
    "blocks": (3, lambda *at: count_timeline_blocks(*at, 4)),
    "contents": (1, select_label_contents),
    "examples": (2, lambda *at: select_example_items(*at, {1: [((98,), (((98,), 1),))]}, 3)),
    "changed": (1, lambda *at: select_changed_examples(*at, [1, 2], 3)),
    "order": (1, lambda *at: count_pair_order(*at, [(1, 2)])),
    "pages": (3, lambda *at: select_item_page(*at, ItemChoice(), 0, 50)),
    "pages that differ": (3, lambda *at: select_item_page(*at, ItemChoice(differ=True), 0, 50)),
    "pairs": (2, count_pair_cells),
    "items of patterns": (2, lambda *at: select_items_of_patterns(*at, {(((1,), 3),)}, 3)),
    "own answers": (2, count_annotator_marginals),
    "joint patterns": (1, lambda *at: list(count_joint_patterns(*at))),
    "repeats": (1, lambda *at: list(select_repeated_answers(*at))),
    "later passes alone": (1, count_unrepeated_passes),
    "skips": (1, skip_tallies),
}
"""Counts, and the statements of each."""


@both
def test_a_count_is_as_many_statements_whatever_the_items(ledger: Ledger) -> None:
    sent: dict[int, dict[str, int]] = {}
    for items in (10, 200):
        rows: Rows = {
            (f"i{n}", who, again): frozenset("xyz"[(n + again) % 3]) if n % 5 else None
            for n in range(items)
            for who in "ABCR"
            for again in (1, 2)
        }
        times = {key: START + DAY * n for n, key in enumerate(rows)}
        sent[items] = {}
        with selected(ledger, rows, "one", times=times) as chosen:
            at = chosen.connection, chosen.selection
            for name, (_, count) in COUNTS.items():
                with count_statements(ledger.database.engine) as statements:
                    count(*at)
                sent[items][name] = statements.number
    assert sent[10] == sent[200] == {name: number for name, (number, _) in COUNTS.items()}


def test_an_import_is_as_many_statements_whatever_its_rows(ledger: Ledger) -> None:
    numbers = []
    for items in (300, 900):  # one batch of rows each, of which the planner is told
        with count_statements(ledger.database.engine) as statements:
            ledger.import_frame(answers(items), f"project of {items}")
        with count_statements(ledger.database.engine) as again:
            ledger.import_frame(answers(items), f"project of {items}")
        numbers.append((statements.number, again.number))
    assert numbers[0] == numbers[1]
