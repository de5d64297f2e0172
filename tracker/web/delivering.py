"""Messages to webhooks, sent by the serving process."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi.concurrency import run_in_threadpool

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger

_EVERY = 5.0  # seconds between looks at the database


async def deliver_until(ledger: Ledger, stopping: asyncio.Event) -> None:
    """Deliver what is due, again and again, until the server stops."""
    while not stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _EVERY)
            return
        with suppress(TrackerError):  # busy, or gone: the next time will tell
            await run_in_threadpool(ledger.webhooks.deliver)
