"""Who may do what in `tracker serve`: ``ledger.users`` and ``ledger.tokens``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tracker.core.errors import DatabaseUnusable
from tracker.ledger.namespace import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from tracker.gate.evaluate import GateResult
    from tracker.projects.tokens import NewToken, TokenInfo, TokenUse
    from tracker.projects.users import AccessAct, UserInfo
    from tracker.sync.idempotency import KeptAnswer
    from tracker.sync.webhooks import NewWebhook, Sent, WebhookInfo


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


# -- `ledger.webhooks` and `ledger.requests`: what passes between a ledger and other programs -----


_TOLD = ("check", "question", "measure", "category", "threshold", "value", "bound", "undefined")
"""What a message has of a check: its figures, and no annotator's name."""
Keep = Callable[[int, str | None, str], None]
"""Given the status of an answer, its address and its body."""


class Webhooks(Namespace):
    """The webhooks of a database, each known by its number."""

    def add(
        self,
        url: str,
        events: Sequence[str],
        *,
        project: str | None = None,
        allow_private: bool = False,
    ) -> NewWebhook:
        """Add a webhook, and return it with its secret, which is not shown again.

        Args:
            url: where messages are sent.
            events: snapshot_taken, finding_raised, gate_failed.
            project: only those of this project; None for all.
            allow_private: also to an address that is not public.

        Raises InvalidOption for an address or an event that is none, and for an address that is
        not public.
        """
        from tracker.projects.projects import find_project
        from tracker.sync.webhooks import add_webhook, check_address

        check_address(url, allow_private=allow_private)
        with self._ledger.database.write() as connection:
            found = None if project is None else find_project(connection, project)
            return add_webhook(connection, url, events, found, allow_private=allow_private)

    def list(self) -> Sequence[WebhookInfo]:
        """Return all webhooks, with the number of messages that wait or were given up."""
        from tracker.sync.webhooks import list_webhooks

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_webhooks(connection)

    def remove(self, number: int) -> WebhookInfo:
        """Remove a webhook, and return it; raises NotFound."""
        from tracker.sync.webhooks import remove_webhook

        with self._ledger.database.write() as connection:
            return remove_webhook(connection, number)

    def test(self, number: int) -> str | None:
        """Send a webhook a message now; return what went wrong, if anything; raises NotFound."""
        from tracker.sync.webhooks import try_webhook

        return try_webhook(self._ledger.database, number)

    @staticmethod
    def is_signed(secret: str, name: str, sent_at: str, body: bytes, signature: str) -> bool:
        """Return whether a message that came was signed with a secret, some minutes ago at most.

        ``name`` is what the sender calls the message, ``sent_at`` seconds since 1970.
        """
        from tracker.sync.webhooks import is_signed

        return is_signed(secret.encode(), name, sent_at, body, signature)

    def deliver(self) -> Sent:
        """Send the messages that are due."""
        from tracker.sync.webhooks import Sent, deliver_messages

        return Sent(0, 0, 0) if self._ledger.is_missing else deliver_messages(self._ledger.database)

    def tell_of_gate(self, found: GateResult) -> None:
        """Tell the webhooks of a gate that failed; nothing of one that did not."""
        from tracker.sync.webhooks import tell_webhooks

        if not found.failed:
            return
        told = found.to_dict()
        failed = [one for one in told["checks"] if one["passed"] is False]
        data = {
            "project": found.project, "config": told["config"],
            "failed": [one["check"] for one in failed],
            "checks": [{name: one.get(name) for name in _TOLD} for one in failed],
        }  # fmt: skip
        with self._ledger.writing(found.project) as (connection, project):
            tell_webhooks(connection, project.id, "gate_failed", data)


class Requests(Namespace):
    """The requests that programs sent with a key, so that they may send them again."""

    def begin(self, by: str, key: str, digest: str) -> KeptAnswer | None:
        """Return what the request was answered before; None for a new one.

        Raises InvalidOption for a key that another request has, and CheckFailed while the first is
        not answered.
        """
        from tracker.sync.idempotency import begin_request, known_answer

        with self._ledger.database.read() as connection:  # who writes may hold up others for long
            known = known_answer(connection, by, key, digest)
        if known is not None:
            return known
        with self._ledger.database.write() as connection:
            return begin_request(connection, by, key, digest)

    @contextmanager
    def ending(self, by: str, key: str, *, bulk: bool = False) -> Iterator[Keep]:
        """Yield what keeps the answer for a day: what the block changes is stored with it, or not.

        ``bulk``: the block imports. Raises CheckFailed if the request was begun anew meanwhile.
        """
        from tracker.sync.idempotency import KeptAnswer, end_request

        def keep(status: int, location: str | None, body: str) -> None:
            with self._ledger.database.write() as connection:
                end_request(connection, by, key, KeptAnswer(status, location, body))

        with self._ledger.database.together(bulk=bulk):
            yield keep

    def keep(self, by: str, key: str, status: int, location: str | None, body: str) -> None:
        """Keep the answer to a request that changed nothing."""
        with self.ending(by, key) as keep:
            keep(status, location, body)

    def forget(self, by: str, key: str) -> None:
        """Forget a request that failed: it may be sent again."""
        from tracker.sync.idempotency import forget_request

        with self._ledger.database.write() as connection:
            forget_request(connection, by, key)

    def purge(self, *, under_way: bool = False) -> None:
        """Forget requests whose day is over; with ``under_way`` all without an answer, too.

        That is for a server that starts: who sent one to the server before may send it again.
        What one is still being done for is then stored with an answer, or not at all.
        """
        from tracker.sync.idempotency import any_to_purge, purge_requests

        with self._ledger.database.read() as connection:
            if not any_to_purge(connection, under_way=under_way):
                return
        with self._ledger.database.write() as connection:
            purge_requests(connection, under_way=under_way)

    def files_folder(self) -> Path:
        """Return the folder for files that were sent and wait, of this process; made if need be.

        Beside it is room for those that are just coming.
        """
        from tracker.sync.waiting_files import waiting_folder

        return waiting_folder(self._ledger.database)

    def forget_files(self) -> None:
        """Delete the files that this process was sent, and those of servers that were killed."""
        from tracker.sync.waiting_files import forget_own_files

        forget_own_files(self._ledger.database)
