"""Columns packed into one integer by the database are found again."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Integer, func, literal, select, union_all

from tracker.counts.pattern_codes import BITS, Packing
from tracker.ledger import Ledger


@st.composite
def packed_rows(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Widths that mostly fit into one integer, and rows of numbers of these widths."""
    widths = draw(st.lists(st.integers(1, 30), min_size=2, max_size=5))
    row = st.tuples(*(st.integers(0, (1 << width) - 1) for width in widths))
    return tuple(widths), draw(st.lists(row, min_size=1, max_size=4))


def test_a_key_of_the_database_gives_the_columns_back(ledger: Ledger) -> None:
    @given(packed_rows())
    def check(drawn: tuple[tuple[int, ...], list[tuple[int, ...]]]) -> None:
        widths, rows = drawn
        packing = Packing(widths)
        given_rows = [
            select(*(literal(value, Integer).label(f"c{n}") for n, value in enumerate(row)))
            for row in rows
        ]
        table = union_all(*given_rows).subquery("given_rows")
        key = packing.key(list(table.c))
        grouped = select(*key, func.count()).group_by(*(one.name for one in key))
        with ledger.database.read() as connection:
            found = [tuple(group) for *group, _ in connection.execute(grouped)]
        assert len(key) == (1 if sum(widths) <= BITS else len(widths))
        if packing.fits:
            assert {number for (number,) in found} == {packing.number(row) for row in rows}
        assert sorted(packing.unpack(group) for group in found) == sorted({*rows})
        for group in found:
            before, last = packing.split_last(group)
            assert (*packing.but_last.unpack(before), last) == packing.unpack(group)

    check()


def test_arrays_of_keys_give_arrays_of_columns() -> None:
    keys: Any = np.array([0b1_010_11, 0b0_111_00])
    found = Packing((1, 3, 2)).unpack([keys])
    assert [part.tolist() for part in found] == [[1, 0], [2, 7], [3, 0]]
