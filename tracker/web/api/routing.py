"""Requests with a key: sent again, one is answered as before, and nothing is done twice."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import wraps
from hashlib import sha256
from inspect import Parameter, signature
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.projects.names import near_names
from tracker.render.formats import json_lines
from tracker.web.identity import SAFE, Role, needs
from tracker.web.request import Asked, AskedLedger, parameter_names

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

    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in known.parameters.values()
    ]
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


# -- Names in addresses: any name is one segment of a path, whatever it holds ---------------------


PREFIX = "/api/v1"


class NameSegments:
    """Has the routes of the interface see the slashes and percent signs of a name encoded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_of_interface(scope) and scope.get("raw_path"):
            raw = scope["raw_path"].decode("ascii", "replace")
            segments = (unquote(segment) for segment in raw.split("/"))
            path = "/".join(segment.replace("%", "%25").replace("/", "%2F") for segment in segments)
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def _is_of_interface(scope: Scope) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith(f"{PREFIX}/")


class SegmentConvertor(Convertor[str]):
    """A name as a segment of a path: ``{project:segment}``."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return value.replace("%2F", "/").replace("%25", "%")

    def to_string(self, value: str) -> str:
        return value.replace("%", "%25").replace("/", "%2F")


register_url_convertor("segment", SegmentConvertor())


# -- How a route of the interface answers: as JSON, as the commands print it, with a tag ----------


CACHING = {"cache-control": "private, no-cache"}
"""A copy may be kept, and is asked about each time."""


def resource(tag: str) -> APIRouter:
    """Return the routes of a resource, to be added to; ``tag`` is where the description has it."""
    return APIRouter(prefix=PREFIX, tags=[tag], route_class=KeyedRoute)


async def known_parameters(request: Request) -> None:
    """Raise RequestValidationError for a parameter that the route does not have."""
    known = parameter_names(request.scope["route"].dependant)
    faults = [
        {"loc": ("query", name), "msg": f"there is no such parameter{_near(name, known)}"}
        for name in dict.fromkeys(request.query_params)
        if name not in known
    ]
    if faults:
        raise RequestValidationError(faults)


def _near(name: str, known: Sequence[str]) -> str:
    near = near_names(name, known)
    return f"; {near}" if near else ""


def reads(operation: str, body: Any, role: Role = Role.VIEWER, **more: Any) -> dict[str, Any]:
    """Return what a route that reads says of itself; ``body`` is the type of what it answers."""
    return _route(operation, body, role, **more)


def writes(operation: str, body: Any, role: Role = Role.MANAGER, **more: Any) -> dict[str, Any]:
    """Return what a route that changes something says of itself."""
    return _route(operation, body, role, **more)


def _route(operation: str, body: Any, role: Role, **more: Any) -> dict[str, Any]:
    return {
        "operation_id": operation,
        "response_model": body,
        "dependencies": [needs(role), Depends(known_parameters)],
        **more,
    }


def json_text(payload: Any) -> bytes:
    """Return a result as the commands print it with --json."""
    return ("\n".join(json_lines(payload)) + "\n").encode()


class Answering:
    """Makes the answer to one request; the reservations of its ledger go along with it."""

    def __init__(self, request: Request, asked: Asked) -> None:
        self._request = request
        self._asked = asked
        self.ledger = asked.ledger

    def figure(
        self, project: str, compute: Callable[[Ledger], Any], *, of: Sequence[str] = ()
    ) -> Response:
        """Answer with a figure of a project, kept until something changes or a day is over.

        ``of`` are the other projects that it depends on. Nothing is computed for who has it.
        """
        tag = self._tag(project, of)
        if self._has(tag):
            return self._unchanged(tag)
        text = self._asked.figure(
            project, "api", tag, compute=lambda ledger: json_text(compute(ledger))
        )
        return self._response(text, tag)

    def rows(self, project: str, compute: Callable[[Ledger], Any]) -> Response:
        """Answer likewise with rows, of which there may be too many to keep."""
        return self._rows(self._tag(project, ()), compute)

    def page(
        self, project: str | None, compute: Callable[[Ledger], tuple[Any, str | int | None]]
    ) -> Response:
        """Answer likewise with a page of rows of a project, or of all.

        ``compute`` returns the page, and where the next one begins: a number, or a cursor.
        """
        links: dict[str, str] = {}

        def rows(ledger: Ledger) -> Any:
            payload, after = compute(ledger)
            links.update(_next_link(self._request, after))
            return payload

        response = self.of_all(rows) if project is None else self.rows(project, rows)
        response.headers.update(links)
        return response

    def of_all(self, compute: Callable[[Ledger], Any]) -> Response:
        """Answer with what is asked of all projects."""
        revisions = {} if self.ledger.is_missing else self.ledger.revisions()
        tag = self._tag_of(*(part for pair in sorted(revisions.items()) for part in pair))
        return self._rows(tag, compute)

    def _rows(self, tag: str, compute: Callable[[Ledger], Any]) -> Response:
        if self._has(tag):
            return self._unchanged(tag)
        return self._response(json_text(compute(self.ledger)), tag)

    def done(self, payload: Any, status: int = 200) -> Response:
        return self._response(json_text(payload), None, status)

    def made(self, payload: Any, *place: str, status: int = 201) -> Response:
        """Answer with what was made, and its address in the interface."""
        response = self._response(json_text(payload), None, status)
        root = self._request.scope.get("root_path", "")
        segments = "/".join(quote(part, safe="") for part in place)
        response.headers["location"] = f"{root}{PREFIX}/{segments}"
        return response

    @property
    def by(self) -> str:
        name: str = self._request.state.identity.name
        return name

    def _tag(self, project: str, of: Sequence[str]) -> str:
        return self._tag_of(*(self._asked.revision(name) for name in (project, *of)))

    def _tag_of(self, *revisions: str) -> str:
        """Return a tag of this request at these revisions, with this program, on this day."""
        asked = sorted(self._request.query_params.multi_items())
        day = datetime.now(UTC).date()
        said = repr((VERSION, day, self._request.url.path, asked, revisions))
        return f'W/"{sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]}"'

    def _has(self, tag: str) -> bool:
        given = self._request.headers.get("if-none-match", "")
        return tag.removeprefix("W/") in {
            tag.strip().removeprefix("W/") for tag in given.split(",")
        }

    def _unchanged(self, tag: str) -> Response:
        return Response(status_code=304, headers={"etag": tag, **CACHING})

    def _response(self, text: bytes, tag: str | None, status: int = 200) -> Response:
        response = Response(text, status, media_type="application/json")
        if tag is not None:
            response.headers.update({"etag": tag, **CACHING})
        for sentence in self._asked.notices:
            response.headers.append("tracker-notice", quote(sentence, safe=_PRINTABLE))
        return response


_PRINTABLE = "".join(map(chr, range(32, 127))).replace("%", "")


async def _answering(request: Request, asked: AskedLedger) -> Answering:
    return Answering(request, asked)


Answer = Annotated[Answering, Depends(_answering)]


# -- Long lists in pages: where one begins, and where the next ------------------------------------


_MOST = 10_000

Limit = Annotated[int, Query(description="The most rows of a page.", ge=1, le=_MOST)]
Cursor = Annotated[
    str | None, Query(description="Where the page begins; from the link of the one before.")
]


def page_start(cursor: str | None) -> int:
    """Return the number after which a page begins, 0 for the first; raises InvalidOption."""
    if cursor is None:
        return 0
    try:
        number = int(urlsafe_b64decode(cursor.encode("ascii")))
    except ValueError:
        number = -1
    if not 0 <= number <= LARGEST:
        raise InvalidOption(f"there is no page at cursor={cursor!r}", "take it from a Link")
    return number


def _next_link(request: Request, after: str | int | None) -> dict[str, str]:
    """Return the header with the address of the next page; none after the last."""
    if after is None:
        return {}
    cursor = after if isinstance(after, str) else urlsafe_b64encode(str(after).encode()).decode()
    asked = [item for item in request.query_params.multi_items() if item[0] != "cursor"]
    # As it was asked for: what routes see is decoded.
    path = request.scope["raw_path"].decode("ascii")
    return {"link": f'<{path}?{urlencode([*asked, ("cursor", cursor)])}>; rel="next"'}
