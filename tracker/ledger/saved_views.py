"""Lists of items that somebody named, as the page of items is asked for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from tracker.core.errors import NotFound
from tracker.projects.names import check_entered_name
from tracker.projects.projects import ProjectInfo, lock_project
from tracker.storage.schema import SavedView


def list_views(connection: Connection, project: ProjectInfo) -> dict[str, dict[str, Any]]:
    """Return what each view asks for, by its name."""
    statement = select(SavedView.name, SavedView.query).where(SavedView.project_id == project.id)
    return {
        row.name: json.loads(row.query)
        for row in connection.execute(statement.order_by(SavedView.name))
    }


def save_view(
    connection: Connection, project: ProjectInfo, name: str, query: Mapping[str, Any]
) -> str:
    """Keep a view under a name, in place of another one of that name; returns the name."""
    name = check_entered_name(name, "view")
    lock_project(connection, project.id)
    connection.execute(_named(project, name))
    text = json.dumps(dict(query), ensure_ascii=False)
    connection.execute(insert(SavedView).values(project_id=project.id, name=name, query=text))
    return name


def forget_view(connection: Connection, project: ProjectInfo, name: str) -> None:
    """Forget a view; raises NotFound for one that there is not."""
    lock_project(connection, project.id)
    if not connection.execute(_named(project, name)).rowcount:
        raise NotFound(f"there is no view {name!r} in {project.name!r}", "load the page again")


def _named(project: ProjectInfo, name: str) -> Any:
    return delete(SavedView).where(SavedView.project_id == project.id, SavedView.name == name)
