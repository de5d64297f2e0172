"""Tables as they are declared, before anybody knows where they will stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tracker.render.nouns import capitalized, percent

if TYPE_CHECKING:
    from tracker.render.tables import Table


TERMINAL: Final = ("terminal",)
REPORT: Final = ("report",)
PAGE: Final = ("page",)
WRITTEN: Final = (*REPORT, *PAGE)
PRINTED: Final = (*TERMINAL, *REPORT)
ON_SCREEN: Final = (*TERMINAL, *PAGE)
EVERY_FACE: Final = (*TERMINAL, *REPORT, *PAGE)


class Column(NamedTuple):
    """A column of a listing.

    Attributes:
        key: of its values in the rows' JSON, "counts.items" of what a row has under "counts"; a row
            without it has an empty cell.
        title: as people read it, the level of intervals as ``{level}``; the key if it is not given.
        kind: what its values are, see `writers`, or a function that returns how one is written. A
            "name" or "title" says what the row is about; a title is wrapped, a name shortened. A
            "range" is drawn from 0 to 1, a "scale" from the least bound to 1; a "choice" is made
            on a page. An "interval" is written from its two bounds if the key is one of them.
        rare: whether it is left out if no row has a value.
        text: returns what is shown of a row, if it is not the value under the key.
        faces: those that show it, if not all.
        leads: what the pages link a cell to: "category", "items" or another name that they know.
        none: what stands where there is no value, if not what its kind has.
        tone: returns how a cell stands out: "bad", "unsure", "good", "quiet" or not at all.
        small: returns what pages write beside it in small letters.
        drawn: the keys of the bounds of what is written or drawn, and of a tick on it.
    """

    key: str
    title: str | None = None
    kind: str | Callable[[Any], str] = "text"
    rare: bool = False
    text: Callable[[Mapping[str, Any]], str] | None = None
    faces: Collection[str] = EVERY_FACE
    leads: str | None = None
    none: str | None = None
    tone: Callable[[Mapping[str, Any]], str | None] | None = None
    small: Callable[[Mapping[str, Any]], str | None] | None = None
    drawn: Sequence[str] = ("ci_low", "ci_high")

    @property
    def heading(self) -> str:
        return self.key.replace("_", " ") if self.title is None else self.title

    @property
    def capital(self) -> str:
        """The title as a page has it: with a capital, if it is no sign such as p."""
        return self.heading if len(self.heading) == 1 else capitalized(self.heading)

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which stand to the right."""
        return self.kind in _NUMBERS

    @property
    def is_name(self) -> bool:
        """Whether it says what the row is about."""
        return self.kind in {"name", "title"}

    def value(self, row: Mapping[str, Any]) -> Any:
        """Return what a row has under the key; None if there is nothing."""
        return _value(row, self.key)

    def cell(self, row: Mapping[str, Any]) -> str:
        if self.text is not None:
            return self.text(row)
        if self.kind == "interval" and self.key in self.drawn:
            return writers()["bounds"]([_value(row, key) for key in self.drawn[:2]])
        if self.key.partition(".")[0] not in row:
            return ""
        value = self.value(row)
        if value is None and self.none is not None:
            return self.none
        return self.kind(value) if callable(self.kind) else writers()[self.kind](value)


def _value(row: Mapping[str, Any], key: str) -> Any:
    value: Any = row
    for name in key.split("."):
        value = None if value is None else value.get(name)
    return value


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
    from tracker.render.cells import (
        change_cell,
        count_cell,
        figure_cell,
        interval_cell,
        minute_cell,
        p_value_cell,
        share_cell,
    )

    return {
        "name": _text, "title": _text, "text": _text, "names": " / ".join, "interval": _text,
        "count": count_cell,
        "number": _number, "known": _number, "day": _day, "minute": minute_cell, "yes": _yes,
        "figure": figure_cell, "share": share_cell, "percent": percent, "change": change_cell,
        "p": p_value_cell, "bounds": lambda bounds: interval_cell(*bounds),
        **dict.fromkeys(("range", "scale", "choice"), lambda _: ""),
    }  # fmt: skip


_NUMBERS: Final = {"count", "number", "figure", "interval", "share", "percent", "change", "p"}


def columns_of(
    columns: Iterable[Column], rows: Sequence[Mapping[str, Any]], face: str, level: str = "95%"
) -> list[Column]:
    """Return the columns that a face shows of these rows; ``level`` is that of their intervals."""
    return [
        column._replace(title=column.heading.replace("{level}", level))
        for column in columns
        if face in column.faces
        and not (column.rare and all(_is_missing(column.value(row)) for row in rows))
    ]


def _is_missing(value: Any) -> bool:
    return value is None or (not value and isinstance(value, Sequence))


STYLES: Final = {"bad": "bold red", "unsure": "yellow", "good": "green", "quiet": "dim"}


def listing_table(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    level: str = "95%",
    bold: Mapping[str, Any] | None = None,
) -> Table:
    """Return the table of a listing's rows for a terminal, the name of one row in bold."""
    from tracker.render.cells import Text, bar_cell
    from tracker.render.escape import escaped_line
    from tracker.render.tables import Column as Drawn
    from tracker.render.tables import Table

    def cell(column: Column, row: Mapping[str, Any]) -> Text:
        if column.kind == "range":
            return Text(bar_cell(column.value(row)))
        tone = column.tone(row) if column.tone is not None else None
        style = "bold" if row is bold and column is shown[0] else STYLES.get(tone or "", "")
        text = column.cell(row)
        return Text(text if column.is_number else escaped_line(text), style=style)

    shown = columns_of(columns, rows, "terminal", level)
    names = max((place for place, column in enumerate(shown, 1) if column.is_name), default=1)
    drawn = [
        Drawn(
            escaped_line(column.heading),
            [cell(column, row) for row in rows],
            column.kind == "name",
            column.is_number,
        )
        for column in shown
    ]
    return Table(drawn, names)


def flat_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows for CSV: lists in one cell."""
    return [
        {key: _text(v) if isinstance(v, list | tuple) else v for key, v in row.items()}
        for row in rows
    ]
