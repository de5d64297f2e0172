"""Who may do what in `tracker serve`: ``ledger.users`` and ``ledger.tokens``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tracker.core.errors import DatabaseUnusable
from tracker.ledger.namespaces import Namespace

if TYPE_CHECKING:
    from tracker.projects.tokens import NewToken, TokenInfo, TokenUse
    from tracker.projects.users import AccessAct, UserInfo


class Users(Namespace):
    """The users of a database; methods that name one raise NotFound if there is none."""

    def any(self) -> bool:
        """Return whether there is any user."""
        from tracker.projects.users import has_users

        if self._ledger.is_missing:
            return False
        with self._ledger.database.read() as connection:
            return has_users(connection)

    def list(self) -> Sequence[UserInfo]:
        """Return all users by name."""
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

    def set(
        self, name: str, *, role: str | None = None, annotators: Sequence[str] | None = None
    ) -> UserInfo:
        """Give a user another role, or other annotators, and return them (None: leave it)."""
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

    def remove(self, name: str) -> UserInfo:
        """Remove a user with their tokens, end their sessions, and return who it was."""
        from tracker.projects.users import remove_user

        with self._ledger.database.write() as connection:
            return remove_user(connection, name)

    def log(self, limit: int | None = None) -> Sequence[AccessAct]:
        """Return who did what to users, tokens and webhooks, the last first."""
        from tracker.projects.users import list_access_changes

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_access_changes(connection, limit)

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
            found = session_signing_key(connection)
        if found is not None:
            return found
        with self._ledger.database.write() as connection:
            return session_signing_key(connection) or make_signing_key(connection)


class Tokens(Namespace):
    """The tokens by which programs ask for users."""

    def add(self, name: str, role: str, user: str, *, expires: str | None = None) -> NewToken:
        """Make a token and return it with its secret, which nothing can show again.

        ``expires`` is such as 90d, or a date. Raises NotFound for an unknown user, InvalidOption
        for a role above theirs, or a name that is taken.
        """
        from tracker.projects.tokens import add_token

        with self._ledger.database.write() as connection:
            return add_token(connection, name, role, user, expires)

    def list(self) -> Sequence[TokenInfo]:
        """Return all tokens by name, without their secrets."""
        from tracker.projects.tokens import list_tokens

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_tokens(connection)

    def revoke(self, name: str) -> TokenInfo:
        """Make a token worthless, and return what it was; raises NotFound."""
        from tracker.projects.tokens import revoke_token

        with self._ledger.database.write() as connection:
            return revoke_token(connection, name)

    def use(self, secret: str) -> TokenUse | None:
        """Return whose token a secret is, its use noted once a day; None for none that holds."""
        from tracker.projects.tokens import note_token_use, used_token

        if self._ledger.is_missing:
            return None
        with self._ledger.database.read() as connection:
            found = used_token(connection, secret)
        if found is not None and found.is_first_of_day:
            # Whoever may not write now, or at all, may still read.
            with suppress(DatabaseUnusable), self._ledger.database.write() as connection:
                note_token_use(connection, found.token)
        return found
