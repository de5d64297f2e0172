"""Rows of an import held as arrays: their order, and whether any of them must be resolved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from tracker.imports.batch import Flags, Numbers
from tracker.storage.answer_keys import ANSWER

NOT_TIMED = -1
"""In ``spent_ms``: the time spent is not known."""

_ORDER = (*ANSWER, "category_id")
_WIDE = {"labelled_at"}  # 64 bits
_ONE_RECORD = ("labelled_at", "source", "given_as")
"""Columns in which all rows of one record of an answer are alike."""


class Held:
    """Rows column by column, with shape (rows,) each, in the parts in which they came."""

    def __init__(self, defaults: Mapping[str, int]) -> None:
        self.defaults = defaults
        self.clear()

    def clear(self) -> None:
        """Release all rows."""
        self.rows = 0
        self._parts: list[tuple[int, dict[str, Numbers]]] = []

    def add(self, columns: Mapping[str, Numbers]) -> None:
        """Append rows; a column left out holds its default."""
        rows = len(columns["line"])
        narrow = columns.keys() - _WIDE
        self._parts.append((rows, {**columns, **{n: columns[n].astype(np.int32) for n in narrow}}))
        self.rows += rows

    def sorted(self) -> dict[str, Numbers]:
        """Return the rows by answer, then by category, without columns that no row has."""
        names = dict.fromkeys(name for _, part in self._parts for name in part)
        columns = {name: self._column(name) for name in names}
        order = _order([columns[name] for name in _ORDER if name in columns])
        for name in columns:
            columns[name] = columns[name][order]
        self._parts = [(self.rows, columns)]
        return columns

    def _column(self, name: str) -> Numbers:
        """Return a column joined from all parts, which are released to save memory."""
        return np.concatenate(
            [
                part.pop(name) if name in part else np.full(rows, self.defaults[name], np.int64)
                for rows, part in self._parts
            ]
        )


def _order(keys: list[Numbers]) -> Numbers:
    """Return the order by several columns, the first being the slowest to change.

    If the columns and the row's place fit into 63 bits, they are sorted as one number, in place:
    in a tenth of the time, and without memory for the order beside it.
    """
    offsets = [int(key.min()) for key in keys]
    bits = [int(key.max() - low).bit_length() for key, low in zip(keys, offsets, strict=True)]
    rows = len(keys[0])
    width = (rows - 1).bit_length()
    if sum(bits) + width > 63:
        return np.lexsort(keys[::-1])
    packed = np.zeros(rows, np.int64)
    for key, low, wide in zip(keys, offsets, bits, strict=True):
        packed <<= wide
        packed += key
        packed -= low
    packed <<= width
    packed += np.arange(rows, dtype=np.int32)
    packed.sort()
    packed &= (1 << width) - 1
    return packed


def to_settle(rows: Mapping[str, Any], *, single: bool) -> bool:
    """Return whether sorted rows hold an answer with several records, or with a repeated label.

    With ``single`` an answer is one category; else a reserved category stands alone. Answers of
    several spans must always be resolved.
    """
    again = np.ones(len(rows["line"]) - 1, bool)
    for name in ANSWER:
        again &= _alike(rows[name])
    if single or not again.any():
        return bool(again.any())
    several = isinstance(rows["span_start"], np.ndarray) or rows["category_id"][1:] < 1
    several |= rows["category_id"][:-1] < 1
    several |= _alike(rows["category_id"])
    for name in _ONE_RECORD:
        several |= ~_alike(rows[name])
    return bool((again & several).any())


def _alike(column: Any) -> Flags | np.bool_:
    """Return whether each row but the first has the number of the row before it."""
    return column[1:] == column[:-1] if isinstance(column, np.ndarray) else np.True_


def with_missing(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows as a database takes them: an unknown time spent is missing."""
    spent = rows.get("spent_ms")
    if spent is None:
        return dict(rows)
    missing = np.ma.masked_equal(spent, NOT_TIMED) if isinstance(spent, np.ndarray) else None
    return {**rows, "spent_ms": missing}


def all_inserted(
    rows: Mapping[str, Any], gold: int | None, truth_files: Collection[int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many answers and how many truths beside them were inserted, if all rows were.

    In a file of truths alone, given by its source's number, the truths are the rows.
    """
    beside = 0
    if gold is not None:
        alone = np.isin(rows["source"], sorted(truth_files))
        beside = int(((rows["annotator_id"] == gold) & ~alone).sum())
    none = {"changed": 0, "unchanged": 0, "older": 0}
    answers = len(rows["line"]) - beside
    return {"inserted": answers, **none}, {"inserted": beside, **none}
