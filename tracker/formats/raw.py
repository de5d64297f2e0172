"""Tables as they stand in their files, whatever their columns mean: to look at, and to mend."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

_SEEN = 50  # objects whose keys are columns

RawRow = tuple[int, Sequence[str]]
"""The line of a row, or the number of what it is, and its cells."""


class RawTable(NamedTuple):
    """A table with its rows, read as they are asked for.

    Attributes:
        name: of its file, as rejections have it.
        rows: all of it; the header, if it stands among them, too.
        names: the columns, if no row has them.
        unit: what the numbers of the rows count.
        sheet: the name of its sheet.
        sheets: those of the workbook.
    """

    name: str
    rows: Iterator[RawRow]
    names: Sequence[str] | None = None
    unit: str = "line"
    sheet: str = ""
    sheets: Sequence[str] = ()


def raw_objects(
    name: str,
    records: Iterable[tuple[int, Any]],
    unit: str,
    text: Callable[[Any], Any],
) -> RawTable:
    """Return a table of objects by their places; ``text`` returns plain values as texts."""
    rest = ((place, flat_object(value)) for place, value in records if isinstance(value, Mapping))
    first = list(islice(rest, _SEEN))
    names = list(dict.fromkeys(key for _, flat in first for key in flat))

    def cell(value: Any) -> str:
        shown = "" if value is None else text(value)
        return (
            shown if isinstance(shown, str) else json.dumps(value, ensure_ascii=False, default=str)
        )

    rows = (
        (place, [cell(flat.get(column)) for column in names]) for place, flat in chain(first, rest)
    )
    return RawTable(name, rows, names, unit)


def flat_object(value: Mapping[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return an object with the keys of objects in it dotted: ``meta.topic``."""
    flat: dict[str, Any] = {}
    for key, member in value.items():
        if isinstance(member, Mapping) and member and depth < 20:
            flat |= flat_object(member, f"{before}{key}.", depth + 1)
        else:
            flat[before + key] = member
    return flat
