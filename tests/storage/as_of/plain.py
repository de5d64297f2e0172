"""What stood when, by a ledger of a few lines of Python that forgets nothing: the other opinion.

Every record is kept with its moment, its change and the name it was given under. Asked for a
state, the greatest known and not yet taken back of each answer stands, and whose answer it is
follows from the merges and splits that were known.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.helpers import AS_THEY_ARE, csv_text
from tracker.core import clock
from tracker.formats.mappings import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.imports.loader import ImportResult, load_import
from tracker.imports.undo import undo_import
from tracker.projects.identities import merge_annotators, split_annotator
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project

NAMES = "ABC"
_EPOCH = 1_700_000_000
EVER = 1_000.0

Answer: TypeAlias = tuple[str, str, int]  # item, name, pass
Labels: TypeAlias = frozenset[str]  # empty: none applies, or skipped
File: TypeAlias = dict[tuple[Answer, int | None], Labels]


def at(seconds: float) -> int:
    """The moment so many seconds into a script, whose n-th change is recorded at the n-th."""
    return round((_EPOCH + seconds) * 1_000_000)


class Clock:
    """A clock that stands where it was set, as all of the program sees it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.moment = at(0)
        patch.setattr(clock, "now", lambda: self.moment)


class Merge(NamedTuple):
    name: str
    into: str


class Split(NamedTuple):
    name: str


class Undo(NamedTuple):
    number: int  # picks one of the imports made before


Step: TypeAlias = list[File] | Merge | Split | Undo


class Record(NamedTuple):
    labeled_at: float
    change: int
    file: int
    given_as: str
    item: str
    pass_: int
    labels: Labels


@dataclass
class PlainLedger:
    """Every record, the changes that took some back, and whose a name was from each change on."""

    records: list[Record] = field(default_factory=list)
    taken_back: dict[int, int] = field(default_factory=dict)
    owners: list[tuple[int, dict[str, str]]] = field(
        default_factory=lambda: [(0, {name: name for name in NAMES})]
    )
    imports: list[int] = field(default_factory=list)
    changes: int = 1  # the one that made the project

    def owner(self, name: str, known_at: float = EVER) -> str:
        return next(o for change, o in reversed(self.owners) if change <= known_at)[name]

    def stood(self, as_of: float | None = None, known_at: float | None = None) -> dict[Any, Labels]:
        """The labels of each answer; moments in seconds, as `at` takes them."""
        knowing = EVER if known_at is None else known_at
        found = {}
        for record in sorted(self.records):
            gone = self.taken_back.get(record.change, math.inf) <= knowing
            late = record.labeled_at > (EVER if as_of is None else as_of)
            if record.change <= knowing and not late and not gone:
                owner = self.owner(record.given_as, knowing)
                found[record.item, owner, record.pass_] = record.labels
        return found

    def known(self) -> set[str]:
        """The annotators with a record that was not taken back."""
        return {self.owner(name) for name in self.named()}

    def named(self) -> set[str]:
        """The names under which a record was given that was not taken back."""
        return {one.given_as for one in self.records if one.change not in self.taken_back}

    def load(self, files: list[File]) -> list[File]:
        self.changes += 1
        self.imports.append(self.changes)
        files = without_doubles(files, self.owner)
        for number, file in enumerate(files):
            for ((item, name, pass_), time), labels in file.items():
                moment = self.changes if time is None else time + 0.5
                record = Record(moment, self.changes, number, name, item, pass_, labels)
                self.records.append(record)
        return files

    def undo(self, change: int) -> None:
        self.changes += 1
        self.taken_back[change] = self.changes

    def give(self, names: set[str], owner: str) -> None:
        self.changes += 1
        before = self.owners[-1][1]
        self.owners.append((self.changes, before | dict.fromkeys(names, owner)))


