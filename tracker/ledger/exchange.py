"""`ledger.webhooks` and `ledger.requests`: what passes between a ledger and other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tracker.ledger.namespaces import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from tracker.gate.evaluate import GateResult
    from tracker.sync.idempotency import KeptAnswer
    from tracker.sync.webhooks import NewWebhook, Sent, WebhookInfo

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
