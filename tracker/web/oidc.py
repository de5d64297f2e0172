"""Signing in at a service that knows the users (OpenID Connect): discovery, PKCE, state, nonce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from itsdangerous import BadSignature
from starlette.responses import Response

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.identity import Role, Sessions, is_this_machine, needs
from tracker.web.sign_in import LOG, go_on, sign_in_form
from tracker.web.templating import link_to

router = APIRouter(include_in_schema=False)
_COOKIE = "tracker_oidc"
_SECONDS = 600
"""How long somebody may take to sign in there."""


@dataclass(frozen=True)
class Oidc:
    """A service at which users sign in.

    Attributes:
        issuer: its address, under which it describes itself.
        client_id: what it calls this server.
        client_secret: how this server proves that to it; None for a public client.
        new_role: the role of who is no user yet; None: they stay outside.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    new_role: str | None = None

    def client(self) -> Any:
        """Return what speaks to the service."""
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
    if new_role is not None and new_role.upper() not in {one.name for one in Role if one}:
        raise InvalidOption(f"there is no role {new_role!r}", "choose one, such as: viewer")
    return Oidc(issuer, client_id, secret, new_role)


@router.get("/sign-in/oidc", dependencies=[needs(Role.EVERYONE)])
async def begin(request: Request, next: str = "") -> Response:  # noqa: A002 - its name outside
    """Send somebody to the service; what to hold its answer against goes along in a cookie."""
    service = _service(request)
    request.scope["session"] = {}
    back = f"{request.url.scheme}://{request.url.netloc}{_link(request, 'sign-in', 'oidc', 'back')}"
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
        return sign_in_form(request, told="You are not a user here.", status=403)
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
    found: Sessions = request.app.state.sessions
    return found


def _link(request: Request, *parts: str) -> str:
    return link_to(request.scope.get("root_path", ""), *parts)


def _failed(request: Request, error: Exception, status: int) -> Response:
    """Return the form again; what went wrong may quote secrets, so its kind is all that is kept."""
    LOG.warning("sign-in at another service failed: %s", type(error).__name__)
    return sign_in_form(request, told="Signing in there did not work. Try again.", status=status)
