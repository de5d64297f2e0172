"""What surrounds the rows of a table: titles above its header, totals and empty rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote

import numpy as np

from tracker.core.errors import Refused
from tracker.formats.batch import Cells, Numbers
from tracker.formats.column_roles import Layout, Mapped, layout_of_header

LOOKED_AT = 50
"""Rows among which the header is looked for."""
EMPTY, TOTALS = "empty row", "row of totals"
"""Rows that are left out, as they are counted."""

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

    A row is of totals if a cell names a total, and it has no item or not as many cells as the
    header.
    """
    if not any(map(str.strip, cells)):
        return EMPTY
    item = layout.roles.get("item", -1)
    places = layout.joined.get(item, (item,))
    if len(cells) == width and any(n < 0 or cells[n].strip() for n in places):
        return None
    return TOTALS if any(map(is_total, cells)) else None


def answered_rows(layout: Layout, cells: Mapping[int, Cells], *, last: bool) -> Numbers | None:
    """Return the rows without those of totals, which are counted; None if there are none of these.

    In a row of totals the item's column names one. It has no annotator, or it is among the last
    rows of the table and its answers are figures.
    """
    item = cells.get(layout.roles.get("item", -1))
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


def layout_of_rows(
    rows: Mapping[int, Sequence[str]],
    mapped: Mapped,
    source: str,
    ignore: Sequence[str] = (),
    *,
    header_row: int | None = None,
) -> tuple[int, Layout]:
    """Return the number of the row that is the header of a table, and the table's layout.

    ``rows`` are the first rows that are not blank, by their number; a title may stand above the
    header. ``header_row`` is its number if the user says it, 0 if there is none. Raises Refused if
    no row can be the header, or the one that is looks like a row of answers.
    """
    numbers = [*rows]

    def layout(number: int) -> Layout:
        below = [rows[n] for n in numbers if n > number]
        header = rows[number] if number else [str(n) for n in range(1, len(rows[numbers[0]]) + 1)]
        if number:
            _refuse_row(number, rows, mapped, source)
        return layout_of_header(header, mapped, source, ignore, sample=below)

    if header_row is not None:
        if header_row and header_row not in rows:
            raise no_header_row(source, header_row)
        return header_row, replace(layout(header_row), header_row=header_row, has_titles=True)
    first = numbers[0]
    least = min(_FEW, max(map(_filled, rows.values())))
    objection: Refused | None = None
    for number in numbers:
        if _filled(rows[number]) < least:
            continue
        try:
            return number, replace(layout(number), header_row=number, has_titles=number != first)
        except Refused as error:
            objection = objection or error
    assert objection is not None
    if not mapped.roles and _recurring(rows[first], [rows[n] for n in numbers[1:]]):
        raise _row_as_header(first, rows, source)
    if _filled(rows[first]) < least:
        objection.mend = f"{objection.mend}; if the header is further down: --header-row N"
    raise objection


def no_header_row(source: str, number: int) -> Refused:
    return Refused(
        f"{source} has no header on line {number:,}, which is blank or beyond its end",
        "such as: --header-row 3",
    )


def _filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _recurring(header: Sequence[str], below: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns whose first cell comes again below, as a name does not."""
    below = [row for row in below if row != header]
    return [
        n
        for n, cell in enumerate(map(str.strip, header))
        if cell and any(n < len(row) and row[n].strip() == cell for row in below)
    ]


def _refuse_row(
    number: int, rows: Mapping[int, Sequence[str]], mapped: Mapped, source: str
) -> None:
    """Raise Refused if columns are mapped by what are answers of the first row."""
    named = {*mapped.roles.values(), *(question.column for question in mapped.questions)}
    header, below = rows[number], [cells for n, cells in rows.items() if n > number]
    again = [n for n in _recurring(header, below) if header[n].strip() in named]
    if len(again) > 1:
        raise _row_as_header(number, rows, source)


def _row_as_header(number: int, rows: Mapping[int, Sequence[str]], source: str) -> Refused:
    columns = [
        *zip(*(cells for n, cells in rows.items() if len(cells) == len(rows[number])), strict=True)
    ]
    by_variety = sorted(range(len(columns)), key=lambda n: (len({*columns[n]}), -n))
    places = dict(zip(("category", "annotator", "item"), by_variety, strict=False))
    roles = " ".join(
        f"--map {role}={places[role] + 1}"
        for role in ("item", "annotator", "category")
        if role in places
    )
    shown = ", ".join(quote(cell.strip()) for cell in rows[number][:3])
    return Refused(
        f"{source}, line {number}: {shown} looks like a row of answers, not a header",
        f"say that there is none, and which column is what: --no-header {roles}",
    )
