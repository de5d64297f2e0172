"""Webhooks: addresses that receive events, and the messages that wait for them."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
import ssl
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import httpcore
import httpx
from sqlalchemy import Connection, delete, func, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Json, OptionalTime, Record, Spread, Time
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.users import record_access_change
from tracker.storage.database import Database
from tracker.storage.schema import EVENTS, Delivery, Project, Webhook
from tracker.sync.events import KEPT, REACHED

_hooks = Webhook.__table__
_messages = Delivery.__table__
_PREFIX = "whsec_"
_LONGEST = 2000


@dataclass(frozen=True)
class WebhookInfo(Record):
    """An address that receives events, and what became of its messages.

    Attributes:
        id: its number.
        project: of which it is told; None for all.
        waiting: messages that are to be sent, or sent again.
        given_up: messages that did not arrive for a day.
        fault: why one of them did not.
        delivered_at: when one arrived last, of those that are still kept.
    """

    id: Annotated[int, Json("webhook")]
    project: str | None
    url: str
    events: tuple[str, ...]
    allow_private: bool
    created_at: Time
    waiting: int = 0
    given_up: int = 0
    fault: str | None = None
    delivered_at: OptionalTime = None


@dataclass(frozen=True)
class NewWebhook(Record):
    """A webhook that was added, and its secret, which is shown once."""

    webhook: Annotated[WebhookInfo, Spread]
    secret: str

    def view(self) -> Iterator[str]:
        yield f"webhook {self.webhook.id}: {self.secret}"

    def hints(self) -> Iterator[str]:
        words = f"tracker webhook test {self.webhook.id}"
        yield f"keep the secret: it is not shown again; to try: {words}"


@dataclass(frozen=True)
class TriedWebhook(Record):
    """Whether a message arrived; if not, `fault` says why."""

    webhook: int
    arrived: bool
    fault: str | None

    @property
    def passed(self) -> bool:
        return self.arrived

    def view(self) -> Iterator[str]:
        outcome = " has got a message" if self.arrived else f": {self.fault}"
        yield f"webhook {self.webhook}{outcome}"


def add_webhook(
    connection: Connection,
    url: str,
    events: Sequence[str],
    project: ProjectInfo | None,
    *,
    allow_private: bool,
) -> NewWebhook:
    """Store a webhook whose address was checked; raises InvalidOption for an event that is none."""
    chosen = tuple(dict.fromkeys(events))
    if not chosen:
        raise InvalidOption("no event is named", f"one or more of: {', '.join(EVENTS)}")
    for event in chosen:
        if event not in EVENTS:
            mend = near_names(event, EVENTS) or f"one of: {', '.join(EVENTS)}"
            raise InvalidOption(f"there is no event {event!r}", mend)
    secret, now = b64encode(secrets.token_bytes(24)).decode(), clock.now()
    number = connection.execute(
        insert(_hooks)
        .values(
            project_id=None if project is None else project.id, url=url,
            events=" ".join(chosen), secret=secret, allow_private=allow_private, created_at=now,
        )
        .returning(_hooks.c.id)
    ).scalar_one()  # fmt: skip
    record_access_change(connection, "add webhook", webhook=number, host=_host(url))
    name = None if project is None else project.name
    return NewWebhook(WebhookInfo(number, name, url, chosen, allow_private, now), _PREFIX + secret)


def check_address(url: str, *, allow_private: bool) -> None:
    """Raise InvalidOption for an address that is none, and one that would not be asked."""
    try:
        parts = urlsplit(url)
        fit = parts.scheme in {"http", "https"} and parts.hostname and parts.username is None
        _ = parts.port
        private = bool(fit) and not allow_private and leads_to_private(url)
    except ValueError:
        fit = private = False
    if not fit or len(url) > _LONGEST or not url.isprintable() or " " in url:
        raise InvalidOption(
            f"{url!r} is no address of a webhook", "such as: https://example.org/hook"
        )
    if private:
        raise InvalidOption(
            f"{_host(url)} leads into a private network", "to allow it: --allow-private"
        )


def _host(url: str) -> str:
    """Return the part of an address that is in the log: the rest of it may be a secret."""
    return urlsplit(url).hostname or ""


def list_webhooks(connection: Connection) -> list[WebhookInfo]:
    counts = (
        select(
            _messages.c.webhook_id,
            func.count(_messages.c.next_at).label("waiting"),
            func.count().label("all"),
            func.count(_messages.c.delivered_at).label("delivered"),
            func.max(_messages.c.fault).label("fault"),
            func.max(_messages.c.delivered_at).label("delivered_at"),
        )
        .group_by(_messages.c.webhook_id)
        .subquery("counts")
    )
    statement = (
        select(
            _hooks, Project.name.label("project"), counts.c.waiting,
            (counts.c.all - counts.c.delivered - counts.c.waiting).label("given_up"),
            counts.c.fault, counts.c.delivered_at,
        )
        .outerjoin(Project, Project.id == _hooks.c.project_id)
        .outerjoin(counts, counts.c.webhook_id == _hooks.c.id)
        .order_by(_hooks.c.id)
    )  # fmt: skip
    return [
        WebhookInfo(
            row.id, row.project, row.url, tuple(row.events.split()), row.allow_private,
            row.created_at, row.waiting or 0, row.given_up or 0, row.fault,
            row.delivered_at,
        )
        for row in connection.execute(statement)
    ]  # fmt: skip


def remove_webhook(connection: Connection, number: int) -> WebhookInfo:
    """Remove a webhook with the messages that wait for it, and return it; raises NotFound."""
    webhook = next((hook for hook in list_webhooks(connection) if hook.id == number), None)
    if webhook is None:
        raise NotFound(f"there is no webhook {number}", "see: tracker webhook list")
    connection.execute(delete(_messages).where(_messages.c.webhook_id == number))
    connection.execute(delete(_hooks).where(_hooks.c.id == number))
    record_access_change(connection, "remove webhook", webhook=number, host=_host(webhook.url))
    return webhook


# -- Signatures of messages, as Standard Webhooks has them ----------------------------------------


_LATE = 300  # seconds by which the clocks of sender and receiver may differ


def message_signature(key: bytes, name: str, seconds: int, body: bytes) -> str:
    """Return the signature of a message of a name, sent so many seconds after 1970."""
    digest = hmac.new(key, b"%s.%d.%s" % (name.encode(), seconds, body), hashlib.sha256).digest()
    return f"v1,{b64encode(digest).decode()}"


def is_signed(key: bytes, name: str, sent_at: str, body: bytes, signature: str) -> bool:
    """Return whether a message was signed with a key, some minutes ago at most."""
    if not (sent_at.isascii() and sent_at.isdecimal() and len(sent_at) < 20):
        return False
    seconds = int(sent_at)
    right = message_signature(key, name, seconds, body)
    in_time = abs(clock.now() // _SECOND - seconds) <= _LATE
    return hmac.compare_digest(right.encode(), signature.strip().encode()) and in_time


# -- One request to an address that somebody named: within a time, into the public network only ---


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}
_LONGEST_ERROR = 200  # characters of what went wrong


class _Unfit(ValueError):
    """The address leads nowhere, or cannot be read."""


class _Private(_Unfit):
    """The address leads into a network that is not public."""


def post(
    url: str,
    content: bytes,
    headers: Mapping[bytes | str, bytes | str],
    seconds: float,
    *,
    allow_private: bool,
) -> str | None:
    """Send something; return why it did not arrive within so many seconds in all."""
    network = _Network(monotonic() + seconds, allow_private=allow_private)
    try:
        parts = _read(url)
        target = httpcore.URL(
            scheme=parts.raw_scheme, host=parts.raw_host, port=parts.port, target=parts.raw_path
        )
        with (
            httpcore.ConnectionPool(network_backend=network) as pool,
            pool.stream(
                "POST", target, headers={"host": parts.netloc, **headers}, content=content
            ) as answer,
        ):
            return None if 200 <= answer.status < 300 else f"it answered {answer.status}"
    except _Unfit as unfit:
        return str(unfit)
    except httpcore.TimeoutException:
        return f"it did not answer within {seconds:g} seconds"
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        return f"it cannot be reached: {error}"[:_LONGEST_ERROR]


def leads_to_private(url: str) -> bool:
    """Return whether an address is known to lead into a network that is not public.

    Raises ValueError for one that cannot be read.
    """
    parts = _read(url)
    try:
        _public(_addresses(parts.raw_host.decode(), parts.port or _PORTS[parts.scheme]))
    except _Private:
        return True
    except _Unfit:
        return False
    return False


def _read(url: str) -> httpx.URL:
    """Return the parts of an address, its host in letters that a network takes."""
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        raise _Unfit("its address cannot be read") from None


def _addresses(host: str, port: int) -> list[str]:
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _Unfit("its name leads nowhere") from None
    return [str(address[0]) for *_, address in answers]


def _public(addresses: list[str]) -> list[str]:
    """Return addresses if all are public."""
    if not all(is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses):
        raise _Private(
            "its address is a private one; to allow it: tracker webhook add --allow-private"
        )
    return addresses


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether everybody may reach an address, and the one of IPv4 that it may stand for."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not (address.is_multicast or address.is_reserved)


class _Network(httpcore.NetworkBackend):
    """Connects to addresses that may be asked, until a moment by the monotonic clock."""

    def __init__(self, until: float, *, allow_private: bool) -> None:
        self._until, self._allow_private = until, allow_private
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Return a connection to the first address of a host that answers."""
        addresses = _addresses(host, port)
        if not self._allow_private:
            _public(addresses)
        for last, address in zip([False] * (len(addresses) - 1) + [True], addresses, strict=True):
            try:
                stream = self._sockets.connect_tcp(
                    address, port, _left(self._until), local_address, socket_options
                )
            except (httpcore.NetworkError, httpcore.TimeoutException):
                if last:
                    raise
            else:
                return _Stream(stream, self._until)
        raise _Unfit("its name leads nowhere")


