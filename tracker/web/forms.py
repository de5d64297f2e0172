"""Who is shown a form, and what it holds that another site's cannot (cross-site forgery)."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from fastapi import Request
from fastapi.routing import APIRoute
from markupsafe import Markup
from starlette.routing import Match

from tracker.web.identity import CSRF_FIELD, Identity, Needs


def may_post(request: Request, address: str) -> bool:
    """Return whether the reader may send a form to one of our addresses: what its route needs."""
    identity: Identity | None = getattr(request.state, "identity", None)
    root = request.scope.get("root_path", "")
    path = unquote(urlsplit(address).path).removeprefix(root)
    asked = {"type": "http", "method": "POST", "path": path}
    matching = (
        candidate for candidate in request.app.routes if candidate.matches(asked)[0] is Match.FULL
    )
    route = next(matching, None)
    if identity is None or not isinstance(route, APIRoute):
        return False
    conditions = (dependency.call for dependency in route.dependant.dependencies)
    return all(
        identity.role >= condition.role for condition in conditions if isinstance(condition, Needs)
    )


def filled_lines(text: str) -> list[str]:
    """Return the lines of a field that takes several values, without the empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def csrf_token(request: Request) -> str:
    """Return what the forms of a session hold; nothing without one."""
    identity: Identity | None = getattr(request.state, "identity", None)
    if identity is None or identity.session is None:
        return ""
    token: str = request.app.state.sessions.csrf_token(identity.session)
    return token


def csrf_field(request: Request) -> Markup:
    token = csrf_token(request)
    field = Markup('<input type="hidden" name="{}" value="{}">')
    return field.format(CSRF_FIELD, token) if token else Markup("")
