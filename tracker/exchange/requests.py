"""Requests that a program may send twice: the second gets the answer of the first."""

from __future__ import annotations

from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, or_, select, update

from tracker.core import clock
from tracker.core.errors import CheckFailed, InvalidOption
from tracker.storage.schema import KeyedRequest

_HOUR = 3_600_000_000  # microseconds
_KEPT = 24 * _HOUR
_LOST = _HOUR  # after which a request without an answer is taken for one that died
_LONGEST = 255

_requests = cast("Table", KeyedRequest.__table__)


class KeptAnswer(NamedTuple):
    """What a request was answered."""

    status: int
    location: str | None
    body: str


def begin_request(connection: Connection, by: str, key: str, digest: str) -> KeptAnswer | None:
    """Return what the request was answered before; None if it is the first of its key.

    Raises CheckFailed if the first is not answered yet, InvalidOption if it was another request.
    """
    if not 0 < len(key) <= _LONGEST or not key.isprintable():
        raise InvalidOption("the key of the request is unfit", "send up to 255 plain signs")
    now = clock.now()
    lost = (_requests.c.made_at < now - _LOST) & _requests.c.status.is_(None)
    connection.execute(delete(_requests).where(or_(_requests.c.made_at < now - _KEPT, lost)))
    known = connection.execute(select(_requests).where(_of(by, key))).one_or_none()
    if known is None:
        connection.execute(
            insert(_requests).values(made_by=by, key=key, digest=digest, made_at=now)
        )
        return None
    if known.digest != digest:
        raise InvalidOption(f"the key {key!r} was sent with another request", "send a new one")
    if known.status is None:
        raise CheckFailed("the request with this key is under way", "ask again later")
    return KeptAnswer(known.status, known.location, known.body)


def end_request(connection: Connection, by: str, key: str, answer: KeptAnswer | None) -> None:
    """Keep a request's answer; None: it failed, and may be tried again."""
    if answer is None:
        connection.execute(delete(_requests).where(_of(by, key)))
    else:
        connection.execute(update(_requests).where(_of(by, key)).values(answer._asdict()))


def _of(by: str, key: str) -> ColumnElement[bool]:
    return (_requests.c.made_by == by) & (_requests.c.key == key)
