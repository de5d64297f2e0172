"""Which items a change touched: recorded with it, asked for by what counts them again."""

from __future__ import annotations

from sqlalchemy import Connection, Select, func, insert, literal, select

from tracker.projects.projects import OF_NO_ANSWER
from tracker.storage.as_of import ledger_of, stored_erasure_since
from tracker.storage.schema import Change, Item, Touched
from tracker.storage.schema.labels import QuestionKey, of_question

_COLUMNS = ["project_id", "question_id", "change_id", "first_item", "last_item"]
_WORTH_IT = 5  # reading an item twice, with its past, takes about as long as five at once


def log_touched_items(
    connection: Connection, project_id: int, change_id: int, items: Select[int, int]
) -> None:
    """Record the items of a statement with the columns ``question_id`` and ``item_id``."""
    touched = items.distinct().subquery("touched_items")
    question, item = touched.c.question_id, touched.c.item_id
    # Among consecutive numbers the difference between number and rank is the same.
    island = (item - func.row_number().over(partition_by=question, order_by=item)).label("island")
    islands = select(question, item, island).subquery("islands")
    ranges = select(
        literal(project_id),
        islands.c.question_id,
        literal(change_id),
        func.min(islands.c.item_id),
        func.max(islands.c.item_id),
    ).group_by(islands.c.question_id, islands.c.island)
    connection.execute(insert(Touched).from_select(_COLUMNS, ranges))


def log_touched_range(
    connection: Connection, question: QuestionKey, change_id: int, first: int, last: int
) -> None:
    """Record all items from one number to another, perhaps more than were touched."""
    row = dict(zip(_COLUMNS, (*question, change_id, first, last), strict=True))
    connection.execute(insert(Touched).values(row))


def items_touched_since(connection: Connection, question: QuestionKey, after: int) -> list[range]:
    """Return the items that changes after one touched, as ranges that do not meet."""
    rows = connection.execute(
        select(Touched.first_item, Touched.last_item)
        .where(of_question(Touched, question), Touched.change_id > after)
        .order_by(Touched.first_item)
    ).all()
    merged: list[range] = []
    for first, last in rows:
        if merged and first <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, last + 1))
        else:
            merged.append(range(first, last + 1))
    return merged


def items_to_count_again(
    connection: Connection, question: QuestionKey, after: int, items: int
) -> list[range] | None:
    """Return the touched items; None if all are to be counted, because that is cheaper or needed.

    ``items`` is the number of all. After an erasure the past of an item cannot be told any more.
    """
    if stored_erasure_since(connection, question.project_id, after) is not None:
        return None
    touched = items_touched_since(connection, question, after)
    return touched if is_cheaper_alone(touched, items) else None


def is_cheaper_alone(touched: list[range], items: int) -> bool:
    """Return whether to count what was touched takes less than to count all items."""
    return sum(map(len, touched)) * _WORTH_IT <= items


def highest_item(connection: Connection, project_id: int) -> int:
    """Return the number of the last item that the ledger holds; items are numbered from 1."""
    highest = select(func.max(Item.id)).where(Item.project_id == project_id)
    return ledger_of(connection).scalar(highest) or 0


def no_answers_changed_since(connection: Connection, project_id: int, after: int) -> bool:
    """Return whether no change after one is of a kind on which figures of answers rest."""
    later = select(Change.id).where(
        Change.project_id == project_id, Change.id > after, Change.kind.not_in(OF_NO_ANSWER)
    )
    return connection.scalar(later.limit(1)) is None
