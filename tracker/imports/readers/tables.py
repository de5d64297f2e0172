"""Tables whose cells may be lists: a row may hold several answers, an answer several categories."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import KEEP, LISTED, Batch, Cells, Numbers, text_array
from tracker.imports.column_names import listed_names
from tracker.imports.column_roles import Layout, layout_of_header
from tracker.imports.question_columns import OF_QUESTION
from tracker.imports.readers.dated import with_read_dates
from tracker.imports.readers.judge_tables import with_models
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.source import ReadAs
from tracker.imports.readers.typed_cells import CellFault, Column, value_text

_LONGEST_SHOWN = 100


class Table(Protocol):
    """What has columns with names."""

    name: str
    layout: ReadAs | None


class Rows(NamedTuple):
    """Some rows of a table: their places, and each column by its position in the header.

    ``lists`` are the positions of columns that hold lists. The header only ever grows.
    """

    header: Sequence[str]
    lines: Numbers
    column: Callable[[int], Column]
    lists: Collection[int] = ()


def batches_of_rows(
    table: Table, reading: Reading, parts: Iterator[Rows], unit: str = "line"
) -> Iterator[Batch]:
    """Yield the records of a table in batches. Raises Refused if it cannot be read.

    In a row with a list of annotators, every other list holds one value for each of them. Any
    other list is one of the categories of an answer, or rejected.
    """
    return as_concluded(_batches(table, reading, parts, unit), table, reading)


def as_concluded(batches: Iterator[Batch], table: Table, reading: Reading) -> Iterator[Batch]:
    """Yield the batches of a table with what its columns say together: models, orders of dates.

    Raises Refused if dates have no order, or if the item was guessed and cannot be.
    """
    guessed = with_models(_with_plausible_items(batches, table), table)
    return with_read_dates(guessed, table, reading)


def _with_plausible_items(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    """Yield batches; raises Refused if a column ``id`` numbers the rows of several annotators."""
    for batch in batches:
        layout = table.layout
        if isinstance(layout, Layout) and layout.guessed_item and "annotator" in batch.columns:
            item = batch.columns["item"]
            is_row = len(item.distinct) == len(item.codes) > 1
            if is_row and len(batch.columns["annotator"].distinct) > 1:
                name = layout.names[layout.roles["item"]]
                raise Refused(
                    f"{table.name} has no column for the item: {name!r} differs in each row, and "
                    f"there are several annotators; its columns are: {listed_names(layout.names)}",
                    f"say which: --map item=COLUMN; if no item has two answers: --map item={name}",
                )
        yield batch


def _batches(table: Table, reading: Reading, parts: Iterator[Rows], unit: str) -> Iterator[Batch]:
    layout: Layout | None = None
    empty = True
    for part in parts:
        if layout is None or len(part.header) > len(layout.names):
            layout = layout_of_header(
                part.header, reading.mapped, table.name, reading.options.ignore, part.lists
            )
            table.layout = layout
        if not len(part.lines):
            continue
        empty = False
        used = dict.fromkeys([*layout.roles.values(), *layout.annotators.values()])
        columns = {n: part.column(n) for n in used}
        lines = part.lines
        if not all(isinstance(column, Cells) for column in columns.values()):
            lines, columns = _Lists(table.name, lines, reading, unit).resolved(layout, columns)
        cells = {n: column for n, column in columns.items() if isinstance(column, Cells)}
        batch = (wide_batch if layout.wide else long_batch)(layout, lines, cells)
        yield replace(batch, unit=unit)
        del batch, cells, columns
    if empty:
        raise Refused(f"{table.name} holds no row")


def long_batch(layout: Layout, lines: Numbers, cells: Mapping[int, Cells]) -> Batch:
    """Return one record per row."""
    return Batch(lines, {role: cells[n] for role, n in layout.roles.items()}, names=_named(layout))


def wide_batch(layout: Layout, lines: Numbers, cells: Mapping[int, Cells]) -> Batch:
    """Return one record per filled cell of an annotator, row by row; an empty cell says nothing."""
    import pyarrow as pa

    number, names = len(lines), list(layout.annotators)
    given = [cells[n] for n in layout.annotators.values()]
    answers = replace(
        Cells.of(
            [
                pa.DictionaryArray.from_arrays(one.codes.astype(np.int32), one.distinct)
                for one in given
            ]
        ),
        listed=any(one.listed for one in given),
    )
    by_row = answers.take(np.arange(number * len(names)).reshape(len(names), number).T.ravel())
    filled = np.flatnonzero(by_row.holds(lambda text: text.strip() or text.startswith(LISTED)))
    rows = filled // len(names)
    columns = {
        role: cells[n].take(rows)
        for role, n in layout.roles.items()
        if role not in {"annotator", "category"}
    }
    columns["annotator"] = Cells(np.arange(len(names)), text_array(names)).take(filled % len(names))
    columns["category"] = by_row.take(filled)
    return Batch(lines[rows], columns, names=_named(layout))


def _named(layout: Layout) -> dict[str, str]:
    """Return the names of columns by role."""
    return {role: layout.names[n] for role, n in layout.roles.items()}


class _Lists:
    """Some rows in which cells are lists, and the rejections of those that cannot be."""

    def __init__(self, name: str, lines: Numbers, reading: Reading, unit: str) -> None:
        self.name = name
        self.lines = lines
        self.reading = reading
        self.unit = unit
        self.bad: set[int] = set()

    def resolved(
        self, layout: Layout, columns: Mapping[int, Column]
    ) -> tuple[Numbers, dict[int, Column]]:
        """Return the good rows, a list of annotators as a row for each, without any list."""
        roles = {n: role for role, n in layout.roles.items()}
        whose = columns.get(layout.roles.get("annotator", -1))
        if whose is not None and not isinstance(whose, Cells):
            columns = self._of_each(columns, whose, roles)
        found = {
            n: column if isinstance(column, Cells) else self._cells(roles.get(n, ""), column)
            for n, column in columns.items()
        }
        good = np.flatnonzero(~np.isin(np.arange(len(self.lines)), list(self.bad)))
        return self.lines[good], {n: column.take(good) for n, column in found.items()}

    def _of_each(
        self, columns: Mapping[int, Column], whose: Sequence[Any], roles: Mapping[int, str]
    ) -> dict[int, Column]:
        """Return the columns with a row for each annotator of a list."""
        listed = {n: column for n, column in columns.items() if not isinstance(column, Cells)}
        answers = [n for n in listed if roles.get(n, "").startswith("category")]
        lengths: list[int | None] = []  # None: one row, of no list of annotators
        for row, names in enumerate(whose):
            if not _is_list(names) or not any(_is_list(listed[n][row]) for n in answers):
                lengths.append(None)
                continue
            for n, column in listed.items():
                if _is_list(column[row]) and len(column[row]) != len(names):
                    what = roles.get(n, "").removeprefix(OF_QUESTION).removeprefix(KEEP)
                    number = len(column[row])
                    self._reject(row, f"{len(names)} annotators, and {number} of {what!r}")
            lengths.append(0 if row in self.bad else len(names))
        numbers = [1 if length is None else length for length in lengths]
        rows = np.repeat(np.arange(len(numbers)), numbers)
        of_each = [
            (row, None if lengths[row] is None else place)
            for row, number in enumerate(numbers)
            for place in range(number)
        ]
        self.lines, self.bad = self.lines[rows], set()
        return {
            n: column.take(rows)
            if isinstance(column, Cells)
            else [
                column[row] if place is None or not _is_list(column[row])
                else value_text(list(column[row])[place])
                for row, place in of_each
            ]
            for n, column in columns.items()
        }  # fmt: skip

    def _cells(self, role: str, column: Sequence[Any]) -> Cells:
        """Return a column, each list of categories as one text, see `LISTED`."""
        question = role.removeprefix(OF_QUESTION) if role.startswith(OF_QUESTION) else None
        if question is None and role not in {"", "category"}:
            texts = [self._plain(n, cell, role) for n, cell in enumerate(column)]
        else:
            of = "" if question is None else f"{question}: "
            answers = self.reading.by_question.get(question or "", self.reading.answers)
            texts = [self._joined(n, cell, of, answers) for n, cell in enumerate(column)]
        listed = any(text.startswith(LISTED) for text in texts)
        return replace(Cells.of_texts(texts), listed=listed)

    def _joined(self, row: int, cell: Any, of: str, answers: str) -> str:
        if isinstance(cell, str):
            return cell
        if isinstance(cell, CellFault):
            self._reject(row, f"{of}the category is {cell.what}")
            return ""
        if isinstance(cell, Mapping) or answers != "several":
            way = "--question NAME=COLUMN:several" if of else "--answers several"
            way = "" if isinstance(cell, Mapping) else f"; if an answer may be several: {way}"
            self._reject(row, f"{of}the category is {_shown(cell)}, not a single one{way}")
            return ""
        members = [value_text(member) for member in cell]
        if not all(isinstance(member, str) for member in members):
            self._reject(row, f"{of}the category is {_shown(cell)}, a list of lists")
            return ""
        return LISTED + LISTED.join(dict.fromkeys(members))

    def _plain(self, row: int, cell: Any, role: str) -> str:
        if isinstance(cell, str):
            return cell
        if isinstance(cell, CellFault):
            self._reject(row, f"the {role.removeprefix(KEEP)} is {cell.what}")
            return ""
        if role.startswith(KEEP):
            return json.dumps(cell, ensure_ascii=False, default=str)
        self._reject(row, f"the {role} is {_shown(cell)}, not a single value")
        return ""

    def _reject(self, row: int, reason: str) -> None:
        if row not in self.bad:
            self.bad.add(row)
            self.reading.rejections.add(self.name, int(self.lines[row]), reason, self.unit)
            self.reading.rejections.ragged += 1


def _is_list(cell: Any) -> bool:
    return cell is not None and not isinstance(cell, str | Mapping | CellFault)


def _shown(cell: Any) -> str:
    text = repr(cell)
    what = "an object" if isinstance(cell, Mapping) else "a list"
    return f"{what}, {text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '…'}"
