"""Several rows of one answer in one file, which a column that is not used tells apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from tracker.formats.batch import KEEP, Rejections
from tracker.formats.column_names import folded_name
from tracker.formats.column_roles import Layout, Mapped
from tracker.formats.reader import Reading, ReadOptions
from tracker.imports.parts import Parts
from tracker.readers.registry import Source, read_batches

_MOST_COLUMNS = 100
_MOST_JOINED = 3
_ENOUGH = 0.9
"""The share of answers with several rows that columns tell apart if no further one is needed."""
_MANY = 8
"""Rows whose values in a column all differ, if it numbers the rows; fewer if its name says so."""
_NUMBERS = {"id", "row", "row_id", "index", "nr", "no", "#", "uuid", "unnamed:_0", "line"}

_TIME = re.compile(r"\s*\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:$|[T\s].*)")
_ROUNDS = {"round", "attempt", "trial", "repetition", "wave", "run", "session"}

Place = tuple[int, int]
"""The number of a file, and a line in it."""
ROW = ("question_id", "source", "line", "annotator_id", "item_id")
"""The columns that tell staged rows apart."""


class Contradiction(NamedTuple):
    """A row that contradicts another of its file."""

    question_id: int
    source: int
    line: int
    annotator_id: int
    item_id: int
    item: str
    reason: str

    @classmethod
    def of(cls, row: Any, reason: str) -> Contradiction:
        return cls(**{name: getattr(row, name) for name in (*ROW, "item")}, reason=reason)

    @property
    def answer(self) -> tuple[int, ...]:
        """What tells the answers of a file apart, but for passes and times."""
        return (self.question_id, self.source, self.annotator_id, self.item_id)


def with_columns_apart(
    contradictory: Sequence[Contradiction],
    repeated: Sequence[Contradiction],
    files: Files,
    *,
    alone: bool,
) -> tuple[list[Contradiction], list[Contradiction]]:
    """Return the rows, each with the unused columns that tell the rows of its answer apart.

    What they answer is more than the item; of the ``repeated`` rows, only these are returned. If
    an annotator answers ``alone``, contradictory rows may be told apart by a number of each row:
    of several annotators no two would have answered the same.
    The rejections of the files are told the options with which they can be read.
    """
    answers: defaultdict[tuple[int, ...], dict[Place, None]] = defaultdict(dict)
    for row in (*contradictory, *repeated):
        answers[row.answer][row.source, row.line] = None
    numbers = alone and bool(contradictory)
    words: dict[tuple[int, ...], str] = {}
    ways = files.rejections.ways
    for apart in files.columns_apart([*answers.values()], numbers=numbers):
        differ = f"; the rows differ in {' and '.join(map(repr, apart.names))} ({apart.option})"
        words |= {answer: differ for answer, places in answers.items() if apart.differ(places)}
        ignored = " ".join(f"--ignore {quote(name)}" for name in apart.names)
        ways.append(f"use what tells the rows apart: {apart.option}; or pass over it: {ignored}")
    if contradictory and not words:
        ways.append("or say what a second answer is: --repeat revision, or --repeat pass")

    def worded(row: Contradiction) -> Contradiction:
        return row._replace(reason=row.reason + words.get(row.answer, ""))

    return [*map(worded, contradictory)], [worded(row) for row in repeated if row.answer in words]


@dataclass(frozen=True)
class Files:
    """The files of an import, which are read again for the columns that it left out."""

    sources: Sequence[Source]
    parts: Parts
    mapped: Mapped
    options: ReadOptions
    rejections: Rejections

    def columns_apart(
        self, answers: Sequence[Collection[Place]], *, numbers: bool
    ) -> Iterator[Apart]:
        """Yield for each file the unused columns in which rows of one answer differ.

        ``answers`` holds the places of each answer's rows. With ``numbers`` these may be columns
        in which no value comes again.
        """
        by_source: defaultdict[int, list[Collection[Place]]] = defaultdict(list)
        source_of = {
            file: number
            for number in range(1, len(self.sources) + 1)
            for low, high in self.parts.numbers_of(number)
            for file in range(low, high + 1)
        }
        for places in answers:
            if len(places) > 1:
                by_source[source_of[next(iter(places))[0]]].append(places)
        for number, groups in sorted(by_source.items()):
            layouts = self.sources[number - 1].layouts.values()
            layout = next((each for each in layouts if isinstance(each, Layout)), None)
            if layout is None or "item" not in layout.roles:
                continue
            names, ignored = [*layout.names], self.options.ignore
            left = dict.fromkeys(layout.to_dict()["left_out"])
            unused = [name for name in left if names.count(name) == 1 and name not in ignored]
            places = {place for places in groups for place in places}
            cells = self._cells(number, unused[:_MOST_COLUMNS], places)
            if telling := _find_telling(cells, groups, numbers=numbers):
                item = layout.name_of(layout.roles["item"])
                yield Apart(telling, _option(item, telling, cells), cells)

    def _cells(
        self, number: int, unused: Sequence[str], places: Collection[Place]
    ) -> Mapping[str, _Column]:
        again = self.sources[number - 1].again() if unused else None
        columns = {name: _Column(name) for name in unused}
        if again is None:
            return columns
        lines: defaultdict[int, list[int]] = defaultdict(list)
        for source, line in places:
            lines[source].append(line)
        mapped = replace(self.mapped, keep=(*self.mapped.keep, *unused))
        with closing(again):
            for batch in read_batches(again, Reading(mapped, Rejections(), "one", self.options)):
                source = self.parts.number(number, batch)
                records = np.flatnonzero(np.isin(batch.lines, lines[source]))
                for name, column in columns.items():
                    cells = batch.columns.get(KEEP + name)
                    if cells is None:
                        continue
                    column.rows += len(np.unique(batch.lines))
                    column.distinct += len(cells.distinct)
                    rows = zip(batch.lines[records].tolist(), cells.at(records), strict=True)
                    column.texts |= {(source, line): text.strip() for line, text in rows}
        return columns


@dataclass
class _Column:
    name: str
    texts: dict[Place, str] = field(default_factory=dict)
    rows: int = 0
    distinct: int = 0

    @property
    def numbers_rows(self) -> bool:
        """Whether no value comes again, as in a column of the rows' own numbers or times."""
        many = self.rows >= _MANY or folded_name(self.name) in _NUMBERS
        return many and self.distinct >= self.rows

    def differs(self, places: Collection[Place]) -> bool:
        return len({self.texts.get(place) for place in places}) > 1


