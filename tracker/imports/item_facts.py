"""What files say about items other than the answers, by import; the latest statement holds.

The facts of new items are stored as they come. Those of known ones wait in a temporary table
until all files are read. When an import is undone, the facts of the remaining imports hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from tracker.storage import backends
from tracker.storage.as_of import latest_facts
from tracker.storage.current import ATTRIBUTE, LENGTH, TEXT, fact_not_undone
from tracker.storage.schema import Item, ItemAttribute, ItemFact
from tracker.storage.schema.labels import same_answer_key

_items = Item.__table__
_attributes = ItemAttribute.__table__
_facts = ItemFact.__table__
_waiting = sa.Table(
    "waiting_facts",
    sa.MetaData(),
    sa.Column("item_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("value", sa.Text),
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)
_THING = ("item_id", "role", "name")
_thing, _value = _waiting.c[_THING], _waiting.c.value


class Fact(NamedTuple):
    """The statement of one cell about an item; ``name`` is an attribute's name or empty."""

    item: int
    role: str
    name: str
    value: str


class ItemFacts:
    def __init__(self, connection: sa.Connection, project_id: int, change: int) -> None:
        self.connection = connection
        self.project_id = project_id
        self.change = change
        self._number = 0
        _waiting.create(connection)

    def _insert(self, table: sa.Table, columns: dict[str, Any]) -> None:
        backends.backend_of(self.connection).bulk_insert(self.connection, table, columns)

    def of_new(self, facts: Sequence[Fact]) -> None:
        attributes = [fact for fact in facts if fact.role == ATTRIBUTE]
        key = {"project_id": self.project_id, "change_id": self.change}
        if facts:
            self._insert(_facts, key | _columns(facts))
        if attributes:
            columns = {"project_id": self.project_id} | _columns(attributes)
            del columns["role"]
            self._insert(_attributes, columns)

    def of_known(self, facts: Sequence[Fact]) -> None:
        """Take the facts of items that existed before; the first statement in a file holds."""
        numbers = list(range(self._number, self._number + len(facts)))
        self._number += len(facts)
        if facts:
            self._insert(_waiting, _columns(facts) | {"number": numbers})

    def close(self) -> None:
        """Record the waiting facts, apply them, and drop the temporary table."""
        if self._number:
            backends.backend_of(self.connection).refresh_statistics(self.connection, _waiting)
            self._drop_said_before()
            self._record()
            _apply(self.connection, self.project_id)
        _waiting.drop(self.connection)

    def _drop_said_before(self) -> None:
        """Delete what this import said before about the same, which may differ."""
        first = _waiting.alias("first")
        earlier = sa.exists().where(
            same_answer_key(_THING, first, _waiting), first.c.number < _waiting.c.number
        )
        already = sa.exists().where(
            _facts.c.project_id == self.project_id,
            same_answer_key(_THING, _facts, _waiting),
            _facts.c.change_id == self.change,
        )
        for before in (earlier, already):
            self.connection.execute(sa.delete(_waiting).where(before.correlate(_waiting)))

    def _record(self) -> None:
        before = _facts.alias("before")
        same_as = sa.select(sa.func.min(before.c.change_id)).where(
            before.c.project_id == self.project_id,
            same_answer_key((*_THING, "value"), before, _waiting),
        )
        new = sa.select(*_thing, _value, same_as.scalar_subquery().label("same_as")).subquery()
        value = sa.case((new.c.same_as.is_(None), new.c.value))
        keys = sa.literal(self.project_id), sa.literal(self.change)
        rows = sa.select(*keys, *new.c[_THING], value, new.c.same_as)
        columns = ["project_id", "change_id", *_THING, "value", "same_as"]
        self.connection.execute(sa.insert(_facts).from_select(columns, rows))


def _columns(facts: Sequence[Fact]) -> dict[str, Any]:
    cells = (list(column) for column in zip(*facts, strict=True))
    return dict(zip((*_THING, "value"), cells, strict=True))


def undo_item_facts(connection: sa.Connection, project_id: int, change: int) -> None:
    """Restore what the remaining facts say about everything that an undone import mentioned."""
    of_import = sa.and_(_facts.c.project_id == project_id, _facts.c.change_id == change)
    if connection.scalar(sa.select(sa.literal(1)).where(of_import).limit(1)) is None:
        return
    _waiting.create(connection)
    mentioned = sa.select(*_facts.c[_THING]).where(of_import).subquery()
    of_items = _facts.c.item_id.in_(sa.select(mentioned.c.item_id))
    best = latest_facts(sa.and_(fact_not_undone(_facts, project_id), of_items)).subquery("best")
    rows = sa.select(*mentioned.c, sa.literal(0), best.c.value).select_from(
        mentioned.outerjoin(best, same_answer_key(_THING, best, mentioned))
    )
    connection.execute(sa.insert(_waiting).from_select([*_THING, "number", "value"], rows))
    backends.backend_of(connection).refresh_statistics(connection, _waiting)
    _apply(connection, project_id)
    _waiting.drop(connection)


def _apply(connection: sa.Connection, project_id: int) -> None:
    item, role = _waiting.c.item_id, _waiting.c.role
    same = same_answer_key(("item_id", "name"), _waiting, _attributes)
    connection.execute(
        sa.delete(_attributes).where(
            _attributes.c.project_id == project_id,
            _attributes.c.item_id.in_(sa.select(item).where(role == ATTRIBUTE)),
            sa.exists().where(same, role == ATTRIBUTE).correlate(_attributes),
        )
    )
    attributes = sa.select(sa.literal(project_id), item, _waiting.c.name, _value)
    columns = ["project_id", "item_id", "name", "value"]
    of_attributes = attributes.where(role == ATTRIBUTE, _value.is_not(None))
    connection.execute(sa.insert(_attributes).from_select(columns, of_attributes))
    for column in (_items.c[TEXT], _items.c[LENGTH]):
        of_role = role == column.name
        value = sa.select(sa.cast(_value, column.type)).where(item == _items.c.id, of_role)
        items = _items.c.id.in_(sa.select(item).where(of_role))
        connection.execute(
            sa.update(_items)
            .where(_items.c.project_id == project_id, items)
            .values({column: value.scalar_subquery()})
        )
