"""Where a request that changes something waits for its turn, before it takes a thread."""

from __future__ import annotations

import asyncio
import random
from time import monotonic
from weakref import WeakValueDictionary

from fastapi import Request

from tracker.core.errors import WAIT_LONGER, DatabaseUnusable
from tracker.ledger import Ledger

RETRY_AFTER = 2
"""Seconds after which a request that had no turn is worth another try."""
_PATIENCE = {True: (2.0, 3.0), False: (9.0, 10.0)}  # seconds for a turn and a lock, drawn between
# these, of an answer and of all else: requests that came together are not all refused together.
_TURNS = {True: 1, False: 8}  # at once in a project, or in a file, of the same two
_AT_ONCE = 20  # in all: half of the threads, so that whoever reads finds one


class WaitingRoom:
    """The turns of requests that write, in the order in which they came.

    They wait without a thread. A lock that another program holds then stops no request that reads,
    and on Postgres none in another project.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._one_writer = ledger.database.file is not None
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._rooms: WeakValueDictionary[object, asyncio.Semaphore] = WeakValueDictionary()

    async def enter(self, request: Request, *, brief: bool) -> None:
        """Wait for a turn, which ends with the request's `turn`; ``brief`` is for an answer.

        Raises DatabaseUnusable if it does not come in time. What is left of the time is for locks.
        """
        project = None if self._one_writer else request.path_params.get("project")
        room = self._rooms.setdefault((project, brief), asyncio.Semaphore(_TURNS[brief]))
        seconds = random.uniform(*_PATIENCE[brief])  # noqa: S311 - no secret
        until = monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                for turns in (room, self._turns):
                    await turns.acquire()
                    request.state.turn.callback(turns.release)
        except TimeoutError:
            raise DatabaseUnusable("others are writing", WAIT_LONGER) from None
        request.state.wait = max(0.1, until - monotonic())
