"""How a route of the interface answers: as JSON, as the commands print it, with a tag."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError

from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.projects.names import near_names
from tracker.render.formats import json_lines
from tracker.web.api.keyed import KeyedRoute
from tracker.web.api.names import PREFIX
from tracker.web.asking import Asked, AskedLedger
from tracker.web.identity import Role, needs

CACHING = {"cache-control": "private, no-cache"}
"""A copy may be kept, and is asked about each time."""


def resource(tag: str) -> APIRouter:
    """Return the routes of a resource, to be added to; ``tag`` is where the description has it."""
    return APIRouter(prefix=PREFIX, tags=[tag], route_class=KeyedRoute)


async def known_parameters(request: Request) -> None:
    """Raise RequestValidationError for a parameter that the route does not have."""
    known = _parameters(request.scope["route"].dependant)
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


def _parameters(dependant: Dependant) -> list[str]:
    """Return the names of a route's parameters, those of its parts too."""
    names = [one.alias for one in dependant.query_params]
    return names + [name for part in dependant.dependencies for name in _parameters(part)]


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


def json_text(told: Any) -> bytes:
    """Return a result as the commands print it with --json."""
    return ("\n".join(json_lines(told)) + "\n").encode()


class Answering:
    """Makes the answer to one request.

    Attributes:
        ledger: the ledger, whose reservations go along with the answer.
    """

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

    def rows(self, project: str, compute: Callable[[Ledger], Any], **headers: str) -> Response:
        """Answer likewise with rows, of which there may be too many to keep."""
        return self._rows(self._tag(project, ()), compute, headers)

    def of_all(self, compute: Callable[[Ledger], Any], **headers: str) -> Response:
        """Answer with what is asked of all projects."""
        revisions = {} if self.ledger.is_missing else self.ledger.revisions()
        tag = self._tag_of(*(part for pair in sorted(revisions.items()) for part in pair))
        return self._rows(tag, compute, headers)

    def _rows(
        self, tag: str, compute: Callable[[Ledger], Any], headers: Mapping[str, str]
    ) -> Response:
        if self._has(tag):
            return self._unchanged(tag)
        response = self._response(json_text(compute(self.ledger)), tag)
        response.headers.update(headers)
        return response

    def done(self, told: Any, status: int = 200) -> Response:
        """Answer with what a change came to."""
        return self._response(json_text(told), None, status)

    def made(self, told: Any, *place: str, status: int = 201) -> Response:
        """Answer with what was made, and its address in the interface."""
        response = self._response(json_text(told), None, status)
        root = self._request.scope.get("root_path", "")
        segments = "/".join(quote(part, safe="") for part in place)
        response.headers["location"] = f"{root}{PREFIX}/{segments}"
        return response

    @property
    def by(self) -> str:
        """The name of the one who asks."""
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
        """Return whether the one who asks has it."""
        given = self._request.headers.get("if-none-match", "")
        return tag.removeprefix("W/") in {
            one.strip().removeprefix("W/") for one in given.split(",")
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