class Apart(NamedTuple):
    """The columns that tell rows of one answer apart, and the option with which they are used."""

    names: Sequence[str]
    option: str
    cells: Mapping[str, _Column]

    def differ(self, places: Collection[Place]) -> bool:
        return any(self.cells[name].differs(places) for name in self.names)


def _find_telling(
    columns: Mapping[str, _Column], answers: Sequence[Collection[Place]], *, numbers: bool
) -> list[str]:
    """Return the fewest columns that tell the rows of most answers apart, or differ in some.

    A column that numbers the rows is among them only with ``numbers``, and then after others.
    """
    differing = [
        name
        for name, column in columns.items()
        if (numbers or not column.numbers_rows) and any(map(column.differs, answers))
    ]

    def apart(names: Sequence[str]) -> int:
        """Return the number of answers whose rows all differ in some of the columns."""
        return sum(
            len({tuple(columns[name].texts.get(place) for name in names) for place in places})
            == len(places)
            for places in answers
        )

    chosen: list[str] = []
    while differing and len(chosen) < _MOST_JOINED:
        before = apart(chosen)
        if before >= _ENOUGH * len(answers):
            break
        gains = {name: apart([*chosen, name]) for name in differing}
        best = min(
            differing,
            key=lambda name: (-gains[name], columns[name].numbers_rows, columns[name].distinct),
        )
        if chosen and (gains[best] <= before or columns[best].numbers_rows):
            break
        chosen.append(best)
        differing.remove(best)
    return chosen


def _option(item: str, names: Sequence[str], columns: Mapping[str, _Column]) -> str:
    if len(names) == 1:
        if folded_name(names[0]) == "question":
            return f"--map {quote(f'question={names[0]}')}"
        texts = {text for text in columns[names[0]].texts.values() if text}
        if texts and all(map(_TIME.fullmatch, texts)):
            return f"--map {quote(f'labeled_at={names[0]}')}"
        if folded_name(names[0]) in _ROUNDS and all(map(str.isdecimal, texts)):
            return f"--map {quote(f'pass={names[0]}')}"
    return f"--map {quote('item=' + '+'.join([item, *names]))}"
