"""What programs show in place of a password: the reader's own tokens, an administrator's all."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel

from tracker.core.errors import NotFound, Refused, TrackerError
from tracker.ledger.tokens import COLUMNS
from tracker.ledger.users import ROLES
from tracker.web.errors import error_status
from tracker.web.identity import Identity, Role, needs
from tracker.web.request import Asked, AskedLedger
from tracker.web.templating import page, see_page

router = APIRouter(include_in_schema=False)
_SIGNED_IN = [needs(Role.ANNOTATOR)]


class NewToken(BaseModel):
    """What a form says of a new token."""

    name: str = ""
    role: str = "viewer"
    user: str = ""
    expires: str = ""


@router.get("/tokens", dependencies=_SIGNED_IN)
def tokens_page(request: Request, asked: AskedLedger) -> HTMLResponse:
    return _tokens(request, asked)


def _tokens(
    request: Request,
    asked: Asked,
    *,
    problem: TrackerError | None = None,
    form: NewToken | None = None,
    secret: str | None = None,
) -> HTMLResponse:
    """Return the page; ``problem`` is why a form was refused, ``form`` what it said.

    ``secret`` is that of a token that was just made.
    """
    who: Identity = request.state.identity
    is_admin = who.role is Role.ADMIN
    rows = [token.to_dict() for token in asked.ledger.tokens.list()]
    users = [user.name for user in asked.ledger.users.list()] if is_admin else [who.name]
    roles = [role for role in ROLES.split("|") if Role[role.upper()] <= who.role]
    return page(
        request, "tokens.html", columns=COLUMNS, users=users, roles=roles,
        rows=[row for row in rows if is_admin or row["user"] == who.name],
        form=form or NewToken(user=who.name), secret=secret, problem=problem,
        status=200 if problem is None else error_status(problem),
    )  # fmt: skip


@router.post("/tokens", dependencies=_SIGNED_IN)
def add_token(
    request: Request, asked: AskedLedger, form: Annotated[NewToken, Form()]
) -> HTMLResponse:
    """Make a token; the page that answers shows its secret, and no other ever does."""
    who: Identity = request.state.identity
    user = form.user if who.role is Role.ADMIN else who.name
    try:
        if who.of_user is not None:
            raise Refused("a token makes no other tokens", "sign in in a browser")
        token = asked.ledger.tokens.add(form.name, form.role, user, expires=form.expires or None)
    except TrackerError as error:
        return _tokens(request, asked, problem=error, form=form)
    return _tokens(request, asked, secret=token.secret)


@router.post("/tokens/{token:name}/revoke", dependencies=_SIGNED_IN)
def revoke_token(request: Request, asked: AskedLedger, token: str) -> Response:
    """Revoke a token: from now on it is worth nothing."""
    who: Identity = request.state.identity
    tokens = asked.ledger.tokens
    own = {row.name for row in tokens.list() if row.user == who.name}
    try:
        if who.role is not Role.ADMIN and token not in own:
            raise NotFound(f"you have no token {token!r}")
        tokens.revoke(token)
    except TrackerError as error:
        return _tokens(request, asked, problem=error)
    return see_page(request, "tokens")
