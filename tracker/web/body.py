"""How much a request may send: little from somebody unknown, more where files are taken."""

from __future__ import annotations

from fastapi import HTTPException, Request
from starlette.types import Message

_KNOWN, _UNKNOWN = 20_000_000, 1_000_000  # bytes


class Body:
    """Receives what a request sends, up to a number of bytes; then raises 413."""

    def __init__(self, request: Request, *, known: bool) -> None:
        """``known``: it is known who asks."""
        length = request.headers.get("content-length", "0")
        self._receive = request.receive
        self._length = int(length) if length.isdecimal() else 0
        self._most, self._why = _KNOWN if known else _UNKNOWN, ""
        self._seen = 0

    def allow(self, most: int, why: str) -> None:
        """Let it have another number of bytes; ``why`` says what that depends on."""
        self._most, self._why = most, f": {why}"

    async def __call__(self) -> Message:
        """Return the next part."""
        message = {} if self._length > self._most else await self._receive()
        self._seen += len(message.get("body", b""))
        if max(self._length, self._seen) > self._most:
            raise HTTPException(413, f"more than {self._most:,} bytes{self._why}")
        return message
