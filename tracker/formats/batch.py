"""What every reader yields and the loader takes: batches of raw records, and rejections."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tracker.core.results import Hidden, Json, Record
from tracker.formats.dates import Moment, read_moment
from tracker.projects.questions import QuestionOptions

# -- Where a record stands: in which file, on which line ------------------------------------------


class Place(NamedTuple):
    """Where a record stands: in which file, and its line or the number of what ``unit`` says."""

    source: str
    number: int  # 0 for the whole file
    unit: str

    def __str__(self) -> str:
        return f"{self.source}, {self.unit} {self.number}" if self.number else self.source


class FilesUnit:
    """Numbers the lines of an archive's files on from file to file, as if they were one text.

    So that the records of many small files are one batch, and each still has its own place.
    """

    def __init__(self) -> None:
        self._files: list[tuple[str, str]] = []  # the names, and what their numbers count
        self._before: list[int] = []  # numbers before those of the file
        self._next = 0

    def begin(self, name: str, lines: int, unit: str = "line") -> int:
        """Return the number that stands for a whole file, before those of its lines."""
        self._files.append((name, unit))
        self._before.append(self._next)
        self._next += lines + 1
        return self._before[-1]

    def place(self, number: int) -> Place:
        n = bisect_right(self._before, number) - 1
        name, unit = self._files[n]
        return Place(name, number - self._before[n], unit)


Unit = str | FilesUnit
"""What the places of records count: lines, or what a word says, or the lines of several files."""


def place_of(source: str, number: int, unit: Unit) -> Place:
    return Place(source, number, unit) if isinstance(unit, str) else unit.place(number)


ROLES = (
    "item", "annotator", "category", "question", "labeled_at", "seconds", "pass", "text", "gold",
    "start", "end", "n_tokens", "kind", "confidence", "comment", "version",
)  # fmt: skip
"""What a column can mean."""

SKIPPED_CELL = "\x1e"  # the cell of an answer that was skipped, whatever its question asks for
LISTED = "\x1f"  # before each category of a cell that was a list
GOLD = "gold"  # the reference annotator, whose answers are those that a file calls true

_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+""")

_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
KEEP = "keep:"  # before the name of a column that is kept as an attribute of the item
OF_QUESTION = "category:"  # before the name of a question: the role of the column of its answers
ATTRIBUTE_COLUMN = "attribute:"  # begins the names of columns that are kept without an option

Numbers = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]


