"""Which annotators share an item, in one pass: not every two, but enough to link all who do."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select

from tracker.queries.selection import Selection, select_answer_rows, stream_rows


def count_links_of_annotators(
    connection: Connection, selection: Selection
) -> list[tuple[int, int, int]]:
    """Return items by annotator and by the annotator of the lowest id who answered them.

    Who shares an item is linked by the one of the lowest id; the two may be the same.
    """
    answers = select_answer_rows(selection, alone=True)
    lowest = func.min(answers.c.annotator_id).over(partition_by=answers.c.item_id)
    rows = select(answers.c.annotator_id, lowest.label("lowest")).subquery("rows")
    key = (rows.c.annotator_id, rows.c.lowest)
    found: list[tuple[Any, ...]] = [
        *stream_rows(connection, select(*key, func.count()).group_by(*key).order_by(*key))
    ]
    return [(who, first, items) for who, first, items in found]
