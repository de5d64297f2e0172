"""Users of the whole database: their roles, their passwords, the annotators that they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, exists, insert, select, update

from tracker.access.changes import record_access_change
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.annotators import find_annotator
from tracker.projects.lookup import check_entered_name, near_names
from tracker.projects.project import ProjectInfo, find_project, list_projects
from tracker.storage.schema import ROLES, Annotator, Project, Token, User, UserAnnotator


class BoundAnnotator(NamedTuple):
    """An annotator of a project, as whom a user answers there."""

    project: str
    annotator: str


@dataclass(frozen=True)
class UserInfo:
    """A user.

    Attributes:
        id: a number that is never given again.
        name: what they sign in with, and what the change log has.
        role: one of `ROLES`.
        session: the number that their sessions must have.
        has_password: whether they can sign in with a password.
        annotators: whose own reports they may see.
        created_at: the moment when they were added.
    """

    id: int
    name: str
    role: str
    session: int
    has_password: bool
    annotators: tuple[BoundAnnotator, ...]
    created_at: int

    def to_dict(self) -> dict[str, Any]:
        """Return what the user is as JSON; nothing in it is secret."""
        return {
            "user": self.name,
            "role": self.role,
            "password": self.has_password,
            "annotators": [one._asdict() for one in self.annotators],
            "created_at": clock.iso(self.created_at),
        }


def check_role(role: str) -> str:
    """Return the role; raises InvalidOption for one that is not there."""
    if role not in ROLES:
        raise InvalidOption(f"there is no role {role!r}", f"choose one of: {', '.join(ROLES)}")
    return role


def has_users(connection: Connection) -> bool:
    """Return whether there is any user."""
    return bool(connection.scalar(select(exists().select_from(User))))


def list_users(connection: Connection) -> list[UserInfo]:
    """Return all users by name."""
    rows = connection.execute(select(User.__table__).order_by(User.name)).all()
    bound = _bound(connection)
    return [_info(row, bound) for row in rows]


def find_user(connection: Connection, name: str) -> UserInfo:
    """Return a user; raises NotFound."""
    found = user_where(connection, User.name == name)
    if found is None:
        known = connection.scalars(select(User.name)).all()
        raise NotFound(
            f"there is no user {name!r}", near_names(name, known) or "see: tracker user list"
        )
    return found


def user_where(connection: Connection, condition: Any) -> UserInfo | None:
    """Return the user of whom a condition holds, if there is one."""
    row = connection.execute(select(User.__table__).where(condition)).one_or_none()
    return None if row is None else _info(row, _bound(connection, row.id))


def add_user(
    connection: Connection,
    name: str,
    role: str,
    *,
    hashed: str | None,
    annotators: Iterable[str] = (),
) -> UserInfo:
    """Add a user and return them; without a password they sign in elsewhere (OpenID Connect).

    ``annotators`` are texts such as ``PROJECT:NAME``. Raises InvalidOption for a name that is
    taken or a role that is not there; NotFound for an unknown annotator.
    """
    name = check_new_user(connection, name, role)
    row = {"name": name, "role": role, "session": 1, "created_at": clock.now()}
    connection.execute(insert(User).values(password=hashed, **row))
    record_access_change(connection, "add user", user=name, role=role)
    found = find_user(connection, name)
    _bind(connection, found, annotators)
    return find_user(connection, name)


def check_new_user(connection: Connection, name: str, role: str) -> str:
    """Return the name of a user that can be added; raises InvalidOption."""
    name = check_entered_name(name, "user")
    check_role(role)
    if connection.scalar(select(User.id).where(User.name == name)) is not None:
        raise InvalidOption(f"the user {name!r} exists", "change them by: tracker user set")
    return name


def set_user(
    connection: Connection, name: str, *, role: str | None, annotators: Sequence[str] | None
) -> UserInfo:
    """Give a user another role, or other annotators (None: leave it), and return them."""
    found = find_user(connection, name)
    if role is not None:
        mine = update(User).where(User.id == found.id)
        connection.execute(mine.values(role=check_role(role)))
        record_access_change(connection, "set role", user=name, role=role, was=found.role)
    if annotators is not None:
        connection.execute(delete(UserAnnotator).where(UserAnnotator.user_id == found.id))
        _bind(connection, found, annotators)
        record_access_change(connection, "set annotators", user=name)
    return find_user(connection, name)


def set_user_password(connection: Connection, name: str, hashed: str | None) -> UserInfo:
    """Give a user another password or none, and end their sessions; raises NotFound."""
    found = find_user(connection, name)
    mine = update(User).where(User.id == found.id)
    connection.execute(mine.values(password=hashed, session=User.session + 1))
    what = "remove password" if hashed is None else "set password"
    record_access_change(connection, what, user=name)
    return find_user(connection, name)


def remove_user(connection: Connection, name: str) -> UserInfo:
    """Remove a user with their tokens and sessions, and return who it was; raises NotFound."""
    found = find_user(connection, name)
    for table in (Token, UserAnnotator):
        connection.execute(delete(table).where(table.user_id == found.id))
    connection.execute(delete(User).where(User.id == found.id))
    record_access_change(connection, "remove user", user=name)
    return found


def _bind(connection: Connection, user: UserInfo, annotators: Iterable[str]) -> None:
    rows = [
        {"user_id": user.id, "project_id": project.id, "annotator_id": number}
        for project, number in {_annotator(connection, text) for text in annotators}
    ]
    if rows:
        connection.execute(insert(UserAnnotator), rows)


def _annotator(connection: Connection, text: str) -> tuple[ProjectInfo, int]:
    """Return the annotator that ``PROJECT:NAME`` means; both may hold colons."""
    known = {one.name for one in list_projects(connection, archived=True)}
    parts = text.split(":")
    cuts = [(":".join(parts[:n]), ":".join(parts[n:])) for n in range(1, len(parts))]
    for project, name in cuts:
        if project in known:
            found = find_project(connection, project)
            return found, find_annotator(connection, found, name).id
    if not cuts:
        raise InvalidOption(f"{text!r} is no annotator of a project", "write PROJECT:NAME")
    find_project(connection, cuts[0][0])  # raises, with the names that are near
    raise AssertionError(text)


def _bound(connection: Connection, user: int | None = None) -> dict[int, list[BoundAnnotator]]:
    """Return the annotators of all users, or of one, by the user's number."""
    named = select(UserAnnotator.user_id, Project.name, Annotator.name.label("annotator"))
    statement = (
        named.join_from(UserAnnotator, Project, Project.id == UserAnnotator.project_id)
        .join(
            Annotator,
            (Annotator.project_id == UserAnnotator.project_id)
            & (Annotator.id == UserAnnotator.annotator_id),
        )
        .order_by(Project.name, Annotator.name)
    )
    if user is not None:
        statement = statement.where(UserAnnotator.user_id == user)
    found: dict[int, list[BoundAnnotator]] = {}
    for number, project, annotator in connection.execute(statement):
        found.setdefault(number, []).append(BoundAnnotator(project, annotator))
    return found


def _info(row: Row[Any], bound: dict[int, list[BoundAnnotator]]) -> UserInfo:
    return UserInfo(
        id=row.id,
        name=row.name,
        role=row.role,
        session=row.session,
        has_password=row.password is not None,
        annotators=tuple(bound.get(row.id, ())),
        created_at=row.created_at,
    )
