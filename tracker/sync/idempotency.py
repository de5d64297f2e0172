"""Requests that a program may send twice: the second gets the answer of the first."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from tracker.core import clock
from tracker.core.errors import CheckFailed, InvalidOption
from tracker.storage.schema import KeyedRequest

_HOUR = 3_600_000_000  # microseconds
_KEPT = 24 * _HOUR
_LOST = _HOUR  # after which a request without an answer is taken for one that died
_LONGEST = 255
_UNDER_WAY = "the request with this key is under way"

_requests = KeyedRequest.__table__


class KeptAnswer(NamedTuple):
    """What a request was answered."""

    status: int
    location: str | None
    body: str


def known_answer(connection: Connection, by: str, key: str, digest: str) -> KeptAnswer | None:
    """Return what the request was answered before; None if it may begin.

    Raises CheckFailed if the first is not answered yet, InvalidOption if it was another request.
    """
    if not 0 < len(key) <= _LONGEST or not key.isprintable():
        raise InvalidOption("the key of the request is unfit", "send up to 255 plain signs")
    request = connection.execute(select(_requests).where(_of(by, key), ~_is_over())).one_or_none()
    if request is None:
        return None
    if request.digest != digest:
        raise InvalidOption(f"the key {key!r} was sent with another request", "send a new one")
    if request.status is None:
        raise CheckFailed(_UNDER_WAY, "ask again later")
    return KeptAnswer(request.status, request.location, request.body)


def begin_request(connection: Connection, by: str, key: str, digest: str) -> KeptAnswer | None:
    """Return the same, and note that the request is under way if it may begin."""
    connection.execute(delete(_requests).where(_is_over()))
    answer = known_answer(connection, by, key, digest)
    if answer is None:
        row = {"made_by": by, "key": key, "digest": digest, "made_at": clock.now()}
        try:
            connection.execute(insert(_requests).values(row))
        except IntegrityError:  # it came twice in the same moment
            raise CheckFailed(_UNDER_WAY, "ask again later") from None
    return answer


def end_request(connection: Connection, by: str, key: str, answer: KeptAnswer) -> None:
    """Keep a request's answer; raises CheckFailed if it is not under way any more."""
    under_way = update(_requests).where(_of(by, key), _requests.c.status.is_(None))
    if connection.execute(under_way.values(answer._asdict())).rowcount != 1:
        raise CheckFailed("the request with this key was begun anew meanwhile", "ask again later")


def forget_request(connection: Connection, by: str, key: str) -> None:
    """Forget a request that failed: it may be tried again."""
    connection.execute(delete(_requests).where(_of(by, key), _requests.c.status.is_(None)))


def purge_requests(connection: Connection, *, under_way: bool) -> None:
    """Forget requests whose day is over; with ``under_way`` all that are not answered, too."""
    connection.execute(delete(_requests).where(_may_go(under_way=under_way)))


def any_to_purge(connection: Connection, *, under_way: bool) -> bool:
    """Return whether there is a request for `purge_requests` to forget."""
    which = select(_requests.c.made_at).where(_may_go(under_way=under_way)).limit(1)
    return connection.scalar(which) is not None


def _may_go(*, under_way: bool) -> ColumnElement[bool]:
    return or_(_is_over(), _requests.c.status.is_(None)) if under_way else _is_over()


def _is_over() -> ColumnElement[bool]:
    """Return the condition that a request's day is over, or that it died without an answer."""
    now = clock.now()
    lost = (_requests.c.made_at < now - _LOST) & _requests.c.status.is_(None)
    return or_(_requests.c.made_at < now - _KEPT, lost)


def _of(by: str, key: str) -> ColumnElement[bool]:
    return (_requests.c.made_by == by) & (_requests.c.key == key)
