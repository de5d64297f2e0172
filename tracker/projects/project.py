"""Projects: make, find, list, rename, archive, purge."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.lookup import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.storage import seals
from tracker.storage.facts import record_category_facts
from tracker.storage.schema import (
    ANSWERS,
    NONE_APPLIES,
    OFFSETS,
    SCALES,
    SKIPPED,
    Base,
    Category,
    Import,
    Project,
    Purge,
    Source,
)


class ProjectExists(InvalidOption):
    """There is a project of that name already."""


@dataclass(frozen=True)
class ProjectOptions:
    """What may be said when a project is made; None leaves the default."""

    answers: str | None = None
    scale: str | None = None
    offsets: str | None = None
    categories: tuple[str, ...] | None = None
    wanted: int | None = None


@dataclass(frozen=True)
class ProjectInfo:
    """One project as it stands."""

    id: int
    name: str
    answers: str
    scale: str
    offsets: str
    closed: bool
    wanted: int | None
    created_at: int
    archived_at: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the project as JSON."""
        return {
            "project": self.name,
            "answers": self.answers,
            "scale": self.scale,
            "offsets": self.offsets,
            "categories_closed": self.closed,
            "wanted": self.wanted,
            "created_at": clock.iso(self.created_at),
            "archived_at": None if self.archived_at is None else clock.iso(self.archived_at),
        }


def create_project(
    connection: Connection, name: str, options: ProjectOptions | None = None
) -> ProjectInfo:
    """Make a project. Raises ProjectExists, and InvalidOption if an option is not valid."""
    options = options or ProjectOptions()
    name = check_entered_name(name, "project")
    if options.categories is not None:
        stripped = tuple(category.strip() for category in options.categories)
        options = replace(options, categories=stripped)
    _check_options(options)
    row: dict[str, Any] = {
        "name": name,
        "answers": options.answers or ANSWERS[0],
        "scale": options.scale or SCALES[0],
        "offsets": options.offsets or OFFSETS[0],
        "closed": options.categories is not None,
        "wanted": options.wanted,
        "created_at": clock.now(),
        "archived_at": None,
    }
    try:
        with connection.begin_nested():
            statement = insert(Project).values(row).returning(Project.id)
            number = connection.execute(statement).scalar_one()
    except IntegrityError:
        raise ProjectExists(f"the project {name!r} exists", "choose another name") from None
    made = ProjectInfo(id=number, **row)
    names = options.categories or ()
    connection.execute(
        insert(Category),
        [
            {"project_id": made.id, "id": NONE_APPLIES, "name": None},
            {"project_id": made.id, "id": SKIPPED, "name": None},
            *({"project_id": made.id, "id": n, "name": c} for n, c in enumerate(names, 1)),
        ],
    )
    change, _ = record_change(connection, made.id, "create", made.to_dict())
    record_category_facts(connection, made.id, change, order=range(1, len(names) + 1))
    return made


def _check_options(options: ProjectOptions) -> None:
    for value, allowed, flag in (
        (options.answers, ANSWERS, "--answers"),
        (options.scale, SCALES, "--scale"),
        (options.offsets, OFFSETS, "--offsets"),
    ):
        if value is not None and value not in allowed:
            raise InvalidOption(f"{flag} {value!r} is none of {', '.join(allowed)}")
    if options.wanted is not None and options.wanted < 1:
        raise InvalidOption(f"--wanted {options.wanted} is not a number of answers")
    categories = options.categories
    if categories is not None:
        for category in categories:
            check_entered_name(category, "category")
            unfit = category_unfit_for_scale(options.scale or SCALES[0], category)
            if unfit is not None:
                raise InvalidOption(f"the category {category!r} {unfit}", "choose another scale")
        numbers = {float(one) for one in categories if is_numeric_category_name(one)}
        spelt = len(numbers) if numbers and all(map(is_numeric_category_name, categories)) else None
        ranked = (options.scale or SCALES[0]) != "nominal"
        if len(set(categories)) < len(categories) or (ranked and spelt and spelt < len(categories)):
            raise InvalidOption("--categories names a category twice")
        if not categories:
            raise InvalidOption("--categories names no category", "leave it out to learn them")


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
    raise InvalidOption("which project?", f"name one of: {names}")


def project_for_import(
    connection: Connection, name: str, options: ProjectOptions, *, create: bool
) -> ProjectInfo:
    """Return the project to import into; raises InvalidOption if it is not as ``options`` says."""
    try:
        project = find_project(connection, name)
    except NotFound:
        if not create:
            raise
        try:
            return create_project(connection, name, options)
        except ProjectExists:  # since we looked, by another program
            project = find_project(connection, name)
    for option in ("answers", "scale", "offsets", "wanted"):
        asked, has = getattr(options, option), getattr(project, option)
        if asked is not None and asked != has:
            setting = option in {"scale", "wanted"}
            change = f"change it: tracker project set {shlex.quote(name)} --{option} {asked}"
            raise InvalidOption(
                f"{name!r} has --{option} {has or 'not set'}, not {asked}",
                f"leave the option out, or {change if setting else 'import into another project'}",
            )
    return project


def rename_project(connection: Connection, project: ProjectInfo, name: str) -> None:
    """Give a project another name; raises InvalidOption if it is taken."""
    name = check_entered_name(name, "project")
    lock_project(connection, project.id)
    if connection.scalar(select(Project.id).where(Project.name == name)) is not None:
        raise ProjectExists(f"the project {name!r} exists", "choose another name")
    connection.execute(update(Project).where(Project.id == project.id).values(name=name))
    record_change(connection, project.id, "rename", {"from": project.name, "to": name})


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
