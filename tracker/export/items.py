"""What is known of items, as columns beside their labels or as a list of all items."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Table, literal, select

from tracker.projects.project import ProjectInfo
from tracker.queries.selection import stream_rows
from tracker.storage.facts import standing_item_facts
from tracker.storage.schema import Item, ItemAttribute

ATTRIBUTE = "attribute:"
"""Begins the name of a column with an attribute; an import keeps such columns."""

_items = cast("Table", Item.__table__)
_attributes = cast("Table", ItemAttribute.__table__)
_DETAILS = {"text": _items.c.text, "n_tokens": _items.c.length}


def item_columns(connection: Connection, project: ProjectInfo) -> tuple[str, ...]:
    """Return the columns with what is known of a project's items: text, length and attributes."""
    known = [
        select(literal(1)).where(_items.c.project_id == project.id, column.is_not(None)).exists()
        for column in _DETAILS.values()
    ]
    told = connection.execute(select(*known)).one()
    names = connection.scalars(
        select(_attributes.c.name).where(_attributes.c.project_id == project.id).distinct()
    )
    return (
        *(name for name, any_ in zip(_DETAILS, told, strict=True) if any_),
        *sorted(ATTRIBUTE + name for name in names),
    )


def rows_with_items(
    connection: Connection,
    project: ProjectInfo,
    rows: Generator[tuple[Any, ...], None, None],
    columns: Sequence[str],
) -> Generator[tuple[Any, ...], None, None]:
    """Yield rows, whose first value is an item, with these columns of what is known of it.

    Items come in the order of their numbers, and so they are read along with the rows.
    """
    with closing(rows), closing(_known(connection, project, columns)) as known:
        last, told = None, tuple([None] * len(columns))
        for row in rows:
            while last != row[0]:
                last, told = next(known)
            yield (*row, *told)


def listed_items(
    connection: Connection, project: ProjectInfo
) -> tuple[tuple[str, ...], Generator[tuple[Any, ...], None, None]]:
    """Return the columns and the rows of all items, those without an answer too.

    The rows can be imported again as a list of items. Those that only undone imports named are
    not among them.
    """
    columns = item_columns(connection, project)

    def rows() -> Generator[tuple[Any, ...], None, None]:
        stands = standing_item_facts(project.id, _items.c.id)
        with closing(_known(connection, project, columns, stands)) as known:
            for item, told in known:
                yield (item, *told)

    return ("item", *columns), rows()


def _known(
    connection: Connection,
    project: ProjectInfo,
    columns: Sequence[str],
    *conditions: ColumnElement[bool],
) -> Generator[tuple[Any, tuple[Any, ...]], None, None]:
    """Yield the name of each item that meets the conditions, and its values of the columns."""
    places = {name: n for n, name in enumerate(columns)}
    statement = (
        select(
            _items.c.id, _items.c.name, *_DETAILS.values(), _attributes.c.name, _attributes.c.value
        )
        .outerjoin(
            _attributes,
            (_attributes.c.project_id == _items.c.project_id)
            & (_attributes.c.item_id == _items.c.id),
        )
        .where(_items.c.project_id == project.id, *conditions)
        .order_by(_items.c.id)
    )
    with closing(stream_rows(connection, statement)) as stream:
        for _, facts in groupby(stream, lambda row: row[0]):
            values: list[Any] = [None] * len(columns)
            for row in facts:
                _, item, *details, name, value = row
                for column, told in zip(_DETAILS, details, strict=True):
                    if column in places:
                        values[places[column]] = told
                if name is not None:
                    values[places[ATTRIBUTE + name]] = value
            yield item, tuple(values)
