"""Errors as responses: a page for people, a problem document (RFC 9457) for programs."""

from __future__ import annotations

import logging
import re
from http import HTTPStatus
from typing import Any, NotRequired, TypedDict, cast
from urllib.parse import quote, urlsplit, urlunsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tracker.core.errors import (
    WAIT_LONGER,
    CheckFailed,
    DatabaseUnusable,
    InvalidOption,
    NotFound,
    Refused,
    TrackerError,
)
from tracker.core.kept import StillCounting
from tracker.formats.batch import Oddity, Rejection
from tracker.imports.loader import LooksOdd, Rejected
from tracker.web.identity import Identity
from tracker.web.request import Place, parameter_names, place_of
from tracker.web.templating import link_to, page
from tracker.web.waiting import RETRY_AFTER
from tracker.web.wording import for_form

_STATUS: dict[type[TrackerError], int] = {
    InvalidOption: 422,
    Refused: 422,
    NotFound: 404,
    CheckFailed: 409,
    DatabaseUnusable: 503,
}
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
API = "/api/"
_KINDS = "urn:annotation-tracker:problem:"
PHRASES = {status.value: status.phrase for status in HTTPStatus}
PHRASES |= {413: "Request Entity Too Large", 422: "Unprocessable Entity"}  # before Python 3.13
_OF_STATUS = {
    401: "not-signed-in", 403: "forbidden", 404: "not-found", 405: "method-not-allowed",
    413: "too-large",
}  # fmt: skip


class Problem(TypedDict):
    """What is wrong, and what to do about it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    mend: NotRequired[str]
    exit_code: NotRequired[int]
    rejections: NotRequired[list[Rejection]]
    odd: NotRequired[list[Oddity]]
    parameters: NotRequired[list[dict[str, Any]]]


_TITLES = {
    403: "Not for you", 404: "Not found", 409: "Not now", 413: "Too large",
    422: "That does not work", 500: "Something went wrong", 503: "The database is away",
}  # fmt: skip
"""Of pages; programs are told the phrase of the status."""
LOG = logging.getLogger("tracker.web.errors")
_BUSY = "others are writing; nothing was stored", "send it again in a few seconds"
_UNUSABLE = "the database cannot be used", "try again later; the server's log says why"


def add_error_responses(app: FastAPI) -> None:
    app.add_exception_handler(TrackerError, tracker_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(StillCounting, _still_counting)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, tracker_error)


def error_status(error: TrackerError) -> int:
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def problem_of(error: Exception) -> Problem:
    """Return an error as a problem document (RFC 9457).

    Where the database is, and why it fails, is for the log: without it nobody knows who asks.
    """
    if not isinstance(error, TrackerError):
        return _problem(500, f"internal error: {type(error).__name__}", "internal-error")
    if isinstance(error, DatabaseUnusable):
        LOG.error("%s", "; ".join(str(error).splitlines()))
        error = DatabaseUnusable(*(_BUSY if error.mend == WAIT_LONGER else _UNUSABLE))
    more = {"mend": error.mend, "exit_code": error.exit_code}
    if isinstance(error, Rejected):
        more["rejections"] = error.result.to_dict()["rejections"]
    if isinstance(error, LooksOdd):
        more["odd"] = error.result.to_dict()["odd"]
    kind = next(kind for kind in type(error).__mro__ if kind in _STATUS)
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()  # such as not-found
    return _problem(error_status(error), error.message, name, **more)


def tracker_error(request: Request, error: Exception) -> Response:
    response = _told(request, problem_of(error))
    if response.status_code == 503:
        response.headers["retry-after"] = str(RETRY_AFTER)
    return response


def http_error(request: Request, error: Exception) -> Response:
    """Return the answer to what may not be asked, or is not there; 401 leads people to sign in."""
    assert isinstance(error, HTTPException)
    if error.status_code == 401 and _is_browser(request):
        return _sign_in_first(request)
    detail = error.detail if error.detail != HTTPStatus(error.status_code).phrase else None
    message = detail or ("there is no such page" if error.status_code == 404 else None)
    kind = _OF_STATUS.get(error.status_code)
    mend = getattr(error, "mend", None)
    response = _told(request, _problem(error.status_code, message, kind, mend=mend))
    response.headers.update(error.headers or {})
    if error.status_code == 401:
        response.headers["www-authenticate"] = 'Bearer realm="tracker"'
    return response


def _sign_in_first(request: Request) -> Response:
    """Return a page's answer to somebody unknown: where to sign in, and to come back from there."""
    root = request.scope.get("root_path", "")
    if "hx-request" in request.headers:  # a part of a page: the whole one is to go there
        to = link_to(root, "sign-in", next=_shown_page(request) or None)
        return Response(status_code=401, headers={"hx-redirect": to})
    shown = request.url.query
    here = link_to(root)[:-1] + quote(path_of(request))
    back = f"{here}?{shown}" if shown else here
    to = link_to(root, "sign-in", next=back if request.method == "GET" else None)
    return RedirectResponse(to, 303)


