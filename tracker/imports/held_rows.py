"""The rows of an import in memory and, if there are very many, in temporary files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np

from tracker.core.errors import Refused
from tracker.formats.batch import Flags, Numbers
from tracker.projects.questions import FIRST
from tracker.storage.schema.labels import ANSWER

_ORDER = (*ANSWER, "category_id")
_WIDE = {"labeled_at"}  # 64 bits
_ONE_RECORD = ("labeled_at", "source", "given_as")
"""Columns in which all rows of one record of an answer are alike."""


MOST_HELD = 1_000_000
"""Rows of a file, 20 to 40 bytes each; up to twice as many are held in memory without one."""
_SAMPLE = 20_000  # of so many rows in a file, one says where it could be cut


class Held:
    """Rows column by column, with shape (rows,) each, in the parts in which they came."""

    def __init__(self, defaults: Mapping[str, int]) -> None:
        self.defaults = defaults
        self.rows = 0
        self._held = 0
        self._parts: list[tuple[int, dict[str, Numbers]]] = []
        self._files: list[_File] = []
        self._ordered: dict[str, Numbers] = {}

    def clear(self) -> None:
        """Forget all rows, and delete the files."""
        for file in self._files:
            file.close()
        self.rows, self._held, self._parts, self._files = 0, 0, [], []
        self._ordered = {}

    def add(self, columns: Mapping[str, Numbers]) -> None:
        """Append rows; a column left out holds its default."""
        rows = len(columns["line"])
        narrow = columns.keys() - _WIDE
        self._parts.append((rows, {**columns, **{n: columns[n].astype(np.int32) for n in narrow}}))
        self.rows += rows
        self._held += rows
        self._ordered = {}
        if self._held > MOST_HELD * (1 if self._files else 2):
            self._write()

    def replace_category(self, question: int, old: int, new: int) -> None:
        """Replace a category by another in the rows of a question."""
        for file in self._files:
            file.replaced.append((question, old, new))
        for rows, part in self._parts:
            of = part.get("question_id", np.full(rows, self.defaults["question_id"]))
            part["category_id"][(of == question) & (part["category_id"] == old)] = new

    def in_order(self) -> Iterator[dict[str, Any]]:
        """Yield all rows in the order of labels' keys, those of an item in one part.

        A column that no row has is its default.
        """
        if not self._files:
            if self._parts:
                self._ordered = self._ordered or self._sorted()
                yield self._with_defaults(self._ordered)
            return
        if self._parts:
            self._write()
        number = -(-self.rows // MOST_HELD)
        samples = np.sort(np.concatenate([file.samples for file in self._files]))
        places = np.linspace(0, len(samples), number + 1).astype(int)[1:-1]
        cuts = np.unique(samples[places])
        bounds = [file.places(cuts) for file in self._files]
        for start, stop in zip(range(len(cuts) + 1), range(1, len(cuts) + 2), strict=True):
            parts = [
                file.read(own[start], own[stop])
                for file, own in zip(self._files, bounds, strict=True)
            ]
            part = Held(self.defaults)
            part._parts = [(len(columns["line"]), columns) for columns in parts]
            if any(rows for rows, _ in part._parts):
                yield self._with_defaults(part._sorted())

    def _with_defaults(self, columns: Mapping[str, Numbers]) -> dict[str, Any]:
        return {**self.defaults, **columns}

    def _write(self) -> None:
        """Move the rows from memory into a file."""
        columns = self._sorted()
        questions = columns.get("question_id", self.defaults["question_id"])
        self._files.append(_File(columns, _key(questions, columns["item_id"])))
        self._held, self._parts, self._ordered = 0, [], {}

    def _sorted(self) -> dict[str, Numbers]:
        """Return the rows in memory by answer, then by category, without what no row has."""
        names = dict.fromkeys(name for _, part in self._parts for name in part)
        columns = {name: self._column(name) for name in names}
        order = _order([columns[name] for name in _ORDER if name in columns])
        for name in columns:
            columns[name] = columns[name][order]
        self._parts = [(len(order), columns)] if columns else []
        return columns

    def _column(self, name: str) -> Numbers:
        """Return a column joined from all parts, which are released to save memory."""
        return np.concatenate(
            [
                part.pop(name) if name in part else np.full(rows, self.defaults[name], np.int64)
                for rows, part in self._parts
            ]
        )


def _key(questions: Any, items: Numbers) -> Numbers:
    """Return one number of a question and an item, in the order of both."""
    return np.asarray(questions, np.int64) * (1 << 32) + items


class _File:
    """Sorted rows in a temporary file, column after column.

    Attributes:
        rows: how many.
        samples: the keys of some of them, evenly spread: questions and items.
        replaced: categories that were replaced since: a question, the old and the new one.
    """

    def __init__(self, columns: Mapping[str, Numbers], key: Numbers) -> None:
        self.rows = len(key)
        self.samples = key[::_SAMPLE].copy()  # a view would hold all
        self.replaced: list[tuple[int, int, int]] = []
        self._types = {name: column.dtype for name, column in columns.items()}
        self._file = TemporaryFile()  # noqa: SIM115 - closed with the rows
        try:
            for column in (key, *columns.values()):
                column.tofile(self._file)
        except OSError as error:
            raise Refused(
                f"temporary files cannot be written: {error.strerror or error}",
                f"make room in {gettempdir()}, or name another folder in TMPDIR",
            ) from None

    def close(self) -> None:
        self._file.close()

    def places(self, cuts: Numbers) -> list[int]:
        """Return where each part begins if the rows are cut before these keys, and their end."""
        self._file.seek(0)
        key = np.fromfile(self._file, np.int64, self.rows)
        return [0, *np.searchsorted(key, cuts).tolist(), self.rows]

    def read(self, start: int, stop: int) -> dict[str, Numbers]:
        """Return some rows, one after the other."""
        place, columns = self.rows * np.dtype(np.int64).itemsize, {}
        for name, kind in self._types.items():
            self._file.seek(place + start * kind.itemsize)
            columns[name] = np.fromfile(self._file, kind, stop - start)
            place += self.rows * kind.itemsize
        for question, old, new in self.replaced:
            of = columns.get("question_id", np.full(stop - start, FIRST)) == question
            columns["category_id"][of & (columns["category_id"] == old)] = new
        return columns


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


def has_repeated_rows(rows: Mapping[str, Any], singles: Collection[int]) -> bool:
    """Return whether sorted rows hold an answer with several records, or with a repeated label.

    An answer to a question of ``singles`` is one category; else a reserved category stands alone.
    Answers of several spans must always be resolved.
    """
    again = np.ones(len(rows["line"]) - 1, bool)
    for name in ANSWER:
        again &= _alike(rows[name])
    questions = np.broadcast_to(rows["question_id"], len(rows["line"]))[1:][again]
    if np.isin(questions, list(singles)).any() or not again.any():
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
