"""Requests with a key: sent again, one is answered as before, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from hashlib import sha256
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Header, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel

from tracker.web.identity import SAFE

if TYPE_CHECKING:
    from tracker.web.api.answering import Answering

_Endpoint = Callable[..., Any]

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
_UNDER_WAY = {409: {"description": "The first request with this key is under way."}}


class KeyedRoute(APIRoute):
    """A route that takes a key if it changes something; one that reads has no need of it.

    An endpoint that has a ``key`` of its own asks `answered_once` itself.
    """

    def __init__(self, path: str, endpoint: _Endpoint, **options: Any) -> None:
        """Take what FastAPI does."""
        if not set(options.get("methods") or {"GET"}) <= SAFE:
            options["responses"] = {**_UNDER_WAY, **(options.get("responses") or {})}
            if "key" not in signature(endpoint).parameters:
                endpoint = _keyed(endpoint)
        super().__init__(path, endpoint, **options)


def stores_nothing(endpoint: _Endpoint) -> _Endpoint:
    """Mark what a route does as no change of the ledger: it holds up no other that writes."""
    endpoint.stores = False  # type: ignore[attr-defined]
    return endpoint


def _keyed(endpoint: _Endpoint) -> _Endpoint:
    """Return an endpoint that takes a key, too; what it is sent is bodies or bytes."""
    known = signature(endpoint, eval_str=True)
    own = {"request": Request, "key": Key}
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind,
                  default=None if name == "key" else Parameter.empty)
        for name, kind in own.items() if name not in known.parameters
    ]  # fmt: skip
    stores = getattr(endpoint, "stores", True)

    @wraps(endpoint)
    def once(request: Request, key: str | None, **given: Any) -> Response:
        if "request" in known.parameters:
            given["request"] = request
        said = [repr(body.model_dump() if isinstance(body, BaseModel) else body).encode()
                for body in given.values() if isinstance(body, BaseModel | bytes)]  # fmt: skip
        # What is taken back again has a transaction of its own.
        dry = any(getattr(sent, "dry_run", False) for sent in given.values())
        return answered_once(
            request,
            given["answer"],
            key,
            said,
            lambda: endpoint(**given),
            stores=stores and not dry,
        )

    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in known.parameters.values()]
    once.__signature__ = known.replace(parameters=[*parameters, *more])  # type: ignore[attr-defined]
    return once


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
