"""Signing in and out, by a password."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from tracker.web.identity import Identity, Role, needs
from tracker.web.request import AskedLedger
from tracker.web.templating import link_to, page

if TYPE_CHECKING:
    from tracker.projects.users import UserInfo

router = APIRouter(include_in_schema=False)
LOG = logging.getLogger("tracker.web.access")
_AT_ONCE = threading.BoundedSemaphore(2)  # comparing a password takes 64 MiB on purpose
_LONGEST = 2000  # characters of what is typed
Typed = Annotated[str, Form(max_length=_LONGEST)]


@router.get("/sign-in", dependencies=[needs(Role.EVERYONE)])
def sign_in_page(request: Request, next: str = "") -> Response:  # noqa: A002 - its name outside
    """Ask for a name and a password; who is signed in goes on."""
    if request.state.identity is not None:
        return RedirectResponse(_onward(request, request.state.identity, next), 303)
    return sign_in_form(request, next)


@router.post("/sign-in", dependencies=[needs(Role.EVERYONE)])
def sign_in(
    request: Request,
    asked: AskedLedger,
    name: Typed = "",
    password: Typed = "",
    next: Typed = "",  # noqa: A002
) -> Response:
    """Begin a session, or ask again."""
    name = name.strip()
    address = request.client.host if request.client else ""
    wait = request.app.state.attempts.begin(name, address)
    if wait:
        LOG.warning("sign-in from %s: too many attempts", address)
        told = f"Too many attempts. Try again in {-(-wait // 60)} minutes."
        later = sign_in_form(request, next, name, told, status=429)
        later.headers["retry-after"] = str(wait)
        return later
    with _AT_ONCE:
        user = asked.ledger.users.with_password(name, password)
    if user is None:
        # A name that nobody has may be a password, typed into the wrong field.
        known = name in {one.name for one in asked.ledger.users.list()}
        LOG.warning("sign-in from %s failed: %r", address, name if known else "(unknown)")
        return sign_in_form(request, next, name, "Name or password is wrong.", status=403)
    request.app.state.attempts.succeed(name, address)
    return go_on(request, user, next)


@router.post("/sign-out", dependencies=[needs(Role.ANNOTATOR)])
def sign_out(request: Request, asked: AskedLedger) -> Response:
    """End all sessions of the user: a cookie that somebody copied is worth nothing, either."""
    who: Identity = request.state.identity
    if who.user is not None and who.session is not None:
        asked.ledger.users.end_sessions(who.user)
        LOG.info("sign-out: %r", who.name)
    answer = RedirectResponse(link_to(request.scope.get("root_path", ""), "sign-in"), 303)
    request.app.state.sessions.end(request, answer)
    return answer


def go_on(request: Request, user: UserInfo, asked: str) -> RedirectResponse:
    """Return the answer to who signed in: a session, and the page that they asked for."""
    LOG.info("sign-in from %s: %r", request.client.host if request.client else "", user.name)
    identity = Identity(user.name, Role[user.role.upper()])
    answer = RedirectResponse(_onward(request, identity, asked), 303)
    request.app.state.sessions.begin(request, answer, user.id, user.session)
    return answer


def sign_in_form(
    request: Request, onward: str = "", name: str = "", told: str = "", *, status: int = 200
) -> HTMLResponse:
    """Return the page that asks who somebody is, with what is wrong with what they said."""
    elsewhere = request.app.state.oidc is not None
    return page(request, "sign_in.html", status=status, onward=onward, name=name, told=told,
                elsewhere=elsewhere)  # fmt: skip


def _onward(request: Request, who: Identity, asked: str) -> str:
    """Return where to go on: to the page that was asked for, if it is one of ours.

    Who may see their own page only is led there, whatever they asked for.
    """
    root = request.scope.get("root_path", "")
    if who.sees_projects and is_local_path(asked) and asked.startswith(f"{root}/"):
        return asked
    return link_to(root, "" if who.sees_projects else "me")


def is_local_path(text: str) -> bool:
    """Return whether a browser takes a text for a path at the same site, and for nothing else."""
    signs = text.isprintable() and "\\" not in text and " " not in text
    return signs and text.startswith("/") and not text.startswith("//")
