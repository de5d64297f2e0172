"""Which items a change touched, kept as ranges: an import of new items is one row."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, func, insert, literal, select

from tracker.storage.schema import Touched

_COLUMNS = ["project_id", "change_id", "first_item", "last_item"]


def touch(connection: Connection, project_id: int, change_id: int, items: Select[Any]) -> None:
    """Record the items of a statement with the one column ``item_id``."""
    touched = items.distinct().subquery("touched_items")
    item = touched.c.item_id
    # Of numbers in a row each is as far from its place: what is left is the same for all.
    island = (item - func.row_number().over(order_by=item)).label("island")
    islands = select(item, island).subquery("islands")
    ranges = select(
        literal(project_id),
        literal(change_id),
        func.min(islands.c.item_id),
        func.max(islands.c.item_id),
    ).group_by(islands.c.island)
    connection.execute(insert(Touched).from_select(_COLUMNS, ranges))


def touch_range(
    connection: Connection, project_id: int, change_id: int, first: int, last: int
) -> None:
    """Record all items from one to another by number, more than were touched perhaps."""
    row = dict(zip(_COLUMNS, (project_id, change_id, first, last), strict=True))
    connection.execute(insert(Touched).values(row))
