"""Messages sent to webhooks, signed as Standard Webhooks has it, and again until they arrive.

A message is counted as tried before it is sent, so that two programs do not both send it; one that
dies meanwhile leaves it for the next time. A receiver may get one twice: the number is the same.
"""

from __future__ import annotations

import ipaddress
import json
import socket
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from sqlalchemy import Connection, Table, delete, select, update

from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.exchange.signing import message_signature
from tracker.storage.database import Database
from tracker.storage.schema import Delivery, Webhook

_SECOND = 1_000_000  # microseconds
_DAY = 86_400 * _SECOND
_FIRST_WAIT, _FACTOR, _LONGEST_WAIT = 5 * _SECOND, 4, 4 * 3600 * _SECOND
_KEPT = 7 * _DAY  # of a message that arrived or was given up
_TIMEOUT = 10  # seconds
_AT_ONCE = 100
_LONGEST_FAULT = 200

_hooks = cast("Table", Webhook.__table__)
_messages = cast("Table", Delivery.__table__)


class Sent(NamedTuple):
    """How many messages arrived, how many did not, and how many of these were given up."""

    delivered: int
    failed: int
    given_up: int

    def to_dict(self) -> dict[str, int]:
        """Return the numbers as JSON."""
        return self._asdict()


class _Message(NamedTuple):
    id: int
    made_at: int
    body: str
    url: str
    secret: str
    allow_private: bool

    @property
    def name(self) -> str:
        return f"msg_{self.made_at}_{self.id}"


def deliver_messages(database: Database) -> Sent:
    """Send the messages that are due, and return what became of them."""
    with database.read() as connection:
        due = connection.scalar(select(_messages.c.id).where(_is_due(clock.now())).limit(1))
    if due is None:
        return Sent(0, 0, 0)
    with database.write() as connection:
        messages = _claimed(connection)
    delivered = failed = given_up = 0
    for one in messages:
        fault = _fault_of_sending(one, one.name, one.body)
        with database.write() as connection:
            last = fault is not None and clock.now() - one.made_at > _DAY
            _record(connection, one.id, fault, last=last)
        delivered += fault is None
        failed += fault is not None
        given_up += last
    return Sent(delivered, failed, given_up)


def try_webhook(database: Database, number: int) -> str | None:
    """Send a webhook a message that says so; return what went wrong; raises NotFound."""
    with database.read() as connection:
        hook = connection.execute(select(_hooks).where(_hooks.c.id == number)).one_or_none()
    if hook is None:
        raise NotFound(f"there is no webhook {number}", "see: tracker webhook list")
    now = clock.now()
    body = json.dumps({"type": "test", "timestamp": clock.iso(now), "data": {"webhook": number}})
    message = _Message(0, now, body, hook.url, hook.secret, hook.allow_private)
    return _fault_of_sending(message, message.name, body)


def _is_due(now: int) -> Any:
    return _messages.c.next_at <= now


def _claimed(connection: Connection) -> list[_Message]:
    """Return the messages that are due, each put off to its next attempt; forget the old ones."""
    now = clock.now()
    over = _messages.c.next_at.is_(None) & (_messages.c.made_at < now - _KEPT)
    connection.execute(delete(_messages).where(over))
    statement = (
        select(
            _messages.c.id, _messages.c.made_at, _messages.c.body, _hooks.c.url, _hooks.c.secret,
            _hooks.c.allow_private, _messages.c.attempts,
        )
        .join(_hooks, _hooks.c.id == _messages.c.webhook_id)
        .where(_is_due(now))
        .order_by(_messages.c.id)
        .limit(_AT_ONCE)
        .with_for_update(of=_messages, skip_locked=True)
    )  # fmt: skip
    found = connection.execute(statement).all()
    for row in found:
        wait = min(_FIRST_WAIT * _FACTOR**row.attempts, _LONGEST_WAIT)
        tried = {"attempts": row.attempts + 1, "next_at": now + wait}
        connection.execute(update(_messages).where(_messages.c.id == row.id).values(tried))
    return [_Message(*row[:-1]) for row in found]


def _record(connection: Connection, number: int, fault: str | None, *, last: bool) -> None:
    values: Mapping[str, Any] = {"fault": fault} | ({"next_at": None} if last else {})
    if fault is None:
        values = {"fault": None, "next_at": None, "delivered_at": clock.now()}
    connection.execute(update(_messages).where(_messages.c.id == number).values(values))


def _fault_of_sending(to: _Message, name: str, body: str) -> str | None:
    """Send a message; return why it did not arrive."""
    import requests

    fault = None if to.allow_private else _fault_of_address(to.url)
    if fault is not None:
        return fault
    seconds = clock.now() // _SECOND
    headers = {
        "content-type": "application/json", "user-agent": "annotation-tracker",
        "webhook-id": name, "webhook-timestamp": str(seconds),
        "webhook-signature": message_signature(b64decode(to.secret), name, seconds, body.encode()),
    }  # fmt: skip
    try:
        with requests.post(
            to.url, body.encode(), headers=headers, timeout=_TIMEOUT, allow_redirects=False,
            stream=True,
        ) as answer:  # fmt: skip
            arrived = 200 <= answer.status_code < 300
            return None if arrived else f"it answered {answer.status_code}"
    except requests.RequestException as error:
        return f"it cannot be reached: {type(error).__name__}"[:_LONGEST_FAULT]


def _fault_of_address(url: str) -> str | None:
    """Return why an address is not asked: it leads into a network that is not public."""
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except OSError:
        return "its name leads nowhere"
    for one in found:
        if not ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_global:
            return "its address is a private one; to allow it: tracker webhook add --allow-private"
    return None
