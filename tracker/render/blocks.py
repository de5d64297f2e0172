"""Tables as they are declared, before anybody knows where they will stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tracker.render.tables import Table


class Column(NamedTuple):
    """A column of a listing.

    Attributes:
        key: of its values in the rows' JSON.
        title: as people read it; the key if it is not given.
        kind: what its values are, see `KINDS`; or a function that returns how one is written.
        rare: whether it is left out if no row has a value.
    """

    key: str
    title: str | None = None
    kind: str | Callable[[Any], str] = "text"
    rare: bool = False


def _count(value: Any) -> str:
    return "-" if value is None else f"{value:,}"


def _day(value: Any) -> str:
    return (value or "")[:10]


def _minute(value: Any) -> str:
    return "-" if value is None else str(value)[:16].replace("T", " ")


def _number(value: Any) -> str:
    return str(value or "-")


def _yes(value: Any) -> str:
    return "yes" if value else "no"


def _text(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


KINDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "name": _text,
    "text": _text,
    "count": _count,
    "number": _number,
    "known": _number,
    "day": _day,
    "minute": _minute,
    "yes": _yes,
}
"""How a value of each kind is written."""
_NUMBERS: Final = {"count", "number"}


def listing_table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of a listing's rows."""
    from tracker.render.tables import table

    shown = [one for one in columns if not one.rare or any(row.get(one.key) for row in rows)]
    titles = [
        (one.title or one.key.replace("_", " ")) + " " * (one.kind not in {"name", *_NUMBERS})
        for one in shown
    ]
    names = sum(1 for one in shown if one.kind == "name")
    written = [one.kind if callable(one.kind) else KINDS[one.kind] for one in shown]
    cells = [[write(row.get(one.key)) for one, write in zip(shown, written, strict=True)]
             for row in rows]  # fmt: skip
    return table(titles, cells, names=names)


def flat_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for CSV: lists in one cell."""
    return {key: _text(value) if isinstance(value, list | tuple) else value
            for key, value in row.items()}  # fmt: skip


def flat_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows for CSV."""
    return [flat_row(row) for row in rows]
