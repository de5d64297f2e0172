"""Several whole numbers as one inside a statement: packed if they fit, else left as columns."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Integer, Label, case, literal
from sqlalchemy import cast as sql_cast

from tracker.core.tallies import Pattern

BITS = 62
"""Of a sum that stays below 2**63."""


@dataclass(frozen=True)
class Packing:
    """A key of several columns, packed into one integer if their widths in bits fit.

    SQLite sorts in order to group, and one integer sorts in half the time of two.

    Attributes:
        widths: the bits of each column, the highest bits first; None if a column has no width.
    """

    widths: tuple[int, ...] | None

    @cached_property
    def fits(self) -> bool:
        """Whether the columns are one integer."""
        return self.widths is not None and sum(self.widths) <= BITS

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Return of each column how far it is shifted, and the mask of its width."""
        widths = self.widths or ()
        shifts = [*accumulate(reversed(widths), initial=0)][-2::-1]
        return [(shift, (1 << width) - 1) for shift, width in zip(shifts, widths, strict=True)]

    def pack(self, columns: Sequence[ColumnElement[Any]]) -> ColumnElement[Any]:
        """Return columns that fit as one integer."""
        parts = []
        for column, (shift, _) in zip(columns, self._places, strict=True):
            wide = column if isinstance(column.type, BigInteger) else sql_cast(column, BigInteger)
            parts.append(wide.bitwise_lshift(literal(shift, Integer)) if shift else column)
        return reduce(operator.add, parts)

    def number(self, values: Sequence[int]) -> int:
        """Return the integer that columns with these values make."""
        places = zip(values, self._places, strict=True)
        return sum(value << shift for value, (shift, _) in places)

    def key(self, columns: Sequence[ColumnElement[Any]]) -> list[Label[Any]]:
        """Return what to select and, by its names, to group by: one integer, or the columns."""
        key = [self.pack(columns)] if self.fits else columns
        return [column.label(f"key_{n}") for n, column in enumerate(key)]

    def unpack(self, key: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of the columns from those of a key, numbers or arrays of numbers."""
        if not self.fits:
            return tuple(key)
        return tuple([key[0] >> shift & mask for shift, mask in self._places])

    def split_last(self, key: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        """Return the key of all columns but the last, which `but_last` unpacks, and the last."""
        if not self.fits:
            return tuple(key[:-1]), key[-1]
        (_, mask), (width, _) = self._places[-1], self._places[-2]
        return (key[0] >> width,), key[0] & mask

    @cached_property
    def but_last(self) -> Packing:
        """The packing of all columns but the last."""
        return Packing(self.widths[:-1] if self.fits and self.widths is not None else None)


AS_COLUMNS = Packing(None)
"""That of columns that are never one integer."""


@dataclass(frozen=True)
class Digits:
    """The number of answers of each category as a digit of an integer, or of several.

    Attributes:
        bits: of a digit.
        categories: how many there are; they are numbered from 1.
        per_column: how many digits an integer has room for.
    """

    bits: int
    categories: int
    per_column: int

    @classmethod
    def fitting(cls, bits: int, categories: int, kept: int) -> Digits:
        """Return as many digits an integer as fit beside the bits that are kept free above."""
        return cls(bits, categories, min((BITS - kept) // bits, max(categories, 1)))

    @cached_property
    def starts(self) -> range:
        """The first category of each integer."""
        return range(1, self.categories + 1, self.per_column)

    def one(self, category: ColumnElement[int], start: int) -> ColumnElement[int]:
        """Return 1 at the category's digit; 0 if it is not in the integer of that start."""
        unit = sql_cast(literal(1), BigInteger)
        placed: ColumnElement[int] = unit.bitwise_lshift((category - start) * self.bits)
        if len(self.starts) > 1:
            inside = category.between(start, start + self.per_column - 1)
            placed = case((inside, placed), else_=0)
        return placed

    def decode(self, integers: Iterable[int]) -> Pattern:
        """Return the pattern that the integers count."""
        mask = (1 << self.bits) - 1
        counts = []
        for start, integer in zip(self.starts, integers, strict=True):
            rest, category = integer, start
            while rest:
                if rest & mask:
                    counts.append(((category,), rest & mask))
                rest >>= self.bits
                category += 1
        return tuple(counts)
