"""Every two annotators' shared items by pattern, in one self-join."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from tracker.audit.observed import PairPatterns
from tracker.counting.codes import BITS, Code, make_code, packed
from tracker.counting.numbers import Integers, numbers
from tracker.counting.selection import Selection, answers_of, read_answer, stream
from tracker.tally import Answer, Pattern

__all__ = ["pair_patterns"]

_TABLE_BITS = 22  # of numbers that a table is quicker for than to sort them


class _Rows(NamedTuple):
    """One row per pair, pattern and answer that both gave: places, and what is at them."""

    pair: Integers
    pattern: Integers
    same: Integers
    items: Integers
    pairs: Sequence[tuple[int, int]]
    patterns: Sequence[Pattern]
    answers: Sequence[Answer]


def pair_patterns(
    connection: Connection, selection: Selection, least: int = 20, most: int | None = None
) -> PairPatterns:
    """The items that every two annotators share, by pattern and by the answer that both gave.

    Pairs of fewer than ``least`` shared items are left out. ``most`` is how many answers an item
    has at most; None if that is not known.
    """
    most = _most_answers(connection, selection) if most is None else most
    # Wide enough at once: to join every two answers again would take as long again.
    code = make_code(connection, replace(selection, bits=max(selection.bits, most.bit_length())))
    if code.bits is not None and code.bits[0] + 2 * code.bits[1] + code.bits[2] <= BITS:
        return _frequent(_packed(connection, selection, code, code.bits), least)
    return _frequent(_apart(connection, selection, code), least)


def _most_answers(connection: Connection, selection: Selection) -> int:
    """The most answers to an item."""
    answers = answers_of(selection, alone=True)
    number = select(answers.c.item_id, func.count().label("answers"))
    items = number.group_by(answers.c.item_id).subquery("items")
    return connection.scalar(select(func.max(items.c.answers))) or 0


def _frequent(rows: _Rows, least: int) -> PairPatterns:
    """The rows of pairs with enough shared items."""
    enough = np.bincount(rows.pair, rows.items, len(rows.pairs)) >= least
    kept = enough[rows.pair]
    return PairPatterns(
        pairs=tuple(pair for pair, many in zip(rows.pairs, enough.tolist(), strict=True) if many),
        patterns=tuple(rows.patterns),
        answers=tuple(rows.answers),
        pair=(np.cumsum(enough) - 1)[rows.pair[kept]],
        pattern=rows.pattern[kept],
        same=rows.same[kept],
        items=rows.items[kept],
    )


def _packed(
    connection: Connection, selection: Selection, code: Code, widths: tuple[int, int, int]
) -> _Rows:
    """The rows where the key is one integer: pair, code, and the answer that both gave or 0."""
    of_code, of_annotator, of_category = widths
    key_widths = [of_annotator, of_annotator, of_code, of_category]
    statement = _grouped(selection, code, key_widths)
    keys, items = numbers(connection, statement).T
    answers, same = _numbered(keys & ((1 << of_category) - 1), of_category)
    codes, pattern = _numbered((keys >> of_category) & ((1 << of_code) - 1), of_code)
    pairs, pair = _numbered(keys >> of_category + of_code, 2 * of_annotator)
    differ = int(0 in answers[:1])  # the first of them, if any
    mask = (1 << of_annotator) - 1
    return _Rows(
        pair,
        pattern,
        same - differ,
        items,
        [(number >> of_annotator, number & mask) for number in pairs.tolist()],
        [code.decode((number,)) for number in codes.tolist()],
        [(number,) for number in answers[differ:].tolist()],
    )


def _numbered(values: Integers, bits: int) -> tuple[Integers, Integers]:
    """The different values, ascending, and the place among them of each; of so many bits."""
    if bits > _TABLE_BITS:
        return np.unique(values, return_inverse=True)
    seen = np.zeros(1 << bits, dtype=np.bool_)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[values]


def _apart(connection: Connection, selection: Selection, code: Code) -> _Rows:
    """The rows where it is not; the order of a set's ids varies, so answers are compared here."""
    pairs: dict[tuple[int, int], int] = {}
    patterns: dict[Pattern, int] = {}
    answers: dict[Answer, int] = {}
    read = cache(read_answer)

    @cache
    def place_of(*codes: Any) -> int:
        return patterns.setdefault(code.decode(codes), len(patterns))

    found = array("q")
    for first, second, *codes, one, other, items in stream(
        connection, _grouped(selection, code, None)
    ):
        if second is None:
            continue
        own = read(one)
        same = answers.setdefault(own, len(answers)) if own == read(other) else -1
        pair = pairs.setdefault((first, second), len(pairs))
        found.extend((pair, place_of(*codes), same, items))
    table = np.frombuffer(found, dtype=np.int64).reshape(-1, 4)
    # A pattern may have come spelled in several ways: its rows are one.
    of_pattern, of_pair = len(answers) + 1, len(patterns) * (len(answers) + 1)
    keys, place = np.unique(
        table[:, 0] * of_pair + table[:, 1] * of_pattern + table[:, 2] + 1, return_inverse=True
    )
    items_of = np.bincount(place, table[:, 3], len(keys)).astype(np.int64)
    rest = keys % max(of_pair, 1)
    return _Rows(
        keys // max(of_pair, 1),
        rest // of_pattern,
        rest % of_pattern - 1,
        items_of,
        [*pairs],
        [*patterns],
        [*answers],
    )


def _grouped(selection: Selection, code: Code, widths: Sequence[int] | None) -> Select[Any]:
    """Items by pair, code and answers: with widths, in bits, by one integer.

    There the answer that both gave, or 0, is in the place of the two.
    """
    first, second = answers_of(selection, "first"), answers_of(selection, "second")
    # Outer joins, for which SQLite keeps to their order: an item's pattern is found once, not
    # for every two annotators. What is one too many is an annotator without a second: NULL.
    joined = code.items.outerjoin(first, first.c.item_id == code.items.c.item_id).outerjoin(
        second,
        (first.c.item_id == second.c.item_id) & (first.c.annotator_id < second.c.annotator_id),
    )
    key: list[ColumnElement[Any]] = [
        first.c.annotator_id,
        second.c.annotator_id,
        *(code.items.c[name] for name in code.columns),
    ]
    if widths is None:
        key += [first.c.answer, second.c.answer]
    else:
        both = case((first.c.answer == second.c.answer, first.c.answer), else_=0)
        key = [packed([*key, both], widths)]
    named = [column.label(f"key_{n}") for n, column in enumerate(key)]
    statement = select(*named, func.count().label("items")).select_from(joined)
    return statement.group_by(*(column.name for column in named))  # by name: it holds bound values
