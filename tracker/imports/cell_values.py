"""Cells that are not names: times, numbers, spans. A bad one is a reason, not an exception."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tracker.core import clock
from tracker.formats.batch import Batch, Cells, Faults, Numbers, with_decimal_point
from tracker.formats.column_names import unit_of_time
from tracker.formats.dates import Moment, read_moment
from tracker.imports.staging import NOT_TIMED

_MOST_MS = 2**31 - 1  # 24 days
V = TypeVar("V")


class OptionalCells(NamedTuple):
    """What a file need not say of its answers, and the roles of columns with unreadable cells."""

    rows: dict[str, npt.NDArray[Any]]
    confidences: list[float | None] | None
    unread: set[str]


def read_optional_cells(batch: Batch, recorded_at: int, bad: Faults) -> OptionalCells:
    """Return when each record was answered, how long that took, on which pass, and how surely.

    Reasons for bad cells are added to ``bad``.
    """
    columns, confidences = batch.columns, None
    rows: dict[str, npt.NDArray[Any]] = {}
    unread = set()
    _, unit = unit_of_time(batch.names.get("seconds", ""))
    readers: dict[str, tuple[str, Callable[[str], int], int]] = {
        "seconds": ("spent_ms", partial(cell_milliseconds, unit=unit), NOT_TIMED),
        "pass": ("pass", cell_pass_number, 1),
    }
    for role in ("labeled_at", "seconds", "pass", "confidence"):
        if role not in columns:
            continue
        column, wrong = columns[role], dict[int, str]()
        if batch.decimal_comma and role in {"seconds", "confidence"}:
            column = column.mapped(with_decimal_point)
        if role == "confidence":
            of_cells = _read_cells(column, cell_confidence, None, wrong)
            confidences = [of_cells[code] for code in column.codes.tolist()]
        elif role == "labeled_at":
            rows[role] = read_moments(column, batch.moment, recorded_at, wrong)
            rows["has_own_time"] = column.holds(str.strip)
        else:
            name, read, default = readers[role]
            rows[name] = read_cell_values(column, read, default, wrong)
        if wrong.keys() - bad.keys():
            unread.add(role)
        for n, reason in wrong.items():
            bad.add(n, reason + batch.of_column(role), role)
    return OptionalCells(rows, confidences, unread)


def _read_cells(
    column: Cells, read: Callable[[str], V], default: V, bad: dict[int, str]
) -> list[V]:
    """Return the value of each distinct cell, the default for an empty one.

    Reasons for bad cells are added to ``bad``.
    """
    values, reasons = [default] * len(column.texts), dict[int, str]()
    for n, text in enumerate(map(str.strip, column.texts)):
        try:
            values[n] = read(text) if text else default
        except ValueError as error:
            reasons[n] = str(error)
    if reasons:
        for n in np.flatnonzero(np.isin(column.codes, list(reasons))).tolist():
            bad.setdefault(n, reasons[int(column.codes[n])])
    return values


def read_cell_values(
    column: Cells, read: Callable[[str], int], default: int, bad: dict[int, str]
) -> Numbers:
    """Return the value of each record as `_read_cells` has it."""
    return np.array(_read_cells(column, read, default, bad), np.int64)[column.codes]


def read_moments(column: Cells, moment: Moment, latest: int, bad: dict[int, str]) -> Numbers:
    """Return the moment of each record, ``latest`` if its cell is empty.

    Reasons for bad cells, and for moments after ``latest`` by more than the clock skew, are added
    to ``bad``.
    """
    if moment is read_moment and (values := _iso_moments(column, latest)) is not None:
        return values[column.codes]
    return read_cell_values(column, cell_moment_reader(latest, moment), latest, bad)


def _iso_moments(column: Cells, latest: int) -> Numbers | None:
    """Return the moments of the distinct cells if all are good and of one form that Arrow reads.

    Whatever Arrow reads, `read_moment` reads alike, in twenty times the time.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # Without a Python value in a call: to make a scalar of one loads pandas.
    texts = column.distinct
    empty = np.from_dlpack(pc.binary_length(texts)) == 0
    if empty.any():
        texts = pc.if_else(pc.match_substring_regex(texts, "^$"), pa.nulls(len(texts)), texts)
    for zone in ("UTC", None):
        try:
            moments = texts.cast(pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
        numbers = np.frombuffer(moments.buffers()[1], np.int64, len(moments), 8 * moments.offset)
        values: Numbers = np.where(empty, latest, numbers)
        inside = (values >= clock.FIRST) & (values <= latest + clock.SKEW)
        return values if inside.all() else None
    return None


def cell_moment_reader(latest: int, moment: Moment) -> Moment:
    """Return a reader of times that refuses times after ``latest`` by more than the clock skew."""

    def read(text: str) -> int:
        value = moment(text)
        if value > latest + clock.SKEW:
            raise ValueError(f"the labeled_at {text!r} lies in the future")
        return value

    return read


def cell_milliseconds(text: str, unit: float = 1) -> int:
    """Return the time spent, in units of so many seconds, as milliseconds; raises ValueError."""
    try:
        value = round(float(text) * unit * 1000)
    except (ValueError, OverflowError):
        raise ValueError(f"the seconds {text!r} are not a number") from None
    if not 0 <= value <= _MOST_MS:
        raise ValueError(f"the seconds {text!r} are not a time spent on an item")
    return value


def cell_confidence(text: str) -> float:
    """Return a confidence from 0 to 1; raises ValueError."""
    with suppress(ValueError):
        if 0 <= (value := float(text)) <= 1:
            return value
    raise ValueError(f"the confidence {text!r} is not a number from 0 to 1")


def _is_short_number(text: str) -> bool:
    return len(text) < 20 and text.isdecimal()


def cell_pass_number(text: str) -> int:
    """Return the number of a pass; raises ValueError."""
    if not _is_short_number(text) or not 1 <= int(text) <= 32767:
        raise ValueError(f"the pass {text!r} is not 1, 2, …")
    return int(text)


CELL_READERS = {
    "seconds": cell_milliseconds,
    "pass": cell_pass_number,
    "confidence": cell_confidence,
}


def cell_span_offset(text: str) -> int:
    """Return the position at which a span starts or ends; raises ValueError."""
    if not _is_short_number(text) or int(text) >= 2**31:
        raise ValueError(f"the offset {text!r} is not a whole number from 0")
    return int(text)
