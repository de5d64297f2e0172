"""Many rows on their way to a database, given column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, case
from sqlalchemy.sql.selectable import FromClause

_ROWS_AT_ONCE = 100  # in one INSERT; times the columns, far below the limit of parameters
_ROWS_IN_MEMORY = 50_000  # as objects, on their way from arrays to the driver

Cells = Sequence[Any]
"""The cells of some rows: for each column a list, a NumPy or an Arrow array; or a whole number or
None, which every row has."""


def in_parts(cells: Cells) -> Iterator[Cells]:
    """The cells of some rows at a time; columns that are one array are one in each part, too."""
    columns = {id(column): column for column in cells if _is_column(column)}
    rows = len(next(iter(columns.values())))
    for start in range(0, rows, _ROWS_IN_MEMORY):
        some = {n: column[start : start + _ROWS_IN_MEMORY] for n, column in columns.items()}
        yield [some.get(id(one), one) for one in cells]


def _is_column(values: object) -> bool:
    return isinstance(values, list) or hasattr(values, "tolist")


def insert_many(cursor: Any, into: str, cells: Cells) -> None:
    """Insert with many rows a statement, which takes half the time of one a row.

    What every row has is part of the statement, and a column that stands in two places is one
    parameter: each parameter of a row takes time. With OR FAIL SQLite need not be able to take
    back half a statement, which takes as long again; the transaction is taken back as a whole.
    """
    columns = list({id(one): one for one in cells if _is_column(one)}.values())
    width, rows = len(columns), len(columns[0])
    values: list[Any] = [None] * (width * rows)
    for place, column in enumerate(columns):
        values[place::width] = column if isinstance(column, list) else column.tolist()
    place_of = {id(column): place for place, column in enumerate(columns, 1)}
    row = [place_of[id(one)] if _is_column(one) else _literal(one) for one in cells]
    whole = _many_rows(into, row, width, _ROWS_AT_ONCE)
    for start in range(0, len(values), _ROWS_AT_ONCE * width):
        some = values[start : start + _ROWS_AT_ONCE * width]
        left = len(some) // width
        cursor.execute(whole if left == _ROWS_AT_ONCE else _many_rows(into, row, width, left), some)


def _literal(value: int | None) -> str:
    return "NULL" if value is None else str(int(value))


def _many_rows(into: str, row: Sequence[Any], width: int, rows: int) -> str:
    """The statement; a row holds texts as they are, and of parameters the place in their row."""
    marks = (
        ", ".join(one if isinstance(one, str) else f"?{start + one}" for one in row)
        for start in range(0, rows * width, width)
    )
    return f"INSERT OR FAIL INTO {into} VALUES ({'), ('.join(marks)})"  # noqa: S608


def as_csv(cells: Cells) -> Any:
    """Rows as CSV; what is missing is empty, and an empty text is quoted."""
    import pyarrow as pa
    from pyarrow import csv

    rows = len(next(column for column in cells if _is_column(column)))
    arrays = [
        (one if isinstance(one, pa.Array) else pa.array(one))
        if _is_column(one)
        else pa.repeat(pa.scalar(one), rows)
        for one in cells
    ]
    table = pa.table(arrays, names=[str(n) for n in range(len(arrays))])
    text = pa.BufferOutputStream()
    csv.write_csv(table, text, csv.WriteOptions(include_header=False))
    return text.getvalue().to_pybytes()


ANSWER = ("item_id", "annotator_id", "pass")
"""The columns that say which answer of a project a label belongs to."""
ASSERTION = (*ANSWER, "labelled_at", "source")
"""The columns of an answer, and which time a file gave it: one answer, under whatever names."""
RECORD = (*ASSERTION, "given_as")
"""… and which of the records of that answer; names may turn out to be another's."""
ORDER = ("labelled_at", "change_id", "source", "given_as")
"""Which of several records of an answer stands: the greatest in this order."""
LABEL = ("category_id", "span_start", "span_end")
"""The columns that say what was answered."""
OWN_NAME = 0
"""Stands in a staged answer for the annotator's own name; ids begin at 1."""


def same(columns: tuple[str, ...], left: FromClause, right: FromClause) -> ColumnElement[bool]:
    """Return whether two sources of rows are equal in these columns."""
    return and_(*(left.c[column] == right.c[column] for column in columns))


def given_as(rows: FromClause) -> ColumnElement[int]:
    """Return the name under which staged answers were given."""
    return case((rows.c.given_as == OWN_NAME, rows.c.annotator_id), else_=rows.c.given_as)
