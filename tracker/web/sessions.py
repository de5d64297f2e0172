"""Sessions: a signed cookie says who signed in; the database says whether that still holds."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from typing import Any, NamedTuple

from fastapi import Request
from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer
from starlette.responses import Response

from tracker.ledger import Ledger

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
        """Give a browser a new session."""
        session = Session(user, number, secrets.token_urlsafe(16))
        value = str(self.signer("session").dumps(session))
        self.put_cookie(request, response, _PLAIN, value, SECONDS)

    def end(self, request: Request, response: Response) -> None:
        """Take the session from a browser."""
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
        """Return whether a form holds what it must."""
        return hmac.compare_digest(self.csrf_token(session).encode(), given.encode())

    def cookie(self, request: Request, plain: str) -> str | None:
        """Return what a cookie holds that this server has set."""
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
