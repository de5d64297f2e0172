"""Items by name, as many as a project has: only the recent ones are kept in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    MetaData,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from tracker import dialect
from tracker.catalogue.projects import ProjectInfo
from tracker.ingest import values
from tracker.ingest.names import MOST_REMEMBERED, Ids
from tracker.ingest.records import KEEP
from tracker.schema import Item, ItemAttribute

__all__ = ["ItemIds"]

_items = cast("Table", Item.__table__)
_wanted = Table("wanted_items", MetaData(), Column("name", Text), prefixes=["TEMPORARY"])
_DETAILS = {"text": "text", "n_tokens": "length"}
"""What a file may tell of an item: the column of ``items`` by role."""


class ItemIds(Ids):
    """The numbers of items; what a file tells of one is stored where it first comes."""

    what = "item"

    def __init__(self, connection: Connection, project: ProjectInfo) -> None:
        super().__init__(connection, project)
        highest = select(func.max(Item.id)).where(Item.project_id == project.id)
        self.next = (connection.scalar(highest) or 0) + 1
        self.may_be_stored = self.next > 1
        _wanted.create(connection)

    def close(self) -> None:
        """Drop what the look-ups needed."""
        _wanted.drop(self.connection)

    def of(self, raws: Sequence[str], columns: Mapping[str, Sequence[str]]) -> list[int]:
        """The number of each raw name, `BAD` where it was refused."""
        try:
            return super().of(raws, columns)
        except KeyError:  # the memory was cleared on the way: look all of these up again
            return super().of(raws, columns)

    def _learn(
        self, new: Sequence[str], raws: Sequence[str], columns: Mapping[str, Sequence[str]]
    ) -> None:
        if len(self.known) > MOST_REMEMBERED:
            self.known.clear()
            self.reasons.clear()
            self.may_be_stored = True
        super()._learn(new, raws, columns)

    def _numbers(
        self,
        named: Mapping[str, str],
        raws: Sequence[str],
        columns: Mapping[str, Sequence[str]],
    ) -> dict[str, int]:
        names = dict.fromkeys(named.values())
        stored = self._stored(names) if self.may_be_stored else {}
        new = [name for name in names if name not in stored]
        made = {name: self.next + n for n, name in enumerate(new)}
        self.next += len(made)
        told = {role: columns[role] for role in _DETAILS if role in columns}
        kept = {role: texts for role, texts in columns.items() if role.startswith(KEEP)}
        rows = _first_rows(named, raws) if told or kept else {}
        self._insert(made, rows, told)
        if told and stored:
            self._update(stored, rows, told)
        numbers = stored | made
        if kept:
            self._keep(numbers, rows, kept)
        return numbers

    def _stored(self, names: Iterable[str]) -> dict[str, int]:
        dialect.bulk_insert(self.connection, _wanted, ["name"], [(name,) for name in names])
        found = self.connection.execute(
            select(Item.name, Item.id)
            .join(_wanted, _wanted.c.name == Item.name)
            .where(Item.project_id == self.project.id)
        )
        stored = {row.name: row.id for row in found}
        self.connection.execute(_wanted.delete())
        return stored

    def _insert(
        self,
        made: Mapping[str, int],
        rows: Mapping[str, int],
        told: Mapping[str, Sequence[str]],
    ) -> None:
        project = self.project.id
        dialect.bulk_insert(
            self.connection,
            _items,
            ["project_id", "id", "name", *(_DETAILS[role] for role in told)],
            [
                (project, n, name, *(_detail(role, told[role][rows[name]]) for role in told))
                for name, n in made.items()
            ],
        )

    def _update(
        self,
        stored: Mapping[str, int],
        rows: Mapping[str, int],
        told: Mapping[str, Sequence[str]],
    ) -> None:
        self.connection.execute(
            update(_items)
            .where(_items.c.project_id == self.project.id, _items.c.id == bindparam("number"))
            .values({_DETAILS[role]: _told_or_kept(role) for role in told}),
            [
                {"number": number}
                | {f"new_{role}": _detail(role, told[role][rows[name]]) for role in told}
                for name, number in stored.items()
            ],
        )

    def _keep(
        self,
        numbers: Mapping[str, int],
        rows: Mapping[str, int],
        kept: Mapping[str, Sequence[str]],
    ) -> None:
        values = [
            {
                "project_id": self.project.id,
                "item_id": number,
                "name": role.removeprefix(KEEP),
                "value": texts[rows[name]].strip(),
            }
            for name, number in numbers.items()
            for role, texts in kept.items()
        ]
        self.connection.execute(
            delete(ItemAttribute).where(
                ItemAttribute.project_id == self.project.id,
                ItemAttribute.item_id == bindparam("item_id"),
                ItemAttribute.name == bindparam("name"),
            ),
            values,
        )
        self.connection.execute(insert(ItemAttribute), values)


def _told_or_kept(role: str) -> ColumnElement[Any]:
    """What a file tells of an item; an empty cell tells nothing."""
    column = _items.c[_DETAILS[role]]
    return func.coalesce(bindparam(f"new_{role}", type_=column.type), column)


def _first_rows(named: Mapping[str, str], raws: Sequence[str]) -> dict[str, int]:
    """In which row each name comes first."""
    return {named[raw]: n for n, raw in reversed(list(enumerate(raws))) if raw in named}


def _detail(role: str, raw: str) -> Any:
    if role == "n_tokens":
        try:
            return values.offset(raw.strip())
        except ValueError:
            return None
    return raw or None
