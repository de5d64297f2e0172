"""What the serving process does by itself: send messages to webhooks, forget who was erased."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from fastapi.concurrency import run_in_threadpool

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger

_EVERY = 5.0  # seconds between looks at the database


@asynccontextmanager
async def delivering(ledger: Ledger, forget: Callable[[], None]) -> AsyncIterator[None]:
    """Deliver what is due, again and again, until the block ends.

    ``forget`` is called after an erasure, whoever made it.
    """
    task = asyncio.create_task(_deliver(ledger, forget))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _deliver(ledger: Ledger, forget: Callable[[], None]) -> None:
    erasures: int | None = None
    while True:
        with suppress(TrackerError):
            before, erasures = erasures, await run_in_threadpool(ledger.annotators.erasures)
            if before is not None and before != erasures:
                forget()
            await run_in_threadpool(ledger.requests.purge)
        await asyncio.sleep(_EVERY)
        with suppress(TrackerError):  # busy, or gone: the next time will tell
            await run_in_threadpool(ledger.webhooks.deliver)
