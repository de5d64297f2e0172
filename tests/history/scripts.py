"""Scripts of all that changes a project, and what a snapshot says in the end."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from tests.audit.flags.found import Seen, record_in
from tests.helpers import csv_text
from tests.storage.as_of import plain
from tests.storage.as_of.plain import Step as LabelStep
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.counts.filter import select_answers
from tracker.counts.tallies import count_annotator_tallies
from tracker.formats.column_roles import Mapped
from tracker.history import incremental as store
from tracker.history.take import Taken, take_snapshot
from tracker.imports.deciding import decide_item
from tracker.imports.loader import load_import, load_items
from tracker.imports.questions import ImportQuestions
from tracker.imports.undo import list_imports, undo_import
from tracker.ledger import Ledger
from tracker.projects.annotators import (
    find_annotator_id,
    list_annotators,
    pause_annotator,
    resume_annotator,
    set_annotator_kind,
)
from tracker.projects.identities import erase_annotator, merge_annotators, split_annotator
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project
from tracker.readers.frames import CellsSource
from tracker.work.answering import drafts_due, keep_answer, next_item, take_drafts
from tracker.work.assign import Orders, assign
from tracker.work.assignments import withdraw
from tracker.work.assignments_sql import UNDONE
from tracker.work.choosing import Given
from tracker.work.rounds import start_round


class Erase(NamedTuple):
    name: str


class Kind(NamedTuple):
    name: str
    kind: str


class Flags(NamedTuple):
    annotators: frozenset[int]


class Work(NamedTuple):
    """Something done about items: assigned, started, answered, recorded, decided, or paused."""

    what: str
    name: str
    item: str = "i"


Step: TypeAlias = LabelStep | Erase | Kind | Flags | Work
WORK = ("assign", "withdraw", "round", "answer", "record", "decide", "pause", "resume")


def all_steps(kind: str) -> st.SearchStrategy[Any]:
    """What is imported and taken back, who people are, what was found of them, and their work."""
    names, workers = st.sampled_from(plain.NAMES), st.sampled_from(plain.NAMES + "D")
    return (
        plain.steps(kind)
        | plain.steps(kind)
        | st.builds(Work, st.sampled_from(WORK), workers, st.sampled_from("ij"))
        | st.builds(Erase, names)
        | st.builds(Kind, names, st.sampled_from(["model", "human"]))
        | st.builds(Flags, st.frozensets(st.integers(1, 3), max_size=2))
    )


I_A, J_B = ("i", "A", 1), ("j", "B", 1)
EVERYTHING_HAPPENS: list[Step] = [
    [{(I_A, None): frozenset("y"), (("k", "C", 2), 3): frozenset()}],
    Flags(frozenset({1, 2})),
    plain.Merge("A", "B"),
    [{(I_A, None): frozenset("x"), (J_B, 1): frozenset("y")}],
    plain.Undo(1),
    plain.Split("A"),
    Kind("C", "model"),
    [{(I_A, None): frozenset("z")}],
    Kind("C", "human"),
    plain.Undo(0),
    Kind("B", "reference"),
    Erase("A"),
    [{(J_B, None): frozenset("y"), (I_A, None): frozenset()}],
    Work("assign", "A"),
    Work("decide", "C", "j"),
    Work("answer", "A", "j"),
    Work("pause", "A"),
    Work("record", "A"),
    Work("round", "C"),
]


class Run:
    """A project in which scripts are played; what cannot be done is left out."""

    def __init__(
        self, connection: Connection, kind: str, now: plain.Clock, name: str = "p"
    ) -> None:
        self.connection = connection
        self.now = now
        self.made: list[int] = []
        self.steps = 1
        self.now.moment = plain.at(self.steps)
        options = QuestionOptions(answers=kind, categories=("x", "y", "z"))
        self.question = create_project(connection, name, options)
        self.take(
            [{((item, name, 1), None): frozenset("x") for item in "ij" for name in plain.NAMES}]
        )

    def take(self, step: Step) -> None:
        self.steps += 1
        self.now.moment = plain.at(self.steps)
        try:
            with self.connection.begin_nested():
                self._do(step)
        except (InvalidOption, NotFound, Refused):
            pass

    def _do(self, step: Step) -> None:
        connection, question = self.connection, self.question
        if isinstance(step, plain.Merge):
            merge_annotators(connection, question.project, *step)
        elif isinstance(step, plain.Split):
            split_annotator(connection, question.project, *step)
        elif isinstance(step, Erase):
            erase_annotator(connection, question.project, *step)
        elif isinstance(step, Kind):
            set_annotator_kind(connection, question.project, *step)
        elif isinstance(step, Flags):
            record_in(connection, question, *map(Seen, step.annotators))
        elif isinstance(step, Work):
            self._work(*step)
        elif isinstance(step, plain.Undo):
            undo_import(connection, self.made[step.number % len(self.made)])
        else:
            known = list_annotators(connection, question.project)
            owners = {name: one.name for one in known for name in (one.name, *one.aliases)}
            files = plain.without_doubles(step, lambda name: owners.get(name, name))
            self._note(plain.load_files(connection, question, files, len(self.made)).id)

    def _note(self, number: int | None) -> None:
        assert number is not None
        self.made.append(number)

    def _work(self, what: str, name: str, item: str) -> None:
        connection, project = self.connection, self.question.project
        if what == "assign":
            assign(connection, project, Orders(to=[name], answers=4, gold=0.1 * (item == "j")))
        elif what == "withdraw":
            withdraw(connection, project, [name], UNDONE)
        elif what == "round":
            items = CellsSource({"item": [f"{what}{self.steps}{item}"]}, "items")
            self._note(
                load_items(
                    connection, ImportQuestions(connection, [self.question]), [items], Mapped({})
                ).id
            )
            start_round(connection, project, Orders(to=[name, "B"], round=f"r{self.steps}"), 2)
        elif what == "answer":
            who = find_annotator_id(connection, project, name)
            while (task := next_item(connection, project, who)) is not None:
                said = {"label": Given([item.translate({105: "x", 106: "y"})])}
                keep_answer(connection, project, who, task.assignment, said)
        elif what == "record":
            for due in drafts_due(connection, project.id, every=True):
                columns = take_drafts(connection, project, due)
                cells = CellsSource(columns, "answered here")
                self._note(load_import(connection, self.question, [cells], Mapped({})).id)
        elif what == "decide":
            decide_item(connection, self.question, item, ["x"], "guideline gap", again=True)
            self._note(list_imports(connection, project.id)[-1].id)
        elif what == "pause":
            pause_annotator(connection, project, name)
        else:
            resume_annotator(connection, project, name)


def answers(items: int, first: int = 0, shift: int = 0) -> str:
    """Items in a few patterns, three annotators each, whatever the size."""
    rows = [
        (f"i{n}", who, "xy"[(n + shift) % (place + 2) % 2])
        for n in range(first, first + items)
        for place, who in enumerate("ABC")
    ]
    return csv_text([("item", "annotator", "category"), *rows])


def taken(ledger: Ledger, query: Query | None = None, **how: Any) -> Taken:
    with ledger.changing("p") as (connection, question):
        return take_snapshot(connection, question, query, **how)


def recorded(connection: Connection, taken: Taken) -> dict[str, Any]:
    """All that a snapshot that was just taken says of its project."""
    number = taken.snapshot.id
    texts = {
        row.id: row.pattern for row in connection.execute(text("SELECT id, pattern FROM patterns"))
    }
    rows = connection.execute(
        text("SELECT pattern_id, items FROM snapshot_patterns WHERE snapshot_id = :n"),
        {"n": number},
    )
    flags = connection.execute(
        text("SELECT flag_id, state FROM snapshot_flags WHERE snapshot_id = :n"), {"n": number}
    )
    answers, tallies = added_up(connection, number)
    return {
        "figures": taken.snapshot.assessment.figures(),
        "told": list(taken.snapshot.assessment.patterns),
        "patterns": {texts[pattern]: items for pattern, items in rows},
        "answers": answers,
        "tallies": tallies,
        "flags": sorted(map(tuple, flags)),
    }


def added_up(connection: Connection, number: int) -> tuple[dict[int, int], dict[Any, int] | None]:
    """Each annotator's answers as a snapshot has them, and tallies: all differences added up.

    Tallies are by annotator, own answer and pattern as text; None where they are not kept.
    """
    texts = {
        row.id: row.pattern for row in connection.execute(text("SELECT id, pattern FROM patterns"))
    }
    rows = connection.execute(
        text(
            "SELECT a.annotator_id, a.answers, a.tallies FROM snapshot_annotators a "
            "JOIN snapshots s ON s.project_id = a.project_id AND s.id = a.snapshot_id "
            "JOIN snapshots last ON last.project_id = s.project_id AND last.id = :n "
            "WHERE s.id = last.id OR s.base_snapshot_id = last.base_snapshot_id AND s.id < last.id "
            "ORDER BY s.id"
        ),
        {"n": number},
    ).all()
    answers = {row.annotator_id: row.answers for row in rows}
    tallies: Counter[Any] = Counter()
    for who, _, told in rows:
        for own, pattern, items in json.loads(told or "[]"):
            tallies[who, tuple(own), texts[pattern]] += items
    kept = {key: items for key, items in tallies.items() if items}
    wide = any(row.tallies is None for row in rows)
    return {who: number for who, number in answers.items() if number}, None if wide else kept


def plainly(
    connection: Connection, question: QuestionInfo
) -> tuple[dict[int, int], dict[Any, int]]:
    selection = select_answers(connection, question)
    counts = count_annotator_tallies(connection, selection).counts
    tallies = {
        (who, own, json.dumps(pattern, separators=(",", ":"))): items
        for who, met in counts.items()
        for (own, pattern), items in met.items()
    }
    return {who: sum(met.values()) for who, met in counts.items()}, tallies


def few_links(patch: pytest.MonkeyPatch) -> None:
    """Let every third snapshot be whole, instead of every thirtieth."""
    assert store._LINKS == 30
    patch.setattr(store, "_LINKS", 3)


def tampering(connection: Connection) -> None:
    """Let statements change what is append-only, until the transaction is rolled back."""
    if connection.dialect.name == "sqlite":
        found = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for name in connection.execute(text(found)).scalars().all():
            connection.execute(text(f"DROP TRIGGER {name}"))
    else:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
