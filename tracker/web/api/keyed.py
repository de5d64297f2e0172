"""Requests with a key: sent again, one is answered as before, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Header, Request, Response

from tracker.web.api.answering import Answering

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Any text of your own, such as a UUID. Sent again within 24 hours, the request "
        "gets the same answer, with the header Idempotent-Replayed.",
        max_length=255,
        pattern="^[ -~]+$",
    ),
]
KEYED: dict[int | str, dict[str, Any]] = {
    409: {"description": "The first request with this key is under way."},
}


def answered_once(
    request: Request,
    answer: Answering,
    key: str | None,
    said: Iterable[bytes],
    do: Callable[[], Response],
    *,
    stores: bool = True,
    bulk: bool = False,
) -> Response:
    """Return what ``do`` answers, or what it answered to the same request with this key before.

    ``said`` is what the request says beside its address; ``stores``: what it does is stored, in one
    transaction with the answer; ``bulk``: it imports. Raises InvalidOption if the key was sent
    with another request, CheckFailed while the first is under way.
    """
    if key is None:
        return do()
    digest = sha256(f"{request.method} {request.url.path} {request.url.query}\0".encode())
    for part in said:
        digest.update(sha256(part).digest())
    requests = answer.ledger.requests
    kept = requests.begin(answer.by, key, digest.hexdigest())
    if kept is not None:
        headers = {"idempotent-replayed": "true"}
        if kept.location is not None:
            headers["location"] = kept.location
        return Response(kept.body, kept.status, headers, media_type="application/json")
    try:
        if not stores:
            response = do()
            requests.keep(answer.by, key, *_kept(response))
            return response
        with requests.ending(answer.by, key, bulk=bulk) as keep:
            response = do()
            keep(*_kept(response))
    except BaseException:
        requests.forget(answer.by, key)
        raise
    return response


def _kept(response: Response) -> tuple[int, str | None, str]:
    location = response.headers.get("location")
    return response.status_code, location, bytes(response.body).decode()
