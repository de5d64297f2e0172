"""Attributes of annotators: what files said of them, such as the team or a model's version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from sqlalchemy import Connection, Table, insert, select

from tracker.core.errors import InvalidOption
from tracker.projects.annotators import project_aliases
from tracker.projects.lookup import near_names
from tracker.projects.project import ProjectInfo
from tracker.storage.facts import fact_survives
from tracker.storage.schema import AnnotatorAttribute

_attributes = cast("Table", AnnotatorAttribute.__table__)


def annotator_attributes(connection: Connection, project: ProjectInfo) -> dict[int, dict[str, str]]:
    """Return the attributes of each annotator that has some, ``{annotator id: {name: value}}``.

    What was said of an alias holds for the annotator; of several values the last one said.
    """
    owners = project_aliases(connection, project.id)
    rows = connection.execute(
        select(_attributes.c.annotator_id, _attributes.c.name, _attributes.c.value)
        .where(fact_survives(_attributes, project.id))
        .order_by(_attributes.c.change_id, _attributes.c.annotator_id)
    )
    told: dict[int, dict[str, str]] = {}
    for row in rows:
        told.setdefault(owners.get(row.annotator_id, row.annotator_id), {})[row.name] = row.value
    return {number: dict(sorted(values.items())) for number, values in told.items()}


def annotators_by_attribute(
    connection: Connection, project: ProjectInfo, name: str
) -> dict[str, list[int]]:
    """Return the annotators with each value of an attribute, ``{value: annotator ids}``.

    Raises InvalidOption, with the attributes there are, if no annotator has it.
    """
    every = annotator_attributes(connection, project)
    groups: dict[str, list[int]] = {}
    for number, values in sorted(every.items()):
        if name in values:
            groups.setdefault(values[name], []).append(number)
    if not groups:
        known = sorted({one for values in every.values() for one in values})
        raise InvalidOption(
            f"no annotator of {project.name!r} has an attribute {name!r}",
            near_names(name, known)
            or (
                f"its annotators have: {', '.join(known)}"
                if known
                else "import a file of annotators: tracker annotator import FILE"
            ),
        )
    return dict(sorted(groups.items()))


def record_annotator_attributes(
    connection: Connection, project_id: int, change: int, told: Iterable[tuple[int, str, str]]
) -> None:
    """Record what a change said of annotators: each one's id, the attribute's name, the value."""
    rows = [
        {"project_id": project_id, "change_id": change}
        | {"annotator_id": number, "name": name, "value": value}
        for number, name, value in told
    ]
    if rows:
        connection.execute(insert(_attributes), rows)