class _Stream(httpcore.NetworkStream):
    """A connection that ends at one moment, however slowly bytes come."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream, self._until = stream, until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._until))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._until))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, _left(self._until))
        return _Stream(stream, self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(until: float) -> float:
    """Return the seconds that are left; raises TimeoutException if there are none."""
    left = until - monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left


# -- Messages sent to webhooks, signed as Standard Webhooks has it, and again until they arrive ---


_SECOND = 1_000_000  # microseconds
_DAY = 86_400 * _SECOND
_FIRST_WAIT, _FACTOR, _LONGEST_WAIT = 5 * _SECOND, 4, 4 * 3600 * _SECOND
_SECONDS = 10.0  # for one delivery, and for all that one webhook gets in a row
_AT_ONCE = 16  # webhooks


class Sent(NamedTuple):
    """How many messages arrived, how many did not, and how many of these were given up."""

    delivered: int
    failed: int
    given_up: int

    def to_dict(self) -> dict[str, int]:
        return self._asdict()

    def view(self) -> Iterator[str]:
        yield f"delivered: {self.delivered}, failed: {self.failed}, given up: {self.given_up}"


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
        over = (
            _messages.c.next_at.is_(None)
            & (_messages.c.made_at < clock.now() - KEPT)
            & (_messages.c.event != REACHED)
        )
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


def try_webhook(database: Database, number: int) -> TriedWebhook:
    """Send a webhook a message that says so; return what came of it; raises NotFound."""
    with database.read() as connection:
        hook = connection.execute(select(_hooks).where(_hooks.c.id == number)).one_or_none()
    if hook is None:
        raise NotFound(f"there is no webhook {number}", "see: tracker webhook list")
    now = clock.now()
    body = json.dumps({"type": "test", "timestamp": clock.iso(now), "data": {"webhook": number}})
    message = _Message(0, now, body, hook.url, hook.secret, hook.allow_private)
    fault = _fault_of_sending(message)
    return TriedWebhook(number, fault is None, fault)


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
