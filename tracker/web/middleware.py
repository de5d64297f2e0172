"""The path at which a proxy serves the application, whether the proxy passes it on or not."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, suppress
from functools import partial
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger
from tracker.web.errors import http_error, path_of, tracker_error
from tracker.web.identity import (
    LOCAL,
    SAFE,
    SIGN_IN_FIRST,
    Identity,
    NotAdmitted,
    Role,
    Sessions,
    comes_from_elsewhere,
    is_of_our_page,
    is_this_machine,
)
from tracker.web.mlflow import is_signed_message
from tracker.web.sign_in import Access


class BehindPath:
    """Tells the application the path that stands before all of its own."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root_path = root_path.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._root_path:
            scope = {**scope, "root_path": self._root_path}
        await self._app(scope, receive, send)


# -- How much a request may send: little from somebody unknown, more where files are taken --------


_KNOWN, _UNKNOWN = 20_000_000, 1_000_000  # bytes


class Body:
    """Receives what a request sends, up to a number of bytes; then raises 413."""

    def __init__(self, request: Request, *, known: bool) -> None:
        length = request.headers.get("content-length", "0")
        self._receive = request.receive
        self._length = int(length) if length.isdecimal() else 0
        self._most, self._why = _KNOWN if known else _UNKNOWN, ""
        self._seen = 0

    def allow(self, most: int, why: str) -> None:
        """Let it have another number of bytes; ``why`` says what that depends on."""
        self._most, self._why = most, f": {why}"

    async def __call__(self) -> Message:
        message = {} if self._length > self._most else await self._receive()
        self._seen += len(message.get("body", b""))
        if max(self._length, self._seen) > self._most:
            raise HTTPException(413, f"more than {self._most:,} bytes{self._why}")
        return message


# -- What stands before all routes: who asks, and whether the request was made by one of our pages


_OPEN = ("/static/", "/style.css", "/healthz")
"""Paths at which nobody is asked who they are; no route of theirs may need to know."""
SIGN_IN = "/sign-in"


class Guard:
    """Lets a request through with its ``identity``, or answers in place of the routes."""

    def __init__(self, app: ASGIApp, *, ledger: Ledger, access: Access, sessions: Sessions) -> None:
        self._app = app
        self._ledger = ledger
        self._access = access
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        request.state.identity = None
        try:
            _check_host(request)
            if not path_of(request).startswith(_OPEN):
                request.state.identity = await run_in_threadpool(self._admitted, request)
                request.state.ask_again = partial(self._still, request)
        except (HTTPException, TrackerError) as error:
            shown = http_error if isinstance(error, HTTPException) else tracker_error
            await shown(request, error)(scope, receive, send)
            return
        request.state.body = Body(request, known=request.state.identity is not None)
        with ExitStack() as request.state.turn:  # see `WaitingRoom`
            await self._app(scope, request.state.body, send)

    def _still(self, request: Request) -> Identity | None:
        """Return who asks by now, in a request that lasts; None if they may not any more."""
        with suppress(HTTPException):
            return self._admitted(request)
        return None

    def _admitted(self, request: Request) -> Identity | None:
        """Return who asks; raises HTTPException for what may not be asked by anybody."""
        bearer = _bearer(request)
        if bearer is not None:
            return self._of_token(bearer)
        if is_signed_message(request):
            return None  # its route checks the signature
        if request.method not in SAFE:
            _check_origin(request)
        session = self._sessions.read(request)
        if session is not None:
            user = self._ledger.users.of_session(session.user, session.number)
            if user is not None:
                role = Role[user.role.upper()]
                return Identity(user.name, role, user.id, user.annotators, session)
        if self._access.at_this_machine and not self._ledger.users.any():
            _check_machine(request)
            return LOCAL
        if request.method not in SAFE and path_of(request) != SIGN_IN:
            raise NotAdmitted(401, "sign in first", SIGN_IN_FIRST)  # before its body is read
        return None

    def _of_token(self, secret: str) -> Identity:
        used = self._ledger.tokens.use(secret)
        if used is None:
            raise NotAdmitted(
                401, "there is no such token, or its time is over", "make one: tracker token add"
            )
        user = used.user
        return Identity(
            user.name, Role[used.role.upper()], user.id, user.annotators,
            of_user=Role[user.role.upper()],
        )  # fmt: skip


def _bearer(request: Request) -> str | None:
    """Return the token that a program shows; raises HTTPException for another way to sign in."""
    given = request.headers.get("authorization")
    if given is None:
        return None
    way, _, secret = given.strip().partition(" ")
    if way.lower() != "bearer" or not secret.strip():
        raise NotAdmitted(401, "this is no token", SIGN_IN_FIRST)
    return secret.strip()


def _check_origin(request: Request) -> None:
    """Raise 403 if a browser says that another site's page asks; not of what is no browser."""
    if is_of_our_page(request) is False:
        raise NotAdmitted(403, "another site asked for this", "open the page here, and ask there")


def _check_host(request: Request) -> None:
    """Raise 400 for a host that is none: an address made of it would lead elsewhere, or fail."""
    host = request.headers.get("host", "")
    try:
        parts = urlsplit(f"//{host}")
        fit = parts.netloc == host and parts.port != 0
    except ValueError:
        fit = False
    if not fit:
        raise HTTPException(400, "the header Host names no host")


def _check_machine(request: Request) -> None:
    """Raise 403 unless somebody at this machine asks, by a name that only it has.

    A name of another's would be one that leads here for a moment (DNS rebinding), so that their
    page may read ours.
    """
    host = request.headers.get("host", "")
    if not is_this_machine(urlsplit(f"//{host}").hostname or ""):
        raise NotAdmitted(
            403, f"there are no users: it cannot be asked for at {host}",
            "open it at http://127.0.0.1",
        )  # fmt: skip
    if request.client is not None and comes_from_elsewhere(request.client.host):
        raise NotAdmitted(
            403, "there are no users: only this machine may ask",
            "add one: tracker user add NAME --role admin",
        )  # fmt: skip


# -- HEAD, answered like GET without a body: for programs that only ask whether a page is there ---


class HeadAsGet:
    """Has the routes see GET where HEAD was asked for, and keeps what they answer but the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # At once: a stream of events has no end of its own, and is told of this one.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app({**scope, "method": "GET"}, receive, without_body)


# -- What every response says to browsers: no script but ours, no other site, no guess at types ---


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


def policy_with_media(origins: Iterable[str]) -> str:
    """Return the policy of a page that shows pictures, sound and films of other hosts, too."""
    hosts = " ".join(sorted(origins))
    if not hosts:
        return POLICY
    return POLICY.replace(
        "img-src 'self' data:", f"img-src 'self' data: {hosts}; media-src {hosts}"
    )


_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class SecureHeaders:
    """Adds the headers to each response that does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
