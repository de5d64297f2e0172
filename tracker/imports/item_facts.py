"""What files say about items other than the answers, by import; the latest statement holds.

The facts of new items are stored as they come. Those of known ones wait in a temporary table
until all files are read. When an import is undone, the facts of the remaining imports hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy import cast as sql_cast

from tracker.storage import backends
from tracker.storage.as_of import best_facts
from tracker.storage.facts import ATTRIBUTE, LENGTH, TEXT, survives
from tracker.storage.schema import Item, ItemAttribute, ItemFact

_items = cast("Table", Item.__table__)
_attributes = cast("Table", ItemAttribute.__table__)
_facts = cast("Table", ItemFact.__table__)
_told = Table(
    "told",
    MetaData(),
    Column("item_id", Integer, primary_key=True, autoincrement=False),
    Column("role", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("value", Text),
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)
_THING = ("item_id", "role", "name")


class Fact(NamedTuple):
    """The statement of one cell about an item; ``name`` is an attribute's name, else empty."""

    item: int
    role: str
    name: str
    value: str


class Told:
    """The facts of one import on their way in."""

    def __init__(self, connection: Connection, project_id: int, change: int) -> None:
        self.connection = connection
        self.project_id = project_id
        self.change = change
        self._waiting = 0
        _told.create(connection)

    def of_new(self, facts: Sequence[Fact]) -> None:
        """Record the facts of items that this import created."""
        attributes = [fact for fact in facts if fact.role == ATTRIBUTE]
        key = {"project_id": self.project_id, "change_id": self.change}
        if facts:
            backends.of(self.connection).bulk_insert(self.connection, _facts, key | _columns(facts))
        if attributes:
            columns = {"project_id": self.project_id} | _columns(attributes)
            del columns["role"]
            backends.of(self.connection).bulk_insert(self.connection, _attributes, columns)

    def of_known(self, facts: Sequence[Fact]) -> None:
        """Take the facts of items that existed before; the first statement in a file holds."""
        numbers = list(range(self._waiting, self._waiting + len(facts)))
        self._waiting += len(facts)
        if facts:
            backends.of(self.connection).bulk_insert(
                self.connection, _told, _columns(facts) | {"number": numbers}
            )

    def settle(self) -> None:
        """Record the waiting facts, and apply them."""
        if self._waiting:
            backends.of(self.connection).refresh_statistics(self.connection, _told)
            self._drop_said_before()
            self._record()
            _apply(self.connection, self.project_id)

    def close(self) -> None:
        """Drop the temporary table."""
        _told.drop(self.connection)

    def _drop_said_before(self) -> None:
        """Delete what this import said before about the same, which may differ."""
        first, said = _told.alias("first"), _facts
        earlier = exists(select(literal(1)).select_from(first)).where(
            *(first.c[column] == _told.c[column] for column in _THING),
            first.c.number < _told.c.number,
        )
        already = exists(select(literal(1)).select_from(said)).where(
            said.c.project_id == self.project_id,
            *(said.c[column] == _told.c[column] for column in _THING),
            said.c.change_id == self.change,
        )
        self.connection.execute(delete(_told).where(earlier.correlate(_told)))
        self.connection.execute(delete(_told).where(already.correlate(_told)))

    def _record(self) -> None:
        """Store the facts; a value that was stored before is not stored again."""
        before = _facts.alias("before")
        same_as = (
            select(func.min(before.c.change_id))
            .where(
                before.c.project_id == self.project_id,
                *(before.c[column] == _told.c[column] for column in _THING),
                before.c.value == _told.c.value,
            )
            .scalar_subquery()
        )
        rows = select(*(_told.c[column] for column in (*_THING, "value")), same_as.label("same_as"))
        found = rows.subquery("found")
        self.connection.execute(
            insert(_facts).from_select(
                ["project_id", "change_id", *_THING, "value", "same_as"],
                select(
                    literal(self.project_id),
                    literal(self.change),
                    *(found.c[column] for column in _THING),
                    case((found.c.same_as.is_(None), found.c.value)),
                    found.c.same_as,
                ),
            )
        )


def _columns(facts: Sequence[Fact]) -> dict[str, Any]:
    cells = (list(column) for column in zip(*facts, strict=True))
    return dict(zip((*_THING, "value"), cells, strict=True))


def take_back_facts(connection: Connection, project_id: int, change: int) -> None:
    """Restore what the remaining facts say about everything that an undone import mentioned."""
    mine = and_(_facts.c.project_id == project_id, _facts.c.change_id == change)
    if connection.scalar(select(literal(1)).where(mine).limit(1)) is None:
        return
    _told.create(connection)
    spoken = select(*(_facts.c[column] for column in _THING)).where(mine).subquery("spoken")
    best = best_facts(
        and_(
            survives(_facts, project_id),
            _facts.c.item_id.in_(select(spoken.c.item_id)),
        )
    ).subquery("best")
    of_same = and_(*(best.c[column] == spoken.c[column] for column in _THING))
    connection.execute(
        insert(_told).from_select(
            [*_THING, "number", "value"],
            select(*(spoken.c[column] for column in _THING), literal(0), best.c.value).select_from(
                spoken.outerjoin(best, of_same)
            ),
        )
    )
    backends.of(connection).refresh_statistics(connection, _told)
    _apply(connection, project_id)
    _told.drop(connection)


def _apply(connection: Connection, project_id: int) -> None:
    """Apply the facts to the items; a fact without a value removes what was known."""
    told = and_(_told.c.item_id == _attributes.c.item_id, _told.c.name == _attributes.c.name)
    spoken = select(_told.c.item_id).where(_told.c.role == ATTRIBUTE)
    connection.execute(
        delete(_attributes).where(
            _attributes.c.project_id == project_id,
            _attributes.c.item_id.in_(spoken),
            exists(select(literal(1)).select_from(_told))
            .where(told, _told.c.role == ATTRIBUTE)
            .correlate(_attributes),
        )
    )
    connection.execute(
        insert(_attributes).from_select(
            ["project_id", "item_id", "name", "value"],
            select(literal(project_id), _told.c.item_id, _told.c.name, _told.c.value).where(
                _told.c.role == ATTRIBUTE, _told.c.value.is_not(None)
            ),
        )
    )
    for role in (TEXT, LENGTH):
        column = _items.c[role]
        value = (
            select(sql_cast(_told.c.value, column.type))
            .where(_told.c.item_id == _items.c.id, _told.c.role == role)
            .scalar_subquery()
        )
        connection.execute(
            update(_items)
            .where(
                _items.c.project_id == project_id,
                _items.c.id.in_(select(_told.c.item_id).where(_told.c.role == role)),
            )
            .values({role: value})
        )
