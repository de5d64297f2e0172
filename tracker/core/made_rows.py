"""Sequences of very many rows, of which those that are read are made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

import numpy as np

from tracker.core.tallies import IntArray

Row = TypeVar("Row")


class MadeRows(Sequence[Row]):
    """Rows that are made when they are read, those that are read together at once."""

    @abstractmethod
    def made(self, places: IntArray) -> Iterator[Row]:
        """Yield the rows of these places."""

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        rows = [*self.made(np.atleast_1d(np.arange(len(self))[place]))]
        return rows if isinstance(place, slice) else rows[0]

    def __iter__(self) -> Iterator[Row]:
        return self.made(np.arange(len(self)))
