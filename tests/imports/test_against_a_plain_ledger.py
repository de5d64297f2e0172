"""Which answer stands, by a ledger of a few lines of Python: the other opinion.

It keeps every record and, when asked, takes the greatest (time, order of recording) of those
whose imports were not undone. A record without a time is as late as its import.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection, func, select

from tests.helpers import csv_text
from tests.profiles import examples
from tracker.export import exported_labels
from tracker.imports.column_roles import parse_column_roles
from tracker.imports.loader import ImportResult, load_import
from tracker.imports.readers.source import STDIN, SourceFile
from tracker.imports.undo import undo_import
from tracker.ledger import Ledger
from tracker.projects.question import QuestionInfo, QuestionOptions, create_project
from tracker.storage.schema import Label, PastLabel

LATE = 10**9  # a moment without a time is later than all that have one

Answer = tuple[str, str, int]  # item, annotator, pass
Labels = frozenset[str]  # empty: none applies, or skipped
Files = list[dict[tuple[Answer, int | None], Labels]]


class Record(NamedTuple):
    moment: int
    change: int
    file: int
    labels: Labels


@dataclass
class PlainLedger:
    """Every record of every answer, and which imports were undone."""

    records: dict[Answer, list[Record]] = field(default_factory=dict)
    undone: set[int] = field(default_factory=set)
    imports: int = 0

    def standing(self) -> dict[Answer, Labels]:
        left = {
            answer: [record for record in records if record.change not in self.undone]
            for answer, records in self.records.items()
        }
        return {answer: max(records).labels for answer, records in left.items() if records}

    def take(self, files: Files) -> Counter[str]:
        """Add an import; returns the fates of its rows."""
        self.imports += 1
        rows: list[tuple[Answer, Record]] = []
        for number, file in enumerate(files):
            for (answer, time), labels in file.items():
                moment = LATE + self.imports if time is None else time
                rows.append((answer, Record(moment, self.imports, number, labels)))
        fates: Counter[str] = Counter()
        for answer, record in sorted(rows, key=lambda row: row[1][:3]):
            before = [one for one in self.records.get(answer, []) if one.change not in self.undone]
            fates[fate(record, max(before, default=None))] += max(len(record.labels), 1)
            self.records.setdefault(answer, []).append(record)
        return fates


def fate(record: Record, standing: Record | None) -> str:
    if standing is None:
        return "inserted"
    if record.moment < standing.moment:
        return "same or older" if record.labels == standing.labels else "older"
    return "unchanged" if record.labels == standing.labels else "changed"


# -- what is imported ----------------------------------------------------------------------

answers = st.tuples(st.sampled_from("ij"), st.sampled_from("AB"), st.integers(1, 2))
times = st.none() | st.integers(0, 3)
one = st.sampled_from("xy") | st.just("")
several = st.sets(st.sampled_from("xyz"), max_size=3)


def imports_of(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Files]:
    held = labels.map(lambda found: frozenset(found) - {""})
    file = st.dictionaries(st.tuples(answers, times), held, min_size=1, max_size=5)
    return st.lists(file, min_size=1, max_size=2)


def steps(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Files | int]]:
    """Imports, and undos by a number that picks one of those made before."""
    return st.lists(imports_of(labels) | st.integers(0, 5), min_size=1, max_size=6)


def rows_of(file: Mapping[tuple[Answer, int | None], Labels], number: int) -> list[list[object]]:
    """A file's rows. No two files are alike: one that repeats another counts as its date."""
    rows: list[list[object]] = [["item", "annotator", "pass", "labeled_at", "category", "n"]]
    for ((item, annotator, pass_), time), labels in file.items():
        rows += [[item, annotator, pass_, time, label, number] for label in sorted(labels) or [""]]
    return rows


def take(connection: Connection, question: QuestionInfo, files: Files, number: int) -> ImportResult:
    sources = [
        SourceFile(STDIN, io.BytesIO(csv_text(rows_of(file, 10 * number + n)).encode()))
        for n, file in enumerate(files)
    ]
    return load_import(connection, question, sources, parse_column_roles([]))


def standing(connection: Connection, question: QuestionInfo) -> dict[Answer, Labels]:
    found: dict[Answer, set[str]] = {}
    for item, annotator, category, pass_, *_ in exported_labels(connection, question):
        labels = found.setdefault((item, annotator, pass_), set())
        if category is not None:
            labels.add(category)
    return {answer: frozenset(labels) for answer, labels in found.items()}


def kept(connection: Connection) -> int:
    """All labels in the record, standing and past."""
    return sum(
        connection.scalar(select(func.count()).select_from(table)) or 0
        for table in (Label, PastLabel)
    )


def follow(ledger: Ledger, kind: str, script: list[Files | int]) -> None:
    """Do the same on both ledgers, and compare them after every step."""
    plain = PlainLedger()
    made: list[int] = []
    rows = 0
    with ledger.database.write(keep=False) as connection:
        project = create_project(connection, "p", QuestionOptions(answers=kind))
        for step in script:
            if isinstance(step, int):
                if not made or (chosen := step % len(made)) + 1 in plain.undone:
                    continue
                undo_import(connection, made[chosen])
                plain.undone.add(chosen + 1)
            else:
                result = take(connection, project, step, len(made))
                expected = plain.take(step)
                assert result.id is not None
                made.append(result.id)
                rows += result.rows
                either = result.unchanged + result.older
                assert result.inserted == expected["inserted"]
                assert result.changed == expected["changed"]
                assert either == expected.total() - expected["inserted"] - expected["changed"]
                assert result.older >= expected["older"]
                assert result.rows == expected.total()
            assert standing(connection, project) == plain.standing()
            assert kept(connection) == rows
        assert ledger.database.check() == []


A = ("i", "A", 1)
UNTIMED_AFTER_TIMED: list[Files | int] = [
    [{(A, 3): frozenset("x")}, {(A, None): frozenset("y")}],
    [{(A, 3): frozenset("z"), (A, 1): frozenset("x")}],
    0,
    [{(A, None): frozenset()}],
    1,
    2,
]


def both_kinds(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.parametrize(
        ("kind", "labels"), [("one", one), ("several", several)], ids=["one", "several"]
    )(test)


@both_kinds
def test_on_sqlite(sqlite_ledger: Ledger, kind: str, labels: st.SearchStrategy[Any]) -> None:
    @examples(10)
    @example(UNTIMED_AFTER_TIMED)
    @given(steps(labels))
    def check(script: list[Files | int]) -> None:
        follow(sqlite_ledger, kind, script)

    check()


@both_kinds
def test_on_postgres(
    emptied_postgres_ledger: Ledger, kind: str, labels: st.SearchStrategy[Any]
) -> None:
    @examples(3)
    @example(UNTIMED_AFTER_TIMED)
    @given(steps(labels))
    def check(script: list[Files | int]) -> None:
        follow(emptied_postgres_ledger, kind, script)

    check()
