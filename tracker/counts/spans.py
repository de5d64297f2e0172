"""The spans of a project, one document after the other.

Here labels come to Python, a document at a time. How many spans of two answers overlap one to
one, and how many positions both cover, depends on all spans of both answers at once, and no
GROUP BY computes a matching. The cost grows with the labels, the memory does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, select

from tracker.counts.selection import Selection, labels, stream_rows, where_counted
from tracker.storage.schema import NONE_APPLIES, Item

_items = Item.__table__


class Document(NamedTuple):
    """One document that has an answer.

    Attributes:
        item: its item's id.
        length: its length in the project's offsets; None if it is not known.
        answers: by annotator id, ascending, the spans ``(category id, start, end)``, ascending;
            empty if the answer is "none applies".
    """

    item: int
    length: int | None
    answers: dict[int, list[tuple[int, int, int]]]


def select_span_documents(connection: Connection, selection: Selection) -> Iterator[Document]:
    """Yield the documents of a selection by item id, each with its counted answers."""
    current = None
    for item, length, annotator, category, start, end in stream_rows(
        connection, select_span_rows(selection)
    ):
        if annotator is None:
            continue
        if current is None or item != current.item:
            if current is not None:
                yield current
            current = Document(item, length, {})
        spans = current.answers.setdefault(annotator, [])
        if category != NONE_APPLIES:
            spans.append((category, start, end))
    if current is not None:
        yield current


def select_span_rows(selection: Selection) -> Select[Any]:
    """Return one row per label, and one for each item without a counted answer.

    They come in the order in which both tables are stored, so that nothing is sorted. The join
    is an outer one to make the items come first: a document's length is then read once, not
    looked up for every label.
    """
    key = ("annotator_id", "pass", "category_id", "span_start", "span_end")
    of_item = and_(
        labels.c.project_id == _items.c.project_id,
        labels.c.item_id == _items.c.id,
        where_counted(selection),
    )
    return (
        select(
            _items.c.id,
            _items.c.length,
            labels.c.annotator_id,
            labels.c.category_id,
            labels.c.span_start,
            labels.c.span_end,
        )
        .select_from(_items.outerjoin(labels, of_item))
        .where(_items.c.project_id == selection.question.project_id)
        .order_by(_items.c.id, *(labels.c[column] for column in key))
    )
