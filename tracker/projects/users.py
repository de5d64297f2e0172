"""Users of the whole database: their roles, their passwords, the annotators that they are."""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from sqlalchemy import Connection, Row, delete, exists, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Hidden, Json, Record, Spread, Time
from tracker.projects.annotators import find_annotator
from tracker.projects.names import check_entered_name, near_names
from tracker.projects.projects import find_project, list_projects
from tracker.storage.database import CHANGED_BY
from tracker.storage.schema import (
    ROLES,
    AccessChange,
    Annotator,
    Project,
    SigningKey,
    Token,
    User,
    UserAnnotator,
)

# -- The log of users, tokens and webhooks: who did what, and when --------------------------------

_SENTENCES: Final = {
    "add user": "added the user {user}: {role}",
    "set role": "made {user} {role}, until then {was}",
    "set annotators": "set whose reports {user} may see",
    "set password": "gave {user} another password",
    "remove password": "took the password of {user} away",
    "link user": "knows {user} from OpenID Connect",
    "remove user": "removed the user {user}",
    "add token": "made the token {token} of {user}: {role}",
    "revoke token": "revoked the token {token} of {user}",
    "add webhook": "added webhook {webhook} at {host}",
    "remove webhook": "removed webhook {webhook} at {host}",
}


@dataclass(frozen=True)
class AccessAct(Record):
    """One thing that somebody did.

    Attributes:
        by: who; None for a command, which does not know.
        kind: what, as the log calls it.
        what: the same in words, to be read after a name: "removed the user ada".
    """

    at: Time
    by: str | None
    kind: str
    user: str | None
    token: str | None
    webhook: int | None
    what: str


@dataclass(frozen=True)
class AccessLog(Record):
    """What was done to users, tokens and webhooks, the last first."""

    changes: tuple[AccessAct, ...]
    limit: Annotated[int | None, Hidden]
    has_more: Annotated[bool, Hidden]

    def warnings(self) -> Iterator[str]:
        if self.has_more:
            yield f"the last {self.limit}; for all: --limit 0"


def record_access_change(connection: Connection, kind: str, **detail: Any) -> None:
    """Add what is done to the log; ``detail`` holds no secret, and no name of an annotator."""
    connection.execute(
        insert(AccessChange).values(
            made_at=clock.now(),
            made_by=connection.info.get(CHANGED_BY),
            kind=kind,
            detail=json.dumps(detail, ensure_ascii=False, sort_keys=True),
        )
    )


def access_log(connection: Connection, limit: int | None = None) -> AccessLog:
    columns = (AccessChange.made_at, AccessChange.made_by, AccessChange.kind, AccessChange.detail)
    statement = select(*columns).order_by(AccessChange.id.desc())
    acts = []
    for at, by, kind, text in connection.execute(statement.limit(limit + 1 if limit else None)):
        detail = json.loads(text)
        named = {name: detail.get(name) for name in ("user", "token", "webhook")}
        acts.append(AccessAct(at, by, kind, **named, what=_SENTENCES[kind].format_map(detail)))
    shown = acts[:limit]
    return AccessLog(tuple(shown), limit, len(acts) > len(shown))


class BoundAnnotator(NamedTuple):
    """An annotator of a project, as whom a user answers there."""

    project: str
    annotator: str

    def __str__(self) -> str:
        """Return it as it is typed: ``PROJECT:NAME``."""
        return f"{self.project}:{self.annotator}"

    def to_dict(self) -> dict[str, str]:
        return self._asdict()


@dataclass(frozen=True)
class UserInfo(Record):
    """A user.

    Attributes:
        id: a number that is never given again.
        name: what they sign in with, and what the change log has.
        role: one of `ROLES`.
        session: the number that their sessions must have.
        annotators: whose own reports they may see.
    """

    id: Annotated[int, Hidden]
    name: Annotated[str, Json("user")]
    role: str
    session: Annotated[int, Hidden]
    has_password: Annotated[bool, Json("password")]
    annotators: tuple[BoundAnnotator, ...]
    created_at: Time


