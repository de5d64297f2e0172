"""The answers to an item as one code inside a statement, and the way back to a pattern."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Subquery,
    Text,
    case,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.counting.selection import Selection, answers_of, counted, labels, read_answer
from tracker.schema import Annotator, Category
from tracker.tally import Pattern, make_pattern

__all__ = ["BITS", "Code", "id_widths", "make_code", "packed", "wide_code", "widened"]

BITS = 62  # of an integer that stays below 2**63
_MOST_CODE_COLUMNS = 8


@dataclass(frozen=True)
class Code:
    """How the answers to an item become one code: its expressions, and the way back."""

    items: Subquery  # item_id, code columns, answers
    columns: tuple[str, ...]
    decode: Callable[[tuple[Any, ...]], Pattern]
    most_answers: int | None  # to an item, that the code can hold
    bits: tuple[int, int, int] | None = None  # of one column, an annotator, a category


def make_code(connection: Connection, selection: Selection) -> Code:
    """The code for a selection: digits of an integer where they fit, else strings."""
    if selection.project.answers == "one":
        annotators, categories = _highest(connection, selection)
        # Even with every annotator in one digit, a column stays below 2**63.
        digits = (BITS - annotators.bit_length()) // selection.bits + 1
        if categories <= digits * _MOST_CODE_COLUMNS:
            code = _digit_code(selection, max(categories, 1), digits)
            widths = (
                selection.bits * categories,
                annotators.bit_length(),
                categories.bit_length(),
            )
            fits = len(code.columns) == 1 and sum(widths) <= BITS
            return replace(code, bits=widths) if fits else code
    return _string_code(selection)


def id_widths(connection: Connection, selection: Selection) -> tuple[int, int]:
    """How many bits the number of an annotator takes, and that of a category."""
    annotators, categories = _highest(connection, selection)
    return annotators.bit_length(), categories.bit_length()


def packed(columns: Sequence[ColumnElement[Any]], widths: Sequence[int]) -> ColumnElement[Any]:
    """Columns as the digits of one integer, the first the highest; each takes its width in bits.

    To group by something is to sort it in SQLite, and one integer sorts in half the time of two.
    """
    parts = []
    for place, column in enumerate(columns):
        shift = sum(widths[place + 1 :])
        wide = column if isinstance(column.type, BigInteger) else sql_cast(column, BigInteger)
        parts.append(wide.bitwise_lshift(literal(shift, Integer)) if shift else column)
    return reduce(operator.add, parts)


def _highest(connection: Connection, selection: Selection) -> tuple[int, int]:
    """The highest numbers of an annotator and of a category; both are numbered without gaps."""
    project = selection.project.id
    row = connection.execute(
        select(
            select(func.count())
            .select_from(Annotator)
            .where(Annotator.project_id == project)
            .scalar_subquery()
            .label("annotators"),
            select(func.max(Category.id))
            .where(Category.project_id == project)
            .scalar_subquery()
            .label("categories"),
        )
    ).one()
    return row.annotators, max(row.categories, 0)


def _digit_code(selection: Selection, categories: int, digits: int) -> Code:
    """Sums of powers: category c adds one to digit (c - 1) % digits of its column."""
    bits = selection.bits
    one = sql_cast(literal(1), BigInteger)
    columns = {}
    for start in range(1, categories + 1, digits):
        shift: ColumnElement[int] = one.bitwise_lshift((labels.c.category_id - start) * bits)
        if categories > digits:
            within = labels.c.category_id.between(start, start + digits - 1)
            shift = case((within, shift), else_=0)
        columns[f"code_{start}"] = sql_cast(func.sum(shift), BigInteger)
    items = (
        select(
            labels.c.item_id,
            *(column.label(name) for name, column in columns.items()),
            func.count().label("answers"),
        )
        .where(counted(selection, alone=True))
        .group_by(labels.c.item_id)
        .subquery("patterns")
    )
    mask = (1 << bits) - 1

    def decode(codes: tuple[int, ...]) -> Pattern:
        counts = []
        for start, code in zip(range(1, categories + 1, digits), codes, strict=True):
            rest, category = code, start
            while rest:
                if rest & mask:
                    counts.append(((category,), rest & mask))
                rest >>= bits
                category += 1
        return tuple(counts)

    return Code(items, tuple(columns), decode, mask)


def _string_code(selection: Selection) -> Code:
    """The answers joined by commas; their order varies, and decoding folds it."""
    answers = answers_of(selection)
    joined = func.aggregate_strings(sql_cast(answers.c.answer, Text), ",")
    items = (
        select(answers.c.item_id, joined.label("code"), func.count().label("answers"))
        .group_by(answers.c.item_id)
        .subquery("patterns")
    )

    def decode(codes: tuple[str]) -> Pattern:
        return make_pattern(read_answer(answer) for answer in codes[0].split(","))

    return Code(items, ("code",), decode, None)


def widened(selection: Selection, code: Code, most_answers: int) -> Selection | None:
    """The selection with digits wide enough, where they were not; None where they were."""
    if code.most_answers is None or most_answers <= code.most_answers:
        return None
    return replace(selection, bits=most_answers.bit_length())


def wide_code(connection: Connection, selection: Selection) -> Code:
    """A code that surely holds every item: what is streamed cannot be taken back."""
    code = make_code(connection, selection)
    if code.most_answers is None:
        return code
    answers = (
        select(func.count().label("answers"))
        .where(counted(selection, alone=True))
        .group_by(labels.c.item_id)
        .subquery("answers")
    )
    most = connection.scalar(select(func.max(answers.c.answers))) or 0
    wider = widened(selection, code, most)
    return code if wider is None else make_code(connection, wider)
