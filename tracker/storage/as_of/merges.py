"""Answers of one category that count as another's, and their return.

A merge changes the category of labels, and keeps which labels these were: it can be ended, and a
look back ends it in copies of the tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    exists,
    insert,
    literal,
    select,
    update,
)

from tracker.storage.schema import CategoryMerge, MergedLabel

_merges = cast("Table", CategoryMerge.__table__)
_merged = cast("Table", MergedLabel.__table__)
_RECORD = ("item_id", "given_as", "pass", "change_id", "source", "labelled_at")
_SPAN = ("span_start", "span_end")


class Merge(NamedTuple):
    """A category that counts as another: since which change, and both by number."""

    project_id: int
    id: int
    category: int
    into: int


def live_merges(connection: Connection, project_id: int) -> list[Merge]:
    """Return the merges that hold now, oldest first."""
    return _found(connection, project_id, _merges.c.to_change.is_(None))


def merges_then(
    connection: Connection, project_id: int, through: int
) -> tuple[list[Merge], list[Merge]]:
    """Return the merges to end, and those to make again, for the labels after a change.

    In order.
    """
    open_now = _merges.c.to_change.is_(None)
    later = _found(connection, project_id, open_now & (_merges.c.from_change > through))
    ended = and_(_merges.c.from_change <= through, _merges.c.to_change > through)
    return later[::-1], _found(connection, project_id, ended)


def _found(connection: Connection, project_id: int, which: ColumnElement[bool]) -> list[Merge]:
    rows = connection.execute(
        select(_merges.c.from_change, _merges.c.category_id, _merges.c.into_id)
        .where(_merges.c.project_id == project_id, which)
        .order_by(_merges.c.from_change)
    )
    return [Merge(project_id, *row) for row in rows]


def keep_merged(connection: Connection, merge: Merge, table: Table) -> None:
    """Record which labels of a table a merge gives the other category."""
    also = table.alias("also")
    beside = exists(select(literal(1)).select_from(also)).where(
        _same(also, table), also.c.category_id == merge.into
    )
    key = [table.c[column] for column in (*_RECORD, *_SPAN)]
    connection.execute(
        insert(_merged).from_select(
            ["project_id", "merge_id", *_RECORD, *_SPAN, "beside"],
            select(
                literal(merge.project_id),
                literal(merge.id),
                *key,
                beside.correlate(table).label("beside"),
            ).where(_of(merge, table, merge.category)),
        )
    )


def merge_labels(connection: Connection, merge: Merge, tables: Collection[Table]) -> None:
    """Give the labels of a category the other one; a record that has both keeps one."""
    for table in tables:
        also = table.alias("also")
        both = exists(select(literal(1)).select_from(also)).where(
            _same(also, table), also.c.category_id == merge.into
        )
        of_one = _of(merge, table, merge.category)
        connection.execute(delete(table).where(of_one, both.correlate(table)))
        connection.execute(update(table).where(of_one).values(category_id=merge.into))


def split_labels(connection: Connection, merge: Merge, tables: Sequence[Table]) -> None:
    """Give labels back the category that a merge took."""
    for table in tables:
        kept = and_(
            _merged.c.project_id == merge.project_id,
            _merged.c.merge_id == merge.id,
            *(_merged.c[column] == table.c[column] for column in (*_RECORD, *_SPAN)),
        )
        of_other = _of(merge, table, merge.into)
        columns: list[Any] = [
            literal(merge.category).label(c.name) if c.name == "category_id" else c
            for c in table.columns
        ]
        connection.execute(
            insert(table).from_select(
                [column.name for column in table.columns],
                select(*columns).where(of_other, kept),
            )
        )
        alone = exists(select(literal(1)).select_from(_merged)).where(
            kept, _merged.c.beside.is_(False)
        )
        connection.execute(delete(table).where(of_other, alone.correlate(table)))


def _of(merge: Merge, table: Table, category: int) -> ColumnElement[bool]:
    return and_(table.c.project_id == merge.project_id, table.c.category_id == category)


def _same(one: Any, other: Any) -> ColumnElement[bool]:
    """Return the condition that two labels are of one record, and of one span."""
    columns = ("project_id", "annotator_id", *_RECORD, *_SPAN)
    return and_(*(one.c[column] == other.c[column] for column in columns))