@dataclass(frozen=True)
class RemovedUser(Record):
    """A user who was removed, and whether there are others."""

    user: Annotated[UserInfo, Spread]
    any_left: Annotated[bool, Hidden]

    def view(self) -> Iterator[str]:
        yield f"removed {self.user.name}"

    def warnings(self) -> Iterator[str]:
        if not self.any_left:
            who = "whoever uses this machine, and nobody else"
            yield f"no user is left: `tracker serve` lets in {who}"


def check_role(role: str) -> str:
    """Return the role; raises InvalidOption for one that is not there."""
    if role not in ROLES:
        raise InvalidOption(f"there is no role {role!r}", f"choose one of: {', '.join(ROLES)}")
    return role


def has_users(connection: Connection) -> bool:
    return bool(connection.scalar(select(exists().select_from(User))))


def list_users(connection: Connection) -> list[UserInfo]:
    rows = connection.execute(select(User.__table__).order_by(User.name)).all()
    bound = _bound_annotators(connection)
    return [_info(row, bound) for row in rows]


def find_user(connection: Connection, name: str) -> UserInfo:
    user = user_where(connection, User.name == name)
    if user is None:
        names = connection.scalars(select(User.name)).all()
        raise NotFound(
            f"there is no user {name!r}", near_names(name, names) or "see: tracker user list"
        )
    return user


def user_where(connection: Connection, condition: Any) -> UserInfo | None:
    """Return the user who meets a condition, if there is one."""
    row = connection.execute(select(User.__table__).where(condition)).one_or_none()
    return None if row is None else _info(row, _bound_annotators(connection, row.id))


def _update_user(connection: Connection, number: int, **values: Any) -> None:
    connection.execute(update(User).where(User.id == number).values(**values))


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
    _bind_annotators(connection, find_user(connection, name), annotators)
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
    if role is None and annotators is None:
        raise InvalidOption("nothing to set", "give --role or --annotator")
    user = find_user(connection, name)
    if role is not None:
        _update_user(connection, user.id, role=check_role(role))
        record_access_change(connection, "set role", user=name, role=role, was=user.role)
    if annotators is not None:
        connection.execute(delete(UserAnnotator).where(UserAnnotator.user_id == user.id))
        _bind_annotators(connection, user, annotators)
        record_access_change(connection, "set annotators", user=name)
    return find_user(connection, name)


def set_user_password(connection: Connection, name: str, hashed: str | None) -> UserInfo:
    """Give a user another password or none, and end their sessions; raises NotFound."""
    user = find_user(connection, name)
    _update_user(connection, user.id, password=hashed, session=User.session + 1)
    action = "remove password" if hashed is None else "set password"
    record_access_change(connection, action, user=name)
    return find_user(connection, name)


def remove_user(connection: Connection, name: str) -> RemovedUser:
    """Remove a user with their tokens and sessions, and return who it was; raises NotFound."""
    user = find_user(connection, name)
    for table in (Token, UserAnnotator):
        connection.execute(delete(table).where(table.user_id == user.id))
    connection.execute(delete(User).where(User.id == user.id))
    record_access_change(connection, "remove user", user=name)
    return RemovedUser(user, has_users(connection))


def _bind_annotators(connection: Connection, user: UserInfo, annotators: Iterable[str]) -> None:
    rows = [
        {"user_id": user.id, "project_id": project, "annotator_id": annotator}
        for project, annotator in {_annotator_key(connection, text) for text in annotators}
    ]
    if rows:
        connection.execute(insert(UserAnnotator), rows)


def _annotator_key(connection: Connection, text: str) -> tuple[int, int]:
    """Return the numbers of the project and annotator in ``PROJECT:NAME``; both may have colons."""
    projects = {project.name for project in list_projects(connection, archived=True)}
    parts = text.split(":")
    cuts = [(":".join(parts[:n]), ":".join(parts[n:])) for n in range(1, len(parts))]
    if not cuts:
        raise InvalidOption(f"{text!r} is no annotator of a project", "write PROJECT:NAME")
    name, annotator = next((cut for cut in cuts if cut[0] in projects), cuts[0])
    project = find_project(connection, name)
    return project.id, find_annotator(connection, project, annotator).id


def _bound_annotators(
    connection: Connection, user: int | None = None
) -> dict[int, list[BoundAnnotator]]:
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
    bound: dict[int, list[BoundAnnotator]] = {}
    for number, project, annotator in connection.execute(statement):
        bound.setdefault(number, []).append(BoundAnnotator(project, annotator))
    return bound


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