def _shown_page(request: Request) -> str:
    """Return the path and query of the page that a part of it is for; nothing if it is unclear."""
    try:
        shown = urlsplit(request.headers.get("hx-current-url", ""))
    except ValueError:
        return ""
    return urlunsplit(("", "", shown.path, shown.query, ""))


def _is_browser(request: Request) -> bool:
    """Return whether somebody wants to see a page, and no program what is in it."""
    headers = request.headers
    wants_page = "text/html" in headers.get("accept", "") or "hx-request" in headers
    return wants_page and not path_of(request).startswith(API)


def path_of(request: Request) -> str:
    """Return the path that routes see: that behind which a proxy serves is not part of it."""
    path: str = request.scope["path"]
    return path.removeprefix(request.scope.get("root_path", ""))


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [
        {
            "in": str(fault["loc"][0]),
            "name": ".".join(map(str, fault["loc"][1:])),
            "reason": fault["msg"],
        }
        for fault in error.errors()
    ]
    message = "; ".join(f"{fault['name'] or fault['in']}: {fault['reason']}" for fault in faults)
    return _told(request, _problem(422, message, "invalid-request", parameters=faults))


def _still_counting(request: Request, error: Exception) -> Response:
    """Return a page that fetches the page or file that was asked for when it can be made."""
    name = request.path_params.get("project")
    asked = request.query_params
    place = name and place_of(name, asked.get("as_of"), asked.get("known_at"))
    tab = "".join(path_of(request).split("/")[3:4])
    return page(
        request, "counting.html", status=202, place=place or None, tab=tab, file=tab == "report",
        layout="of_project.html" if place else "base.html",
    )  # fmt: skip


def _problem(status: int, message: str | None, kind: str | None = None, **more: Any) -> Problem:
    title = PHRASES[status]
    known = {name: value for name, value in more.items() if value is not None}
    address = f"{_KINDS}{kind}" if kind else "about:blank"
    problem = {"type": address, "title": title, "status": status, "detail": message or title}
    return cast("Problem", problem | known)


def _told(request: Request, problem: Problem) -> Response:
    """Return a page, or a problem document."""
    status, title, message = problem["status"], problem["title"], problem["detail"]
    if path_of(request).startswith(API):
        mend = problem.get("mend")
        payload: Problem = problem | {"detail": _by_parameters(message, request)}
        if mend is not None:
            payload["mend"] = _by_parameters(mend, request)
        return JSONResponse(payload, status, media_type="application/problem+json")
    mend = for_form(problem.get("mend", ""))
    place = _project_of(request)
    title = _TITLES.get(status, title)
    return page(
        request, "error.html", status=status, title=title, mend=mend, place=place, tab=None,
        message=None if message == problem["title"] else message,
        layout="of_project.html" if place else "base.html",
    )  # fmt: skip


def _by_parameters(text: str, request: Request) -> str:
    """Return a text in which a command's option is the parameter of the request instead."""
    route = request.scope.get("route")
    known = {*request.query_params, *(parameter_names(route.dependant) if route else ())}

    def parameter(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return name if name in known else option[0]

    return _OPTION.sub(parameter, text)


def _project_of(request: Request) -> Place | None:
    """Return the project of a page, as it is now, if there is one and the reader may see it."""
    who: Identity | None = getattr(request.state, "identity", None)
    name = request.path_params.get("project")
    if name is None or who is None or not who.sees_projects:
        return None
    try:
        request.app.state.ledger.revision(name)
    except TrackerError:
        return None
    return Place(name)
