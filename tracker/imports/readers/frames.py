"""Sources that are not files: data frames, and rows that a program makes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import LISTED, Batch, Cells, Numbers
from tracker.imports.column_roles import layout_of_header
from tracker.imports.question_columns import OF_QUESTION
from tracker.imports.readers.dated import with_read_dates
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.source import ReadAs

if TYPE_CHECKING:
    import pandas as pd


_AT_ONCE = 200_000  # rows
_FIRST_LINE = 2  # below a header, as if the frame were a file
_LONGEST_SHOWN = 100


class _InMemory:
    """What the loader requires of every source."""

    size = None
    bytes_read = 0
    layout: ReadAs | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self._sha256 = hashlib.sha256()

    @property
    def digest(self) -> str:
        """SHA-256 of the columns that were read; known once everything was read."""
        return self._sha256.hexdigest()

    @property
    def layouts(self) -> dict[str, ReadAs]:
        """Which column is what, by the name of the source."""
        return {} if self.layout is None else {self.name: self.layout}

    def watch(self, _report: Callable[[int], None]) -> None:
        """Do nothing: there are no bytes to count."""

    def drain(self) -> None:
        """Do nothing: nothing is left over."""

    def digested(self, batch: Batch) -> Batch:
        """Return the batch, after adding it to the digest."""
        for role, cells in batch.columns.items():
            self._sha256.update(f"\0{role}\0".encode())
            self._sha256.update("\0".join(cells.texts).encode())
            self._sha256.update(cells.codes.astype("<i4").tobytes())
        return batch


class RowsSource(_InMemory):
    """Named tuples whose fields are roles, without fields that have no value in the first row."""

    def __init__(self, rows: Iterable[NamedTuple], name: str) -> None:
        super().__init__(name)
        self.rows = rows

    def batches(self, _reading: Reading) -> Iterator[Batch]:
        """Yield the rows in batches. Raises Refused if there are none."""
        rows, line = iter(self.rows), _FIRST_LINE
        fields: dict[str, int] = {}
        while some := list(islice(rows, _AT_ONCE)):
            if not fields:
                first = zip(some[0]._fields, some[0], strict=True)
                fields = {name: n for n, (name, value) in enumerate(first) if value is not None}
            cells = list(zip(*some, strict=True))
            columns = {name: Cells.of_texts(cells[n]) for name, n in fields.items()}
            yield self.digested(Batch(np.arange(line, line + len(some)), columns))
            line += len(some)
        if not fields:
            raise Refused(f"{self.name} holds no row")


class FrameSource(_InMemory):
    """A data frame; its rows are counted as if it were a file with a header."""

    def __init__(self, frame: pd.DataFrame) -> None:
        super().__init__("frame")
        self.frame = frame

    def batches(self, reading: Reading) -> Iterator[Batch]:
        """Yield the rows in batches, missing values as empty cells.

        A whole number is written without a point, even if a gap made its column one of floats. In
        a project of several categories an answer, a list of categories is an answer; any other
        list is rejected. Raises Refused as for a file.
        """
        return with_read_dates(self._batches(reading), self, reading)

    def _batches(self, reading: Reading) -> Iterator[Batch]:
        frame = self.frame
        header = [str(name) for name in frame.columns]
        layout = self.layout = layout_of_header(
            header, reading.mapped, self.name, reading.options.ignore
        )
        if not len(frame):
            raise Refused(f"{self.name} holds no row")
        used = {*layout.roles.values(), *layout.annotators.values()}
        whole = {n: _whole(frame.iloc[:, n]) for n in used}
        answers = list(layout.annotators.items()) or [("", layout.roles.get("category", -1))]
        for start in range(0, len(frame), _AT_ONCE):
            part = frame.iloc[start : start + _AT_ONCE]
            lines = np.arange(start, start + len(part)) + _FIRST_LINE
            cells = {n: _texts(part.iloc[:, n], whole[n]) for n in whole}
            rows = _Rows(self.name, lines, reading)
            for role, n in layout.roles.items():
                if role.startswith(OF_QUESTION):
                    cells[n] = rows.join_lists(role.removeprefix(OF_QUESTION), cells[n])
                elif role != "category":
                    rows.refuse_lists(role, cells[n])
            records = rows.records([cells[n] for _, n in answers if n >= 0], wide=layout.wide)
            names = [name for name, _ in answers]
            yield self.digested(_batch(lines, layout.roles, cells, records, names))
            del part


Texts = Sequence[Any]
"""Cells as texts; a list among them is as it was."""


class _Records(NamedTuple):
    rows: Numbers
    answer: Numbers  # which of the columns of answers
    category: list[str] | None


class _Rows:
    """The records of a part of a frame, and its rejections."""

    def __init__(self, name: str, lines: Numbers, reading: Reading) -> None:
        self.name = name
        self.lines = lines
        self.rejections = reading.rejections
        self.several = reading.answers == "several"
        self.reading = reading
        self.bad: set[int] = set()

    def refuse_lists(self, role: str, cells: Texts) -> None:
        """Reject the rows whose cell is a list if lists are not allowed."""
        for n, cell in enumerate(cells):
            if not isinstance(cell, str):
                self._reject(n, f"the {role} is {_shown(cell)}, not a single value")

    def join_lists(self, question: str, cells: Texts) -> Texts:
        """Return the cells of a question's column, each list as one text, see `LISTED`.

        Rows of lists are rejected if the question is not one of several categories an answer.
        """
        several = self.reading.by_question.get(question, self.reading.answers) == "several"
        return [
            cell if isinstance(cell, str) else self._joined(n, question, cell, several)
            for n, cell in enumerate(cells)
        ]

    def _joined(self, row: int, question: str, cell: Any, several: bool) -> str:
        if isinstance(cell, Mapping) or not several:
            way = "" if isinstance(cell, Mapping) else "; lists are for questions of several"
            self._reject(row, f"{question}: the category is {_shown(cell)}, not a single one{way}")
            return ""
        return LISTED + LISTED.join(self._members(row, cell, f"{question}: "))

    def _reject(self, row: int, reason: str) -> None:
        if row not in self.bad:
            self.bad.add(row)
            self.rejections.add(self.name, int(self.lines[row]), reason)
            self.rejections.ragged += 1

    def records(self, answers: Sequence[Texts], *, wide: bool) -> _Records:
        """Return a record for every category of every answer, row by row.

        ``wide`` says that only filled cells are answers.
        """
        rows, places, categories = [], [], []
        if not answers:
            kept = [n for n in range(len(self.lines)) if n not in self.bad]
            return _Records(np.array(kept, np.int64), np.zeros(len(kept), np.int64), None)
        for row, cells in enumerate(zip(*answers, strict=True)):
            for place, cell in enumerate(cells):
                if row in self.bad or (wide and isinstance(cell, str) and not cell.strip()):
                    continue
                for category in self._categories(row, cell):
                    rows.append(row)
                    places.append(place)
                    categories.append(category)
        return _Records(np.array(rows, np.int64), np.array(places, np.int64), categories)

    def _categories(self, row: int, cell: Any) -> Sequence[str]:
        if isinstance(cell, str):
            return [cell]
        if isinstance(cell, Mapping) or not self.several:
            way = "" if isinstance(cell, Mapping) else "; lists are for projects of several"
            self._reject(row, f"the category is {_shown(cell)}, not a single one{way}")
            return []
        return self._members(row, cell) or ([] if row in self.bad else [""])

    def _members(self, row: int, cell: Any, of: str = "") -> list[str]:
        members = [_text(member, whole=False) for member in cell]
        if not all(isinstance(member, str) for member in members):
            self._reject(row, f"{of}the category is {_shown(cell)}, a list of lists")
            return []
        return list(dict.fromkeys(members))


def _batch(
    lines: Numbers,
    roles: Mapping[str, int],
    cells: Mapping[int, Texts],
    records: _Records,
    names: Sequence[str],
) -> Batch:
    rows = records.rows.tolist()
    columns = {
        role: _cells([cells[n][row] for row in rows], may_list=role.startswith(OF_QUESTION))
        for role, n in roles.items()
        if role != "category"
    }
    if records.category is not None:
        columns["category"] = Cells.of_texts(records.category)
        if names != [""]:
            columns["annotator"] = Cells.of_texts([names[n] for n in records.answer.tolist()])
    return Batch(lines[records.rows], columns)


def _cells(texts: Sequence[str], *, may_list: bool) -> Cells:
    listed = may_list and any(text.startswith(LISTED) for text in texts)
    return replace(Cells.of_texts(texts), listed=listed)


def _whole(column: pd.Series[Any]) -> bool:
    """Return whether all floats of a column are whole numbers."""
    if column.dtype.kind == "f":
        values = column.to_numpy(dtype=float, na_value=np.nan)
    elif column.dtype.kind == "O":
        values = np.array([cell for cell in column if isinstance(cell, float)], float)
    else:
        return True
    values = values[np.isfinite(values)]
    return bool((values == np.floor(values)).all())


def _texts(column: pd.Series[Any], whole: bool) -> Texts:
    """Return a column's cells as texts.

    If values can be hashed, each distinct value is written once.
    """
    import pandas as pd

    if column.dtype.kind == "O" and not isinstance(column.dtype, pd.CategoricalDtype):
        return [_text(cell, whole=whole) for cell in column.tolist()]
    codes, distinct = pd.factorize(column)
    texts = [*(_text(value, whole=whole) for value in distinct.tolist()), ""]  # -1: missing
    return [texts[code] for code in codes.tolist()]


def _text(cell: Any, *, whole: bool) -> Any:
    """Return a cell as a file would hold it; a list, or anything like one, unchanged."""
    import pandas as pd

    if isinstance(cell, str):
        return cell
    if isinstance(cell, list | tuple | set | frozenset | Mapping | np.ndarray):
        return cell
    if pd.isna(cell):
        return ""
    if isinstance(cell, float) and whole and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def _shown(cell: Any) -> str:
    text = repr(cell)
    what = "an object" if isinstance(cell, Mapping) else "a list"
    return f"{what}, {text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '…'}"