def text_array(texts: Sequence[str]) -> Any:
    """Return an Arrow array of strings.

    `pyarrow.array` would do so, too, but import pandas first, in more time than a small file takes.
    """
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(text) for text in encoded], out=ends[1:])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def place_array(places: Numbers) -> Any:
    """Return an Arrow array of places in another one; without pandas, as `text_array`."""
    import pyarrow as pa

    numbers = np.ascontiguousarray(places, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


@dataclass(frozen=True)
class Cells:
    """The cells of one column, each distinct text held once.

    Each text belongs to some record; the texts are in the order in which they first occur.
    """

    codes: Numbers  # of each record: the place of its text
    distinct: Any  # Arrow strings, none missing
    listed: bool = False  # some were lists, see `LISTED`

    @classmethod
    def of(cls, chunks: Sequence[Any]) -> Cells:
        """Return the column made of Arrow arrays of strings, one after the other."""
        import pyarrow as pa

        column = pa.chunked_array(chunks)
        is_encoded = pa.types.is_dictionary(column.type)
        column = column.unify_dictionaries() if is_encoded else column.dictionary_encode()
        encoded = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        codes: Any = np.from_dlpack(encoded.indices)
        return cls(codes, encoded.dictionary)

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> Cells:
        return cls.of([text_array(texts)])

    @cached_property
    def texts(self) -> list[str]:
        return list(self.distinct.to_pylist())

    def __getitem__(self, record: int) -> str:
        return self.texts[int(self.codes[record])]

    def at(self, records: Numbers) -> list[str]:
        texts = self.texts
        return [texts[code] for code in self.codes[records].tolist()]

    def take(self, records: Numbers) -> Cells:
        codes = self.codes[records]
        first = np.full(len(self.distinct), len(codes))
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        used = np.argsort(first)[: np.count_nonzero(first < len(codes))]
        places = np.zeros(len(first), np.int64)
        places[used] = np.arange(len(used))
        return Cells(places[codes], self.distinct.take(place_array(used)), self.listed)

    def split(self, separator: str) -> tuple[Cells, Numbers]:
        """Return the column of the parts of each cell, and the record of each part.

        An empty cell has one part, and equal parts of a cell are one.
        """
        parts = [
            list(dict.fromkeys(filter(None, map(str.strip, text.split(separator))))) or [""]
            for text in self.texts
        ]
        lengths = np.array([len(texts) for texts in parts], np.int64)
        flat = [part for texts in parts for part in texts]
        codes = {text: code for code, text in enumerate(dict.fromkeys(flat))}
        coded = np.array([codes[part] for part in flat], np.int64)
        of_records = lengths[self.codes]
        records = np.repeat(np.arange(len(self.codes)), of_records)
        within = np.arange(len(records)) - (np.cumsum(of_records) - of_records)[records]
        starts = (np.cumsum(lengths) - lengths)[self.codes][records]
        return Cells(coded[starts + within], text_array(list(codes))), records

    def mapped(self, change: Callable[[str], str]) -> Cells:
        """Return the column with each text changed; some may then be alike."""
        texts = dict.fromkeys(map(change, self.texts))
        places = {text: place for place, text in enumerate(texts)}
        codes = np.array([places[change(text)] for text in self.texts], np.int64)
        return replace(Cells.of_texts(list(texts)), codes=codes[self.codes])

    def holds(self, test: Callable[[str], Any]) -> Flags:
        """Return whether each record's cell passes the test, which runs once for each text."""
        passed = np.fromiter((bool(test(text)) for text in self.texts), bool, len(self.texts))
        return passed[self.codes] if len(passed) else np.zeros(len(self.codes), bool)


@dataclass(frozen=True)
class Batch:
    """Some records of one source, column by column."""

    lines: Numbers  # on which each record starts, or the number of what ``unit`` says
    columns: Mapping[str, Cells]  # the texts of the file, by role: see `ROLES` and `KEEP`
    source: str | None = None  # the name of the file, if the source is an archive
    unit: Unit = "line"
    asked: Mapping[str, QuestionOptions] = field(default_factory=dict)  # that the file names so far
    moment: Moment = read_moment  # reads the times as the file writes them
    decimal_comma: bool = False  # in numbers a comma may stand for the point
    names: Mapping[str, str] = field(default_factory=dict)  # of the columns of a header, by role
    rows_repeat: bool = False  # a row may hold several answers of an annotator to an item
    wide: bool = False  # a row holds several records
    says_none: bool = False  # an empty category was a cell that says no

    @property
    def is_table(self) -> bool:
        return bool(self.names)

    def of_column(self, role: str) -> str:
        """Return which column a reason is about, as its end; empty if the role is its name."""
        name = self.names.get(role, role)
        return "" if name == role else f" (column {name!r})"

    def column_of(self, role: str, record: int) -> str | None:
        """Return the name of the column that holds a record's cell of a role, if it is known."""
        name = self.names.get(role)
        if name is None and role == "category" and self.names and "annotator" not in self.names:
            return self.columns["annotator"][record]  # a column for each annotator
        return name

    def without_items(self, keys: Collection[str]) -> Batch:
        left = np.flatnonzero(~self.columns["item"].holds(lambda text: text.strip() in keys))
        columns = {role: cells.take(left) for role, cells in self.columns.items()}
        return replace(self, lines=self.lines[left], columns=columns)


class Faults(dict[int, str]):
    """Why records of a batch are bad, by their place: for one reason each."""

    def __init__(self) -> None:
        super().__init__()
        self.roles: dict[int, str] = {}  # of the bad cell of each

    def add(self, record: int, reason: str, role: str) -> None:
        """Note why a record is bad, unless there is a reason already."""
        if record not in self:
            self[record], self.roles[record] = reason, role


def with_decimal_point(text: str) -> str:
    """Return a number such as 1,5 with a point; any other text as it is."""
    return text.replace(",", ".") if _COMMA.fullmatch(text) else text


KINDS: Final = (
    "missing_words", "decimal_twins", "unanswered", "sides", "constant_answers", "counts",
    "sentinel", "unordered", "contradictions",
)  # fmt: skip
"""Kinds of oddities, as ``--accept`` takes them."""


@dataclass(frozen=True)
class Oddity(Record):
    """Cells of a file that may mean something else than they seem to.

    Attributes:
        kind: one of `KINDS`.
        what: a sentence.
        cells: how many cells it concerns.
        option: the options that decide it.
        stops: whether the import is refused until the user decides.
    """

    kind: str
    what: str
    cells: int
    option: str
    stops: Annotated[bool, Hidden] = False

    def __str__(self) -> str:
        return f"{self.what} ({self.option})"


@dataclass(frozen=True)
class Rejection(Record):
    """A record that cannot be imported: its place, what is wrong with it, and in which column."""

    source: str
    line: int
    reason: str
    unit: Annotated[str, Hidden] = "line"
    column: Annotated[str | None, Json(rare=True)] = None

    def __str__(self) -> str:
        return f"{Place(self.source, self.line, self.unit)}: {self.reason}"


@dataclass
class Rejections:
    """All rejections counted, and the first of them kept."""

    KEPT = 1000
    KINDS = 100
    LONGEST = 1200  # characters of a reason, which may quote a cell
    count: int = 0
    ragged: int = 0  # of these, rows that are in no batch
    first: list[Rejection] = field(default_factory=list)
    # Rejections whose reasons differ only in what they quote: the first of them, and their number.
    alike: dict[str, tuple[Rejection, int]] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)  # roles that could not be read
    ways: list[str] = field(default_factory=list)  # options with which rejected rows could be read
    items: set[str] | None = None  # keys of the items of rejected rows, for a sync

    def add_unread(
        self, source: str, line: int, reason: str, unit: Unit = "line", item: str | None = None
    ) -> None:
        """Count one more rejection, of a record that is in no batch."""
        self.add(source, line, reason, unit, item)
        self.ragged += 1

    def add(
        self,
        source: str,
        line: int,
        reason: str,
        unit: Unit = "line",
        item: str | None = None,
        column: str | None = None,
    ) -> None:
        """Count one more rejection, with the key of its item and the bad column, if known."""
        self.count += 1
        if self.items is not None and item is not None:
            self.items.add(item)
        short = reason if len(reason) <= self.LONGEST else reason[: self.LONGEST] + "…"
        place = place_of(source, line, unit)
        rejection = Rejection(place.source, place.number, short, place.unit, column)
        if len(self.first) < self.KEPT:
            self.first.append(rejection)
        kind = _QUOTED.sub("…", short)
        if kind not in self.alike and len(self.alike) >= self.KINDS:
            kind = ""
        example, number = self.alike.get(kind, (rejection, 0))
        self.alike[kind] = (example, number + 1)
