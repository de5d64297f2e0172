"""What files say about items other than the answers, by import; the latest statement holds.

The facts of new items are stored as they come. Those of known ones wait in a temporary table
until all files are read. When an import is undone, the facts of the remaining imports hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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
from tracker.storage.as_of import latest_facts
from tracker.storage.current import ATTRIBUTE, LENGTH, TEXT, fact_not_undone
from tracker.storage.schema import Item, ItemAttribute, ItemFact

_items = Item.__table__
_attributes = ItemAttribute.__table__
_facts = ItemFact.__table__
_waiting = Table(
    "waiting_facts",
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


class ItemFacts:
    def __init__(self, connection: Connection, project_id: int, change: int) -> None:
        self.connection = connection
        self.project_id = project_id
        self.change = change
        self._number = 0
        _waiting.create(connection)

    def of_new(self, facts: Sequence[Fact]) -> None:
        attributes = [fact for fact in facts if fact.role == ATTRIBUTE]
        key = {"project_id": self.project_id, "change_id": self.change}
        if facts:
            backends.backend_of(self.connection).bulk_insert(
                self.connection, _facts, key | _columns(facts)
            )
        if attributes:
            columns = {"project_id": self.project_id} | _columns(attributes)
            del columns["role"]
            backends.backend_of(self.connection).bulk_insert(self.connection, _attributes, columns)

    def of_known(self, facts: Sequence[Fact]) -> None:
        """Take the facts of items that existed before; the first statement in a file holds."""
        numbers = list(range(self._number, self._number + len(facts)))
        self._number += len(facts)
        if facts:
            backends.backend_of(self.connection).bulk_insert(
                self.connection, _waiting, _columns(facts) | {"number": numbers}
            )

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
        first, known = _waiting.alias("first"), _facts
        earlier = exists(select(literal(1)).select_from(first)).where(
            *(first.c[column] == _waiting.c[column] for column in _THING),
            first.c.number < _waiting.c.number,
        )
        already = exists(select(literal(1)).select_from(known)).where(
            known.c.project_id == self.project_id,
            *(known.c[column] == _waiting.c[column] for column in _THING),
            known.c.change_id == self.change,
        )
        self.connection.execute(delete(_waiting).where(earlier.correlate(_waiting)))
        self.connection.execute(delete(_waiting).where(already.correlate(_waiting)))

    def _record(self) -> None:
        """Store the facts; a value that was stored before is not stored again."""
        before = _facts.alias("before")
        same_as = (
            select(func.min(before.c.change_id))
            .where(
                before.c.project_id == self.project_id,
                *(before.c[column] == _waiting.c[column] for column in _THING),
                before.c.value == _waiting.c.value,
            )
            .scalar_subquery()
        )
        new = select(
            *(_waiting.c[column] for column in (*_THING, "value")), same_as.label("same_as")
        ).subquery()
        self.connection.execute(
            insert(_facts).from_select(
                ["project_id", "change_id", *_THING, "value", "same_as"],
                select(
                    literal(self.project_id),
                    literal(self.change),
                    *(new.c[column] for column in _THING),
                    case((new.c.same_as.is_(None), new.c.value)),
                    new.c.same_as,
                ),
            )
        )


def _columns(facts: Sequence[Fact]) -> dict[str, Any]:
    cells = (list(column) for column in zip(*facts, strict=True))
    return dict(zip((*_THING, "value"), cells, strict=True))


def undo_item_facts(connection: Connection, project_id: int, change: int) -> None:
    """Restore what the remaining facts say about everything that an undone import mentioned."""
    of_import = and_(_facts.c.project_id == project_id, _facts.c.change_id == change)
    if connection.scalar(select(literal(1)).where(of_import).limit(1)) is None:
        return
    _waiting.create(connection)
    mentioned = select(*(_facts.c[column] for column in _THING)).where(of_import).subquery()
    best = latest_facts(
        and_(
            fact_not_undone(_facts, project_id),
            _facts.c.item_id.in_(select(mentioned.c.item_id)),
        )
    ).subquery("best")
    of_same = and_(*(best.c[column] == mentioned.c[column] for column in _THING))
    connection.execute(
        insert(_waiting).from_select(
            [*_THING, "number", "value"],
            select(
                *(mentioned.c[column] for column in _THING), literal(0), best.c.value
            ).select_from(mentioned.outerjoin(best, of_same)),
        )
    )
    backends.backend_of(connection).refresh_statistics(connection, _waiting)
    _apply(connection, project_id)
    _waiting.drop(connection)


def _apply(connection: Connection, project_id: int) -> None:
    """Apply the facts to the items; a fact without a value removes what was known."""
    same = and_(_waiting.c.item_id == _attributes.c.item_id, _waiting.c.name == _attributes.c.name)
    mentioned = select(_waiting.c.item_id).where(_waiting.c.role == ATTRIBUTE)
    connection.execute(
        delete(_attributes).where(
            _attributes.c.project_id == project_id,
            _attributes.c.item_id.in_(mentioned),
            exists(select(literal(1)).select_from(_waiting))
            .where(same, _waiting.c.role == ATTRIBUTE)
            .correlate(_attributes),
        )
    )
    connection.execute(
        insert(_attributes).from_select(
            ["project_id", "item_id", "name", "value"],
            select(
                literal(project_id), _waiting.c.item_id, _waiting.c.name, _waiting.c.value
            ).where(_waiting.c.role == ATTRIBUTE, _waiting.c.value.is_not(None)),
        )
    )
    for role in (TEXT, LENGTH):
        column = _items.c[role]
        value = (
            select(sql_cast(_waiting.c.value, column.type))
            .where(_waiting.c.item_id == _items.c.id, _waiting.c.role == role)
            .scalar_subquery()
        )
        connection.execute(
            update(_items)
            .where(
                _items.c.project_id == project_id,
                _items.c.id.in_(select(_waiting.c.item_id).where(_waiting.c.role == role)),
            )
            .values({role: value})
        )
