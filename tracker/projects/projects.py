"""The change log: every mutation of a project's ledger is one row of it, in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from string import Formatter
from typing import Annotated, Any
from zoneinfo import available_timezones

from sqlalchemy import Connection, delete, func, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.kept import read_once
from tracker.core.results import Hidden, Json, OptionalTime, Record, Time
from tracker.projects.item_links import origin_of
from tracker.projects.names import check_entered_name, near_names
from tracker.storage import seals
from tracker.storage.as_of import ledger_of
from tracker.storage.database import CHANGED_BY
from tracker.storage.schema import (
    Base,
    Change,
    FlagChange,
    FlagSighting,
    Import,
    Lake,
    Note,
    Project,
    Purge,
    Snapshot,
    Source,
    Tombstone,
)


def lock_project(connection: Connection, project_id: int) -> None:
    """Wait for, then hold off, every other change to the project until the transaction ends.

    Raises NotFound if the project was deleted meanwhile.
    """
    hold_project(connection, project_id)
    seals.begin_seal(connection, project_id)


def hold_project(connection: Connection, project_id: int) -> None:
    """Do so for what is no part of the record, and is not sealed."""
    ours = select(Project.id).where(Project.id == project_id).with_for_update()
    if connection.scalar(ours) is None:
        raise NotFound("the project has just been deleted", "see: tracker project list")


def record_change(
    connection: Connection, project_id: int, kind: str, detail: dict[str, Any]
) -> tuple[int, int]:
    """Add a row to the project's change log; returns its number and its moment.

    The moment never lies before the last change's, whatever the machine's clock says. The
    caller holds the project's lock, or has just made the project. The detail names who changed
    it, ``by``, if the database was told.
    """
    by = connection.info.get(CHANGED_BY)
    if by is not None:
        detail = {**detail, "by": by}
    last, moment = last_change(connection, project_id)
    number, recorded_at = last + 1, max(clock.now(), moment + 1)
    if not last:
        seals.begin_seal(connection, project_id, made=True)
    connection.execute(
        insert(Change).values(
            project_id=project_id,
            id=number,
            kind=kind,
            recorded_at=recorded_at,
            detail=json.dumps(detail, ensure_ascii=False, sort_keys=True),
        )
    )
    return number, recorded_at


# Numbers that grow with what is recorded, each with its project's column; none ever decreases.
_RECORDED = (
    (func.max(Change.id), Change.project_id),
    (func.count(Snapshot.id), Snapshot.project_id),
    (func.count(Tombstone.project_id), Tombstone.project_id),
    (func.count(FlagSighting.number), FlagSighting.project_id),
    (func.count(FlagChange.number), FlagChange.project_id),
)


def project_revisions(connection: Connection, project_id: int | None = None) -> dict[str, str]:
    """Return the revision of each project by its name, or of one project.

    It differs after every mutation, snapshot, recorded audit and act on a flag, whoever made it,
    and is never that of another project.
    """
    of_project = [
        select(part).where(project == Project.id).scalar_subquery() for part, project in _RECORDED
    ]
    statement = select(Project.name, Project.id, *of_project)
    if project_id is not None:
        statement = statement.where(Project.id == project_id)
    return {name: ".".join(map(str, parts)) for name, *parts in connection.execute(statement)}


OF_NO_ANSWER = (
    "note",
    "prune",
    "set goal",
    "set own page",
    "assign",
    "withdraw assignments",
    "start round",
)
"""The kinds of changes on which no figure of answers rests, but for a note of a guideline."""


@read_once
def answers_revision(connection: Connection, project_id: int) -> tuple[int | None, int | None]:
    """Return what differs after every change on which figures of a project's answers rest.

    Acts on findings, audits, snapshots and notes without a guideline are none.
    """
    changes = select(func.max(Change.id)).where(
        Change.project_id == project_id, Change.kind.not_in(OF_NO_ANSWER)
    )
    guidelines = select(func.max(Note.change_id)).where(
        Note.project_id == project_id, Note.guideline.is_not(None)
    )
    change, guideline = connection.execute(
        select(changes.scalar_subquery(), guidelines.scalar_subquery())
    ).one()
    return change, guideline


@read_once
def last_change(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return the number of a project's last change, and its moment; (0, 0) if there is none."""
    row = connection.execute(
        select(Change.id, Change.recorded_at)
        .where(Change.project_id == project_id)
        .order_by(Change.id.desc())
        .limit(1)
    ).one_or_none()
    return (0, 0) if row is None else (row.id, row.recorded_at)