class Both:
    """The same done to a project and to a plain ledger."""

    def __init__(self, connection: Connection, kind: str, now: Clock) -> None:
        self.connection = connection
        self.now = now
        self.plain = PlainLedger()
        self.made: list[int] = []
        now.moment = at(1)
        self.question = create_project(connection, "p", QuestionOptions(answers=kind))
        self.take([{((item, name, 1), None): frozenset("x") for item in "ij" for name in NAMES}])

    def take(self, step: Step) -> None:
        self.now.moment = at(self.plain.changes + 1)
        if isinstance(step, Merge):
            self._merge(*step)
        elif isinstance(step, Split):
            if self.plain.owner(step.name) != step.name and step.name in self.plain.named():
                split_annotator(self.connection, self.question.project, step.name)
                self.plain.give({step.name}, step.name)
        elif isinstance(step, Undo):
            chosen = step.number % len(self.made)
            if (change := self.plain.imports[chosen]) not in self.plain.taken_back:
                undo_import(self.connection, self.made[chosen])
                self.plain.undo(change)
        else:
            files = self.plain.load(step)
            number = load_files(self.connection, self.question, files, len(self.made)).id
            assert number is not None
            self.made.append(number)

    def _merge(self, name: str, into: str) -> None:
        one, other = self.plain.owner(name), self.plain.owner(into)
        if one != other and {one, other} <= self.plain.known():
            merge_annotators(self.connection, self.question.project, name, into)
            self.plain.give({name for name in NAMES if self.plain.owner(name) == one}, other)


def without_doubles(files: list[File], owner: Callable[[str], str]) -> list[File]:
    """Files without what none can hold: two names of one annotator on an answer at one moment."""
    fitting: list[File] = []
    for file in files:
        seen = set()
        fitting.append({})
        for ((item, name, pass_), time), labels in file.items():
            if (key := (item, owner(name), pass_, time)) not in seen:
                seen.add(key)
                fitting[-1][(item, name, pass_), time] = labels
    return fitting


def load_files(
    connection: Connection, question: QuestionInfo, files: list[File], number: int
) -> ImportResult:
    """Import files. No two are alike: one that repeats another counts as of its date."""
    sources = []
    for place, file in enumerate(files):
        rows: list[list[object]] = [["item", "annotator", "pass", "labeled_at", "category", "n"]]
        for ((item, name, pass_), time), labels in file.items():
            moment = None if time is None else _EPOCH + time + 0.5
            unlike = 10 * number + place
            rows += [[item, name, pass_, moment, one, unlike] for one in sorted(labels) or [""]]
        sources.append(SourceFile(STDIN, io.BytesIO(csv_text(rows).encode())))
    return load_import(connection, question, sources, parse_column_roles([]), options=AS_THEY_ARE)


moments = st.none() | st.integers(1, 20).map(lambda halves: halves / 2)
_answers = st.tuples(st.sampled_from("ij"), st.sampled_from(NAMES), st.integers(1, 2))
_times = st.none() | st.integers(0, 7)
_LABELS: dict[str, st.SearchStrategy[Any]] = {
    "one": st.sampled_from("xy") | st.just(""),
    "several": st.sets(st.sampled_from("xyz"), max_size=3),
}


def imports_of(kind: str) -> st.SearchStrategy[Any]:
    """Files of a project of one category per answer, or of several."""
    held = _LABELS[kind].map(lambda found: frozenset(found) - {""})
    file = st.dictionaries(st.tuples(_answers, _times), held, min_size=1, max_size=5)
    return st.lists(file, min_size=1, max_size=2)


def steps(kind: str) -> st.SearchStrategy[Any]:
    return (
        imports_of(kind)
        | st.builds(Undo, st.integers(0, 5))
        | st.builds(Merge, st.sampled_from(NAMES), st.sampled_from(NAMES))
        | st.builds(Split, st.sampled_from(NAMES))
    )


BOTH_KINDS: Callable[..., Any] = pytest.mark.parametrize("kind", ["one", "several"])
