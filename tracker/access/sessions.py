"""Who has signed in: by a password, at another service, or before."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, update

from tracker.access.changes import record_access_change
from tracker.access.users import UserInfo, add_user, user_where
from tracker.storage.schema import SigningKey, User


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
