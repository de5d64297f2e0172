"""The answers to an item as one code inside a statement, and the decoding into a pattern."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from itertools import accumulate
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FunctionElement,
    Integer,
    Label,
    Subquery,
    Text,
    case,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.kept import read_once
from tracker.core.tallies import Pattern, make_pattern
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    where_counted,
)
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import Annotator, Category
from tracker.storage.schema.labels import of_question

# -- Several whole numbers as one inside a statement: packed if they fit, else left as columns ----

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
        return self.widths is not None and sum(self.widths) <= BITS

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Return of each column how far it is shifted, and the mask of its width."""
        widths = self.widths or ()
        shifts = [*accumulate(reversed(widths), initial=0)][-2::-1]
        return [(shift, (1 << width) - 1) for shift, width in zip(shifts, widths, strict=True)]

    def pack(self, columns: Sequence[ColumnElement[Any]]) -> ColumnElement[Any]:
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


MOST_CODE_COLUMNS = 8
_OF_AN_ANSWER = {"item_id", "annotator_id", "answer"}


@dataclass(frozen=True)
class Code:
    """How the answers to an item become one code: its expressions, and its decoding."""

    items: Subquery  # item_id, code columns, answers
    columns: tuple[str, ...]
    decode: Callable[[tuple[Any, ...]], Pattern]
    most_answers: int | None  # to an item, that the code can hold
    bits: tuple[int, int, int] | None = None  # of one column, an annotator, a category

    @property
    def key(self) -> list[ColumnElement[Any]]:
        return [self.items.c[name] for name in self.columns]

    def holds(self, answers: int) -> bool:
        """Return whether the code of an item of so many answers is right."""
        return self.most_answers is None or answers <= self.most_answers


def make_pattern_code(
    connection: Connection,
    selection: Selection,
    excluded: frozenset[int] = frozenset(),
    within: Subquery | None = None,
    *,
    of: Subquery | None = None,
) -> Code:
    """Return the code for a selection: digits of an integer if they fit, else strings.

    Answers of ``excluded`` annotators are in no code, but their items are all there. If
    ``within`` is given, which has one row per answer of the selection, each of its rows gets
    the item's code beside it: sorting those rows was expensive, and joining them with a row per
    item is more so. ``of`` are the answers, if not all of the selection; of each further column
    that they have, an item has the greatest value beside its code.
    """
    answers = within if of is None else of
    rows = select_answer_rows(selection, alone=True) if answers is None else answers
    beside = within is not None
    if selection.single:
        annotators, categories = select_highest_ids(connection, selection.question)
        # The highest digit may hold every annotator.
        kept = annotators.bit_length() - selection.bits
        digits = Digits.fitting(selection.bits, max(categories, 1), kept)
        if len(digits.starts) <= MOST_CODE_COLUMNS:
            code = _digit_code(rows, digits, excluded, beside=beside)
            widths = selection.bits * categories, annotators.bit_length(), categories.bit_length()
            fits = len(code.columns) == 1 and Packing(widths).fits
            return replace(code, bits=widths) if fits else code
    return _string_code(rows, excluded, beside=beside)


def select_id_widths(connection: Connection, selection: Selection) -> tuple[int, int] | None:
    """Return how many bits the id of an annotator takes, and an answer; None if it is a text."""
    if not selection.single:
        return None
    annotators, categories = select_highest_ids(connection, selection.question)
    return annotators.bit_length(), categories.bit_length()


@read_once
def select_highest_ids(connection: Connection, question: QuestionInfo) -> tuple[int, int]:
    """Return the highest ids of an annotator and of a category; both are numbered without gaps."""
    of_project = Annotator.project_id == question.project_id
    annotators = select(func.count()).select_from(Annotator).where(of_project)
    categories = select(func.max(Category.id)).where(of_question(Category, question.key))
    row = connection.execute(
        select(
            annotators.scalar_subquery().label("annotators"),
            categories.scalar_subquery().label("categories"),
        )
    ).one()
    return row.annotators, max(row.categories, 0)


def _digit_code(
    answers: Subquery, digits: Digits, excluded: frozenset[int], *, beside: bool
) -> Code:
    columns: dict[str, FunctionElement[Any]] = {}
    for start in digits.starts:
        digit = digits.one(answers.c.answer, start)
        if excluded:
            digit = case((answers.c.annotator_id.in_(sorted(excluded)), 0), else_=digit)
        columns[f"code_{start}"] = func.sum(digit)
    items = _items(answers, columns, beside=beside)
    return Code(items, tuple(columns), digits.decode, (1 << digits.bits) - 1)


def _string_code(answers: Subquery, excluded: frozenset[int], *, beside: bool) -> Code:
    """Return a code of answers joined by commas; their order varies, and decoding folds it."""
    answer: ColumnElement[str] = sql_cast(answers.c.answer, Text)
    if excluded:
        answer = case((answers.c.annotator_id.not_in(sorted(excluded)), answer))  # else NULL
    columns = {"code": func.aggregate_strings(answer, ",")}
    items = _items(answers, columns, beside=beside)

    return Code(items, ("code",), _read_string_code, None)


@lru_cache(maxsize=1 << 14)
def _read_string_code(codes: tuple[str | None]) -> Pattern:
    """Return the pattern; the statements of one question read the same texts again."""
    text = codes[0]
    return () if text is None else make_pattern(map(_read_answer, text.split(",")))


_read_answer = lru_cache(maxsize=1 << 12)(read_selected_answer)


def _items(
    answers: Subquery, columns: Mapping[str, FunctionElement[Any]], *, beside: bool
) -> Subquery:
    """Return code columns and the number of answers, a row per item, or ``beside`` each answer."""
    item = answers.c.item_id
    columns = {**columns, "answers": func.count()}
    if not beside:
        further = [column for column in answers.c if column.name not in _OF_AN_ANSWER]
        columns |= {column.name: func.max(column) for column in further}
    named = []
    for name, value in columns.items():
        column = value.over(partition_by=item) if beside else value
        integral = isinstance(value.type, Integer)  # a sum of such may come as a decimal number
        named.append((sql_cast(column, BigInteger) if integral else column).label(name))
    if beside:
        return select(answers, *named).subquery("patterns")
    return select(item, *named).group_by(item).subquery("patterns")


def widen_pattern_code(selection: Selection, code: Code, most_answers: int) -> Selection | None:
    """Return the selection with wider digits if they were too narrow; None if they were not."""
    if code.holds(most_answers):
        return None
    return replace(selection, bits=most_answers.bit_length())


def wide_pattern_code(connection: Connection, selection: Selection) -> Code:
    """Return a code that holds every item, because rows that were streamed cannot be taken back."""
    code = make_pattern_code(connection, selection)
    if code.most_answers is None:
        return code
    answers = (
        select(func.count().label("answers"))
        .where(where_counted(selection, alone=True))
        .group_by(labels.c.item_id)
        .subquery("answers")
    )
    most = connection.scalar(select(func.max(answers.c.answers))) or 0
    wider = widen_pattern_code(selection, code, most)
    return code if wider is None else make_pattern_code(connection, wider)