# -- Projects: find, list, rename, archive, purge -------------------------------------------------


_UTC = "UTC"


class ProjectExists(InvalidOption):
    """There is a project of that name already."""


@dataclass(frozen=True)
class ProjectInfo(Record):
    """One project as it stands.

    Attributes:
        id: its number.
        name: its name.
        created_at: when it was made.
        archived_at: when it was taken off the list, if it was.
        timezone: the zone in which its days begin; None for UTC.
        tentative_from: what the lower end of the main figure's interval has to reach for tentative
            conclusions; None for the customary threshold.
        good_from: likewise for others.
        item_link: the address of an item in another program; see `item_address`.
        media_hosts: the origins of media that pages show, a blank between them.
        labels_at: where its labels are if they lie in files (`lake`); None for the ledger.
        engine: what counts them there, unless another is chosen.
    """

    id: Annotated[int, Hidden]
    name: Annotated[str, Json("project")]
    created_at: Time
    archived_at: OptionalTime
    timezone: Annotated[str | None, Hidden] = None
    tentative_from: Annotated[float | None, Json(rare=True)] = None
    good_from: Annotated[float | None, Json(rare=True)] = None
    item_link: Annotated[str | None, Json(rare=True)] = None
    media_hosts: Annotated[str | None, Json(write=str.split, rare=True)] = None
    labels_at: Annotated[str | None, Json(rare=True)] = None
    engine: Annotated[str | None, Json(rare=True)] = None

    @property
    def zone(self) -> Annotated[str, Json("timezone")]:
        return self.timezone or _UTC


@dataclass(frozen=True)
class DeletedProject(Record):
    """A project that was deleted."""

    project: str
    deleted: bool = True

    def view(self) -> Iterator[str]:
        yield f"{self.project} is deleted"


_PROJECTS = select(Project.__table__, Lake.address.label("labels_at"), Lake.engine).outerjoin(
    Lake, Lake.project_id == Project.id
)


def list_projects(connection: Connection, *, archived: bool = False) -> list[ProjectInfo]:
    """Return the projects by name, without the archived ones unless asked for."""
    statement = _PROJECTS
    if not archived:
        statement = statement.where(Project.archived_at.is_(None))
    projects = [ProjectInfo(**row) for row in connection.execute(statement).mappings()]
    return sorted(projects, key=lambda project: project.name)


@read_once
def find_project(connection: Connection, name: str | None) -> ProjectInfo:
    """Return the project of a name; for None the only one there is.

    Raises NotFound if there is none (with the near names), InvalidOption for None if there are
    several.
    """
    if name is None:
        return _only_project(connection)
    statement = _PROJECTS.where(Project.name == name.strip())
    row = connection.execute(statement).mappings().one_or_none()
    if row is None:
        names = connection.scalars(select(Project.name)).all()
        raise NotFound(
            f"there is no project {name!r}", near_names(name, names) or "see: tracker project list"
        )
    return ProjectInfo(**row)


def check_labels_here(project: ProjectInfo) -> None:
    """Raise Refused if a project's labels lie in files, which are only read."""
    if project.labels_at is not None:
        raise Refused(
            f"the labels of {project.name} lie in files, which are only read",
            f"change the files, then: tracker project read-labels {quote(project.name)}",
        )


def _only_project(connection: Connection) -> ProjectInfo:
    projects = list_projects(connection)
    if len(projects) == 1:
        return projects[0]
    if not projects:
        raise NotFound("there is no project yet", "make one: tracker import FILE --project NAME")
    names = ", ".join(project.name for project in projects[:5])
    more = f" and {len(projects) - 5:,} more" if len(projects) > 5 else ""
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


