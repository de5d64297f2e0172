"""The third tally: for each pair of annotators a cross-table of their answers, by one self-join."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Join, Select, Subquery, Text, cast, func, select

from tracker.core.tallies import Answer, PairTallies
from tracker.measures.cohen import Cells, cells_of
from tracker.queries.pattern_codes import BITS, id_widths, packed
from tracker.queries.selection import Selection, answers_of, read_answer, stream

Integers: TypeAlias = NDArray[np.int64]

_MOST = 20_000_000  # rows of 40 bytes at most in one text; 10 ** 9 bytes are too many


def numbers(connection: Connection, statement: Select[Any]) -> Integers:
    """Return the rows of a statement of two whole numbers as an array, (N, 2).

    The database writes them as one text, from which numpy reads millions of numbers in much
    less time than as many rows take. If a text cannot hold them, they come as rows. A row with
    NULL is left out.
    """
    rows = statement.limit(_MOST + 1).subquery("rows")
    one, other = (cast(column, Text) for column in rows.c)
    together = func.aggregate_strings(one + "," + other, ",").label("together")
    text, number = connection.execute(select(together, func.count().label("number"))).one()
    if number > _MOST:
        flat = chain.from_iterable(row for row in stream(connection, statement) if None not in row)
        return np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    if not text:
        return np.zeros((0, 2), dtype=np.int64)
    return np.fromstring(text, dtype=np.int64, sep=",").reshape(-1, 2)


Columns: TypeAlias = tuple[Integers, Integers, Integers, Integers]


def pair_tallies(connection: Connection, selection: Selection) -> PairTallies:
    """Return for each pair of annotators the cross-table of their answers to shared items."""
    counts: dict[tuple[int, int], dict[tuple[Answer, Answer], int]] = {}
    key, statement = _joined(selection, None)
    for a, b, answer_a, answer_b, items in stream(connection, statement.group_by(*key)):
        table = counts.setdefault((a, b), {})
        cell = (read_answer(answer_a), read_answer(answer_b))
        table[cell] = table.get(cell, 0) + items
    return PairTallies(counts)


def pair_cells(
    connection: Connection, selection: Selection, answers: tuple[Answer, ...] = ()
) -> tuple[list[tuple[int, int]], Cells]:
    """Return the pair tallies as arrays, for figures of very many pairs.

    Args:
        connection: to the database.
        selection: whose answers to which items.
        answers: these get the first codes, in this order, whether they occur or not.

    Returns:
        The pairs, first id < second id, ascending; and their cross-tables in that order.
    """
    annotator, category = id_widths(connection, selection)
    if selection.project.answers != "one" or 2 * (annotator + category) > BITS:
        tallies = pair_tallies(connection, selection).counts
        pairs = sorted(tallies)
        return pairs, cells_of([dict(sorted(tallies[pair].items())) for pair in pairs], answers)
    both, first, second, items = _by_cell(connection, selection, annotator, category)
    distinct, place = np.unique(both, return_inverse=True)
    pairs = [(pair >> annotator, pair & ((1 << annotator) - 1)) for pair in distinct.tolist()]
    used = np.unique(np.concatenate([first, second])).tolist()
    every = (*answers, *((one,) for one in used if (one,) not in set(answers)))
    code = np.zeros(1 << category, dtype=np.int64)
    for number, answer in enumerate(every):
        code[answer[0]] = number
    return pairs, Cells(every, place, code[first], code[second], items, len(pairs))


def _by_cell(
    connection: Connection, selection: Selection, annotator: int, category: int
) -> Columns:
    """Return one row per pair and cell, ascending: pair, first answer, second answer, items."""
    key, statement = _joined(selection, (annotator, category))
    rows = numbers(connection, statement.group_by(*key))
    both, items = rows[np.argsort(rows[:, 0])].T  # the order of a sum decides its last digit
    mask = (1 << category) - 1
    return both >> 2 * category, (both >> category) & mask, both & mask, items


def every_two(first: Subquery, second: Subquery) -> Join:
    """Return every two answers to an item, the one of the annotator with the lower id first."""
    return first.join(
        second,
        (first.c.item_id == second.c.item_id) & (first.c.annotator_id < second.c.annotator_id),
    )


def _joined(selection: Selection, widths: tuple[int, int] | None) -> tuple[list[str], Any]:
    """Return every two answers to an item, the columns to group by, and the statement.

    If the widths in bits of an annotator's and a category's id are given, all four numbers are
    one integer, which sorts faster.
    """
    first, second = answers_of(selection, "first"), answers_of(selection, "second")
    key: list[ColumnElement[Any]] = [
        first.c.annotator_id,
        second.c.annotator_id,
        first.c.answer,
        second.c.answer,
    ]
    if widths is not None:
        annotator, category = widths
        key = [packed(key, (annotator, annotator, category, category))]
    named = [column.label(f"key_{n}") for n, column in enumerate(key)]
    statement = select(*named, func.count()).select_from(every_two(first, second))
    return [column.name for column in named], statement  # by name: it holds bound values