# -- Passwords: which may be chosen, how they are stored, how one is compared with what is stored -


SHORTEST_PASSWORD = 10
_LONGEST = 1000  # characters; more would only keep the machine busy

NOBODY = (
    "$argon2id$v=19$m=65536,t=3,p=4$UshechB7unlbCBg9WNZ"
    "kfg$Sa39yisVKSo3BknWwVRyjj+J8flTV0MlE+79oEvJCQk"
)
"""What the password for an unknown name is compared with, so that it takes as long."""


def check_new_password(password: str) -> str:
    """Return a password that may be chosen; raises InvalidOption, which does not repeat it.

    Its length is all that counts (NIST SP 800-63B): rules about signs make passwords worse.
    """
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST:
        raise InvalidOption(
            f"the password has {len(password)} characters",
            f"take {SHORTEST_PASSWORD} to {_LONGEST:,}; a few words will do",
        )
    if any("\ud800" <= sign <= "\udfff" for sign in password):
        raise InvalidOption("the password holds something that is not a character", "use UTF-8")
    return password


def hashed_password(password: str) -> str:
    """Return the Argon2 hash of a password, with its salt; raises InvalidOption (see above)."""
    from argon2 import PasswordHasher

    return PasswordHasher().hash(_normal(check_new_password(password)))


def is_password(password: str, stored: str | None) -> bool:
    """Return whether a password is that of a hash; for None, nobody's, the no takes as long."""
    from argon2 import PasswordHasher
    from argon2.exceptions import VerificationError

    if len(password) > _LONGEST:
        password = ""  # nobody's
    try:
        return PasswordHasher().verify(stored or NOBODY, _normal(password)) and stored is not None
    except (VerificationError, UnicodeEncodeError):
        return False


def _normal(password: str) -> str:
    """Return the password in one form: keyboards send an accented letter in one of two."""
    return unicodedata.normalize("NFC", password)


# -- Who has signed in: by a password, at another service, or before ------------------------------


def stored_password(connection: Connection, name: str) -> str | None:
    """Return the hash of a user's password; None without a user or a password."""
    return connection.scalar(select(User.password).where(User.name == name))


def user_with_password(connection: Connection, name: str, stored: str) -> UserInfo | None:
    """Return the user with a name and a hash; None if they have another by now."""
    return user_where(connection, (User.name == name) & (User.password == stored))


def user_of_session(connection: Connection, number: int, session: int) -> UserInfo | None:
    """Return the user of a session; None if it was ended, or if they were removed."""
    return user_where(connection, (User.id == number) & (User.session == session))


def end_user_sessions(connection: Connection, number: int) -> None:
    _update_user(connection, number, session=User.session + 1)


def user_known_elsewhere(
    connection: Connection, subject: str, names: Sequence[str], *, new_role: str | None
) -> UserInfo | None:
    """Return the user whom another service vouches for; None for somebody who is no user.

    At first it is the user without a password, made for this, with the first possible of the
    ``names``; from then on the one who came as ``subject``, whatever their name there by then, and
    nobody else. With ``new_role`` an unknown person becomes a user.
    """
    user = user_where(connection, User.subject == subject)
    if user is not None:
        return user
    for name in names:
        free = User.subject.is_(None) & User.password.is_(None)
        user = user_where(connection, (User.name == name) & free)
        if user is not None:
            _update_user(connection, user.id, subject=subject)
            record_access_change(connection, "link user", user=name)
            return user
    taken = [name for name in names if user_where(connection, User.name == name)]
    if new_role is None or taken or not names:
        return None
    user = add_user(connection, names[0], new_role, hashed=None)
    _update_user(connection, user.id, subject=subject)
    return user


def session_signing_key(connection: Connection) -> str | None:
    """Return the key that sessions are signed with; None if none was made yet."""
    return connection.scalar(select(SigningKey.key))


def make_signing_key(connection: Connection) -> str:
    """Make the key that sessions are signed with, and return it."""
    key = secrets.token_hex(32)
    connection.execute(insert(SigningKey).values(id=1, key=key))
    return key
