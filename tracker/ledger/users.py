"""`ledger.users`: who may do what in `tracker serve`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from tracker.core.operations import Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import most_of
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.projects.users import AccessLog, RemovedUser, UserInfo

ROLES = "annotator|viewer|manager|admin"
Name = Annotated[str, Option("The user's name.")]


COLUMNS = (
    Column("user", kind="name"), Column("role"), Column("password", kind="yes"),
    Column("annotators"),
)  # fmt: skip


def user_row(user: UserInfo) -> dict[str, Any]:
    """Return a user as a row, the annotators in one cell."""
    return user.to_dict() | {"annotators": ", ".join(map(str, user.annotators))}


class Users(Namespace):
    """The users of a database; methods that name one raise NotFound if there is none."""

    def any(self) -> bool:
        """Return whether there is any user."""
        from tracker.projects.users import has_users

        if self._ledger.is_missing:
            return False
        with self._ledger.database.read() as connection:
            return has_users(connection)

    @operation(
        "user list",
        None,
        "listUsers",
        listing="users",
        rows=lambda users, _: [user_row(user) for user in users],
        columns=COLUMNS,
    )
    def list(self) -> Sequence[UserInfo]:
        """List the users with their roles and the annotators whose reports they may see.

        Example:
        - `tracker user list`

        Next: `tracker token list`
        """
        from tracker.projects.users import list_users

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_users(connection)

    def add(
        self,
        name: str,
        role: str,
        *,
        password: str | None,
        annotators: Sequence[str] = (),
    ) -> UserInfo:
        """Add a user and return them; without a password they sign in by OpenID Connect only.

        ``annotators`` are those whose reports they may see, each as ``PROJECT:NAME``. Raises
        InvalidOption for a name that is taken, an unknown role, or an unfit password.
        """
        from tracker.projects.users import add_user, hashed_password

        self.check_new(name, role)
        # Outside the transaction: it takes its time on purpose.
        hashed = None if password is None else hashed_password(password)
        with self._ledger.database.write() as connection:
            return add_user(connection, name, role, hashed=hashed, annotators=annotators)

    def check_new(self, name: str, role: str) -> None:
        """Raise InvalidOption if no user of this name and role can be added."""
        from tracker.projects.users import check_new_user

        if self._ledger.is_missing:
            return
        with self._ledger.database.read() as connection:
            check_new_user(connection, name, role)

    @operation(
        "user set", None, "setUser",
        view=lambda user, _: [f"{user.name}: {user.role}"],
    )  # fmt: skip
    def set(
        self,
        name: Name,
        *,
        role: Annotated[
            str | None, Option("What the user may do from now on.", metavar=ROLES)
        ] = None,
        annotators: Annotated[
            Sequence[str] | None,
            Option(
                "An annotator whose own report the user may see (repeatable).",
                name="annotator", metavar="PROJECT:NAME",
            ),
        ] = None,
    ) -> UserInfo:  # fmt: skip
        """Give a user another role, or other annotators in place of those they had.

        Examples:
        - `tracker user set ada --role manager`
        - `tracker user set bob --annotator reviews:bob --annotator "second round:bob"`

        Next: `tracker user list`
        """
        from tracker.projects.users import set_user

        with self._ledger.database.write() as connection:
            return set_user(connection, name, role=role, annotators=annotators)

    def show(self, name: str) -> UserInfo:
        """Return a user."""
        from tracker.projects.users import find_user

        with self._ledger.database.read() as connection:
            return find_user(connection, name)

    def set_password(self, name: str, password: str | None) -> UserInfo:
        """Give a user another password, and end their sessions; raises InvalidOption.

        None: they have none, and can only sign in elsewhere.
        """
        from tracker.projects.users import hashed_password, set_user_password

        self.show(name)
        hashed = None if password is None else hashed_password(password)
        with self._ledger.database.write() as connection:
            return set_user_password(connection, name, hashed)

    @operation(
        "user remove", None, "removeUser",
        question=lambda given: (
            f"remove the user {given.ledger.users.show(given.name).name!r} and their tokens?"
        ),
    )  # fmt: skip
    def remove(self, name: Name) -> RemovedUser:
        """Remove a user with their tokens; they are signed out everywhere.

        What they changed keeps their name in the change log.

        Example:
        - `tracker user remove bob`

        Next: `tracker user list`
        """
        from tracker.projects.users import remove_user

        with self._ledger.database.write() as connection:
            return remove_user(connection, name)

    @operation(
        "user log", None, "listAccessChanges",
        listing="changes",
        columns=(Column("at", kind="minute"), Column("by", none="-"), Column("what")),
    )  # fmt: skip
    def log(self, limit: Annotated[int | None, most_of("acts")] = None) -> AccessLog:
        """List what was done to users, tokens and webhooks and when, newest first.

        Names are known of what is done with a token, as in `tracker project changes`.

        Example:
        - `tracker user log --limit 20`

        Next: `tracker token list`
        """
        from tracker.projects.users import AccessLog, access_log

        if self._ledger.is_missing:
            return AccessLog((), limit, False)
        with self._ledger.database.read() as connection:
            return access_log(connection, limit)

    def with_password(self, name: str, password: str) -> UserInfo | None:
        """Return the user whose name and password these are; for all others it takes as long."""
        from tracker.projects.users import is_password, stored_password, user_with_password

        with self._ledger.database.read() as connection:
            stored = stored_password(connection, name)
        # Outside the transaction: it takes its time on purpose.
        if not is_password(password, stored) or stored is None:
            return None
        with self._ledger.database.read() as connection:
            return user_with_password(connection, name, stored)

    def of_session(self, number: int, session: int) -> UserInfo | None:
        """Return the user of a session; None if it was ended, or if they were removed."""
        from tracker.projects.users import user_of_session

        with self._ledger.database.read() as connection:
            return user_of_session(connection, number, session)

    def known_elsewhere(
        self, subject: str, names: Sequence[str], *, new_role: str | None = None
    ) -> UserInfo | None:
        """Return the user whom another service vouches for as ``subject``; None for nobody.

        The first time it is the user with one of the ``names`` who has no password. With
        ``new_role`` a user is made of somebody unknown.
        """
        from tracker.projects.users import user_known_elsewhere

        with self._ledger.database.write() as connection:
            return user_known_elsewhere(connection, subject, names, new_role=new_role)

    def end_sessions(self, number: int) -> None:
        """End all sessions of a user, by number."""
        from tracker.projects.users import end_user_sessions

        with self._ledger.database.write() as connection:
            end_user_sessions(connection, number)

    def signing_key(self) -> str:
        """Return the key that sessions are signed with, made when it is first asked for."""
        from tracker.projects.users import make_signing_key, session_signing_key

        with self._ledger.database.read() as connection:
            key = session_signing_key(connection)
        if key is not None:
            return key
        with self._ledger.database.write() as connection:
            return session_signing_key(connection) or make_signing_key(connection)
