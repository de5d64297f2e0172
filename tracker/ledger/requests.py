"""`ledger.requests`: what programs sent with a key, so that they may send it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tracker.ledger.namespace import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from tracker.sync.idempotency import KeptAnswer

Keep = Callable[[int, str | None, str], None]
"""Given the status of an answer, its address and its body."""


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
