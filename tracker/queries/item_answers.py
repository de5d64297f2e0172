"""Who said what about some items, and which items have too few answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from sqlalchemy import Connection, Table, func, select

from tracker.core.tallies import Answer
from tracker.queries.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_counted,
)
from tracker.storage.facts import standing_item_facts
from tracker.storage.schema import Item

_items = cast("Table", Item.__table__)


def select_answers_to_items(
    connection: Connection, selection: Selection, items: Collection[int]
) -> dict[int, list[tuple[int, Answer]]]:
    """Return who gave which answer to some items: ``{item id: [(annotator id, answer)]}``."""
    wanted = select(_items.c.id).where(_items.c.id.in_(sorted(items)))
    answers = select_answer_rows(selection, items=wanted)
    found: dict[int, list[tuple[int, Answer]]] = {item: [] for item in items}
    statement = select(answers.c.item_id, answers.c.annotator_id, answers.c.answer)
    for item, annotator, answer in stream_rows(
        connection, statement.order_by(answers.c.item_id, answers.c.annotator_id)
    ):
        found[item].append((annotator, read_selected_answer(answer)))
    return found


def select_items_below(
    connection: Connection, selection: Selection, wanted: int, most: int
) -> list[tuple[int, str, int]]:
    """Return the first items of fewer than ``wanted`` answers: (id, name, answers).

    They are in the order of their first import, ``most`` at most; items without an answer are
    among them.
    """
    answers = (
        select(labels.c.item_id, func.count(labels.c.annotator_id.distinct()).label("answers"))
        .where(where_counted(selection))
        .group_by(labels.c.item_id)
        .subquery("answers")
    )
    number = func.coalesce(answers.c.answers, 0).label("number")
    project = selection.question.project_id
    statement = (
        select(_items.c.id, _items.c.name, number)
        .select_from(_items.outerjoin(answers, answers.c.item_id == _items.c.id))
        .where(
            _items.c.project_id == project,
            standing_item_facts(project, _items.c.id),
            number < wanted,
        )
        .order_by(_items.c.id)
        .limit(most)
    )
    return [(row.id, row.name, row.number) for row in connection.execute(statement)]
