"""The third tally: for each pair of annotators a cross-table of their answers, by one self-join."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Join, Select, Subquery, Text, cast, func, select

from tracker.core.tallies import Answer, PairTallies
from tracker.measures.cohen import Cells, kappa_cells
from tracker.queries.packing import AS_COLUMNS, Packing
from tracker.queries.pattern_codes import select_id_widths
from tracker.queries.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)

Integers: TypeAlias = NDArray[np.int64]

_MOST = 20_000_000  # rows of 40 bytes at most in one text; 10 ** 9 bytes are too many


def select_number_pairs(connection: Connection, statement: Select[Any]) -> Integers:
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
        flat = chain.from_iterable(
            row for row in stream_rows(connection, statement) if None not in row
        )
        return np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    if not text:
        return np.zeros((0, 2), dtype=np.int64)
    return np.fromstring(text, dtype=np.int64, sep=",").reshape(-1, 2)


def pair_tallies(connection: Connection, selection: Selection) -> PairTallies:
    """Return for each pair of annotators the cross-table of their answers to shared items."""
    counts: dict[tuple[int, int], dict[tuple[Answer, Answer], int]] = {}
    packing = _packing(connection, selection)
    for *key, items in stream_rows(connection, _joined(selection, packing)):
        a, b, answer_a, answer_b = packing.unpack(key)
        table = counts.setdefault((a, b), {})
        cell = (read_selected_answer(answer_a), read_selected_answer(answer_b))
        table[cell] = table.get(cell, 0) + items
    return PairTallies(counts)


def count_pair_cells(
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
    packing = _packing(connection, selection)
    if packing.widths is None or not packing.fits:
        tallies = pair_tallies(connection, selection).counts
        pairs = sorted(tallies)
        return pairs, kappa_cells([dict(sorted(tallies[pair].items())) for pair in pairs], answers)
    rows = select_number_pairs(connection, _joined(selection, packing))
    keys, items = rows[np.argsort(rows[:, 0])].T  # the order of a sum decides its last digit
    annotator, _, answer, _ = packing.widths
    both, first, second = Packing((2 * annotator, answer, answer)).unpack([keys])
    distinct, place = np.unique(both, return_inverse=True)
    one, other = Packing((annotator, annotator)).unpack([distinct])
    used = np.unique(np.concatenate([first, second])).tolist()
    every = (*answers, *((one,) for one in used if (one,) not in set(answers)))
    code = np.zeros(1 << answer, dtype=np.int64)
    for number, given in enumerate(every):
        code[given[0]] = number
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    return pairs, Cells(every, place, code[first], code[second], items, len(pairs))


def join_answer_pairs(first: Subquery, second: Subquery) -> Join:
    """Return every two answers to an item, the one of the annotator with the lower id first."""
    return first.join(
        second,
        (first.c.item_id == second.c.item_id) & (first.c.annotator_id < second.c.annotator_id),
    )


def _packing(connection: Connection, selection: Selection) -> Packing:
    """Return the packing of two annotators and their answers."""
    widths = select_id_widths(connection, selection)
    if widths is None:
        return AS_COLUMNS
    annotator, answer = widths
    return Packing((annotator, annotator, answer, answer))


def _joined(selection: Selection, packing: Packing) -> Select[Any]:
    """Return every two answers to an item, counted by the two annotators and answers."""
    first, second = select_answer_rows(selection, "first"), select_answer_rows(selection, "second")
    key = packing.key(
        [first.c.annotator_id, second.c.annotator_id, first.c.answer, second.c.answer]
    )
    statement = select(*key, func.count()).select_from(join_answer_pairs(first, second))
    return statement.group_by(*(column.name for column in key))  # by name: it holds bound values
