"""The standing labels of a question as arrays, streamed from the ledger's own transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    SmallInteger,
    Text,
    case,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.tallies import IntArray
from tracker.storage.schema import Annotator, Category, Change, Import, Label, Source
from tracker.storage.schema.labels import QuestionKey, of_question

_labels = Label.__table__
_AT_ONCE = 50_000  # items whose labels are one text
_BITS: Final = 62
_MISSING: Final = -1  # stands for a value that is not known; all others are from 0 on
KEY: Final = ("item_id", "annotator_id", "pass", "category_id")
"""The columns that are always read."""
FURTHER: Final = ("change_id", "source", "has_own_time", "labeled_at", "spent_ms")
"""Those that are read if they are asked for."""
_PASS_BITS: Final = (4, 15)  # few are asked a sixteenth time
_BESIDE: Final = {"labeled_at", "spent_ms"}
"""Columns that are numbers of their own; the others are packed into one, if they fit."""


def read_labels(
    connection: Connection,
    question: QuestionKey,
    items: int,
    further: Collection[str],
) -> list[dict[str, Any]]:
    """Return columns of a question's standing labels in parts, by one statement.

    A column has shape (labels of the part,). ``items`` is the highest number of an item;
    ``further`` are columns of `FURTHER`. Values that are not known are masked.
    """
    names = [*KEY, *(name for name in FURTHER if name in further)]
    for of_pass in _PASS_BITS:
        widths = _widths(connection, question, items) | {"pass": of_pass}
        packed = {name: widths[name] for name in names if name not in _BESIDE}
        parts = [*_read(connection, question, items, names, packed)]
        if None not in parts:
            return [part for part in parts if part is not None]
    raise AssertionError("a pass has 15 bits")


def _widths(connection: Connection, question: QuestionKey, items: int) -> dict[str, int]:
    """Return how many bits the greatest value of a column takes."""
    ours = [model.project_id == question.project_id for model in (Annotator, Change, Import)]
    sources = select(func.max(Source.number)).join(Import, Import.id == Source.import_id)
    highest = {
        "annotator_id": select(func.max(Annotator.id)).where(ours[0]),
        "change_id": select(func.max(Change.id)).where(ours[1]),
        "source": sources.where(ours[2]),
        "category_id": select(func.max(Category.id) + _MOVED).where(
            of_question(Category, question)
        ),
    }
    numbers = connection.execute(
        select(*(number.scalar_subquery().label(name) for name, number in highest.items()))
    ).one()
    widths = {
        name: ((number or 0) + _MOVED).bit_length() for name, number in numbers._mapping.items()
    }
    return widths | {"item_id": items.bit_length(), "has_own_time": 1}


def _read(
    connection: Connection,
    question: QuestionKey,
    items: int,
    names: Sequence[str],
    packed: Mapping[str, int],
) -> Iterator[dict[str, Any] | None]:
    """Yield the columns of some items each; None if a pass has more bits than it is given."""
    if sum(packed.values()) > _BITS:
        packed = {}
    single = [name for name in names if name not in packed]
    numbers = [_packed(packed)] if packed else []
    numbers += [_present(name) for name in single]
    text: ColumnElement[str] = sql_cast(numbers[0], Text)
    for number in numbers[1:]:
        text = text.concat(",").concat(sql_cast(number, Text))
    begin = select(literal(1, Integer).label("first")).cte("parts", recursive=True)
    following = begin.c.first + _AT_ONCE
    parts = begin.union_all(select(following).where(following <= max(items, 1)))
    of_part = select(func.aggregate_strings(text, ",")).where(
        of_question(_labels, question),
        _labels.c.item_id.between(parts.c.first, parts.c.first + (_AT_ONCE - 1)),
    )
    statement = select(of_part.correlate(parts).scalar_subquery().label("labels"))
    rows = connection.execute(statement.select_from(parts).execution_options(yield_per=1))
    for row in rows:
        table = np.fromstring(row.labels or "", np.int64, sep=",").reshape(-1, len(numbers)).T
        if packed and (table[0] < 0).any():
            yield None
            return
        columns = _unpacked(table[0], packed) if packed else {}
        columns |= dict(zip(single, table[bool(packed) :], strict=True))
        columns["category_id"] = columns["category_id"] - _MOVED
        yield {name: _narrow(name, column) for name, column in columns.items()}


_MOVED: Final = 2  # reserved categories are numbered below 0


def _packed(widths: Mapping[str, int]) -> ColumnElement[Any]:
    """Return columns as one number; below 0 if the pass has too many bits."""
    number: ColumnElement[Any] = sql_cast(literal(0), BigInteger)
    for name, bits in widths.items():
        number = number.bitwise_lshift(literal(bits, Integer)) + _present(name)
    return case((_labels.c["pass"] >= 1 << widths["pass"], -1), else_=number)


def _unpacked(numbers: IntArray, widths: Mapping[str, int]) -> dict[str, IntArray]:
    columns, shift = {}, sum(widths.values())
    for name, bits in widths.items():
        shift -= bits
        columns[name] = numbers >> shift & ((1 << bits) - 1)
    return columns


def _present(name: str) -> ColumnElement[Any]:
    """Return a column as a number from 0 on, or `_MISSING`."""
    column = _labels.c[name]
    if name == "has_own_time":
        return case((column, 1), else_=0)
    if column.nullable:
        return func.coalesce(column, _MISSING)
    return sql_cast(column, BigInteger) + (_MOVED if name == "category_id" else 0)


def _narrow(name: str, column: IntArray) -> Any:
    """Return a column in the type of the table's."""
    if name == "has_own_time":
        return column.astype(np.bool_)
    if name == "spent_ms":
        return np.ma.masked_equal(column.astype(np.int32), _MISSING)
    kind = _labels.c[name].type
    return column.astype(
        np.int16 if isinstance(kind, SmallInteger) else
        column.dtype if isinstance(kind, BigInteger) else np.int32
    )  # fmt: skip
