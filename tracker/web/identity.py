"""Who asks, what their role lets them do, and the one word by which a route says whom it admits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from shlex import quote
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request

if TYPE_CHECKING:
    from tracker.web.sessions import Session

SAFE = {"GET", "HEAD", "OPTIONS"}
"""Methods that change nothing."""
_OURS = {"same-origin", "none"}
"""What a browser says of a request of our own pages, and of one that the reader began."""
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"


SIGN_IN_FIRST = "send a token (Authorization: Bearer TOKEN); one is made by: tracker token add"
"""What a program that nobody knows is to do; people are led to the page to sign in."""

_LOAD_AGAIN = "load the page again"


class NotAdmitted(HTTPException):
    """Who asks may not ask for this: 401 or 403, with what to do about it."""

    def __init__(self, status: int, message: str, mend: str) -> None:
        super().__init__(status, message)
        self.mend = mend


class Role(IntEnum):
    """What a user may do; each role may do all that those before it may."""

    EVERYONE = 0
    """Whoever asks, signed in or not."""
    ANNOTATOR = 1
    """See their own page."""
    VIEWER = 2
    """See everything of the projects."""
    MANAGER = 3
    """Import, take snapshots, work on findings, change settings."""
    ADMIN = 4
    """Manage users, tokens and webhooks; delete projects."""


@dataclass(frozen=True)
class Identity:
    """Who asks.

    Attributes:
        name: the user's name, which stands in the change log.
        role: the user's role.
        user: the user's number; None without users.
        annotators: the projects and annotators whose own reports they may see.
        session: how they signed in, if by a browser.
        of_user: the user's own role, if a token asks for them, which may do less.
    """

    name: str
    role: Role
    user: int | None = None
    annotators: tuple[tuple[str, str], ...] = ()
    session: Session | None = None
    of_user: Role | None = None

    @property
    def sees_projects(self) -> bool:
        """Whether they may see more than their own page."""
        return self.role >= Role.VIEWER


LOCAL = Identity("local", Role.ADMIN)
"""Who asks of a server without users: somebody at this machine."""


class Needs:
    """A route's condition: the role that it needs. Each route has exactly one."""

    def __init__(self, role: Role) -> None:
        self.role = role

    async def __call__(self, request: Request) -> None:
        """Raise 401 for somebody unknown, 403 for one whose role is too low or a forged form."""
        who: Identity | None = request.state.identity
        if self.role is Role.EVERYONE:
            return
        if who is None:
            raise NotAdmitted(401, "sign in first", SIGN_IN_FIRST)
        if who.role < self.role:
            raise _role_too_low(who, self.role.name.lower())
        if request.method not in SAFE and who.session is not None:
            await _check_form(request, who.session)


def _role_too_low(who: Identity, needed: str) -> NotAdmitted:
    """Return what is wrong with the role of a user or of a token, and how to mend it."""
    name, mends = quote(who.name), list[str]()
    if (who.of_user or who.role) < Role[needed.upper()]:
        mends.append(f"an admin can give it: tracker user set {name} --role {needed}")
    if who.of_user is None:
        return NotAdmitted(403, f"this needs the role {needed}", mends[0])
    mends.append(f"make another token: tracker token add NAME --role {needed} --user {name}")
    has = who.role.name.lower()
    return NotAdmitted(
        403, f"this needs the role {needed}, and the token has {has}", "; then ".join(mends)
    )


async def _check_form(request: Request, session: Session) -> None:
    """Raise 403 unless a request by cookie is of a page of ours.

    Its form, or a header, holds what no other site can know. A form with files is left to be read
    as it comes, without a limit here: of that a browser must say itself that it is ours.
    """
    given = request.headers.get(CSRF_HEADER)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given is None and kind == "multipart/form-data":
        if not is_of_our_page(request):
            raise NotAdmitted(403, "the browser does not say whose form it is", _LOAD_AGAIN)
        return
    if given is None and kind == "application/x-www-form-urlencoded":
        found = (await request.form()).get(CSRF_FIELD)
        given = found if isinstance(found, str) else None
    if not request.app.state.sessions.is_csrf_token(session, given or ""):
        raise NotAdmitted(403, "the form is of another session", _LOAD_AGAIN)


def is_of_our_page(request: Request) -> bool | None:
    """Return whether a browser says that a page of ours asks; None if nothing is said of it."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site in _OURS
    return None if origin is None else _netloc(origin) == request.headers.get("host")


def _netloc(url: str) -> str | None:
    """Return the host and port of an address; None if it cannot be read."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return None


def needs(role: Role) -> Any:
    """Return the condition for a route's ``dependencies``."""
    return Depends(Needs(role))
