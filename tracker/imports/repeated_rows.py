"""Several rows of one answer in one file, which a column that is not used tells apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import NamedTuple

import numpy as np

from tracker.formats.batch import KEEP, Rejections
from tracker.formats.column_names import folded_name
from tracker.formats.column_roles import Layout, Mapped
from tracker.formats.reader import Reading, ReadOptions
from tracker.formats.registry import Source, read_batches
from tracker.imports.parts import Parts
from tracker.imports.validate import Contradiction

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
        answers[row.answer][row.place] = None
    numbers = alone and bool(contradictory)
    words: dict[tuple[int, ...], str] = {}
    for apart in files.columns_apart([*answers.values()], numbers=numbers):
        named = f"{' and '.join(map(repr, apart.names))} ({apart.option})"
        words |= {answer: named for answer, places in answers.items() if apart.differ(places)}
        ignored = " ".join(f"--ignore {quote(name)}" for name in apart.names)
        files.rejections.ways += [
            f"use what tells the rows apart: {apart.option}; or pass over it: {ignored}"
        ]
    if contradictory and not words:
        files.rejections.ways += [
            "or say what a second answer is: --repeat revision, or --repeat pass"
        ]

    def worded(row: Contradiction) -> Contradiction:
        named = words.get(row.answer)
        differ = "" if named is None else f"; the rows differ in {named}"
        return row._replace(reason=row.reason + differ)

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
        by_file: defaultdict[int, list[Collection[Place]]] = defaultdict(list)
        for places in answers:
            if len(set(places)) > 1:
                by_file[self._source(next(iter(places))[0])].append(places)
        for number, groups in sorted(by_file.items()):
            source = self.sources[number - 1]
            layouts = (each for each in source.layouts.values() if isinstance(each, Layout))
            layout = next(layouts, None)
            if layout is None or "item" not in layout.roles:
                continue
            unused = self._unused(layout)
            cells = self._cells(number, unused, {place for places in groups for place in places})
            names = _telling(cells, groups, numbers=numbers)
            if names:
                item = layout.name_of(layout.roles["item"])
                yield Apart(names, _option(item, names, cells), cells)

    def _source(self, number: int) -> int:
        """Return the number of the source that a file is of."""
        for source in range(1, len(self.sources) + 1):
            if any(low <= number <= high for low, high in self.parts.numbers_of(source)):
                return source
        return number

    def _unused(self, layout: Layout) -> list[str]:
        """Return the columns that have no role, of those that have a name of their own."""
        names = [*layout.names]
        left = [*dict.fromkeys(layout.to_dict()["left_out"])]
        return [
            name for name in left if names.count(name) == 1 and name not in self.options.ignore
        ][:_MOST_COLUMNS]

    def _cells(
        self, number: int, unused: Sequence[str], places: Collection[Place]
    ) -> Mapping[str, _Column]:
        """Return the unused cells at some places of a source, which is read again."""
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
    """The cells of a column at some places, and how many rows and texts the whole column has."""

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


def _telling(
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
        before = apart(chosen) if chosen else 0
        if chosen and before >= _ENOUGH * len(answers):
            break
        best = min(
            differing,
            key=lambda name: (
                -apart([*chosen, name]), columns[name].numbers_rows, columns[name].distinct,
            ),
        )  # fmt: skip
        if chosen and (apart([*chosen, best]) <= before or columns[best].numbers_rows):
            break
        chosen.append(best)
        differing.remove(best)
    return chosen


def _option(item: str, names: Sequence[str], columns: Mapping[str, _Column]) -> str:
    """Return the option that says what columns are: part of the item, a time, a pass."""
    if len(names) == 1:
        if folded_name(names[0]) == "question":
            return f"--map {quote(f'question={names[0]}')}"
        texts = {text for text in columns[names[0]].texts.values() if text}
        if texts and all(map(_TIME.fullmatch, texts)):
            return f"--map {quote(f'labeled_at={names[0]}')}"
        if folded_name(names[0]) in _ROUNDS and all(map(str.isdecimal, texts)):
            return f"--map {quote(f'pass={names[0]}')}"
    return f"--map {quote('item=' + '+'.join([item, *names]))}"
