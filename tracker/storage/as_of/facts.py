"""Facts about items, annotators and categories, as they were known."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, case, func, null, or_, select
from sqlalchemy import cast as sql_cast

from tracker.storage.as_of.annotators import Rows
from tracker.storage.facts import ATTRIBUTE, LENGTH
from tracker.storage.schema import (
    AnnotatorFact,
    CategoryFact,
    CategoryMerge,
    Import,
    Item,
    ItemAttribute,
    ItemFact,
)

_facts = cast("Table", ItemFact.__table__)
_items = cast("Table", Item.__table__)
_attributes = cast("Table", ItemAttribute.__table__)


def best_facts(which: ColumnElement[bool]) -> Select[Any]:
    """Return the last such fact on each thing: ``project_id, item_id, role, name, value``."""
    told, said = _facts.alias("told_then"), _facts
    last = (
        select(
            said.c.project_id,
            said.c.item_id,
            said.c.role,
            said.c.name,
            func.max(said.c.change_id).label("change_id"),
        )
        .where(which)
        .group_by(said.c.project_id, said.c.item_id, said.c.role, said.c.name)
        .subquery("last")
    )
    thing = ("project_id", "item_id", "role", "name")
    best = _facts.alias("best_fact")
    stored_by = func.coalesce(best.c.same_as, best.c.change_id)
    return (
        select(*(best.c[column] for column in thing), told.c.value)
        .select_from(last)
        .join(best, and_(*(best.c[c] == last.c[c] for c in (*thing, "change_id"))))
        .join(
            told,
            and_(*(told.c[c] == best.c[c] for c in thing), told.c.change_id == stored_by),
        )
    )


def facts_then(connection: Connection, project_id: int, through: int) -> Rows:
    """Return the facts that were known after a change, of the tables that differ now."""
    rows: Rows = {}
    for model in (AnnotatorFact, CategoryFact, ItemFact):
        table = cast("Table", model.__table__)
        ours = table.c.project_id == project_id
        later = select(table.c.change_id).where(ours, table.c.change_id > through).limit(1)
        if connection.scalar(later) is not None:
            rows[table] = [select(table).where(ours, table.c.change_id <= through)]
    merges = cast("Table", CategoryMerge.__table__)
    ours = merges.c.project_id == project_id
    since = or_(merges.c.from_change > through, merges.c.to_change > through)
    if connection.scalar(select(merges.c.from_change).where(ours, since).limit(1)) is not None:
        ended = case((merges.c.to_change > through, null()), else_=merges.c.to_change)
        rows[merges] = [
            select(
                *(ended.label(c.name) if c.name == "to_change" else c for c in merges.columns)
            ).where(ours, merges.c.from_change <= through)
        ]
    return rows | _items_then(connection, project_id, through)


def _items_then(connection: Connection, project_id: int, through: int) -> Rows:
    """Return attributes and lengths of items, if a later change added or removed some."""
    undone = select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by > through
    )
    of_project = _facts.c.project_id == project_id
    since = or_(_facts.c.change_id > through, _facts.c.change_id.in_(undone))
    roles = set(connection.scalars(select(_facts.c.role).where(of_project, since).distinct()))
    undone_then = select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by <= through
    )
    known = and_(of_project, _facts.c.change_id <= through, _facts.c.change_id.not_in(undone_then))
    rows: Rows = {}
    if ATTRIBUTE in roles:
        best = best_facts(and_(known, _facts.c.role == ATTRIBUTE)).subquery("best")
        rows[_attributes] = [select(*(best.c[c.name] for c in _attributes.columns))]
    if LENGTH in roles:
        best = best_facts(and_(known, _facts.c.role == LENGTH)).subquery("best")
        length = sql_cast(best.c.value, _items.c.length.type)
        rows[_items] = [
            select(*(length.label("length") if c.name == "length" else c for c in _items.columns))
            .select_from(
                _items.outerjoin(
                    best,
                    and_(best.c.project_id == _items.c.project_id, best.c.item_id == _items.c.id),
                )
            )
            .where(_items.c.project_id == project_id)
        ]
    return rows
