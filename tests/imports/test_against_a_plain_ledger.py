"""Which answer stands, by a ledger of a few lines of Python: the other opinion.

It keeps every record and, when asked, takes the greatest (time, order of recording) of
those whose imports were not undone. A record without a time is as late as its import; a file that
was imported before was recorded then.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, func, select

from tests.helpers import AS_THEY_ARE, csv_text
from tests.profiles import both, examples
from tracker.export.labels import exported_labels
from tracker.formats.mappings import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.imports.loader import ImportResult, load_import
from tracker.imports.undo import undo_import
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project
from tracker.storage.schema import Label, PastLabel

LATE = 10**9  # a moment without a time is later than all that have one

Answer = tuple[str, str, int]  # item, annotator, pass
Labels = frozenset[str]  # empty: none applies, or skipped
Files = list[dict[tuple[Answer, int | None], Labels]]


class Again(NamedTuple):
    """The files of an import made before, imported once more."""

    chosen: int


Step = Files | Again | int


class Record(NamedTuple):
    moment: int
    first: int
    change: int
    file: int
    labels: Labels


@dataclass
class PlainLedger:
    """Every record of every answer, and which imports were undone."""

    records: dict[Answer, list[Record]] = field(default_factory=dict)
    undone: set[int] = field(default_factory=set)
    files: list[int] = field(default_factory=list)
    """For each import the number of its files."""

    def standing(self) -> dict[Answer, Labels]:
        left = {
            answer: [record for record in records if record.change not in self.undone]
            for answer, records in self.records.items()
        }
        return {answer: max(records).labels for answer, records in left.items() if records}

    def first(self, number: int) -> int | None:
        same = (n for n, files in enumerate(self.files, 1) if files == number)
        return min((n for n in same if n not in self.undone), default=None)

    def take(self, files: Files, number: int | None = None) -> Counter[str]:
        number = len(self.files) if number is None else number
        earlier = self.first(number)
        self.files.append(number)
        change = len(self.files)
        rows: list[tuple[Answer, Record]] = []
        for n, file in enumerate(files):
            for (answer, time), labels in file.items():
                moment = LATE + (earlier or change) if time is None else time
                rows.append((answer, Record(moment, earlier or change, change, n, labels)))
        fates: Counter[str] = Counter()
        for answer, record in sorted(rows, key=lambda row: row[1][:-1]):
            before = [one for one in self.records.get(answer, []) if one.change not in self.undone]
            fates[fate(record, max(before, default=None))] += max(len(record.labels), 1)
            self.records.setdefault(answer, []).append(record)
        return fates


def fate(record: Record, standing: Record | None) -> str:
    if standing is None:
        return "inserted"
    if record[:2] < standing[:2]:
        return "same or older" if record.labels == standing.labels else "older"
    return "unchanged" if record.labels == standing.labels else "changed"


answers = st.tuples(st.sampled_from("ij"), st.sampled_from("AB"), st.integers(1, 2))
times = st.none() | st.integers(0, 3)
one = st.sampled_from("xy") | st.just("")
several = st.sets(st.sampled_from("xyz"), max_size=3)


def imports_of(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Files]:
    held = labels.map(lambda found: frozenset(found) - {""})
    file = st.dictionaries(st.tuples(answers, times), held, min_size=1, max_size=5)
    return st.lists(file, min_size=1, max_size=2)


def steps(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Step]]:
    """Imports, repetitions, and undos by a number that picks one of those made before."""
    before = st.integers(0, 5)
    return st.lists(imports_of(labels) | before | before.map(Again), min_size=1, max_size=6)


def rows_of(file: Mapping[tuple[Answer, int | None], Labels], number: int) -> list[list[object]]:
    rows: list[list[object]] = [["item", "annotator", "pass", "labeled_at", "category", "n"]]
    for ((item, annotator, pass_), time), labels in file.items():
        rows += [[item, annotator, pass_, time, label, number] for label in sorted(labels) or [""]]
    return rows


def take(connection: Connection, question: QuestionInfo, files: Files, number: int) -> ImportResult:
    sources = [
        SourceFile(STDIN, io.BytesIO(csv_text(rows_of(file, 10 * number + n)).encode()))
        for n, file in enumerate(files)
    ]
    return load_import(connection, question, sources, parse_column_roles([]), options=AS_THEY_ARE)


def standing(connection: Connection, question: QuestionInfo) -> dict[Answer, Labels]:
    found: dict[Answer, set[str]] = {}
    for item, annotator, category, pass_, *_ in exported_labels(connection, question):
        labels = found.setdefault((item, annotator, pass_), set())
        if category is not None:
            labels.add(category)
    return {answer: frozenset(labels) for answer, labels in found.items()}


def follow(ledger: Ledger, kind: str, script: list[Step]) -> None:
    plain = PlainLedger()
    made: list[int] = []
    given_files: dict[int, Files] = {}
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
                number = len(made)
                if isinstance(step, Again):
                    if not made:
                        continue
                    number = plain.files[step.chosen % len(made)]
                files = given_files.setdefault(number, [] if isinstance(step, Again) else step)
                result = take(connection, project, files, number)
                expected = plain.take(files, number)
                assert result.id is not None
                made.append(result.id)
                rows += result.rows
                new = expected["inserted"], expected["changed"]
                assert (result.inserted, result.changed) == new
                assert result.unchanged + result.older == expected.total() - sum(new)
                assert result.older >= expected["older"]
                assert result.rows == expected.total()
            assert standing(connection, project) == plain.standing()
            tables = (select(func.count()).select_from(table) for table in (Label, PastLabel))
            assert sum(map(connection.scalar, tables)) == rows  # type: ignore[arg-type]
        assert ledger.database.check() == []


A = ("i", "A", 1)
X, Y, Z, XY, NONE = (frozenset(labels) for labels in ("x", "y", "z", "xy", ""))
SCRIPTS: dict[str, tuple[str, list[Step]]] = {
    "untimed after timed": ("one", [
        [{(A, 3): X}, {(A, None): Y}],
        [{(A, 3): Z, (A, 1): X}],
        0, [{(A, None): NONE}], 1, 2,
    ]),
    "last week's file again": ("several", [
        [{(A, 3): X}], [{(A, 3): Y}], Again(0), 1, [{(A, 3): Z}], Again(1), 0,
    ]),
    "revised as a whole": ("several", [
        [{(A, None): XY, (("j", "A", 1), None): X}],
        [{(A, None): Y, (A, 3): XY}],
        [{(A, None): frozenset("yz")}, {(A, None): NONE, (("i", "A", 2), None): XY}],
        2, Again(0),
    ]),
}  # fmt: skip


@both
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_the_same_answers_stand(ledger, script):
    follow(ledger, *script)


def test_the_same_answers_stand_after_any_script(ledger):
    @examples(8)
    @given(st.tuples(st.just("one"), steps(one)) | st.tuples(st.just("several"), steps(several)))
    def check(script):
        follow(ledger, *script)

    check()
