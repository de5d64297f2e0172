"""What one answer that comes or goes makes of its item: a code before, and a code after.

The events of an item are added up in the order of their days. A code is canonical for a pattern
only within its statement, as in `codes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FunctionElement,
    Select,
    Subquery,
    Text,
    case,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.counting.codes import BITS, MOST_CODE_COLUMNS, highest_ids, packed
from tracker.counting.selection import Selection, read_answer, stream
from tracker.tally import Answer, Pattern, make_pattern

__all__ = ["ADDED", "REMOVED", "Coding", "Step", "coding_of"]

ADDED, REMOVED = 0, 1
"""In the column ``gone`` of an event, where there is one: whether an answer came or went."""

Step: TypeAlias = tuple[int, Any, Any, int]
"""A day, a code before and one after, and how many items went from the one to the other."""


class Coding(Protocol):
    """How the answers to an item become a code."""

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        """The steps of all events: item_id, answer, day, and gone where answers go."""

    def decode(self, code: Any) -> Pattern:
        """The pattern that a code stands for."""


def coding_of(connection: Connection, selection: Selection, span: range) -> Coding:
    """The coding of a selection whose events lie on the days of a span: digits where they fit."""
    if selection.project.answers == "one":
        annotators, categories = highest_ids(connection, selection)
        bits = max((2 * annotators).bit_length(), 1)  # a day's come before the others of it go
        if 0 < categories <= (BITS // bits) * MOST_CODE_COLUMNS:
            return _Digits(bits, categories, span)
    return _Texts()


def _so_far(total: FunctionElement[Any], events: Subquery) -> ColumnElement[Any]:
    """A sum over the events of an item up to this one, those of one day in any order."""
    return total.over(partition_by=events.c.item_id, order_by=events.c.day, rows=(None, 0))


def _grouped(keys: Sequence[ColumnElement[Any]]) -> Select[Any]:
    every = select(*(key.label(f"key_{n}") for n, key in enumerate(keys))).subquery("every_step")
    return select(*every.c, func.count()).group_by(*every.c)


@dataclass(frozen=True)
class _Digits:
    """A code of integers, in which every category has as many bits as all annotators need."""

    bits: int
    categories: int
    span: range

    @property
    def per_column(self) -> int:
        return BITS // self.bits

    @property
    def starts(self) -> range:
        """The first category of each column."""
        return range(1, self.categories + 1, self.per_column)

    @property
    def widths(self) -> tuple[int, int, int]:
        """The bits of a day, of the code where it is one column, and of an event."""
        token = (2 * self.categories + 1).bit_length()
        return len(self.span).bit_length(), self.bits * self.categories, token

    @property
    def alone(self) -> bool:
        """Whether day, code and event are one integer together."""
        return len(self.starts) == 1 and sum(self.widths) <= BITS

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        code = [self._column(events, start) for start in self.starts]
        day = events.c.day - self.span.start
        token = events.c.answer * 2 + (events.c.gone if "gone" in events.c else ADDED)
        keys = [packed([day, *code, token], self.widths)] if self.alone else [day, *code, token]
        for *key, number in stream(connection, _grouped(keys)):
            since, after, what = self._unpacked(key[0]) if self.alone else (
                key[0], tuple(key[1:-1]), key[-1]
            )  # fmt: skip
            yield since + self.span.start, self._before(after, what), after, number

    def _column(self, events: Subquery, start: int) -> ColumnElement[int]:
        """The digits of the categories from one on."""
        one = sql_cast(literal(1), BigInteger)
        shifted: ColumnElement[int] = one.bitwise_lshift((events.c.answer - start) * self.bits)
        if len(self.starts) > 1:
            inside = events.c.answer.between(start, start + self.per_column - 1)
            shifted = case((inside, shifted), else_=0)
        if "gone" in events.c:
            shifted = case((events.c.gone == REMOVED, -shifted), else_=shifted)
        return sql_cast(_so_far(func.sum(shifted), events), BigInteger)

    def _unpacked(self, key: int) -> tuple[int, tuple[int, ...], int]:
        _, code, token = self.widths
        rest = key >> token
        return rest >> code, (rest & (1 << code) - 1,), key & (1 << token) - 1

    def _before(self, after: tuple[int, ...], token: int) -> tuple[int, ...]:
        """The code without the event."""
        place, digit = divmod((token >> 1) - 1, self.per_column)
        change = (1 << digit * self.bits) * (-1 if token & 1 == REMOVED else 1)
        return (*after[:place], after[place] - change, *after[place + 1 :])

    def decode(self, code: tuple[int, ...]) -> Pattern:
        found: list[tuple[Answer, int]] = []
        for start, column in zip(self.starts, code, strict=True):
            for category in range(start, min(start + self.per_column, self.categories + 1)):
                count = column >> (category - start) * self.bits & (1 << self.bits) - 1
                if count:
                    found.append(((category,), count))
        return tuple(found)


class _Texts:
    """A code of text: every answer that came or went so far, in turn."""

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        sign: Any = literal("+")
        if "gone" in events.c:
            sign = case((events.c.gone == REMOVED, "-"), else_="+")
        token = sign + sql_cast(events.c.answer, Text)
        code = _so_far(func.aggregate_strings(token, ","), events)
        for day, after, number in stream(connection, _grouped([events.c.day, code])):
            yield day, after.rpartition(",")[0], after, number

    def decode(self, code: str) -> Pattern:
        answers: Counter[Answer] = Counter()
        for token in filter(None, code.split(",")):
            answers[read_answer(token[1:])] += 1 if token[0] == "+" else -1
        return make_pattern(answers.elements())