def _checked_threshold(name: str, value: float) -> float:
    if not 0 < value <= 1:
        raise InvalidOption(f"--{name} {value:g} is not above 0 and at most 1", "such as: .667")
    return value


def _checked_link(link: str) -> str | None:
    """Return the template of an address, None for an empty one; raises InvalidOption for none."""
    link = link.strip()
    if not link:
        return None
    try:
        origin_of(link)
        parts = [part for _, *part in Formatter().parse(link) if part[0] is not None]
    except ValueError as error:
        raise InvalidOption(f"--item-link: {error}", _LINK) from None
    if not parts or any(not name or form or conversion for name, form, conversion in parts):
        raise InvalidOption("--item-link: the address has no {item} and no {attribute}", _LINK)
    return link


def _checked_hosts(hosts: Sequence[str]) -> str | None:
    """Return origins as they are stored; raises InvalidOption for what is no host."""
    try:
        origins = [origin_of(host if "://" in host else f"https://{host}") for host in hosts]
    except ValueError as error:
        raise InvalidOption(f"--media-hosts: {error}", "such as: media.example.com") from None
    return " ".join(sorted(set(origins))) or None


_USUAL = "the customary one"
_LINK = "such as: https://label.example.com/tasks/{item}"
_CHECKED: Mapping[str, Callable[[Any], Any]] = {
    "timezone": checked_timezone,
    "tentative_from": partial(_checked_threshold, "tentative-from"),
    "good_from": partial(_checked_threshold, "good-from"),
    "item_link": _checked_link,
    "media_hosts": _checked_hosts,
}
PROJECT_CHANGES: Mapping[str, tuple[str, str]] = {
    "timezone": ("time zone", _UTC),
    "tentative_from": ("threshold for tentative conclusions", _USUAL),
    "good_from": ("threshold to rely on", _USUAL),
    "item_link": ("link of items", "none"),
    "media_hosts": ("hosts of media", "none"),
}
"""What the change log calls each setting of a project, and what it has of one that is not set."""


def set_project(
    connection: Connection, project: ProjectInfo, settings: Mapping[str, Any]
) -> ProjectInfo:
    """Change settings of `PROJECT_CHANGES`, None leaving one as it is; returns what is then.

    Raises InvalidOption for a value that is none.
    """
    from tracker.measures.benchmarks import DEFINITE, TENTATIVE  # loads numpy

    columns = {name: _CHECKED[name](value) for name, value in settings.items() if value is not None}
    lock_project(connection, project.id)
    changed = replace(project, **columns)
    low, high = changed.tentative_from or TENTATIVE, changed.good_from or DEFINITE
    if low > high:
        raise InvalidOption(
            f"tentative conclusions would need {low:g}, more than the {high:g} that is good enough",
            "set both: --tentative-from, --good-from",
        )
    for name, value in columns.items():
        before = getattr(project, name)
        if value != before:
            connection.execute(
                update(Project).where(Project.id == project.id).values({name: value})
            )
            kind, unset = PROJECT_CHANGES[name]
            record_change(
                connection, project.id, kind, {"from": before or unset, "to": value or unset}
            )
    return changed


def archive_project(connection: Connection, project: ProjectInfo, *, archived: bool) -> None:
    lock_project(connection, project.id)
    moment = clock.now() if archived else None
    connection.execute(update(Project).where(Project.id == project.id).values(archived_at=moment))
    record_change(connection, project.id, "archive" if archived else "restore", {})


def purge_project(connection: Connection, project: ProjectInfo) -> None:
    """Delete a project with all that hangs on it, for good; only a tombstone stays."""
    connection = ledger_of(connection)
    lock_project(connection, project.id)
    connection.execute(insert(Purge).values(project_id=project.id, purged_at=clock.now()))
    imports = select(Import.id).where(Import.project_id == project.id)
    connection.execute(delete(Source).where(Source.import_id.in_(imports)))
    for table in reversed(Base.metadata.sorted_tables):
        if table.name not in {"projects", "purges"} and "project_id" in table.c:
            connection.execute(table.delete().where(table.c.project_id == project.id))
    connection.execute(delete(Project).where(Project.id == project.id))
    seals.forget_seal(connection, project.id)
