"""What surrounds the rows of a table: titles above its header, totals and empty rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tracker.core.errors import Refused
from tracker.formats import column_roles, proposals
from tracker.formats.batch import Cells, Numbers
from tracker.formats.column_roles import JOINS, ROW_NUMBER, Layout
from tracker.formats.proposals import LOOKED_AT, FirstRows
from tracker.formats.reader import Reading

EMPTY, TOTALS = "empty row", "row of totals"  # rows that are left out, as they are counted

_TOTAL = re.compile(
    r"(?:grand |sub-?)?(?:totals?|sums?|mean|average|avg|median|count|results?|agreement|kappa"
    r"|summe|gesamt(?:summe|ergebnis)?|zwischensumme|mittelwert|durchschnitt|anzahl|ergebnis"
    r"|somme|moyenne|totaal|gemiddelde|suma|promedio|media|totale|somma)"
    r"[\s:=#%.,\d()/-]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?[\d.,]+%?")
_FEW = 2  # filled cells: a title has fewer, a header has not


def is_total(text: str) -> bool:
    return _TOTAL.fullmatch(text.strip()) is not None


def is_left_out(cells: Sequence[str], layout: Layout, width: int) -> str | None:
    """Return what a row is that holds no answer; None for one that may hold one.

    A row is of totals if a cell names a total, and it has no item or another width than the header.
    """
    if not any(map(str.strip, cells)):
        return EMPTY
    item = layout.roles.get("item", -1)
    if len(cells) == width and any(n < 0 or cells[n].strip() for n in layout.parts_of(item)):
        return None
    return TOTALS if any(map(is_total, cells)) else None


def answered_rows(layout: Layout, cells: Mapping[int, Cells], *, last: bool) -> Numbers | None:
    """Return the rows without those of totals, which are counted; None if there are none of these.

    In a row of totals the item's column names one. It has no annotator, or it is among the last
    rows of the table and its answers are figures.
    """
    item = cells.get(layout.roles.get("item", layout.roles.get("annotator", -1)))
    people = cells.get(layout.roles.get("annotator", -1))
    if item is None or not len(item.codes) or (people is None and not layout.wide):
        return None
    answered = np.ones(len(item.codes), bool)
    if people is not None and not layout.wide:
        rows = np.flatnonzero(~people.holds(str.strip))
        answered[rows[[is_total(text) for text in item.at(rows)]]] = False
    end = len(answered)
    while last and end and is_total(item[end - 1]):
        if answered[end - 1] and not _summarizes(end - 1, layout, cells):
            break
        end -= 1
    answered[end:] = False
    if answered.all():
        return None
    layout.rows_left_out[TOTALS] += int((~answered).sum())
    return np.flatnonzero(answered)


def _summarizes(row: int, layout: Layout, cells: Mapping[int, Cells]) -> bool:
    """Return whether the answers of a row are numbers, or no answers of the rows above it.

    In a row of one answer it is who answered that is a number, and comes nowhere above.
    """
    if not layout.wide:
        people = cells[layout.roles["annotator"]]
        who = people[row].strip()
        above_names = {name.strip() for name in people.at(np.arange(row))}
        return _NUMBER.fullmatch(who) is not None and who not in above_names
    places = [*layout.annotators.values(), *(column.place for column in layout.named)]
    filled = {text for n in places if (text := cells[n][row].strip())}
    above = {text.strip() for n in places for text in cells[n].at(np.arange(row))}
    return all(_NUMBER.fullmatch(text) for text in filled) or not filled <= above


def without_question_texts(
    rows: Mapping[int, Sequence[str]], header_row: int | None
) -> tuple[Mapping[int, Sequence[str]], int]:
    """Return the first rows of a table without further rows of its header, and the last of these.

    Below the names of columns Qualtrics writes the texts of questions, and their numbers as JSON.
    """
    for place, (end, cells) in enumerate(rows.items()):
        filled = [cell.strip() for cell in cells if cell.strip()]
        if filled and all(cell.startswith('{"ImportId"') for cell in filled):
            header = header_row or [*rows][max(place - 2, 0)]
            return {n: cells for n, cells in rows.items() if not header < n <= end}, end
    return rows, 0


def layout_of_rows(
    rows: Mapping[int, Sequence[str]], source: str, reading: Reading
) -> tuple[int, Layout]:
    """Return the number of the row that is the header of a table, and the table's layout.

    ``rows`` are the first rows that are not blank, by their number; a title may stand above the
    header. The number is 0 if the user says that there is none. Raises Refused if no row can be the
    header, or the one that is looks like a row of answers.
    """
    mapped, ignore = reading.mapped, reading.options.ignore
    header_row = 0 if reading.options.no_header else reading.options.header_row
    every = len(rows)
    rows, header_end = without_question_texts(rows, header_row)
    numbers = [*rows]
    if header_row and header_row not in rows:
        raise no_header_row(source, header_row)
    least = min(_FEW, max(map(_filled, rows.values())))
    filled = [number for number in numbers if _filled(rows[number]) >= least]
    # Any row could hold the names of items, or of categories.
    likely = filled[: 1 if mapped.by_item or mapped.counts else LOOKED_AT]
    likely = likely if header_row is None else [header_row]
    objection: Refused | None = None
    names = {*mapped.roles.values(), *(question.column for question in mapped.questions)}
    for number in [*likely[:1], *(n for n in likely[1:] if _names_columns(rows[n], names))]:
        header, below = _header_and_rows(number, rows)
        try:
            cells = [cell if number and cell.strip() in names else "" for cell in header]
            if _recurring(cells, below) > 1:  # columns are mapped by what are answers
                raise proposals.row_as_header(number, rows, mapped, source)
            sample = below[:LOOKED_AT]
            layout = column_roles.layout_of_header(header, mapped, source, ignore, sample=sample)
        except Refused as error:
            if objection is None:
                objection, failed = error, (header, below)
            if isinstance(error, column_roles.UnclearColumns):
                break
            continue
        has_titles = header_row is not None or number != numbers[0]
        layout = replace(layout, header_row=number, has_titles=has_titles, header_end=header_end)
        layout.rows_left_out.update(["header row"] * (every - len(rows)))
        return number, proposals.checked_layout(layout, header, below, mapped, source, ignore)
    assert objection is not None
    if header_row is None and not mapped.roles and _looks_like_answers(filled[0], rows):
        objection = proposals.row_as_header(filled[0], rows, mapped, source)
    elif isinstance(objection, column_roles.MissingColumns | column_roles.UnclearColumns):
        columns = FirstRows(*failed, mapped, objection.layout, ignore)
        objection = proposals.with_proposal(objection, columns, source)
    if header_row is None and numbers[0] != filled[0]:
        objection.mend = f"{objection.mend}; if the header is further down: --header-row N"
    raise objection


def _header_and_rows(
    number: int, rows: Mapping[int, Sequence[str]]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Return the header, which is numbers if no row is, and the rows below it."""
    first = next(iter(rows.values()))
    header = rows[number] if number else [str(n) for n in range(1, len(first) + 1)]
    return header, [cells for n, cells in rows.items() if n > number]


def no_header_row(source: str, number: int) -> Refused:
    return Refused(
        f"{source} has no header on line {number:,}, which is blank or beyond its end",
        "such as: --header-row 3",
    )


def _filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _recurring(header: Sequence[str], below: Sequence[Sequence[str]]) -> int:
    """Return the number of columns whose first cell comes again below, as a name does not."""
    below = [row for row in below if row != header]
    return sum(
        cell != "" and any(n < len(row) and row[n].strip() == cell for row in below)
        for n, cell in enumerate(map(str.strip, header))
    )


def _looks_like_answers(number: int, rows: Mapping[int, Sequence[str]]) -> bool:
    """Return whether a row has cells that come again below, and few or none that may be names."""
    row, below = _header_and_rows(number, rows)
    again = _recurring(row, below)
    return again > 0 and (again * 2 >= _filled(row) or any(map(_NUMBER.fullmatch, row)))


def _names_columns(row: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a row has the names of all columns that the user maps."""
    cells = {cell.strip().casefold() for cell in row}
    parts = [[name] if name in row else name.split(JOINS) for name in names]
    return {part.strip().casefold() for name in parts for part in name} - {"", ROW_NUMBER} <= cells
