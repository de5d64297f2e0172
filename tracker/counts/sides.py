"""How two sides of the annotators gave a category, item by item."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, and_, case, distinct, func, select

from tracker.counts.selection import Selection, labels, stream_rows, where_counted


def count_sides(
    connection: Connection,
    selection: Selection,
    category: int,
    more: Collection[int],
    less: Collection[int],
) -> dict[tuple[int, int, int, int], int]:
    """Return on how many items so many of each side gave a category.

    The shape is ``{(who gave it of the one side, who answered of it, likewise of the other):
    items}``, of items that both sides answered.
    """
    sides = [labels.c.annotator_id.in_(sorted(side)) for side in (more, less)]
    columns = []
    for number, side in enumerate(sides):
        gave = case((and_(side, labels.c.category_id == category), labels.c.annotator_id))
        answered = case((side, labels.c.annotator_id))
        columns += [
            func.count(distinct(gave)).label(f"gave_{number}"),
            func.count(distinct(answered)).label(f"answered_{number}"),
        ]
    items = (
        select(*columns)
        .where(where_counted(selection, alone=True))
        .group_by(labels.c.item_id)
        .subquery("sides")
    )
    both = and_(items.c.answered_0 > 0, items.c.answered_1 > 0)
    statement = select(*items.c, func.count()).where(both).group_by(*items.c)
    return {tuple(row[:4]): row[4] for row in stream_rows(connection, statement)}
