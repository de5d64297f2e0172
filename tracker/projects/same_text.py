"""Items of one text under different keys: they are answered as several, and may be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, Subquery, func, select

from tracker.core.results import Record
from tracker.projects.projects import ProjectInfo
from tracker.storage.current import standing_item_facts
from tracker.storage.schema import Item

_items = Item.__table__
_BLANKS = " \t\r\n"


class SameText(NamedTuple):
    """How many texts have several keys, and how many items these are."""

    texts: int
    items: int


@dataclass(frozen=True)
class KeyPair(Record):
    """An item and a later one of the same text, as ``tracker item alias --from`` takes them."""

    item: str
    alias: str


def _texts(project: ProjectInfo) -> Subquery:
    """Return the items that have a text: id, name, text without surrounding blanks."""
    text = func.ltrim(func.rtrim(_items.c.text, _BLANKS), _BLANKS)
    items = select(_items.c.id, _items.c.name, text.label("text")).where(
        _items.c.project_id == project.id, text != "", standing_item_facts(project.id, _items.c.id)
    )
    return items.subquery("texts")


def count_same_text(connection: Connection, project: ProjectInfo) -> SameText:
    """Return how many texts of a project have several keys; surrounding blanks do not count."""
    texts = _texts(project)
    of_text = select(func.count(texts.c.id).label("number")).group_by(texts.c.text)
    several = of_text.having(func.count() > 1).subquery("several")
    counts = select(func.count().label("texts"), func.sum(several.c.number).label("items"))
    row = connection.execute(counts).one()
    return SameText(row.texts, int(row.items or 0))


def list_same_text(connection: Connection, project: ProjectInfo) -> list[KeyPair]:
    """Return the first item of each text with each later one, in import order."""
    texts = _texts(project)
    first = func.first_value(texts.c.name).over(partition_by=texts.c.text, order_by=texts.c.id)
    every = select(texts.c.id, texts.c.name, first.label("first")).subquery("every")
    later = select(every.c.first, every.c.name).where(every.c.name != every.c.first)
    rows = connection.execute(later.order_by(every.c.id))
    return [KeyPair(row.first, row.name) for row in rows]
