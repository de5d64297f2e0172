"""Tells open pages that the ledger changed, whoever changed it (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger
from tracker.web.identity import Identity, Role, needs

router = APIRouter(include_in_schema=False)
_EVERY = 1.0  # seconds between looks at the database, while somebody listens
_RETRY = 2000  # milliseconds after which a browser comes again
_ALIVE = 15  # looks without a change after which a comment keeps proxies from hanging up


class Revisions:
    """The revisions of all projects, looked at once for all who listen."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen: dict[str, str] = {}
        self._looked = -_EVERY
        self._lock = asyncio.Lock()

    async def now(self) -> dict[str, str]:
        """Return the revision of each project, at most a second old."""
        async with self._lock:
            time = asyncio.get_running_loop().time()
            if time - self._looked >= _EVERY:
                with suppress(TrackerError):  # busy: the next look will tell
                    self._seen = await run_in_threadpool(self._ledger.revisions)
                self._looked = time
            return self._seen


@router.get("/events", dependencies=[needs(Role.VIEWER)])
async def events(request: Request) -> StreamingResponse:
    """Stream the names of projects that changed, as they change."""
    return StreamingResponse(
        _changes(request), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


def _may_listen(request: Request) -> bool:
    """Return whether who listens still may; that the database is busy does not end a stream."""
    with suppress(TrackerError):
        who: Identity | None = request.state.ask_again()
        return who is not None and who.sees_projects
    return True


async def _changes(request: Request) -> AsyncIterator[str]:
    revisions: Revisions = request.app.state.revisions
    known, quiet = await revisions.now(), 0
    yield f": listening\nretry: {_RETRY}\n\n"
    while not (await request.is_disconnected() or request.app.state.stopping.is_set()):
        await asyncio.sleep(_EVERY)
        if not await run_in_threadpool(_may_listen, request):
            return  # who comes again is told to sign in
        found = await revisions.now()
        changed = sorted(name for name in {*known, *found} if known.get(name) != found.get(name))
        known, quiet = found, quiet + 1
        if changed:
            yield f"event: changed\ndata: {json.dumps(changed)}\n\n"
        elif quiet >= _ALIVE:
            yield ": alive\n\n"
            quiet = 0
