"""What a form of ours holds and another site's cannot (cross-site request forgery)."""

from __future__ import annotations

from fastapi import Request
from markupsafe import Markup

from tracker.web.identity import CSRF_FIELD, Identity


def csrf_token(request: Request) -> str:
    """Return what the forms of a session hold; nothing without one."""
    identity: Identity | None = getattr(request.state, "identity", None)
    if identity is None or identity.session is None:
        return ""
    token: str = request.app.state.sessions.csrf_token(identity.session)
    return token


def csrf_field(request: Request) -> Markup:
    """Return the field that each form needs that changes something."""
    token = csrf_token(request)
    field = Markup('<input type="hidden" name="{}" value="{}">')
    return field.format(CSRF_FIELD, token) if token else Markup("")
