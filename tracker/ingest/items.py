"""Items by name, as many as a project has: only the recent ones are kept in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Table,
    Text,
    func,
    select,
)

from tracker import dialect
from tracker.catalogue.facts import ATTRIBUTE, LENGTH, TEXT
from tracker.catalogue.projects import ProjectInfo
from tracker.ingest import values
from tracker.ingest.names import MOST_REMEMBERED, Ids
from tracker.ingest.records import KEEP
from tracker.ingest.told import Fact, Told
from tracker.schema import Item

__all__ = ["ItemIds"]

_items = cast("Table", Item.__table__)
_wanted = Table("wanted_items", MetaData(), Column("name", Text), prefixes=["TEMPORARY"])
_DETAILS = {"text": TEXT, "n_tokens": LENGTH}
"""What a file may tell of an item: the column of ``items`` by role."""


class ItemIds(Ids):
    """The numbers of items; what a file tells of one is stored where it first comes."""

    what = "item"

    def __init__(self, connection: Connection, project: ProjectInfo, change: int) -> None:
        super().__init__(connection, project)
        self.told = Told(connection, project.id, change)
        highest = select(func.max(Item.id)).where(Item.project_id == project.id)
        self.next = (connection.scalar(highest) or 0) + 1
        self.may_be_stored = self.next > 1
        _wanted.create(connection)

    def close(self) -> None:
        """Record what was told of known items, and drop what the look-ups needed."""
        self.told.settle()
        self.told.close()
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
        if rows:
            self.told.of_new(_facts(made, rows, told | kept))
            self.told.of_known(_facts(stored, rows, told | kept))
        return stored | made

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


def _facts(
    numbers: Mapping[str, int], rows: Mapping[str, int], told: Mapping[str, Sequence[str]]
) -> list[Fact]:
    """What the columns of some roles say of items; an empty cell says nothing of a detail."""
    return [
        Fact(number, *_meaning(role), str(value))
        for role, texts in told.items()
        for name, number in numbers.items()
        if (value := _detail(role, texts[rows[name]])) is not None
    ]


def _meaning(role: str) -> tuple[str, str]:
    """What a column says of an item: the role of a fact, and the name of an attribute."""
    return (ATTRIBUTE, role.removeprefix(KEEP)) if role.startswith(KEEP) else (_DETAILS[role], "")


def _first_rows(named: Mapping[str, str], raws: Sequence[str]) -> dict[str, int]:
    """In which row each name comes first."""
    return {named[raw]: n for n, raw in reversed(list(enumerate(raws))) if raw in named}


def _detail(role: str, raw: str) -> Any:
    if role == "n_tokens":
        try:
            return values.offset(raw.strip())
        except ValueError:
            return None
    return raw.strip() if role.startswith(KEEP) else raw or None
