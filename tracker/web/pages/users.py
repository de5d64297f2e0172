"""Who may sign in, as what, and whose reports they see: the users, each with its forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel

from tracker.core.errors import InvalidOption, TrackerError
from tracker.ledger.users import COLUMNS, ROLES, user_row
from tracker.web.errors import error_status
from tracker.web.forms import filled_lines
from tracker.web.identity import Identity, Role, needs
from tracker.web.request import Asked, AskedLedger
from tracker.web.templating import page, see_page

router = APIRouter(include_in_schema=False)
_ADMINS = [needs(Role.ADMIN)]
_USER = "/users/{user:name}"


class NewUser(BaseModel):
    """What a form says of a new user."""

    name: str = ""
    role: str = "viewer"
    password: str = ""
    annotators: str = ""


@router.get("/users", dependencies=_ADMINS)
def users_page(request: Request, asked: AskedLedger) -> HTMLResponse:
    return _users(request, asked)


def _users(
    request: Request, asked: Asked, problem: TrackerError | None = None, form: NewUser | None = None
) -> HTMLResponse:
    """Return the page; ``problem`` is why a form was refused, ``form`` what it said."""
    users = asked.ledger.users.list()
    form = form or NewUser(role="viewer" if users else "admin")
    return page(
        request, "users.html", columns=COLUMNS, rows=[user_row(user) for user in users],
        annotators={user.name: [*map(str, user.annotators)] for user in users},
        roles=ROLES.split("|"), form=form, problem=problem,
        status=200 if problem is None else error_status(problem),
    )  # fmt: skip


def _after(
    request: Request, asked: Asked, act: Callable[[], object], form: NewUser | None = None
) -> Response:
    """Do something and lead back to the users; if it is refused, show them with why."""
    try:
        act()
    except TrackerError as error:
        return _users(request, asked, error, form)
    return see_page(request, "users")


@router.post("/users", dependencies=_ADMINS)
def add_user(request: Request, asked: AskedLedger, form: Annotated[NewUser, Form()]) -> Response:
    return _after(
        request, asked,
        lambda: asked.ledger.users.add(
            form.name, form.role, password=form.password or None,
            annotators=filled_lines(form.annotators),
        ),
        form,
    )  # fmt: skip


@router.post(f"{_USER}/set", dependencies=_ADMINS)
def set_user(
    request: Request,
    asked: AskedLedger,
    user: str,
    role: Annotated[str, Form()] = "",
    annotators: Annotated[str, Form()] = "",
) -> Response:
    """Give a user another role, or other annotators; what is as it was is left alone."""
    users, bound = asked.ledger.users, filled_lines(annotators)

    def change() -> None:
        now = users.show(user)
        other_role = None if role == now.role else role
        others = None if bound == [*map(str, now.annotators)] else bound
        if other_role is not None:
            _check_other(request, user, "change your own role")
        if other_role is not None or others is not None:
            users.set(user, role=other_role, annotators=others)

    return _after(request, asked, change)


@router.post(f"{_USER}/password", dependencies=_ADMINS)
def set_password(
    request: Request,
    asked: AskedLedger,
    user: str,
    password: Annotated[str, Form()] = "",
    remove: Annotated[bool, Form()] = False,
) -> Response:
    users = asked.ledger.users
    return _after(request, asked, lambda: users.set_password(user, None if remove else password))


@router.post(f"{_USER}/remove", dependencies=_ADMINS)
def remove_user(request: Request, asked: AskedLedger, user: str) -> Response:
    def remove() -> None:
        _check_other(request, user, "remove yourself")
        asked.ledger.users.remove(user)

    return _after(request, asked, remove)


def _check_other(request: Request, user: str, what: str) -> None:
    """Raise InvalidOption for the reader's own user: so an administrator is always left."""
    who: Identity = request.state.identity
    if who.user is not None and who.name == user:
        raise InvalidOption(f"you cannot {what}", "another administrator can")
