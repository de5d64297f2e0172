"""Who asks, what their role lets them do, and the one word by which a route says whom it admits."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from shlex import quote
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request
from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer
from starlette.responses import Response

from tracker.ledger import Ledger

SAFE = {"GET", "HEAD", "OPTIONS"}
"""Methods that change nothing."""
_OURS = {"same-origin", "none"}
"""What a browser says of a request of our own pages, and of one that the reader began."""
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"


SIGN_IN_FIRST = "send a token (Authorization: Bearer TOKEN); one is made by: tracker token add"
"""What a program that nobody knows is to do; people are led to the page to sign in."""

_FORM = "application/x-www-form-urlencoded"
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
        """Raise 401 for somebody unknown, 403 for one whose role is too low or a forged form.

        Who changes something waits for their turn.
        """
        who: Identity | None = request.state.identity
        if self.role is Role.EVERYONE:
            return
        if who is None:
            raise NotAdmitted(401, "sign in first", SIGN_IN_FIRST)
        if who.role < self.role:
            raise _role_too_low(who, self.role.name.lower())
        if request.method in SAFE:
            return
        if _type_of(request) == _FORM:
            await request.form()  # before its turn: who sends it slowly holds up nobody
        if who.session is not None:
            await _check_form(request, who.session)
        await request.app.state.waiting.enter(request, brief=self.role is Role.ANNOTATOR)


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
    if given is None and _type_of(request) == "multipart/form-data":
        if not is_of_our_page(request):
            raise NotAdmitted(403, "the browser does not say whose form it is", _LOAD_AGAIN)
        return
    if given is None and _type_of(request) == _FORM:
        found = (await request.form()).get(CSRF_FIELD)
        given = found if isinstance(found, str) else None
    if not request.app.state.sessions.is_csrf_token(session, given or ""):
        raise NotAdmitted(403, "the form is of another session", _LOAD_AGAIN)


def _type_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


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
    return Depends(Needs(role))


# -- How often somebody may try to sign in: guessing passwords is made slow, not impossible -------


SPAN = 15 * 60
"""Seconds for which a failure counts."""
_MOST = {"both": 5, "address": 30, "name": 100}
"""Failures within that time: of a name from an address, from an address, of a name from anywhere.

The last is high, because whoever knows a name could keep its owner out.
"""
_KEPT = 10_000
_NAME = 100  # characters that count


class Attempts:
    """The failures of the last minutes, in memory; the longest unchanged are forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[Hashable, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> int:
        """Count an attempt as failed, until `succeed`; returns the seconds to wait, or 0.

        One that has to wait is not counted.
        """
        now = self._clock()
        with self._lock:
            waits = [
                ceil(kept[-most] + SPAN - now)
                for key, most in _keys(name, address)
                if len(kept := self._recent(key, now)) >= most
            ]
            if waits:
                return max(1, *waits)
            for key, _ in _keys(name, address):
                self._failures.setdefault(key, deque()).append(now)
                self._failures.move_to_end(key)
            while len(self._failures) > _KEPT:
                self._failures.popitem(last=False)
        return 0

    def succeed(self, name: str, address: str) -> None:
        """Forget the failures of a name from an address, and this attempt elsewhere."""
        with self._lock:
            for key, _ in _keys(name, address):
                kept = self._failures.get(key)
                if kept:
                    kept.pop()
            both = next(_keys(name, address))[0]
            self._failures.pop(both, None)

    def _recent(self, key: Hashable, now: float) -> deque[float]:
        kept = self._failures.get(key, deque())
        while kept and kept[0] + SPAN <= now:
            kept.popleft()
        return kept


def _keys(name: str, address: str) -> Iterator[tuple[Hashable, int]]:
    """Yield what an attempt is counted under, and how many may fail."""
    name, address = name[:_NAME], _network(address)
    yield ("both", name, address), _MOST["both"]
    yield ("address", address), _MOST["address"]
    yield ("name", name), _MOST["name"]


def _network(address: str) -> str:
    """Return an address; of IPv6 the part that a household has, for it has all the rest."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address


# -- Sessions: a signed cookie says who signed in; the database says whether that still holds -----


SECONDS = 7 * 24 * 60 * 60
"""How long a session lasts."""
_PLAIN = "tracker_session"


class Session(NamedTuple):
    """What a cookie holds: the user and the number that their sessions have; a random text."""

    user: int
    number: int
    nonce: str


class Sessions:
    """Makes and reads the cookies of one server; its key is read when it is first needed."""

    def __init__(self, ledger: Ledger, key: str | None) -> None:
        self._ledger = ledger
        self._given = key
        self._lock = threading.Lock()

    @property
    def _key(self) -> str:
        with self._lock:
            if self._given is None:
                self._given = self._ledger.users.signing_key()
            return self._given

    def signer(self, purpose: str) -> URLSafeTimedSerializer:
        """Return what signs values for a purpose; a value signed for another is not taken."""
        return URLSafeTimedSerializer(self._key, salt=f"tracker {purpose}")

    def begin(self, request: Request, response: Response, user: int, number: int) -> None:
        session = Session(user, number, secrets.token_urlsafe(16))
        value = str(self.signer("session").dumps(session))
        self.put_cookie(request, response, _PLAIN, value, SECONDS)

    def end(self, request: Request, response: Response) -> None:
        self.put_cookie(request, response, _PLAIN, "", 0)

    def read(self, request: Request) -> Session | None:
        """Return the session of a browser; None if it has none, or one that is over or forged."""
        if not any(_PLAIN in name for name in request.cookies):
            return None  # no key is needed, or made
        kept = self.cookie(request, _PLAIN)
        if not kept:
            return None
        try:
            found: list[Any] = self.signer("session").loads(kept, max_age=SECONDS)
            user, number, nonce = found
        except (BadSignature, ValueError, TypeError):
            return None
        return Session(user, number, nonce)

    def csrf_token(self, session: Session) -> str:
        """Return what forms of a session hold, and what no other site can know."""
        signed = Signer(self._key, salt="tracker csrf").get_signature(session.nonce)
        return signed.decode()

    def is_csrf_token(self, session: Session, given: str) -> bool:
        return hmac.compare_digest(self.csrf_token(session).encode(), given.encode())

    def cookie(self, request: Request, plain: str) -> str | None:
        return request.cookies.get(self._cookie_name(request, plain))

    def put_cookie(
        self, request: Request, response: Response, plain: str, value: str, seconds: int
    ) -> None:
        """Set a cookie that scripts cannot read and other sites' forms do not send."""
        response.set_cookie(
            self._cookie_name(request, plain), value, max_age=seconds, path="/", httponly=True,
            samesite="lax", secure=request.url.scheme == "https",
        )  # fmt: skip

    def _cookie_name(self, request: Request, plain: str) -> str:
        """Return a name that is no other server's: a host's ports share their cookies.

        Over https it is one that only this host can have set.
        """
        own = hashlib.sha256(f"cookie {self._key}".encode()).hexdigest()[:8]
        return f"__Host-{plain}_{own}" if request.url.scheme == "https" else f"{plain}_{own}"


def is_this_machine(host: str) -> bool:
    """Return whether an address or a name of a host is one that only this machine has."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def comes_from_elsewhere(address: str) -> bool:
    """Return whether a client's address is that of another machine."""
    try:
        return not ipaddress.ip_address(address).is_loopback
    except ValueError:  # a socket without addresses
        return False
