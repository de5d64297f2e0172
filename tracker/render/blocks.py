"""Tables as they are declared, before anybody knows where they will stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tracker.render.tables import Table


class Column(NamedTuple):
    """A column of a listing.

    Attributes:
        key: of its values in the rows' JSON.
        title: as people read it; the key if it is not given.
        kind: what its values are, see `writers`, or a function that returns how one is written; a
            "range" is drawn.
        rare: whether it is left out if no row has a value.
        text: returns what is shown of a row, if it is not the value under the key.
        faces: those that show it, if not all: "terminal", "report" or "page".
        leads: what the pages link a cell to: "category", "items" or another name that they know.
        none: what stands where there is no value, if not what its kind has.
    """

    key: str
    title: str | None = None
    kind: str | Callable[[Any], str] = "text"
    rare: bool = False
    text: Callable[[Mapping[str, Any]], str] | None = None
    faces: Collection[str] = ("terminal", "report", "page")
    leads: str | None = None
    none: str | None = None

    @property
    def heading(self) -> str:
        """The title as people read it."""
        return self.title or self.key.replace("_", " ")

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which stand to the right."""
        return self.kind in _NUMBERS

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return what is shown of a row."""
        if self.text is not None:
            return self.text(row)
        value = row.get(self.key)
        if value is None and self.none is not None:
            return self.none
        return self.kind(value) if callable(self.kind) else writers()[self.kind](value)


def _day(value: Any) -> str:
    return (value or "")[:10]


def _number(value: Any) -> str:
    return str(value or "-")


def _yes(value: Any) -> str:
    return "yes" if value else "no"


def _text(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


@cache
def writers() -> Mapping[str, Callable[[Any], str]]:
    """Return how a value of each kind is written; a range is drawn instead.

    They load what draws tables, which a listing for a program has no need of.
    """
    from tracker.render.cells import count_cell, figure_cell, minute_cell

    return {
        "name": _text, "text": _text, "interval": _text, "count": count_cell, "number": _number,
        "known": _number, "day": _day, "minute": minute_cell, "yes": _yes, "figure": figure_cell,
        "range": lambda _: "",
    }  # fmt: skip


_NUMBERS: Final = {"count", "number", "figure", "interval"}


def columns_of(
    columns: Iterable[Column], rows: Sequence[Mapping[str, Any]], face: str
) -> list[Column]:
    """Return the columns that a face shows of these rows."""
    return [
        column for column in columns
        if face in column.faces
        and not (column.rare and not any(row.get(column.key) for row in rows))
    ]  # fmt: skip


def listing_table(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    bold: Mapping[str, Any] | None = None,
) -> Table:
    """Return the table of a listing's rows for a terminal, the name of one row in bold."""
    from tracker.render.cells import Text, bar_cell
    from tracker.render.tables import table

    shown = columns_of(columns, rows, "terminal")
    names = sum(column.kind == "name" for column in shown)
    cells: list[list[str | Text]] = [
        [bar_cell(row.get(column.key)) if column.kind == "range" else column.cell(row)
         for column in shown]
        for row in rows
    ]  # fmt: skip
    for row, texts in zip(rows, cells, strict=True):
        if row is bold:
            texts[0] = Text(str(texts[0]), style="bold")
    titles = [
        column.heading + " " * (column.kind != "name" and not column.is_number) for column in shown
    ]
    return table(titles, cells, names=names)


def flat_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for CSV: lists in one cell."""
    return {key: _text(value) if isinstance(value, list | tuple) else value
            for key, value in row.items()}  # fmt: skip


def flat_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows for CSV."""
    return [flat_row(row) for row in rows]
