"""Records of some rows of a table: one a row, or several in columns that their names tell apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracker.core.errors import Refused
from tracker.formats.batch import LISTED, Batch, Cells, Flags, Numbers, Unit, place_of, text_array
from tracker.formats.column_names import NO, PARTS, YES, NamedColumn, number_range
from tracker.formats.column_roles import NUMBERS, RANKED, STATUS, Layout
from tracker.formats.item_columns import as_count
from tracker.formats.reader import Reading
from tracker.projects.questions import QuestionOptions

FAULT = "\x1d"  # before what is wrong with a cell that is a record of its row alone
_MOST_COUNTED = 1_000  # annotators of an item
_NO_CATEGORIES = (
    "cells of a column for each category are 1 or 0, x or empty; if the cells are categories, "
    "leave {category} out of --columns"
)


def batch_of_table(
    layout: Layout,
    lines: Numbers,
    cells: Mapping[int, Cells],
    numbers: Numbers | None,  # of the rows in the table, from 1, if the layout wants them
    source: str,
    reading: Reading,
    unit: Unit = "line",
) -> Batch:
    """Return the records of some rows: one a row, or in wide form one a filled cell."""
    cells = dict(cells)
    if layout.header_end and (lines <= layout.header_end).any():
        below = np.flatnonzero(lines > layout.header_end)
        lines, numbers = lines[below], None if numbers is None else numbers[below]
        cells = {n: column.take(below) for n, column in cells.items()}
    if layout.numbered:
        assert numbers is not None
        before = reading.document_of(source)
        cells[NUMBERS] = Cells.of_texts([f"{before}{number}" for number in numbers.tolist()])
    blank = reading.options.blank
    for n in layout.answers if blank is not None else ():
        filled = cells[n].mapped(lambda text: text if _is_filled(text) else blank or "")
        cells[n] = replace(filled, listed=cells[n].listed)
    for n, parts in layout.joined.items():
        if n not in layout.families:
            join = RANKED if n == layout.ranked else layout.join
            joined = joined_cells([cells[part] for part in parts], join)
            cells[n] = joined.mapped(better_rank) if n == layout.ranked else joined
    names = {role: layout.name_of(n) for role, n in layout.roles.items()}
    if not (layout.wide or layout.families):
        columns = {role: cells[n] for role, n in layout.roles.items()}
        is_repeated = bool((np.diff(lines) == 0).any())
        return Batch(lines, columns, unit=unit, names=names, rows_repeat=is_repeated)
    people = [NamedColumn(n, annotator=name) for name, n in layout.annotators.items()]
    several = _Several(layout, layout.named or people, lines, cells, source, reading, unit)
    questions: Mapping[str, QuestionOptions] = {}
    if layout.families:
        rows, columns = several.of_families()
    elif layout.counts:
        rows, columns = several.counted()
    else:
        rows, columns, questions = several.named_cells()
    batch = Batch(lines[rows], columns, unit=unit, asked=questions, names=names, wide=True)
    says_none = bool(layout.named) and layout.named[0].category is not None
    return replace(batch, rows_repeat=bool(layout.families), says_none=says_none)


def better_rank(ranks: str) -> str:
    """Return which of two ranks, such as 1<2, is the lower one; the same text if neither is."""
    ends = [number_range({text}) for text in ranks.split(RANKED)]
    if not all(ends):
        return ranks
    (first, _), (second, _) = ends
    return "a>b" if first < second else "b>a" if first > second else "tie"


def joined_cells(columns: Sequence[Cells], join: str) -> Cells:
    """Return the cells of several columns as one text each; empty if all of them are."""
    first, codes = combine_cells(columns)
    parts = zip(*(column.at(first) for column in columns), strict=True)
    texts = [join.join(map(str.strip, row)) if any(map(str.strip, row)) else "" for row in parts]
    return column_of_codes(codes, texts)


@dataclass
class _Several:
    """Some rows of a table with several records each, most in columns that names tell apart."""

    layout: Layout
    named: Sequence[NamedColumn]
    lines: Numbers
    cells: Mapping[int, Cells]
    source: str
    reading: Reading
    unit: Unit

    def of_families(self) -> tuple[Numbers, dict[str, Cells]]:
        """Return the row of each number of columns ``{n}`` with an answer, and its columns."""
        layout, families = self.layout, self.layout.families
        width = len(layout.joined[next(iter(families))])
        rows = np.repeat(np.arange(len(self.lines)), width)
        columns = {
            role: _row_by_row([self.cells[part] for part in layout.joined[n]])
            if n in families
            else self.cells[n].take(rows)
            for role, n in layout.roles.items()
        }
        answered, bad = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        for role, cells in columns.items():
            if role.startswith("category"):
                answered |= cells.holds(_is_filled)
                bad |= self._rejected(cells, width)
        if self.reading.options.blank is not None:  # a number without a name is not used
            for role in {"item", "annotator"} & columns.keys():
                answered &= columns[role].holds(str.strip)
        if layout.has_status:
            status = self.cells[layout.names.index(STATUS)]
            rejected = status.holds(lambda text: text.strip() == "Rejected")
            if number := int(rejected.sum()):
                layout.rows_left_out["rejected assignment"] += number
            answered &= ~rejected[rows]
        places = np.flatnonzero(answered & ~bad)
        return rows[places], {role: cells.take(places) for role, cells in columns.items()}

    def counted(self) -> tuple[Numbers, dict[str, Cells]]:
        """Return the row and columns of each annotator that cells count, who is a number.

        Rows with a cell that is not a count are rejected. Raises Refused for a row of too many.
        """
        by_row, width = _row_by_row([self.cells[n] for n, *_ in self.named]), len(self.named)
        each = (as_count(text) for text in by_row.texts)
        by_text = np.array([-1 if count is None else count for count in each], np.int64)
        counts = by_text[by_row.codes].reshape(-1, width)
        bad = np.unique(np.flatnonzero(counts < 0) // width).tolist()
        for row in bad:
            place = row * width + int(counts[row].argmin())
            empty = "the count is empty (if that is 0: --blank 0)"
            bad_count = "the count {!r} is not a whole number from 0"
            self._reject(by_row, place, bad_count if by_row[place].strip() else empty)
        counts[bad] = 0
        sums = counts.sum(axis=1)
        if (most := int(sums.max(initial=0))) > _MOST_COUNTED:
            line = int(self.lines[sums.argmax()])
            raise Refused(
                f"{place_of(self.source, line, self.unit)}: the counts add up to {most:,}",
                f"an item has {_MOST_COUNTED:,} annotators at most; leave out a column that "
                "counts something else: --ignore COLUMN",
            )
        if none := int((sums == 0).sum()) - len(bad):
            self.layout.rows_left_out["row without a count"] += none
        places = np.repeat(np.arange(counts.size), counts.ravel())
        number = np.arange(len(places)) - np.repeat(np.cumsum(sums) - sums, sums)
        columns = self._columns(places)
        annotators = text_array([str(n + 1) for n in range(most)])
        columns["annotator"] = Cells(number, annotators).take(np.arange(len(number)))
        return places // width, columns

    def named_cells(self) -> tuple[Numbers, dict[str, Cells], dict[str, QuestionOptions]]:
        """Return the rows, columns and questions of records of columns that names tell apart.

        The cell is the category if the name has none; an empty cell says nothing. Otherwise
        each cell that says yes is one; an answer without such a cell has a record of no category.
        """
        by_row, width = _row_by_row([self.cells[n] for n, *_ in self.named]), len(self.named)
        filled = by_row.holds(_is_filled)
        several: Collection[str | None] = ()
        if self.named[0].category is None:
            filled |= self.reading.options.empty == "skipped"
            places: Numbers = np.flatnonzero(filled & ~self._rejected(by_row, width))
            columns = self._columns(places) | {"category": by_row.take(places)}
        else:
            places, none, several = self._select_options(by_row, filled)
            columns = self._columns(places)
            if none.any():
                pairs = zip(columns["category"].at(np.arange(len(places))), none, strict=True)
                columns["category"] = Cells.of_texts(["" if no else text for text, no in pairs])
        questions = {
            question: QuestionOptions(answers="several" if question in several else "one")
            for question in dict.fromkeys(column.question for column in self.named)
            if question is not None
        }
        return places // width, columns, questions

    def _select_options(
        self, by_row: Cells, filled: Flags
    ) -> tuple[Numbers, Flags, Collection[str | None]]:
        """Return the places of cells that say yes, with one of each answer that has none.

        Also whether each is such a one, and the questions with an answer of several categories.
        An answer with a cell that says neither yes nor no is rejected.
        """
        width = len(self.named)
        yes = by_row.holds(lambda text: text.strip().casefold() in YES)
        wrong = filled & ~yes & ~by_row.holds(lambda text: text.strip().casefold() in NO)
        keys = [column._replace(place=0, category=None) for column in self.named]
        place = np.arange(len(by_row.codes))
        numbers = {key: n for n, key in enumerate(keys)}
        of_column = np.array([numbers[key] for key in keys])
        keyed = place // width * width + of_column[place % width]
        _, first, inverse = np.unique(keyed, return_index=True, return_inverse=True)
        answer = inverse.ravel()
        for n in np.flatnonzero(wrong)[np.unique(answer[wrong], return_index=True)[1]].tolist():
            self._reject(by_row, n, "the cell {!r} says neither yes nor no")
        if wrong.any() and _NO_CATEGORIES not in self.reading.rejections.ways:
            self.reading.rejections.ways.append(_NO_CATEGORIES)
        good = np.bincount(answer, weights=wrong) == 0
        yes &= good[answer]
        number = np.bincount(answer, weights=yes)
        empty = np.zeros(len(place), bool)
        empty[first[good & (np.bincount(answer, weights=filled) > 0) & (number == 0)]] = True
        places = np.flatnonzero(yes | empty)
        several = np.unique(place[(number > 1)[answer]] % width).tolist()
        return places, empty[places], {self.named[n].question for n in several}

    def _columns(self, places: Numbers) -> dict[str, Cells]:
        width = len(self.named)
        rows = places // width
        columns = {role: self.cells[n].take(rows) for role, n in self.layout.roles.items()}
        for part in PARTS:
            texts = [getattr(column, part) for column in self.named]
            if None not in texts:
                codes = {text: n for n, text in enumerate(dict.fromkeys(texts))}
                cells = Cells(np.array([codes[text] for text in texts]), text_array([*codes]))
                columns[part] = cells.take(places % width)
        return columns

    def _rejected(self, by_row: Cells, width: int) -> Flags:
        bad = by_row.holds(lambda text: text.startswith(FAULT))
        for n in np.flatnonzero(bad).tolist():
            self._reject_cell(n // width, by_row[n].removeprefix(FAULT))
        return bad

    def _reject(self, by_row: Cells, n: int, reason: str) -> None:
        """Reject a cell for its own fault, or for a reason if it has none."""
        row, place = divmod(n, len(self.named))
        column = f" (column {self.layout.names[self.named[place].place]!r})"
        fault = by_row[n].removeprefix(FAULT) if by_row[n].startswith(FAULT) else None
        self._reject_cell(row, fault or reason.format(by_row[n].strip()) + column)

    def _reject_cell(self, row: int, reason: str) -> None:
        self.reading.rejections.add_unread(self.source, int(self.lines[row]), reason, self.unit)


def _row_by_row(columns: Sequence[Cells]) -> Cells:
    import pyarrow as pa

    number, width = len(columns[0].codes), len(columns)
    encode = pa.DictionaryArray.from_arrays
    cells = Cells.of([encode(c.codes.astype(np.int32), c.distinct) for c in columns])
    joined = replace(cells, listed=any(column.listed for column in columns))
    return joined.take(np.arange(number * width).reshape(width, number).T.ravel())


def _is_filled(text: str) -> bool:
    return bool(text.strip()) or text.startswith(LISTED)


def combine_cells(columns: Sequence[Cells]) -> tuple[Numbers, Numbers]:
    """Return the first row of each combination of cells, and the combination of each row."""
    numbers = np.zeros(len(columns[0].codes), np.int64)
    for column in columns:
        numbers = numbers * len(column.distinct) + column.codes
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    return first, codes.ravel()


def column_of_codes(codes: Numbers, texts: Sequence[str]) -> Cells:
    """Return a column with its texts once each, in the order in which they occur."""
    return Cells(codes, text_array(texts)).mapped(str).take(np.arange(len(codes)))
