"""What is known of annotators, as a list that can be imported again."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from sqlalchemy import Connection

from tracker.export.items import ATTRIBUTE
from tracker.projects.annotator_attributes import annotator_attributes
from tracker.projects.annotators import list_annotators
from tracker.projects.project import ProjectInfo


def listed_annotators(
    connection: Connection, project: ProjectInfo
) -> tuple[tuple[str, ...], Generator[tuple[Any, ...], None, None]]:
    """Return the columns and the rows of all annotators: who, the kind, each attribute."""
    told = annotator_attributes(connection, project)
    people = list_annotators(connection, project)
    names = sorted({name for one in people for name in told.get(one.id, {})})

    def rows() -> Generator[tuple[Any, ...], None, None]:
        for one in people:
            values = told.get(one.id, {})
            yield (one.name, one.kind, *(values.get(name) for name in names))

    return ("annotator", "kind", *(ATTRIBUTE + name for name in names)), rows()
