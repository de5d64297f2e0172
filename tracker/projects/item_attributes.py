"""Attributes of items, kept on import: which there are, and with what values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, select

from tracker.core.errors import InvalidOption
from tracker.projects.lookup import near
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import ItemAttribute

_MOST_NEAR = 1000  # values among which near ones are looked for


def check_attribute(connection: Connection, project: ProjectInfo, name: str) -> None:
    """Raise InvalidOption, with the attributes there are, where no item has this one."""
    if connection.scalar(_rows(project, ItemAttribute.item_id, name).limit(1)) is not None:
        return
    every = select(ItemAttribute.name).where(ItemAttribute.project_id == project.id).distinct()
    known = sorted(connection.scalars(every))
    raise InvalidOption(
        f"no item of {project.name!r} has an attribute {name!r}",
        f"its items have: {', '.join(known)}"
        if known
        else "columns are kept as attributes by: tracker import --keep COLUMN",
    )


def check_values(
    connection: Connection, project: ProjectInfo, where: Mapping[str, Sequence[str]]
) -> None:
    """Raise InvalidOption, with the near ones, for an attribute or value that no item has."""
    for name, values in where.items():
        found = set(
            connection.scalars(
                _rows(project, ItemAttribute.value, name)
                .where(ItemAttribute.value.in_(values))
                .distinct()
                .limit(len(values))  # having met them all, the search may stop
            )
        )
        for value in values:
            if value not in found:
                check_attribute(connection, project, name)
                _refuse_value(connection, project, name, value)


def _refuse_value(connection: Connection, project: ProjectInfo, name: str, value: str) -> None:
    every = _rows(project, ItemAttribute.value, name).distinct().limit(_MOST_NEAR)
    known = sorted(connection.scalars(every))
    shown = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    raise InvalidOption(
        f"no item of {project.name!r} has {name}={value}",
        near(value, known) or f"its values are: {shown}",
    )


def _rows(project: ProjectInfo, column: Any, name: str) -> Select[Any]:
    return select(column).where(ItemAttribute.project_id == project.id, ItemAttribute.name == name)
