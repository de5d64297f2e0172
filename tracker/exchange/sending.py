"""Messages sent to webhooks, signed as Standard Webhooks has it, and again until they arrive.

A message is counted as tried before it is sent, so that two programs do not both send it; one that
dies meanwhile leaves it for the next time. A receiver may get one twice: the number is the same.
Each webhook has a queue of its own, and a slow receiver holds up no other.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, delete, select, update

from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.exchange.posting import post
from tracker.exchange.signing import message_signature
from tracker.storage.database import Database
from tracker.storage.schema import Delivery, Webhook

_SECOND = 1_000_000  # microseconds
_DAY = 86_400 * _SECOND
_FIRST_WAIT, _FACTOR, _LONGEST_WAIT = 5 * _SECOND, 4, 4 * 3600 * _SECOND
_KEPT = 7 * _DAY  # of a message that arrived or was given up
_SECONDS = 10.0  # for one delivery, and for all that one webhook gets in a row
_AT_ONCE = 16  # webhooks

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
    statement = select(_messages.c.webhook_id).where(_is_due(clock.now())).distinct()
    with database.read() as connection:
        hooks = connection.scalars(statement).all()
    if not hooks:
        return Sent(0, 0, 0)
    with database.write() as connection:
        over = _messages.c.next_at.is_(None) & (_messages.c.made_at < clock.now() - _KEPT)
        connection.execute(delete(_messages).where(over))
    with ThreadPoolExecutor(min(len(hooks), _AT_ONCE), "tracker-webhook") as threads:
        sent = list(threads.map(lambda hook: _deliver_to(database, hook), hooks))
    return Sent(*map(sum, zip(*sent, strict=True)))


def _deliver_to(database: Database, hook: int) -> Sent:
    """Send a webhook the messages that are due now, as many as it takes in its time."""
    now, until = clock.now(), monotonic() + _SECONDS
    delivered = failed = given_up = 0
    while monotonic() < until:
        with database.write() as connection:
            message = _claimed(connection, hook, now)
        if message is None:
            break
        fault = _fault_of_sending(message)
        last = fault is not None and clock.now() - message.made_at > _DAY
        with database.write() as connection:
            _record(connection, message.id, fault, last=last)
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
    return _fault_of_sending(_Message(0, now, body, hook.url, hook.secret, hook.allow_private))


def _is_due(now: int) -> Any:
    return _messages.c.next_at <= now


def _claimed(connection: Connection, hook: int, now: int) -> _Message | None:
    """Return the oldest message to a webhook that was due by a moment, put off to its next try."""
    statement = (
        select(
            _messages.c.id, _messages.c.made_at, _messages.c.body, _hooks.c.url, _hooks.c.secret,
            _hooks.c.allow_private, _messages.c.attempts,
        )
        .join(_hooks, _hooks.c.id == _messages.c.webhook_id)
        .where(_hooks.c.id == hook, _is_due(now))
        .order_by(_messages.c.id)
        .limit(1)
        .with_for_update(of=_messages, skip_locked=True)
    )  # fmt: skip
    row = connection.execute(statement).one_or_none()
    if row is None:
        return None
    wait = min(_FIRST_WAIT * _FACTOR**row.attempts, _LONGEST_WAIT)
    tried = {"attempts": row.attempts + 1, "next_at": clock.now() + wait}
    connection.execute(update(_messages).where(_messages.c.id == row.id).values(tried))
    return _Message(*row[:-1])


def _record(connection: Connection, number: int, fault: str | None, *, last: bool) -> None:
    values: Mapping[str, Any] = {"fault": fault} | ({"next_at": None} if last else {})
    if fault is None:
        values = {"fault": None, "next_at": None, "delivered_at": clock.now()}
    connection.execute(update(_messages).where(_messages.c.id == number).values(values))


def _fault_of_sending(message: _Message) -> str | None:
    """Send a message; return why it did not arrive."""
    seconds, content = clock.now() // _SECOND, message.body.encode()
    headers: dict[bytes | str, bytes | str] = {
        "content-type": "application/json", "user-agent": "annotation-tracker",
        "webhook-id": message.name, "webhook-timestamp": str(seconds),
        "webhook-signature": message_signature(
            b64decode(message.secret), message.name, seconds, content
        ),
    }  # fmt: skip
    return post(message.url, content, headers, _SECONDS, allow_private=message.allow_private)
