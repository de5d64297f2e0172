"""Messages to webhooks, sent by the serving process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi.concurrency import run_in_threadpool

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger

_EVERY = 5.0  # seconds between looks at the database


@asynccontextmanager
async def delivering(ledger: Ledger) -> AsyncIterator[None]:
    """Deliver what is due, again and again, until the block ends."""
    task = asyncio.create_task(_deliver(ledger))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _deliver(ledger: Ledger) -> None:
    while True:
        await asyncio.sleep(_EVERY)
        with suppress(TrackerError):  # busy, or gone: the next time will tell
            await run_in_threadpool(ledger.webhooks.deliver)
