"""Signing in: by password, by OpenID Connect, and who may see which page."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from itsdangerous import BadSignature
from starlette.responses import Response

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.identity import Identity, Role, Sessions, is_this_machine, needs
from tracker.web.request import AskedLedger
from tracker.web.templating import link_to, page, page_address, see_page

if TYPE_CHECKING:
    from tracker.projects.users import UserInfo

router = APIRouter(include_in_schema=False)
LOG = logging.getLogger("tracker.web.sign_in")
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
    name = name.strip()
    address = request.client.host if request.client else ""
    wait = request.app.state.attempts.begin(name, address)
    if wait:
        LOG.warning("sign-in from %s: too many attempts", address)
        sentence = f"Too many attempts. Try again in {-(-wait // 60)} minutes."
        later = sign_in_form(request, next, name, sentence, status=429)
        later.headers["retry-after"] = str(wait)
        return later
    with _AT_ONCE:
        user = asked.ledger.users.with_password(name, password)
    if user is None:
        # A name that nobody has may be a password, typed into the wrong field.
        known = name in {user.name for user in asked.ledger.users.list()}
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
    answer = see_page(request, "sign-in")
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
    request: Request, onward: str = "", name: str = "", message: str = "", *, status: int = 200
) -> HTMLResponse:
    """Return the page that asks who somebody is, with what is wrong with what they said."""
    elsewhere = request.app.state.oidc is not None
    return page(request, "sign_in.html", status=status, onward=onward, name=name, message=message,
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


# -- Signing in at a service that knows the users (OpenID Connect): discovery, PKCE, state, nonce -


_COOKIE = "tracker_oidc"
_SECONDS = 600
"""How long somebody may take to sign in there."""


@dataclass(frozen=True)
class Oidc:
    """A service at which users sign in; without ``new_role`` who is unknown stays outside."""

    issuer: str
    client_id: str
    client_secret: str | None = None
    new_role: str | None = None

    def client(self) -> Any:
        from authlib.integrations.starlette_client import OAuth

        described = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        return OAuth().register(
            "oidc", client_id=self.client_id, client_secret=self.client_secret,
            server_metadata_url=described,
            client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
        )  # fmt: skip


def checked_service(
    issuer: str | None, client_id: str | None, secret: str | None, new_role: str | None
) -> Oidc | None:
    """Return the service that options name, if they do; raises InvalidOption for half of one."""
    if issuer is None and client_id is None and new_role is None:
        return None
    if not issuer or not client_id:
        raise InvalidOption("--oidc-issuer and --oidc-client-id go together", "give both")
    where = urlsplit(issuer)
    if where.scheme != "https" and not is_this_machine(where.hostname or ""):
        raise InvalidOption(f"--oidc-issuer {issuer!r} is not at https://", "name such an address")
    if new_role is not None and new_role.upper() not in {role.name for role in Role if role}:
        raise InvalidOption(f"there is no role {new_role!r}", "choose one, such as: viewer")
    return Oidc(issuer, client_id, secret, new_role)


@router.get("/sign-in/oidc", dependencies=[needs(Role.EVERYONE)])
async def begin(request: Request, next: str = "") -> Response:  # noqa: A002 - its name outside
    """Send somebody to the service; what to hold its answer against goes along in a cookie."""
    service = _service(request)
    request.scope["session"] = {}
    back = page_address(request, "sign-in", "oidc", "back")
    back = f"{request.url.scheme}://{request.url.netloc}{back}"
    try:
        client = service.client()
        described = await client.load_server_metadata()
        if str(described.get("issuer", "")).rstrip("/") != service.issuer.rstrip("/"):
            raise ValueError("the service calls itself something else")
        answer: Response = await client.authorize_redirect(request, back)
    except Exception as error:
        return _failed(request, error, 502)
    kept = await run_in_threadpool(_sessions(request).signer, "oidc")
    value = str(kept.dumps([request.scope["session"], next]))
    _sessions(request).put_cookie(request, answer, _COOKIE, value, _SECONDS)
    return answer


@router.get("/sign-in/oidc/back", dependencies=[needs(Role.EVERYONE)])
async def end(request: Request) -> Response:
    """Begin a session for whom the service vouches, if they are a user."""
    service = _service(request)
    signer = await run_in_threadpool(_sessions(request).signer, "oidc")
    try:
        cookie = _sessions(request).cookie(request, _COOKIE) or ""
        request.scope["session"], onward = signer.loads(cookie, max_age=_SECONDS)
        claims = (await service.client().authorize_access_token(request))["userinfo"]
    except BadSignature as error:
        return _failed(request, error, 403)
    except Exception as error:  # of the library, of what it is built on, of the network
        return _failed(request, error, 403)
    ledger: Ledger = request.app.state.ledger
    user = await run_in_threadpool(
        ledger.users.known_elsewhere, f"{service.issuer} {claims['sub']}", names_of(claims),
        new_role=service.new_role,
    )  # fmt: skip
    if user is None:
        LOG.warning("sign-in at %s: no user without a password has that name", service.issuer)
        return sign_in_form(request, message="You are not a user here.", status=403)
    answer = await run_in_threadpool(go_on, request, user, str(onward))
    _sessions(request).put_cookie(request, answer, _COOKIE, "", 0)
    return answer


def names_of(claims: dict[str, Any]) -> list[str]:
    """Return the names that somebody may have here; an address counts if the service checked it."""
    named = [claims.get("preferred_username")]
    named += [claims.get("email")] if claims.get("email_verified") is True else []
    return [name.strip() for name in named if isinstance(name, str) and name.strip()]


def _service(request: Request) -> Oidc:
    service: Oidc | None = request.app.state.oidc
    if service is None:
        raise HTTPException(404)
    return service


def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


def _failed(request: Request, error: Exception, status: int) -> Response:
    """Return the form again; what went wrong may quote secrets, so its kind is all that is kept."""
    LOG.warning("sign-in at another service failed: %s", type(error).__name__)
    return sign_in_form(request, message="Signing in there did not work. Try again.", status=status)


# -- How a server finds out who asks: what it was started with ------------------------------------


_SHORTEST_KEY = 32


@dataclass(frozen=True)
class Access:
    """Whom a server lets in: ``at_this_machine`` without users anyone, who may do everything.

    Sessions are signed with ``secret_key``, or the key in the database.
    """

    at_this_machine: bool = True
    secret_key: str | None = None
    oidc: Oidc | None = None


HERE_ONLY = Access()
"""A server that only this machine can reach."""


def checked_access(
    ledger: Ledger, host: str, *, secret_key: str | None, oidc: Oidc | None = None
) -> Access:
    """Return whom a server at an address lets in.

    Raises InvalidOption if everybody could come and there are no users, and for a short key.
    """
    here = is_this_machine(host)
    if not here and not ledger.users.any():
        raise InvalidOption(
            f"{host} can be reached from elsewhere, and there are no users to sign in",
            "add one: tracker user add NAME --role admin",
        )
    if secret_key is not None and len(secret_key) < _SHORTEST_KEY:
        raise InvalidOption(
            f"TRACKER_SECRET_KEY has {len(secret_key)} characters",
            f"make one of {_SHORTEST_KEY} or more, such as by: openssl rand -hex 32",
        )
    return Access(at_this_machine=here, secret_key=secret_key, oidc=oidc)
