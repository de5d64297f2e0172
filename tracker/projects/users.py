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
from tracker.projects.projects import ProjectInfo, find_project, list_projects
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
        at: when.
        by: who; None for a command, which does not know.
        kind: what, as the log calls it.
        user, token, webhook: to whom or what.
        what: the same in words, as they stand behind a name: "removed the user ada".
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
        """Yield that there is more."""
        if self.has_more:
            yield f"the last {self.limit}; for all: --limit 0"


def record_access_change(connection: Connection, kind: str, **detail: Any) -> None:
    """Add what is done to the log; ``detail`` holds no secret, and no name of an annotator."""
    row = {"made_at": clock.now(), "made_by": connection.info.get(CHANGED_BY), "kind": kind}
    told = json.dumps(detail, ensure_ascii=False, sort_keys=True)
    connection.execute(insert(AccessChange).values(detail=told, **row))


def access_log(connection: Connection, limit: int | None = None) -> AccessLog:
    """Return what was done, the last first."""
    columns = (AccessChange.made_at, AccessChange.made_by, AccessChange.kind, AccessChange.detail)
    statement = (
        select(*columns).order_by(AccessChange.id.desc()).limit(limit + 1 if limit else None)
    )
    acts = [_act(*row) for row in connection.execute(statement)]
    shown = acts[:limit]
    return AccessLog(tuple(shown), limit, len(acts) > len(shown))


def _act(at: int, by: str | None, kind: str, detail: str) -> AccessAct:
    about = json.loads(detail)
    named = {name: about.get(name) for name in ("user", "token", "webhook")}
    return AccessAct(at, by, kind, **named, what=_SENTENCES[kind].format_map(about))


class BoundAnnotator(NamedTuple):
    """An annotator of a project, as whom a user answers there."""

    project: str
    annotator: str

    def to_dict(self) -> dict[str, str]:
        """Return the two names as JSON."""
        return self._asdict()


@dataclass(frozen=True)
class UserInfo(Record):
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
        """Yield who it was."""
        yield f"removed {self.user.name}"

    def warnings(self) -> Iterator[str]:
        """Yield who may sign in if there is no user."""
        if not self.any_left:
            who = "whoever uses this machine, and nobody else"
            yield f"no user is left: `tracker serve` lets in {who}"


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
    if role is None and annotators is None:
        raise InvalidOption("nothing to set", "give --role or --annotator")
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


def remove_user(connection: Connection, name: str) -> RemovedUser:
    """Remove a user with their tokens and sessions, and return who it was; raises NotFound."""
    found = find_user(connection, name)
    for table in (Token, UserAnnotator):
        connection.execute(delete(table).where(table.user_id == found.id))
    connection.execute(delete(User).where(User.id == found.id))
    record_access_change(connection, "remove user", user=name)
    return RemovedUser(found, has_users(connection))


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
    """Return whether a password is that of a hash; None, of nobody, takes as long to say no."""
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
    """Return the hash of a user's password; None for nobody, and for one without."""
    found: str | None = connection.scalar(select(User.password).where(User.name == name))
    return found


def user_with_password(connection: Connection, name: str, stored: str) -> UserInfo | None:
    """Return the user with a name and a hash; None if they have another by now."""
    return user_where(connection, (User.name == name) & (User.password == stored))


def user_of_session(connection: Connection, number: int, session: int) -> UserInfo | None:
    """Return the user of a session; None if it was ended, or if they were removed."""
    return user_where(connection, (User.id == number) & (User.session == session))


def end_user_sessions(connection: Connection, number: int) -> None:
    """End all sessions of a user."""
    mine = update(User).where(User.id == number)
    connection.execute(mine.values(session=User.session + 1))


def user_known_elsewhere(
    connection: Connection, subject: str, names: Sequence[str], *, new_role: str | None
) -> UserInfo | None:
    """Return the user whom another service vouches for; None for somebody who is no user.

    At the first time it is the one with the first of the ``names`` that a user without a password
    has, who was made for this; from then on the one who came as ``subject``, whatever they are
    called there by then, and nobody else is taken for them. With ``new_role`` a user is made of
    somebody unknown.
    """
    known = user_where(connection, User.subject == subject)
    if known is not None:
        return known
    for name in names:
        free = User.subject.is_(None) & User.password.is_(None)
        found = user_where(connection, (User.name == name) & free)
        if found is not None:
            mine = update(User).where(User.id == found.id)
            connection.execute(mine.values(subject=subject))
            record_access_change(connection, "link user", user=name)
            return found
    taken = [name for name in names if user_where(connection, User.name == name)]
    if new_role is None or taken or not names:
        return None
    made = add_user(connection, names[0], new_role, hashed=None)
    connection.execute(update(User).where(User.id == made.id).values(subject=subject))
    return made


def session_signing_key(connection: Connection) -> str | None:
    """Return the key that sessions are signed with; None if none was made yet."""
    found: str | None = connection.scalar(select(SigningKey.key))
    return found


def make_signing_key(connection: Connection) -> str:
    """Make the key that sessions are signed with, and return it."""
    key = secrets.token_hex(32)
    connection.execute(insert(SigningKey).values(id=1, key=key))
    return key
