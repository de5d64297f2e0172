"""Projects: find, list, rename, archive, purge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import available_timezones

from sqlalchemy import Connection, delete, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.lookup import (
    check_entered_name,
    near_names,
)
from tracker.storage import seals
from tracker.storage.schema import (
    Base,
    Import,
    Project,
    Purge,
    Source,
)

_UTC = "UTC"


class ProjectExists(InvalidOption):
    """There is a project of that name already."""


@dataclass(frozen=True)
class ProjectInfo:
    """One project as it stands."""

    id: int
    name: str
    created_at: int
    archived_at: int | None
    timezone: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the project as JSON."""
        return {
            "project": self.name,
            "created_at": clock.iso(self.created_at),
            "archived_at": None if self.archived_at is None else clock.iso(self.archived_at),
            "timezone": self.timezone or _UTC,
        }


def list_projects(connection: Connection, *, archived: bool = False) -> list[ProjectInfo]:
    """Return all projects by name, the archived ones only if asked for."""
    statement = select(Project.__table__)
    if not archived:
        statement = statement.where(Project.archived_at.is_(None))
    found = [ProjectInfo(**row) for row in connection.execute(statement).mappings()]
    return sorted(found, key=lambda project: project.name)


def find_project(connection: Connection, name: str | None) -> ProjectInfo:
    """Return the project of that name; for None the only one there is.

    Raises NotFound if there is none (with the near names), InvalidOption if None was
    given and there are several.
    """
    if name is None:
        return _only_project(connection)
    statement = select(Project.__table__).where(Project.name == name.strip())
    row = connection.execute(statement).mappings().one_or_none()
    if row is None:
        known = connection.scalars(select(Project.name)).all()
        raise NotFound(
            f"there is no project {name!r}", near_names(name, known) or "see: tracker project list"
        )
    return ProjectInfo(**row)


def _only_project(connection: Connection) -> ProjectInfo:
    found = list_projects(connection)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound("there is no project yet", "make one: tracker import FILE --project NAME")
    names = ", ".join(project.name for project in found[:5])
    more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
    raise InvalidOption("which project?", f"name one of: {names}{more}")


def rename_project(connection: Connection, project: ProjectInfo, name: str) -> None:
    """Give a project another name; raises InvalidOption if it is taken."""
    name = check_entered_name(name, "project")
    lock_project(connection, project.id)
    if connection.scalar(select(Project.id).where(Project.name == name)) is not None:
        raise ProjectExists(f"the project {name!r} exists", "choose another name")
    connection.execute(update(Project).where(Project.id == project.id).values(name=name))
    record_change(connection, project.id, "rename", {"from": project.name, "to": name})


def checked_timezone(name: str) -> str | None:
    """Return the time zone as it is stored, None for UTC; raises InvalidOption for none."""
    name = name.strip()
    try:
        clock.zone_named(name)
    except ValueError as error:
        raise InvalidOption(
            f"--timezone: {error}",
            near_names(name, available_timezones()) or "such as: --timezone Europe/Berlin",
        ) from None
    return None if name == _UTC else name


def set_project_timezone(connection: Connection, project: ProjectInfo, name: str) -> ProjectInfo:
    """Say in which time zone a project's days begin; raises InvalidOption for none."""
    zone = checked_timezone(name)
    lock_project(connection, project.id)
    if zone != project.timezone:
        connection.execute(update(Project).where(Project.id == project.id).values(timezone=zone))
        detail = {"from": project.timezone or _UTC, "to": zone or _UTC}
        record_change(connection, project.id, "time zone", detail)
    return replace(project, timezone=zone)


def archive_project(connection: Connection, project: ProjectInfo, *, archived: bool) -> None:
    """Take a project off the list of running ones, or put it back."""
    lock_project(connection, project.id)
    moment = clock.now() if archived else None
    connection.execute(update(Project).where(Project.id == project.id).values(archived_at=moment))
    record_change(connection, project.id, "archive" if archived else "restore", {})


def purge_project(connection: Connection, project: ProjectInfo) -> None:
    """Delete a project with all that hangs on it, for good; only a tombstone stays."""
    lock_project(connection, project.id)
    connection.execute(insert(Purge).values(project_id=project.id, purged_at=clock.now()))
    imports = select(Import.id).where(Import.project_id == project.id)
    connection.execute(delete(Source).where(Source.import_id.in_(imports)))
    for table in reversed(Base.metadata.sorted_tables):
        if table.name not in {"projects", "purges"} and "project_id" in table.c:
            connection.execute(table.delete().where(table.c.project_id == project.id))
    connection.execute(delete(Project).where(Project.id == project.id))
    seals.forget_seal(connection, project.id)
